// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/digits.h"

#include <algorithm>
#include <cstdint>

namespace rowsocket::sql_values {
namespace {

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// What stands behind the `e` of a number. Far beyond all columns, one number is as good as another.
int64_t exponent_of(std::string_view text) {
  constexpr int64_t exponent_max = int64_t{1} << 40;
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  int64_t exponent = 0;
  for (const char byte : text) {
    if (!is_digit(byte)) {
      break;
    }
    exponent = std::min(exponent * 10 + (byte - '0'), exponent_max);
  }
  return is_negative ? -exponent : exponent;
}

}  // namespace

bool has_digits_beyond(std::string_view text, unsigned decimals) {
  const bool is_whole = std::none_of(text.begin(), text.end(),
                                     [](char byte) { return byte == '.' || byte == 'e' || byte == 'E'; });
  if (is_whole) [[likely]] {
    return false;
  }
  int64_t place = 0;       // of the digit under way: 1 is the first one of the fraction
  int64_t last_place = 0;  // of the last digit other than 0
  int64_t exponent = 0;
  bool is_zero = true;
  bool is_fraction = false;
  int64_t whole_digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (byte == 'e' || byte == 'E') {
      exponent = exponent_of(text.substr(i + 1));
      break;
    }
    is_fraction = is_fraction || byte == '.';
    if (!is_digit(byte)) {
      continue;
    }
    ++place;
    whole_digits += is_fraction ? 0 : 1;
    if (byte != '0') {
      is_zero = false;
      last_place = place;
    }
  }
  return !is_zero && last_place - whole_digits - exponent > static_cast<int64_t>(decimals);
}

}  // namespace rowsocket::sql_values
