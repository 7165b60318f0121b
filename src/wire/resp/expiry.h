// SPDX-License-Identifier: GPL-2.0-only
//
// When rows of containers expire. The column holds whole seconds since 1970: a time between two is the later
// one, so that no row goes before its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/resp/parts.h"

namespace rowsocket::wire::resp {

/// A time as a command gives it.
struct ExpiryTime {
  int64_t number = 0;
  bool is_in_ms = false;
  bool is_absolute = false;  ///< since 1970, else from now
};
/// What the column holds; false if that is beyond what a time can be. A time that is over becomes 1.
[[nodiscard]] bool expiry_of(const Scope& scope, const ExpiryTime& time, uint64_t& expires_s);

/// EX, PX, EXAT, PXAT, PERSIST and KEEPTTL, of which one may be given. The words are read before the number.
struct ExpiryOptions {
  std::string_view option = {};  ///< the one that was given, in capitals
  uint64_t expires_s = 0;        ///< 0 = never

  [[nodiscard]] bool is_given() const { return !option.empty(); }
  /// The expiry that the row has stays.
  [[nodiscard]] bool keeps() const { return option == "KEEPTTL"; }
  /// The option at `at`, which goes to the last argument that the option takes. False if it is none, or
  /// another one than was given before. Of the same one, the last counts.
  [[nodiscard]] bool take(Arguments arguments, size_t& at);
  /// Behind all options: what the time comes to. False: the plan refuses the command, which is the first of
  /// the arguments.
  [[nodiscard]] bool read_time(const Scope& scope, Arguments arguments, Plan& plan);

 private:
  std::string_view number_ = {};
};

}  // namespace rowsocket::wire::resp
