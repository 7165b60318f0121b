// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/dates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <compare>
#include <cstdio>
#include <string>
#include <tuple>

namespace rowsocket::sql_values {
namespace {

constexpr TimeColumn date = {.is_date = true, .decimals = 0, .rounds = false};
constexpr TimeColumn seconds = {.is_date = false, .decimals = 0, .rounds = false};
constexpr TimeColumn milliseconds = {.is_date = false, .decimals = 3, .rounds = false};
constexpr TimeColumn rounded_seconds = {.is_date = false, .decimals = 0, .rounds = true};

auto in_order(const Day& day) { return std::tuple(day.year, day.month, day.day); }

bool is_real(const Day& day) {
  using std::chrono::year;
  return (year(static_cast<int>(day.year)) / static_cast<int>(day.month) / static_cast<int>(day.day)).ok();
}

Day real_day(Day day) {
  static_cast<void>(move_to_real_day(day));
  return day;
}

TEST(Dates, a_date_drops_the_time_of_day) {
  EXPECT_EQ(side_of_dropped("2024-02-29", date), Fit::exact);
  EXPECT_EQ(side_of_dropped("2024-02-29 00:00:00.000", date), Fit::exact);
  EXPECT_EQ(side_of_dropped("2024-02-29 00:00:01", date), Fit::above);
  EXPECT_EQ(side_of_dropped("2024-02-29T00:00:00.000001", date), Fit::above);
  EXPECT_EQ(side_of_dropped("2024-02-29T23:59:59.9", {.is_date = true, .decimals = 0, .rounds = true}),
            Fit::above)
      << "a day is never rounded up";
}

TEST(Dates, a_time_drops_the_digits_that_it_does_not_keep) {
  EXPECT_EQ(side_of_dropped("12:34:56", seconds), Fit::exact);
  EXPECT_EQ(side_of_dropped("12:34:56.", seconds), Fit::exact);
  EXPECT_EQ(side_of_dropped("12:34:56.000000", seconds), Fit::exact);
  EXPECT_EQ(side_of_dropped("12:34:56.000001", seconds), Fit::above);
  EXPECT_EQ(side_of_dropped("12:34:56.123", milliseconds), Fit::exact);
  EXPECT_EQ(side_of_dropped("12:34:56.1230", milliseconds), Fit::exact);
  EXPECT_EQ(side_of_dropped("12:34:56.1231", milliseconds), Fit::above);
  EXPECT_EQ(side_of_dropped("2024-02-29 12:34:56.9", seconds), Fit::above);
}

TEST(Dates, what_is_cut_from_a_negative_time_lies_below_it) {
  EXPECT_EQ(side_of_dropped("-12:34:56.1", seconds), Fit::below);
  EXPECT_EQ(side_of_dropped("-12:34:56.0", seconds), Fit::exact);
}

TEST(Dates, what_is_rounded_up_lies_below_what_is_stored) {
  EXPECT_EQ(side_of_dropped("12:34:56.5", rounded_seconds), Fit::below);
  EXPECT_EQ(side_of_dropped("12:34:56.49", rounded_seconds), Fit::above);
  EXPECT_EQ(side_of_dropped("-12:34:56.5", rounded_seconds), Fit::above);
  EXPECT_EQ(side_of_dropped("-12:34:56.49", rounded_seconds), Fit::below);
}

RC_GTEST_PROP(Dates, the_side_is_that_of_the_number_that_the_column_stores, ()) {
  const auto decimals = *rc::gen::inRange(0, 7);
  const bool rounds = *rc::gen::arbitrary<bool>();
  const bool is_negative = *rc::gen::arbitrary<bool>();
  const auto microseconds = *rc::gen::inRange(0, 10'000'000);
  int step = 1;
  for (int i = decimals; i < 6; ++i) {
    step *= 10;
  }
  const int stored = (rounds ? microseconds + step / 2 : microseconds) / step * step;
  char text[32];
  std::snprintf(text, sizeof(text), "%s00:00:0%d.%06d", is_negative ? "-" : "", microseconds / 1'000'000,
                microseconds % 1'000'000);
  const int order = is_negative ? stored - microseconds : microseconds - stored;
  const TimeColumn column = {.is_date = false, .decimals = static_cast<size_t>(decimals), .rounds = rounds};
  RC_ASSERT(side_of_dropped(text, column) == side_of(order));
}

TEST(Dates, a_real_day_stays) {
  Day leap_day = {2024, 2, 29};
  EXPECT_FALSE(move_to_real_day(leap_day));
  EXPECT_EQ(in_order(leap_day), std::tuple(2024, 2, 29));
}

TEST(Dates, a_day_that_is_none_becomes_the_last_before_it) {
  EXPECT_EQ(in_order(real_day({2023, 2, 29})), std::tuple(2023, 2, 28));
  EXPECT_EQ(in_order(real_day({1900, 2, 29})), std::tuple(1900, 2, 28));
  EXPECT_EQ(in_order(real_day({2000, 2, 31})), std::tuple(2000, 2, 29));
  EXPECT_EQ(in_order(real_day({2024, 3, 0})), std::tuple(2024, 2, 29));
  EXPECT_EQ(in_order(real_day({2024, 1, 0})), std::tuple(2023, 12, 31));
  EXPECT_EQ(in_order(real_day({2024, 0, 15})), std::tuple(2023, 12, 31));
}

TEST(Dates, there_is_no_real_day_between_a_day_and_what_it_becomes) {
  for (const unsigned year : {1970U, 1999U, 2000U, 2023U, 2024U, 2038U, 2100U}) {
    Day last_real = {year - 1, 12, 31};
    for (unsigned month = 0; month <= 12; ++month) {
      for (unsigned number = 0; number <= 31; ++number) {
        Day day = {year, month, number};
        const bool was_real = is_real(day);
        last_real = was_real ? day : last_real;
        EXPECT_NE(move_to_real_day(day), was_real) << year << '-' << month << '-' << number;
        EXPECT_EQ(in_order(day), in_order(last_real)) << year << '-' << month << '-' << number;
      }
    }
  }
}

}  // namespace
}  // namespace rowsocket::sql_values
