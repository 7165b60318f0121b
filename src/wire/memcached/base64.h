// SPDX-License-Identifier: GPL-2.0-only
//
// Keys that are sent as base64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowsocket::wire::memcached {

/// Decode into `to`, which has room for three quarters of the text. False if it is none.
[[nodiscard]] inline bool decode_base64(std::string_view text, char* to, size_t& size) {
  size = 0;
  if (text.empty() || text.size() % 4 != 0) {
    return false;
  }
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  uint32_t bits = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const bool is_padding = at >= text.size() - padding;
    const size_t digit = is_padding ? 0 : digits.find(text[at]);
    if (digit == std::string_view::npos) {
      return false;
    }
    bits = bits << 6U | static_cast<uint32_t>(digit);
    if (at % 4 == 3) {
      const size_t byte_count = at + 1 == text.size() ? 3 - padding : 3;
      for (size_t byte = 0; byte < byte_count; ++byte) {
        to[size++] = static_cast<char>(bits >> (16 - 8 * byte));
      }
      bits = 0;
    }
  }
  return true;
}

}  // namespace rowsocket::wire::memcached
