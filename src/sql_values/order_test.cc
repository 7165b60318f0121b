// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/order.h"

#include <gtest/gtest.h>

#include <string>

namespace rowsocket::sql_values {
namespace {

/// Which orders satisfy it: "<" for a row before, "=" for an equal one, ">" for one after.
template <typename Operator>
std::string satisfying(Operator wanted) {
  std::string orders;
  orders += satisfies(-2, wanted) ? "<" : "";
  orders += satisfies(0, wanted) ? "=" : "";
  orders += satisfies(2, wanted) ? ">" : "";
  return orders;
}

TEST(Order, a_filter_compares_in_seven_ways) {
  EXPECT_EQ(satisfying(Comparison::equal), "=");
  EXPECT_EQ(satisfying(Comparison::not_equal), "<>");
  EXPECT_EQ(satisfying(Comparison::less), "<");
  EXPECT_EQ(satisfying(Comparison::less_or_equal), "<=");
  EXPECT_EQ(satisfying(Comparison::greater), ">");
  EXPECT_EQ(satisfying(Comparison::greater_or_equal), "=>");
  EXPECT_EQ(satisfying(Comparison::greater_or_unset), ">");
}

TEST(Order, a_key_operator_names_rows_on_one_side) {
  EXPECT_EQ(satisfying(KeyOperator::equal), "=");
  EXPECT_EQ(satisfying(KeyOperator::after), ">");
  EXPECT_EQ(satisfying(KeyOperator::at_or_after), "=>");
  EXPECT_EQ(satisfying(KeyOperator::before), "<");
  EXPECT_EQ(satisfying(KeyOperator::at_or_before), "<=");
  EXPECT_EQ(satisfying(KeyOperator::starts_with), "");
}

}  // namespace
}  // namespace rowsocket::sql_values
