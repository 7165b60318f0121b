// SPDX-License-Identifier: GPL-2.0-only
//
// A value on its way between the wire and a table: bytes that another object owns, or NULL.
// Text is UTF-8, numbers are decimal text, dates are as SQL prints them.
#pragma once

#include <cstddef>
#include <string_view>

namespace rowsocket {

/// A view of one value. NULL, now and the empty string are distinct: NULL has no address, now an address of
/// its own.
struct Value {
  const char* data = nullptr;
  size_t size = 0;

  constexpr Value() = default;
  constexpr Value(const char* bytes, size_t byte_count) : data(bytes), size(byte_count) {}
  constexpr explicit Value(std::string_view text)
      : data(text.data() != nullptr ? text.data() : ""), size(text.size()) {}

  /// The time of the statement that uses the value, as NOW() with the fraction that its column holds.
  [[nodiscard]] static constexpr Value now() { return {&now_marker, 0}; }

  [[nodiscard]] constexpr bool is_null() const { return data == nullptr; }
  [[nodiscard]] constexpr bool is_now() const { return data == &now_marker; }
  /// The bytes; empty for NULL and now.
  [[nodiscard]] constexpr std::string_view view() const { return {data, size}; }

 private:
  static constexpr char now_marker = 0;  ///< its address means now
};

}  // namespace rowsocket
