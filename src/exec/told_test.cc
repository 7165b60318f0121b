// SPDX-License-Identifier: GPL-2.0-only
//
// What a reply is told that wants to know all: where each row begins and ends, of which key it is, which keys
// gave no row, and how many rows were found, matched and changed. See TextFullReply.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

class ToldTest : public ExecutorTest {
 protected:
  std::string told(Ask request) { return ask(shop, std::move(request).in_full().columns("id")); }
  std::string told_of_change(Ask request) { return ask(shop, std::move(request).in_full()); }
  static Ask by_shelf(std::vector<Cell> shelves) {
    return Ask::find(1, {""}).in(0, std::move(shelves)).limit(9);
  }

  Connection& shop = shopper();
};

TEST_F(ToldTest, a_row_is_told_with_its_key) {
  EXPECT_EQ(told(Ask::find(0, {"1"})), "rows/1 (0: 1)");
  EXPECT_EQ(told(by_shelf({"20", "10"})), "rows/1 (0: 3) (0: 4) (1: 1) (1: 2)");
}

TEST_F(ToldTest, keys_without_a_row_are_missed_in_their_place) {
  EXPECT_EQ(told(Ask::find(0, {"77"})), "rows/1 -0");
  EXPECT_EQ(told(by_shelf({"77", "30", "78", "79"})), "rows/1 -0 (1: 5) -2 -3");
  EXPECT_EQ(told(Ask::find(2, {"", ""}).in_keys({"20", "cap", "20", "no"}).limit(9)), "rows/1 (0: 3) -1");
}

TEST_F(ToldTest, a_key_whose_rows_are_skipped_is_missed) {
  EXPECT_EQ(told(by_shelf({"10", "20"}).skip_unless(0, Comparison::greater, "5")), "rows/1 -0 (1: 4)");
}

TEST_F(ToldTest, a_key_whose_rows_the_offset_takes_is_not_missed) {
  EXPECT_EQ(told(by_shelf({"10", "20"}).limit(9, 2)), "rows/1 (1: 3) (1: 4)");
}

TEST_F(ToldTest, keys_behind_the_limit_are_neither_found_nor_missed) {
  EXPECT_EQ(told(by_shelf({"30", "77"}).limit(1)), "rows/1 (0: 5)");
  EXPECT_EQ(told(Ask::find(0, {"77"}).limit(0)), "rows/1");
}

TEST_F(ToldTest, a_count_has_no_keys) { EXPECT_EQ(told(by_shelf({"10", "77"}).count()), "= 2"); }

TEST_F(ToldTest, a_row_that_a_filter_refuses_is_found_and_not_told) {
  const auto refusing = [] { return by_shelf({"10", "77"}).refuse_unless(0, Comparison::greater, "0"); };
  EXPECT_EQ(told(refusing()), "rows/1 (0: 1) -1");
  EXPECT_EQ(told(refusing().count()), "= 1");
  EXPECT_EQ(told(Ask::find(0, {"2"}).refuse_unless(0, Comparison::greater, "0")), "rows/1");
}

TEST_F(ToldTest, rows_that_a_filter_refuses_count_to_limit_and_offset) {
  const auto from_1 = [](uint64_t limit, uint64_t offset) {
    return Ask::find(0, {"1"}, KeyOperator::at_or_after)
        .limit(limit, offset)
        .refuse_unless(0, Comparison::greater, "0");
  };
  EXPECT_EQ(told(from_1(4, 0)), "rows/1 (0: 1) (0: 4)");
  EXPECT_EQ(told(from_1(2, 2)), "rows/1 (0: 4)");
}

TEST_F(ToldTest, a_change_tells_what_was_found_and_matched_and_changed) {
  const auto all = [] { return Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(9); };
  EXPECT_EQ(told_of_change(all().refuse_unless(0, Comparison::greater, "0").subtract({"6"})), "= 5 3 2");
  EXPECT_EQ(stock("2"), "0") << "it did not match";
  EXPECT_EQ(told_of_change(all().skip_unless(0, Comparison::equal, "5").remove()), "= 1 1 1");
  EXPECT_EQ(told_of_change(Ask::find(0, {"77"}).remove()), "= 0 0 0");
}

TEST_F(ToldTest, rows_that_are_collected_first_are_told_by_key_all_the_same) {
  const auto moved = [] { return Ask::find(3, {""}).in(0, {"5", "77", "7", "9"}).limit(9).update({"99"}); };
  EXPECT_EQ(told_of_change(moved().rows_before()), "rows/3 (0: 5 pen 1) -1 (2: 7 box 4) (3: 9 jar 5)");
  EXPECT_EQ(told_of_change(moved().rows_after()), "rows/3 -0 -1 -2 -3");
  EXPECT_EQ(told_of_change(Ask::find(3, {"99"}).limit(9).update({"5"}).rows_after()),
            "rows/3 (0: 5 pen 1) (0: 5 box 4) (0: 5 jar 5)");
}

TEST_F(ToldTest, collected_rows_that_a_filter_refuses_stay) {
  EXPECT_EQ(told_of_change(Ask::find(3, {""})
                               .in(0, {"5", "7"})
                               .limit(9)
                               .refuse_unless(1, Comparison::equal, "box")
                               .update({"99"})
                               .rows_before()),
            "rows/3 (1: 7 box 4)");
  EXPECT_EQ(stock("1") + stock("4"), "599");
}

TEST_F(ToldTest, each_operation_does_what_it_says) {
  const auto one = [] { return Ask::find(0, {"1"}); };
  EXPECT_EQ(
      told_of_change(one().change(0, Operation::add, "3").change(1, Operation::append, "cil").rows_after()),
      "rows/3 (0: 8 pencil 1)");
  EXPECT_EQ(told_of_change(one().change(1, Operation::prepend, "a ").rows_after()),
            "rows/3 (0: 8 a pencil 1)");
  EXPECT_EQ(told_of_change(one().change(0, Operation::subtract_to_zero, "9").rows_after()),
            "rows/3 (0: 0 a pencil 1)");
  EXPECT_EQ(ask(shop, one().change(0, Operation::append, "x")), "error bad_modification");
}

TEST_F(ToldTest, assignments_beyond_the_columns_are_dropped_wherever_they_stand) {
  EXPECT_EQ(told_of_change(Ask::find(0, {"1"})
                               .change(7, Operation::set, "surplus")
                               .change(0, Operation::set, "1")
                               .dropping_surplus()
                               .rows_after()),
            "rows/3 (0: 1 pen 1)");
}

}  // namespace
}  // namespace rowsocket::exec
