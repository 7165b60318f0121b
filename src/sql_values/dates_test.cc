// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/dates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <compare>
#include <tuple>

namespace rowsocket::sql_values {
namespace {

auto in_order(const Day& day) { return std::tuple(day.year, day.month, day.day); }

bool is_real(const Day& day) {
  using std::chrono::year;
  return (year(static_cast<int>(day.year)) / static_cast<int>(day.month) / static_cast<int>(day.day)).ok();
}

Day real_day(Day day) {
  static_cast<void>(move_to_real_day(day));
  return day;
}

TEST(Dates, a_date_holds_a_date_without_a_time_of_day) {
  EXPECT_TRUE(is_held_whole("2024-02-29", TimeKind::date, 0));
  EXPECT_FALSE(is_held_whole("2024-02-29 00:00:01", TimeKind::date, 0));
  EXPECT_FALSE(is_held_whole("2024-02-29T00:00:00.000001", TimeKind::date, 0));
}

TEST(Dates, a_datetime_holds_a_date_and_the_fraction_that_it_keeps) {
  EXPECT_TRUE(is_held_whole("2024-02-29", TimeKind::datetime, 0));
  EXPECT_TRUE(is_held_whole("2024-02-29 12:34:56", TimeKind::datetime, 0));
  EXPECT_FALSE(is_held_whole("2024-02-29 12:34:56.9", TimeKind::datetime, 0));
  EXPECT_TRUE(is_held_whole("2024-02-29 12:34:56.789", TimeKind::datetime, 3));
  EXPECT_FALSE(is_held_whole("2024-02-29 12:34:56.7890", TimeKind::datetime, 3));
}

TEST(Dates, a_time_holds_the_fraction_that_it_keeps_but_no_day) {
  EXPECT_TRUE(is_held_whole("12:34:56", TimeKind::time, 0));
  EXPECT_TRUE(is_held_whole("-838:59:59", TimeKind::time, 0));
  EXPECT_FALSE(is_held_whole("12:34:56.1", TimeKind::time, 0));
  EXPECT_TRUE(is_held_whole("-12:34:56.123", TimeKind::time, 3));
  EXPECT_FALSE(is_held_whole("-12:34:56.1230", TimeKind::time, 3));
  EXPECT_FALSE(is_held_whole("1 12:34:56", TimeKind::time, 0));
  EXPECT_FALSE(is_held_whole("2024-02-29 12:34:56", TimeKind::time, 0));
}

/// It may be held whole. But only the server knows the meaning of such a text.
TEST(Dates, a_text_in_another_form_than_the_columns_is_not_trusted) {
  for (const TimeKind kind : {TimeKind::date, TimeKind::datetime, TimeKind::time}) {
    for (const char* const text :
         {"", "1", ":", "12:34", "123456", "20240229", "20240229123456", "24-2-29", "2024-02-29 ",
          "2024-02-29 12", "2024-02-29 12:34", "2024-02-29 12:34:5", "2024/02/29 12:34:56",
          "2024-02.29 12:34:56", "2024.02-29", "1234567890"}) {
      EXPECT_FALSE(is_held_whole(text, kind, 6)) << text;
    }
  }
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
