// SPDX-License-Identifier: GPL-2.0-only
//
// What a process has used, from /proc. The CPU time is the run time of all its threads, to the nanosecond: unlike a rate, it does
// not depend on how fast the generator is or on who else wants the core. Threads that ended are not counted, so take the
// difference of two readings only while the server's threads stay.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace rowsocket::bench {

/// schedstat's run time. Throws std::runtime_error if there is no such process, or the kernel keeps no schedstat.
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
