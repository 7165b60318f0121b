// SPDX-License-Identifier: GPL-2.0-only
//
// Patterns as Redis has them: `*` any bytes, `?` one byte, `[a-c]` and `[^a-c]` one of these bytes or none of
// them, `\` before a byte that is meant as it is.
#pragma once

#include <cstddef>
#include <string_view>

namespace rowsocket::wire::resp {

/// The beginning of the pattern that every text must have.
[[nodiscard]] inline std::string_view literal_beginning(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of("*?[\\"));
}

/// The whole text matches. Takes at most the product of both sizes.
[[nodiscard]] bool matches_glob(std::string_view text, std::string_view pattern);

}  // namespace rowsocket::wire::resp
