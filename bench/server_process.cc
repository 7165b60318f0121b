// SPDX-License-Identifier: GPL-2.0-only
#include "bench/server_process.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rowsocket::bench {

namespace {

/// Calls `read` with every thread's folder; it tells whether the thread was still there.
void for_each_thread(pid_t pid, const std::function<bool(const std::filesystem::path& folder)>& read) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  std::error_code failure;
  size_t thread_count = 0;
  for (const auto& task : std::filesystem::directory_iterator(tasks, failure)) {
    thread_count += read(task.path()) ? 1 : 0;
  }
  if (failure || thread_count == 0) {
    throw std::runtime_error("cannot read the threads of process " + std::to_string(pid) + " in " + tasks);
  }
}

/// The number after `name` in a status file; 0 if it is not there.
uint64_t field(std::istream& status, const std::string& name) {
  status.clear();
  status.seekg(0);
  for (std::string word; status >> word;) {
    if (word == name) {
      uint64_t value = 0;
      status >> value;
      return value;
    }
  }
  return 0;
}

void read_ticks(std::istream& stat, ProcessFacts& facts) {
  constexpr int fields_before_utime = 11;  // after the name, which may hold spaces and ends with ')'
  std::string line;
  std::getline(stat, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return;
  }
  size_t at = name_end + 1;
  for (int i = 0; i < fields_before_utime; ++i) {
    at = line.find(' ', at + 1);
  }
  size_t length = 0;
  facts.user_ticks = std::stoull(line.substr(at), &length);
  facts.system_ticks = std::stoull(line.substr(at + length));
}

}  // namespace

uint64_t process_cpu_ns(pid_t pid) {
  constexpr uint64_t ns_per_s = 1'000'000'000;
  clockid_t clock = 0;
  timespec time{};
  if (pid <= 0 || ::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    throw std::runtime_error("cannot read the CPU time of process " + std::to_string(pid));
  }
  return static_cast<uint64_t>(time.tv_sec) * ns_per_s + static_cast<uint64_t>(time.tv_nsec);
}

ProcessFacts process_facts(pid_t pid) {
  ProcessFacts facts;
  const std::string folder = "/proc/" + std::to_string(pid);
  for_each_thread(pid, [&](const std::filesystem::path& thread) {
    std::ifstream status(thread / "status");
    if (!status) {
      return false;
    }
    ++facts.thread_count;
    facts.switches_voluntary += field(status, "voluntary_ctxt_switches:");
    facts.switches_involuntary += field(status, "nonvoluntary_ctxt_switches:");
    return true;
  });
  std::ifstream stat(folder + "/stat");
  read_ticks(stat, facts);
  std::ifstream status(folder + "/status");
  facts.peak_bytes = field(status, "VmHWM:") * 1024;
  return facts;
}

}  // namespace rowsocket::bench
