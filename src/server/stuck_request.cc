// SPDX-License-Identifier: GPL-2.0-only
#include "server/stuck_request.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "base/limits.h"
#include "net/descriptor.h"

namespace rowsocket::server {
namespace {

/// The clock of a thread's processor time, as the kernel numbers such clocks (see clock_getcpuclockid(3)).
clockid_t cpu_clock_of(ThreadNumber thread) {
  constexpr unsigned per_thread = 4;
  constexpr unsigned scheduler_time = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | per_thread | scheduler_time);
}

/// 0 if the thread is gone.
uint64_t cpu_us_of(ThreadNumber thread) {
  timespec used{};
  if (::clock_gettime(cpu_clock_of(thread), &used) != 0) {
    return 0;
  }
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000 + static_cast<uint64_t>(used.tv_nsec) / 1000;
}

/// True if the thread sleeps or waits for a disk; false if it runs, or could.
bool is_waiting(ThreadNumber thread) {
  std::array<char, 128> text{};
  // number (name) state ...
  const std::string_view line = told_of(thread, "stat", text);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) {
    return false;
  }
  const char state = line[name_end + 2];
  return state == 'S' || state == 'D';
}

}  // namespace

ThreadNumber this_thread_number() {
  thread_local const auto number = static_cast<ThreadNumber>(::syscall(SYS_gettid));  // asked every turn
  return number;
}

std::string_view told_of(ThreadNumber thread, const char* file_name, std::span<char> place) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/%s", static_cast<int>(thread), file_name);
  const net::Descriptor file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  const ssize_t bytes = file.valid() ? ::read(file.get(), place.data(), place.size()) : 0;
  return bytes <= 0 ? std::string_view() : std::string_view(place.data(), static_cast<size_t>(bytes));
}

bool StuckRequest::look(LoopToken::Ticket ticket, ThreadNumber thread) {
  const bool is_the_same = ticket != 0 && ticket == ticket_;
  ticket_ = ticket;
  if (ticket == 0) {
    return false;
  }
  const uint64_t cpu_us = cpu_us_of(thread);
  if (!is_the_same) {
    looks_ = 0;
    cpu_us_ = cpu_us;
    return false;
  }
  if (LoopToken::is_unhurried(ticket) && ++looks_ < limits::unhurried_ticks) {
    return false;
  }
  return cpu_us - cpu_us_ >= limits::slice_us || is_waiting(thread);
}

}  // namespace rowsocket::server
