// SPDX-License-Identifier: GPL-2.0-only
//
// What must be true, as code. Where it is not, there is a bug of ours: in tests the process ends there, with
// a line that says what was not true; in a user's server the caller gives up the connection that it serves,
// and the server goes on.
//
//   if (!invariant(staged_.empty(), "a turn ends with nothing staged")) {
//     out.fail();  // costs the connection
//   }
#pragma once

#include <cstdint>

namespace rowsocket {

/// Where in the source something is. By the compilers' own words: clang 14 has no std::source_location.
struct SourceLocation {
  const char* file;
  int line;
  static SourceLocation here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// True if `condition` is. Else the error log has a line (the first times), it is counted and, where
/// `abort_on_broken_invariants` was called, ends the process.
[[nodiscard]] inline bool invariant(bool condition, const char* what,
                                    SourceLocation where = SourceLocation::here());

/// For tests; the environment variable ROWSOCKET_ABORT_ON_BROKEN_INVARIANTS does the same when the plugin is
/// loaded.
void abort_on_broken_invariants();
/// How many were broken since the start of the process, by all threads.
[[nodiscard]] uint64_t broken_invariants();

namespace detail {
void break_invariant(const char* what, SourceLocation where);
}

inline bool invariant(bool condition, const char* what, SourceLocation where) {
  if (!condition) [[unlikely]] {
    detail::break_invariant(what, where);
  }
  return condition;
}

}  // namespace rowsocket
