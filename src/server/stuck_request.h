// SPDX-License-Identifier: GPL-2.0-only
//
// Tells a request that takes long from a thread that merely has no processor: looks at the thread from
// outside, from time to time. Used by one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "server/loop_token.h"

namespace rowsocket::server {

/// As the system knows a thread of this process.
using ThreadNumber = pid_t;
[[nodiscard]] ThreadNumber this_thread_number();
/// The beginning of what the system tells of a thread of this process in `file_name` (proc(5)), as far as it
/// fits into `place`; empty if it can not be read.
[[nodiscard]] std::string_view told_of(ThreadNumber thread, const char* file_name, std::span<char> place);

class StuckRequest {
 public:
  /// What `thread` executes now has this ticket (0 = nothing). True if it executed the same when it was last
  /// looked at, and has either used the processor for limits::slice_us since, or waits for something. Where
  /// that is unhurried: only after limits::unhurried_ticks such looks.
  [[nodiscard]] bool look(LoopToken::Ticket ticket, ThreadNumber thread);

 private:
  LoopToken::Ticket ticket_ = 0;
  uint32_t looks_ = 0;   ///< at the same
  uint64_t cpu_us_ = 0;  ///< that the thread had used when the ticket was first seen
};

}  // namespace rowsocket::server
