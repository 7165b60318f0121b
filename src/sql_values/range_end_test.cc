// SPDX-License-Identifier: GPL-2.0-only
//
// Each end is held to what it stands for: the rows that the searched key gives. Rows hold even numbers from 0
// to 8 only, so that an odd number, a smaller and a larger one are keys that no row can have.
#include "sql_values/range_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sql_values/order.h"

namespace rowsocket::sql_values {
namespace {

constexpr KeyOperator all_ends[] = {KeyOperator::equal, KeyOperator::after, KeyOperator::at_or_after,
                                    KeyOperator::before, KeyOperator::at_or_before};

struct Index {
  bool is_descending;

  [[nodiscard]] int order(int row, int key) const { return is_descending ? key - row : row - key; }
  [[nodiscard]] std::vector<int> rows(KeyOperator key_operator, int key) const {
    std::vector<int> found;
    for (const int row : {0, 2, 4, 6, 8}) {
      if (satisfies(order(row, key), key_operator)) {
        found.push_back(row);
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<int> rows_at_nearest(KeyOperator key_operator, int nearest, Fit fit) const {
    const RangeEnd end = end_at_nearest(key_operator, fit, is_descending, true);
    return end.finds_nothing ? std::vector<int>() : rows(end.key_operator, nearest);
  }
};

TEST(RangeEnd, the_nearest_key_gives_the_rows_of_the_searched_one) {
  for (const bool is_descending : {false, true}) {
    const Index index{is_descending};
    for (const KeyOperator key_operator : all_ends) {
      for (const int searched : {-1, 1, 3, 5, 7, 9}) {
        for (const int nearest : {searched - 1, searched + 1}) {
          if (nearest < 0 || nearest > 8) {
            continue;
          }
          EXPECT_EQ(index.rows_at_nearest(key_operator, nearest, side_of(searched - nearest)),
                    index.rows(key_operator, searched))
              << "operator " << static_cast<int>(key_operator) << ", searched " << searched << ", nearest "
              << nearest << (is_descending ? ", descending" : "");
        }
      }
    }
  }
}

TEST(RangeEnd, a_key_before_the_lower_end_of_its_only_part_finds_all_rows_or_none) {
  const auto end = [](KeyOperator key_operator, bool is_descending) {
    return end_at_nearest(key_operator, Fit::lower_end, is_descending, false);
  };
  EXPECT_TRUE(end(KeyOperator::equal, false).finds_nothing);
  for (const KeyOperator up : {KeyOperator::after, KeyOperator::at_or_after}) {
    EXPECT_FALSE(end(up, false).finds_nothing);
    EXPECT_TRUE(end(up, true).finds_nothing);
  }
  for (const KeyOperator down : {KeyOperator::before, KeyOperator::at_or_before}) {
    EXPECT_TRUE(end(down, false).finds_nothing);
    EXPECT_FALSE(end(down, true).finds_nothing);
  }
}

TEST(RangeEnd, a_key_before_the_lower_end_of_a_later_part_stands_before_the_rows_of_the_parts_before_it) {
  const auto end = [](KeyOperator key_operator) {
    return end_at_nearest(key_operator, Fit::lower_end, false, true);
  };
  EXPECT_EQ(end(KeyOperator::after).key_operator, KeyOperator::at_or_after);
  EXPECT_EQ(end(KeyOperator::at_or_before).key_operator, KeyOperator::before);
  EXPECT_FALSE(end(KeyOperator::after).finds_nothing || end(KeyOperator::at_or_before).finds_nothing);
  EXPECT_TRUE(end(KeyOperator::equal).finds_nothing);
}

TEST(RangeEnd, a_key_that_has_no_order_passes_over_the_rows_of_the_parts_before_it) {
  for (const bool is_descending : {false, true}) {
    const auto end = [&](KeyOperator key_operator, bool has_parts) {
      return end_at_nearest(key_operator, Fit::unordered, is_descending, has_parts);
    };
    EXPECT_EQ(end(KeyOperator::at_or_after, true).key_operator, KeyOperator::after);
    EXPECT_EQ(end(KeyOperator::at_or_before, true).key_operator, KeyOperator::before);
    EXPECT_TRUE(end(KeyOperator::equal, true).finds_nothing);
    for (const KeyOperator key_operator : all_ends) {
      EXPECT_TRUE(end(key_operator, false).finds_nothing);
    }
  }
}

/// The index keeps the tens of a number. What it finds by them has to hold all rows that are wanted.
TEST(RangeEnd, rows_with_the_same_beginning_are_never_left_out) {
  for (const KeyOperator key_operator : all_ends) {
    for (int key = 0; key < 50; ++key) {
      for (int row = 0; row < 50; ++row) {
        const bool is_wanted = satisfies(row - key, key_operator);
        const bool is_candidate = satisfies(row / 10 - key / 10, with_same_beginning(key_operator));
        EXPECT_TRUE(is_candidate || !is_wanted) << row << " and " << key;
      }
    }
  }
}

}  // namespace
}  // namespace rowsocket::sql_values
