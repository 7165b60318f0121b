// SPDX-License-Identifier: GPL-2.0-only
#include "bench/process_cpu.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rowsocket::bench {

uint64_t process_cpu_ns(pid_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  std::error_code failure;
  uint64_t sum_ns = 0;
  size_t thread_count = 0;
  for (const auto& task : std::filesystem::directory_iterator(tasks, failure)) {
    std::ifstream file(task.path() / "schedstat");
    uint64_t run_ns = 0;
    if (file >> run_ns) {  // a thread may have ended since the directory was read
      sum_ns += run_ns;
      ++thread_count;
    }
  }
  if (failure || thread_count == 0) {
    throw std::runtime_error("cannot read the CPU time of process " + std::to_string(pid) + " from " + tasks + "/*/schedstat");
  }
  return sum_ns;
}

}  // namespace rowsocket::bench
