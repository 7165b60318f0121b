// SPDX-License-Identifier: GPL-2.0-only
//
// Appends the values of one row to a buffer, in a protocol's format: one pass from the field to the bytes on
// the wire. A concrete class with constant data, so that no value costs a virtual call.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/buffer.h"

namespace rowsocket {

/// How a protocol writes a value.
struct ValueFormat {
  enum class Framing : uint8_t {
    separated,        ///< a separator before each value, and some bytes escaped
    length_prefixed,  ///< `length_lead`, the length in decimal, CR LF, the bytes, CR LF
    bare  ///< the bytes alone, of NULL the null_token: a reply that knows each ColumnEnd frames them itself
  };
  Framing framing = Framing::separated;
  char separator = '\t';   ///< separated: before each value
  char length_lead = '$';  ///< length_prefixed
  std::string_view null_token =
      {};  ///< stands for NULL; separated: behind the separator, and not empty without an address
  unsigned char escape_below = 0;  ///< separated: bytes below this are escaped ...
  char escape_lead = '\\';         ///< ... as this byte ...
  unsigned char escape_shift = 0;  ///< ... and the byte plus this
  /// length_prefixed: what is written of a row whose columns are told with their names (ValueWriter::name).
  enum class Named : uint8_t { values, names, names_and_values };
  Named named = Named::values;
  bool leaves_out_null = false;  ///< length_prefixed: a column that is NULL is not told
};

/// Where a value of the row ends in the buffer, counted from its first byte.
struct ColumnEnd {
  size_t bytes;
  bool is_null;
};

/// What a reply wants to know or to write with each column of a row. Both may be nullptr. Each has an item
/// for every column. They are in the arena, as the reply is.
struct PerColumn {
  const std::string_view* prefixes =
      nullptr;                     ///< what stands before the column's value: its name, where names are told
  ColumnEnd* ends = nullptr;       ///< to be filled in
  uint32_t* told_count = nullptr;  ///< one number for all columns: rises by each one that is told
};

class ValueWriter {
 public:
  explicit ValueWriter(Buffer& out, const ValueFormat& format, PerColumn per_column = {})
      : out_(out), format_(format), per_column_(per_column) {}

  /// Before the first value of each row, where the reply has something with each column.
  void begin_row() { column_ = 0; }

  /// Before the value of a column, where names are told. The name is in use until then.
  void name(std::string_view name_of_column) { name_ = name_of_column; }

  void null() {
    if (!is_plain_) [[unlikely]] {
      framed_null();
      return;
    }
    if (out_.reserve(1 + format_.null_token.size())) [[likely]] {
      *out_.end() = format_.separator;
      std::memcpy(out_.end() + 1, format_.null_token.data(), format_.null_token.size());
      out_.advance(1 + format_.null_token.size());
    }
  }
  void integer(int64_t number) { number_text(number); }
  void unsigned_integer(uint64_t number) { number_text(number); }

  /// Bytes of which none needs an escape (digits, dates).
  void plain(std::string_view bytes) {
    if (!is_plain_) [[unlikely]] {
      framed(bytes);
      return;
    }
    if (out_.reserve(1 + bytes.size())) [[likely]] {
      char* to = out_.end();
      *to = format_.separator;
      if (!bytes.empty()) {  // an empty view may have no address, which memcpy forbids
        std::memcpy(to + 1, bytes.data(), bytes.size());
      }
      out_.advance(1 + bytes.size());
    }
  }
  /// Any bytes.
  void text(std::string_view bytes) {
    if (is_plain_) [[likely]] {
      escaped(bytes);
    } else {
      framed(bytes);
    }
  }

 private:
  template <typename Number>
  void number_text(Number number) {
    constexpr size_t digits_max = 24;
    if (!is_plain_) [[unlikely]] {
      char digits[digits_max];
      const auto written = std::to_chars(digits, digits + digits_max, number);
      framed({digits, static_cast<size_t>(written.ptr - digits)});
      return;
    }
    if (out_.reserve(digits_max)) [[likely]] {
      char* to = out_.end();
      *to = format_.separator;
      const auto written = std::to_chars(to + 1, to + digits_max, number);
      out_.advance(static_cast<size_t>(written.ptr - to));
    }
  }
  void escaped(std::string_view bytes);
  void framed(std::string_view bytes);
  void framed_null();
  void length_prefixed(std::string_view bytes);
  [[nodiscard]] bool begin_value();
  void end_value(bool is_null);

  Buffer& out_;
  const ValueFormat& format_;
  PerColumn per_column_;
  size_t column_ = 0;
  std::string_view name_ = {};
  /// Nothing but a separator and escapes: the quick way.
  const bool is_plain_ = format_.framing == ValueFormat::Framing::separated &&
                         per_column_.prefixes == nullptr && per_column_.ends == nullptr &&
                         per_column_.told_count == nullptr;
};

}  // namespace rowsocket
