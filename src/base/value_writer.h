// SPDX-License-Identifier: GPL-2.0-only
//
// Where a storage engine writes the values of a row: straight into the connection's reply buffer, in one pass, framed and
// escaped as the connection's protocol asks. The protocol says how in a `ValueFormat` (constant data), so that an engine knows
// no wire format and no call is virtual per value.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/buffer.h"

namespace rowsocket {

/// How a protocol writes one value.
struct ValueFormat {
  char separator;               ///< stands before each value
  std::string_view null_token;  ///< stands for NULL (after the separator)
  unsigned char escape_below;   ///< bytes below this are escaped ...
  char escape_lead;             ///< ... as this byte ...
  unsigned char escape_shift;   ///< ... and the byte plus this
};

class ValueWriter {
 public:
  ValueWriter(Buffer& out, const ValueFormat& format) : out_(out), format_(format) {}

  void null() {
    if (out_.reserve(1 + format_.null_token.size())) [[likely]] {
      *out_.end() = format_.separator;
      std::memcpy(out_.end() + 1, format_.null_token.data(), format_.null_token.size());
      out_.advance(1 + format_.null_token.size());
    }
  }
  void integer(int64_t number) { number_text(number); }
  void unsigned_integer(uint64_t number) { number_text(number); }

  /// Bytes known to hold nothing that needs escaping (digits, dates).
  void plain(std::string_view bytes) {
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
  void text(std::string_view bytes);

 private:
  template <typename Number>
  void number_text(Number number) {
    constexpr size_t digits_max = 24;
    if (out_.reserve(digits_max)) [[likely]] {
      char* to = out_.end();
      *to = format_.separator;
      const auto written = std::to_chars(to + 1, to + digits_max, number);
      out_.advance(static_cast<size_t>(written.ptr - to));
    }
  }

  Buffer& out_;
  const ValueFormat& format_;
};

}  // namespace rowsocket
