// SPDX-License-Identifier: GPL-2.0-only
//
// What a process has used. Its CPU time is the scheduler's run time of all its threads, to the nanosecond: unlike a rate, it does
// not depend on how fast the generator is or on who else wants the core. It is read from the process's clock and not added up
// from the threads' schedstat files, because a server's threads come and go (InnoDB ends those of its pool when they idle), and
// one that ended between two readings would take its whole life's time off their difference.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace rowsocket::bench {

/// Run time of all threads, those that ended included. Throws std::runtime_error if there is no such process.
[[nodiscard]] uint64_t process_cpu_ns(pid_t pid);

struct ProcessFacts {
  uint64_t user_ticks = 0;  ///< of 10 ms, hence only good for the proportion
  uint64_t system_ticks = 0;
  uint64_t switches_voluntary = 0;    ///< a thread slept
  uint64_t switches_involuntary = 0;  ///< a thread had to give up its core
  uint32_t thread_count = 0;
  uint64_t peak_bytes = 0;  ///< resident, since the process started
};

/// Slower to read, so not next to a measured moment. Throws as above.
[[nodiscard]] ProcessFacts process_facts(pid_t pid);

}  // namespace rowsocket::bench
