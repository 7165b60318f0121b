// SPDX-License-Identifier: GPL-2.0-only
//
// DATE and DATETIME as their numbers stand in a record, into the text that SQL shows. Inline: each row that
// is read passes here.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowsocket::sql_values {

using DateText = char[10];      ///< 2024-02-29
using DatetimeText = char[19];  ///< 2024-02-29 01:02:03

namespace detail {

inline char* write_digits(char* to, uint32_t number, int count) {
  for (int i = count - 1; i >= 0; --i, number /= 10) {
    to[i] = static_cast<char>('0' + number % 10);
  }
  return to + count;
}

inline char* write_date(char* to, uint32_t year, uint32_t month, uint32_t day) {
  to = write_digits(to, year, 4);
  *to++ = '-';
  to = write_digits(to, month, 2);
  *to++ = '-';
  return write_digits(to, day, 2);
}

}  // namespace detail

/// DATE: 24 bits, of day 5, month 4 and year 15. The text stands in `text`.
[[nodiscard]] inline std::string_view date_text(uint32_t packed, DateText& text) {
  detail::write_date(text, packed >> 9, packed >> 5 & 15, packed & 31);
  return {text, sizeof(text)};
}

/// DATETIME without fractions: 40 bits, the highest a sign that is always positive; of second 6, minute 6,
/// hour 5, day 5 bits, and the rest 13 * year + month. The text stands in `text`.
[[nodiscard]] inline std::string_view datetime_text(uint64_t packed, DatetimeText& text) {
  constexpr uint64_t sign = 0x8000000000;
  packed -= sign;
  const auto time = static_cast<uint32_t>(packed & 0x1FFFF);
  const auto day = static_cast<uint32_t>(packed >> 17 & 31);
  const auto months = static_cast<uint32_t>(packed >> 22);
  char* to = detail::write_date(text, months / 13, months % 13, day);
  *to++ = ' ';
  to = detail::write_digits(to, time >> 12, 2);
  *to++ = ':';
  to = detail::write_digits(to, time >> 6 & 63, 2);
  *to++ = ':';
  detail::write_digits(to, time & 63, 2);
  return {text, sizeof(text)};
}

}  // namespace rowsocket::sql_values
