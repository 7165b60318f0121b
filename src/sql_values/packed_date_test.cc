// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/packed_date.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>
#include <string>

namespace rowsocket::sql_values {
namespace {

struct Moment {
  unsigned year;
  unsigned month;
  unsigned day;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
};

std::string shown_date(const Moment& moment) {
  DateText text;
  return std::string(date_text(moment.year << 9 | moment.month << 5 | moment.day, text));
}

std::string shown(const Moment& moment) {
  constexpr uint64_t sign = 0x8000000000;
  const uint64_t days = (uint64_t{moment.year} * 13 + moment.month) << 5 | moment.day;
  const uint64_t time = uint64_t{moment.hour} << 12 | moment.minute << 6 | moment.second;
  DatetimeText text;
  return std::string(datetime_text(sign + (days << 17 | time), text));
}

TEST(PackedDate, shows_years_of_four_digits_and_the_rest_of_two) {
  EXPECT_EQ(shown_date({2024, 2, 29}), "2024-02-29");
  EXPECT_EQ(shown_date({9999, 12, 31}), "9999-12-31");
  EXPECT_EQ(shown_date({1, 2, 3}), "0001-02-03");
  EXPECT_EQ(shown({2024, 2, 29, 1, 2, 3}), "2024-02-29 01:02:03");
  EXPECT_EQ(shown({9999, 12, 31, 23, 59, 59}), "9999-12-31 23:59:59");
}

TEST(PackedDate, shows_zero_dates_and_days_that_are_none) {
  EXPECT_EQ(shown_date({0, 0, 0}), "0000-00-00");
  EXPECT_EQ(shown({0, 0, 0}), "0000-00-00 00:00:00");
  EXPECT_EQ(shown_date({2023, 2, 31}), "2023-02-31");
  EXPECT_EQ(shown({2023, 0, 31, 12, 0, 0}), "2023-00-31 12:00:00");
}

RC_GTEST_PROP(PackedDate, shows_every_moment, ()) {
  const Moment moment = {*rc::gen::inRange(0U, 10'000U), *rc::gen::inRange(0U, 13U),
                         *rc::gen::inRange(0U, 32U),     *rc::gen::inRange(0U, 24U),
                         *rc::gen::inRange(0U, 60U),     *rc::gen::inRange(0U, 60U)};
  char text[64];
  const int size = std::snprintf(text, sizeof(text), "%04u-%02u-%02u %02u:%02u:%02u", moment.year,
                                 moment.month, moment.day, moment.hour, moment.minute, moment.second);
  RC_ASSERT(shown(moment) == std::string(text, static_cast<size_t>(size)));
  RC_ASSERT(shown_date(moment) == std::string(text, 10));
}

}  // namespace
}  // namespace rowsocket::sql_values
