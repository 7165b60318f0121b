// SPDX-License-Identifier: GPL-2.0-only
//
// The line of a meta command: one key, and flags of one letter, some with a token behind it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/memcached/parse_parts.h"

namespace rowsocket::wire::memcached {

/// A meta command's line.
struct Meta {
  char command = 'g';
  std::string_view wire_key = {};
  std::span<const std::string_view> flags = {};
  bool is_base64 = false;
  bool is_quiet = false;
  bool tells_value = false;
  bool keeps_row = false;  ///< x: the value goes, and the row stays
  bool has_cas = false;
  uint64_t cas = 0;
  bool has_expiry = false;
  int64_t exptime = 0;
  std::optional<uint64_t> new_cas = {};      ///< E
  std::optional<int64_t> made_exptime = {};  ///< N: a row that is missing is made, and expires so
  uint64_t initial = 0;                      ///< J: the number that it holds
  uint32_t client_flags = 0;
  uint64_t delta = 1;
  char mode = 0;
  std::string_view wrong = {};  ///< the line that says what is wrong with a flag

  /// A version that is compared with needs a row that is there.
  [[nodiscard]] bool makes_missed() const { return made_exptime.has_value() && !has_cas; }
  [[nodiscard]] bool asks(char flag) const {
    return std::any_of(flags.begin(), flags.end(), [flag](auto one) { return one[0] == flag; });
  }
};

/// What is wrong with a flag or a key, as the command tells it: md and ma say less.
[[nodiscard]] std::string_view as_told(const Meta& meta, std::string_view wrong);
/// The flags behind the key. What is wrong with them is in `wrong`. False where memory is refused.
[[nodiscard]] bool read_flags(const Scope& scope, Words words, Meta& meta);

}  // namespace rowsocket::wire::memcached
