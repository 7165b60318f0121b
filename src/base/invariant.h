// SPDX-License-Identifier: GPL-2.0-only
//
// What must be true, as code. Where it is not, there is a bug of ours: in tests the process ends there, with a line that says
// what was not true; in a user's server the caller gives up the connection that it serves, and the server goes on.
//
//   if (!invariant(staged_.empty(), "a turn ends with nothing staged")) {
//     out.fail();  // costs the connection
//   }
#pragma once

#include <cstdint>
#include <source_location>

namespace rowsocket {

/// True if `condition` is. Else it is counted and, where `abort_on_broken_invariants` was called, ends the process.
[[nodiscard]] inline bool invariant(bool condition, const char* what,
                                    const std::source_location& where = std::source_location::current());

/// For tests; the environment variable ROWSOCKET_ABORT_ON_BROKEN_INVARIANTS does the same when the plugin is loaded.
void abort_on_broken_invariants();
/// How many were broken since the start of the process, by all threads.
[[nodiscard]] uint64_t broken_invariants();

namespace detail {
void break_invariant(const char* what, const std::source_location& where);
}

inline bool invariant(bool condition, const char* what, const std::source_location& where) {
  if (!condition) [[unlikely]] {
    detail::break_invariant(what, where);
  }
  return condition;
}

}  // namespace rowsocket
