// SPDX-License-Identifier: GPL-2.0-only
//
// How much CPU time a process has had: the run time of all its threads, to the nanosecond, from /proc/PID/task/*/schedstat.
// Unlike a rate, it does not depend on how fast the generator is or on who else wants the core. Threads that ended are not
// counted, so take the difference of two readings only while the server's threads stay.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace rowsocket::bench {

/// Throws std::runtime_error if there is no such process, or the kernel keeps no schedstat.
[[nodiscard]] uint64_t process_cpu_ns(pid_t pid);

}  // namespace rowsocket::bench
