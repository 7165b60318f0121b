// SPDX-License-Identifier: GPL-2.0-only
//
// Bytes of clients as text for people: one line of UTF-8, whatever the bytes are, and no more than asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "request/value.h"

namespace rowsocket::exec {

/// UTF-8, and of one line.
[[nodiscard]] bool is_line_of_text(std::string_view bytes);

class Readable {
 public:
  /// `value_bytes_max`: how much of each value is shown; 0 = a ? stands for it.
  explicit Readable(size_t value_bytes_max) : value_bytes_max_(value_bytes_max) {}

  // Each may throw std::bad_alloc.

  void add(std::string_view plain) { text_.append(plain); }
  void add_number(uint64_t number) { text_.append(std::to_string(number)); }
  /// A number as it is, other text in quotes: 42, 'pen', 'cut'...(100 bytes), NULL, NOW.
  void add_value(const Value& value);
  /// The name of a table or column: in backquotes where it is no plain word.
  void add_name(std::string_view name);

  [[nodiscard]] size_t size() const { return text_.size(); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add_escaped(std::string_view bytes, char quote);

  size_t value_bytes_max_;
  std::string text_;
};

}  // namespace rowsocket::exec
