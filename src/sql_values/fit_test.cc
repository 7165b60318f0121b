// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/fit.h"

#include <gtest/gtest.h>

namespace rowsocket::sql_values {
namespace {

TEST(Fit, the_side_is_that_of_the_searched_value) {
  EXPECT_EQ(side_of(-7), Fit::below);
  EXPECT_EQ(side_of(0), Fit::exact);
  EXPECT_EQ(side_of(7), Fit::above);
}

TEST(Fit, a_row_that_equals_the_value_in_the_place_does_not_equal_the_searched_one) {
  EXPECT_EQ(order_to_searched(0, Fit::exact), 0);
  EXPECT_LT(order_to_searched(0, Fit::above), 0);
  EXPECT_GT(order_to_searched(0, Fit::below), 0);
}

TEST(Fit, a_row_that_differs_from_the_value_in_the_place_keeps_its_side) {
  for (const Fit fit : {Fit::exact, Fit::below, Fit::above}) {
    EXPECT_EQ(order_to_searched(-3, fit), -3);
    EXPECT_EQ(order_to_searched(3, fit), 3);
  }
}

}  // namespace
}  // namespace rowsocket::sql_values
