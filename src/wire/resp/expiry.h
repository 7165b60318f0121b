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

/// EX, PX, EXAT, PXAT, PERSIST and KEEPTTL, of which one may be given.
struct ExpiryOptions {
  bool is_given = false;
  bool keeps = false;      ///< the expiry that the row has
  uint64_t expires_s = 0;  ///< 0 = never

  /// The option at `at`, which goes to the last argument that the option takes. False if it is none, or
  /// wrong.
  [[nodiscard]] bool take(const Scope& scope, Arguments arguments, size_t& at);
  /// What was wrong, or `otherwise`.
  [[nodiscard]] std::string_view problem(std::string_view otherwise) const {
    return problem_.empty() ? otherwise : problem_;
  }

 private:
  std::string_view problem_ = {};
};

}  // namespace rowsocket::wire::resp
