// SPDX-License-Identifier: GPL-2.0-only
#include "bench/user_table.h"

#include <charconv>
#include <string_view>

namespace rowsocket::bench {

namespace {

constexpr std::string_view created_day = "2026-01-01 ";
constexpr uint32_t seconds_per_day = 86'400;

void append_two_digits(Buffer& out, uint32_t number) {
  out.append(static_cast<char>('0' + number / 10));
  out.append(static_cast<char>('0' + number % 10));
}

}  // namespace

void append_number(Buffer& out, uint32_t number) {
  constexpr size_t digits_max = 10;
  if (out.reserve(digits_max)) {
    const auto written = std::to_chars(out.end(), out.end() + digits_max, number);
    out.advance(static_cast<size_t>(written.ptr - out.end()));
  }
}

void append_user_name(Buffer& out, uint32_t user_id) {
  out.append("user");
  append_number(out, user_id);
}

void append_user_email(Buffer& out, uint32_t user_id) {
  append_user_name(out, user_id);
  out.append("@example.com");
}

void append_created(Buffer& out, uint32_t user_id) {
  const uint32_t second = user_id % seconds_per_day;
  out.append(created_day);
  append_two_digits(out, second / 3600);
  out.append(':');
  append_two_digits(out, second / 60 % 60);
  out.append(':');
  append_two_digits(out, second % 60);
}

}  // namespace rowsocket::bench
