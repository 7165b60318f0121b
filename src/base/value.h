// SPDX-License-Identifier: GPL-2.0-only
//
// A value on its way between the wire and a table: bytes that somebody else owns, or NULL.
// Text is UTF-8, numbers are decimal text, dates are as SQL prints them.
#pragma once

#include <cstddef>
#include <string_view>

namespace rowsocket {

/// A view of one value. NULL and the empty string are distinct: NULL has no address.
struct Value {
  const char* data = nullptr;
  size_t size = 0;

  constexpr Value() = default;
  constexpr Value(const char* bytes, size_t byte_count) : data(bytes), size(byte_count) {}
  constexpr explicit Value(std::string_view text) : data(text.data() != nullptr ? text.data() : ""), size(text.size()) {}

  [[nodiscard]] constexpr bool is_null() const { return data == nullptr; }
  /// The bytes; empty for NULL.
  [[nodiscard]] constexpr std::string_view view() const { return {data, size}; }
};

}  // namespace rowsocket
