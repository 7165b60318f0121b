// SPDX-License-Identifier: GPL-2.0-only
//
// A whole number that is searched for, and the integer columns that it is searched in. Inline: keys and
// filters of numbers pass here.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "sql_values/fit.h"

namespace rowsocket::sql_values {

/// Sign and magnitude, so that both ends of BIGINT and of BIGINT UNSIGNED are exact.
struct WholeNumber {
  bool is_negative = false;  ///< never of 0
  bool is_beyond = false;    ///< its magnitude has more than 64 bits, and is taken for the largest
  uint64_t magnitude = 0;

  /// An integer column's value in two's complement.
  [[nodiscard]] static constexpr WholeNumber of(int64_t bits, bool is_unsigned) {
    const bool is_negative = bits < 0 && !is_unsigned;
    const auto magnitude = static_cast<uint64_t>(bits);
    return {is_negative, false, is_negative ? ~magnitude + 1 : magnitude};
  }
};

/// So many digits always fit 64 bits.
inline constexpr size_t digits_that_fit = 19;

/// The same as std::from_chars for up to `digits_that_fit` bytes, which it need not ask each digit about an
/// overflow for: a third of the instructions. False if one of them is no digit.
[[nodiscard]] constexpr bool parse_digits(std::string_view digits, uint64_t& magnitude) {
  magnitude = 0;
  for (const char byte : digits) {
    const unsigned digit = static_cast<unsigned char>(byte) - unsigned{'0'};
    if (digit > 9) {
      return false;
    }
    magnitude = magnitude * 10 + digit;
  }
  return true;
}

/// False if the text is anything but digits, with or without a sign.
[[nodiscard]] inline bool parse(std::string_view text, WholeNumber& number) {
  const bool has_minus = text.starts_with('-');
  if (has_minus || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text.empty()) {
    return false;
  }
  if (text.size() <= digits_that_fit) [[likely]] {
    number.is_beyond = false;
    if (!parse_digits(text, number.magnitude)) {
      return false;
    }
  } else {
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number.magnitude);
    if (stop != end) {
      return false;
    }
    number.is_beyond = failure == std::errc::result_out_of_range;
    number.magnitude = number.is_beyond ? UINT64_MAX : number.magnitude;
  }
  number.is_negative = has_minus && number.magnitude > 0;
  return true;
}

/// The number's place among those of 64 bits, signed and unsigned ones.
[[nodiscard]] constexpr Fit fit_in_64_bits(const WholeNumber& number) {
  return !number.is_beyond ? Fit::exact : number.is_negative ? Fit::below : Fit::above;
}

/// An integer column of 1 to 8 bytes.
struct IntegerColumn {
  uint8_t bytes;
  bool is_unsigned;
};

/// `bits`: the number in two's complement, or the nearest one that the column can hold.
[[nodiscard]] constexpr Fit fit(const WholeNumber& number, IntegerColumn column, uint64_t& bits) {
  const unsigned bit_count = column.bytes * 8U;
  const uint64_t signed_max = (uint64_t{1} << (bit_count - 1)) - 1;
  if (number.is_negative) {
    const uint64_t negative_max = column.is_unsigned ? 0 : signed_max + 1;
    const bool fits = number.magnitude <= negative_max;
    bits = ~(fits ? number.magnitude : negative_max) + 1;
    return fits ? Fit::exact : Fit::below;
  }
  const uint64_t max = column.is_unsigned ? signed_max * 2 + 1 : signed_max;
  const bool fits = !number.is_beyond && number.magnitude <= max;
  bits = fits ? number.magnitude : max;
  return fits ? Fit::exact : Fit::above;
}

/// Less than, equal to or greater than 0 as `left` is.
[[nodiscard]] constexpr int compare(const WholeNumber& left, const WholeNumber& right) {
  if (left.is_negative != right.is_negative) {
    return left.is_negative ? -1 : 1;
  }
  if (left.magnitude == right.magnitude) {
    return 0;
  }
  return (left.magnitude < right.magnitude) != left.is_negative ? -1 : 1;
}

}  // namespace rowsocket::sql_values
