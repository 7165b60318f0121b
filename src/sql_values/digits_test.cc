// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/digits.h"

#include <gtest/gtest.h>

#include <string>

namespace rowsocket::sql_values {
namespace {

TEST(Digits, a_whole_number_has_none_beyond) {
  for (const char* const text :
       {"0", "1", "-5", "+5", " 7 ", "5.", "5.000", "-0.0", ".0", "1e2", "1.25e2", "0e-9"}) {
    EXPECT_FALSE(has_digits_beyond(text, 0)) << text;
  }
}

TEST(Digits, a_fraction_has_some) {
  for (const char* const text : {"127.5", "127.4", ".5", "-0.000001", "1e-1", "12E-1", "1.25e1", " 1.5 "}) {
    EXPECT_TRUE(has_digits_beyond(text, 0)) << text;
  }
}

TEST(Digits, zeros_at_the_end_do_not_count) {
  EXPECT_FALSE(has_digits_beyond("1.50", 1));
  EXPECT_FALSE(has_digits_beyond("100e-2", 0));
  EXPECT_FALSE(has_digits_beyond("1" + std::string(100, '0') + "e-100", 0));
}

TEST(Digits, the_decimals_of_the_column_count) {
  EXPECT_FALSE(has_digits_beyond("1.05", 2));
  EXPECT_TRUE(has_digits_beyond("1.005", 2));
  EXPECT_FALSE(has_digits_beyond("5e-2", 2));
  EXPECT_TRUE(has_digits_beyond("5e-3", 2));
}

TEST(Digits, an_exponent_ends_where_its_digits_end) {
  EXPECT_FALSE(has_digits_beyond("1.5e1 ", 0));
  EXPECT_FALSE(has_digits_beyond("1.5e1x", 0));
}

TEST(Digits, no_exponent_is_too_large) {
  EXPECT_TRUE(has_digits_beyond("1e-99999999999999999999999999", 30));
  EXPECT_FALSE(has_digits_beyond("1.5e99999999999999999999999999", 0));
}

}  // namespace
}  // namespace rowsocket::sql_values
