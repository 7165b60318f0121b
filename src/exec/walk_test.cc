// SPDX-License-Identifier: GPL-2.0-only
//
// What a find finds and changes: limits, IN lists, filters, modifications. The columns of every reply are
// stock, name, id.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

class WalkTest : public ExecutorTest {
 protected:
  std::string on_shop(const Ask& request) { return ask(shop, request); }
  /// The replied rows' ids, for replies of three columns of which the last is the id.
  std::string ids(const Ask& request) {
    std::string reply = on_shop(request);
    if (!reply.starts_with("rows/3")) {
      return reply;
    }
    std::istringstream words(reply.substr(6));
    std::string stock_text, name, id, all;
    while (words >> stock_text >> name >> id) {
      all += (all.empty() ? "" : " ") + id;
    }
    return all;
  }

  Connection& shop = shopper();
};

TEST_F(WalkTest, a_find_replies_with_the_opened_columns) {
  EXPECT_EQ(on_shop(Ask::find(0, {"3"})), "rows/3 NULL cap 3");
}

TEST_F(WalkTest, nothing_found_is_no_rows) { EXPECT_EQ(on_shop(Ask::find(0, {"77"})), "rows/3"); }

TEST_F(WalkTest, each_operator_goes_its_way) {
  EXPECT_EQ(ids(Ask::find(0, {"3"}, KeyOperator::equal).limit(9)), "3");
  EXPECT_EQ(ids(Ask::find(0, {"3"}, KeyOperator::after).limit(9)), "4 5");
  EXPECT_EQ(ids(Ask::find(0, {"3"}, KeyOperator::at_or_after).limit(9)), "3 4 5");
  EXPECT_EQ(ids(Ask::find(0, {"3"}, KeyOperator::before).limit(9)), "2 1");
  EXPECT_EQ(ids(Ask::find(0, {"3"}, KeyOperator::at_or_before).limit(9)), "3 2 1");
}

TEST_F(WalkTest, the_limit_is_one_unless_asked_otherwise) { EXPECT_EQ(ids(Ask::find(1, {"10"})), "1"); }

TEST_F(WalkTest, offset_then_limit) {
  EXPECT_EQ(ids(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(2, 1)), "2 3");
  EXPECT_EQ(ids(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(2, 5)), "");
}

TEST_F(WalkTest, the_largest_limit_and_offset_do_not_overflow) {
  EXPECT_EQ(ids(Ask::find(0, {"4"}, KeyOperator::at_or_after).limit(UINT64_MAX, 1)), "5");
  EXPECT_EQ(ids(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(1, UINT64_MAX)), "");
}

TEST_F(WalkTest, a_limit_of_none_finds_none) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).limit(0).remove()), "= 0");
}

TEST_F(WalkTest, a_key_prefix_finds_all_that_begin_with_it) {
  EXPECT_EQ(ids(Ask::find(2, {"20"}).limit(9)), "4 3");
  EXPECT_EQ(ids(Ask::find(2, {"20", "cap"}).limit(9)), "3");
}

TEST_F(WalkTest, more_key_values_than_the_index_has_parts_is_an_error) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1", "2"})), "error too_many_key_parts");
}

TEST_F(WalkTest, a_filter_that_skips_counts_neither_to_limit_nor_offset) {
  const auto stocked = [](uint64_t limit, uint64_t offset) {
    return Ask::find(0, {"1"}, KeyOperator::at_or_after)
        .limit(limit, offset)
        .skip_unless(0, Comparison::greater, "0");
  };
  EXPECT_EQ(ids(stocked(9, 0)), "1 4 5");
  EXPECT_EQ(ids(stocked(2, 1)), "4 5");
}

TEST_F(WalkTest, a_filter_that_stops_ends_the_rows) {
  EXPECT_EQ(
      ids(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(9).stop_unless(0, Comparison::greater, "0")),
      "1");
}

TEST_F(WalkTest, all_filters_must_match) {
  EXPECT_EQ(ids(Ask::find(0, {"1"}, KeyOperator::at_or_after)
                    .limit(9)
                    .skip_unless(0, Comparison::not_equal, "5")
                    .skip_unless(1, Comparison::greater, "cap")),
            "2 5");
}

TEST_F(WalkTest, null_matches_null_in_a_filter) {
  EXPECT_EQ(ids(Ask::find(0, {"1"}, KeyOperator::at_or_after)
                    .limit(9)
                    .skip_unless(0, Comparison::equal, NULL_VALUE)),
            "3");
}

TEST_F(WalkTest, a_filter_value_that_does_not_convert_is_an_error) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).skip_unless(0, Comparison::equal, "many")), "error sql 1366");
}

TEST_F(WalkTest, an_in_list_finds_all_rows_of_each_value_in_the_lists_order) {
  EXPECT_EQ(ids(Ask::find(1, {""}).in(0, {"20", "77", "10"}).limit(9)), "3 4 1 2");
}

TEST_F(WalkTest, limit_and_offset_count_over_the_whole_in_list) {
  EXPECT_EQ(ids(Ask::find(1, {""}).in(0, {"10", "20", "30"}).limit(2, 1)), "2 3");
}

TEST_F(WalkTest, an_in_list_stands_for_its_key_part_only) {
  EXPECT_EQ(ids(Ask::find(2, {"20", "x"}).in(1, {"cap", "pen", "box"}).limit(9)), "3 4");
}

TEST_F(WalkTest, null_in_an_in_list_finds_null) {
  EXPECT_EQ(ids(Ask::find(3, {""}).in(0, {"7", NULL_VALUE}).limit(9)), "4 3");
}

TEST_F(WalkTest, with_another_operator_an_in_list_finds_one_row_per_value) {
  EXPECT_EQ(ids(Ask::find(0, {""}, KeyOperator::after).in(0, {"1", "3"}).limit(9)), "2 4");
}

TEST_F(WalkTest, one_row_per_value_is_the_first_that_the_filters_let_pass) {
  EXPECT_EQ(ids(Ask::find(0, {""}, KeyOperator::after)
                    .in(0, {"1", "4"})
                    .limit(9)
                    .skip_unless(0, Comparison::greater, "0")),
            "4 5");
}

TEST_F(WalkTest, a_filter_that_stops_ends_only_the_rows_of_its_in_value) {
  EXPECT_EQ(
      ids(Ask::find(1, {""}).in(0, {"10", "20", "30"}).limit(9).stop_unless(0, Comparison::greater, "0")),
      "1 5");
}

TEST_F(WalkTest, update_sets_the_first_columns_and_counts) {
  EXPECT_EQ(on_shop(Ask::find(1, {"10"}).limit(9).update({"4"})), "= 2");
  EXPECT_EQ(stock("1"), "4");
  EXPECT_EQ(stock("2"), "4");
  EXPECT_EQ(committed("1", 2), "pen");
}

TEST_F(WalkTest, an_update_that_changes_nothing_counts_its_rows) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).update({"5"})), "= 1");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).update({})), "= 1");
}

TEST_F(WalkTest, update_can_set_null) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).update({NULL_VALUE})), "= 1");
  EXPECT_EQ(stock("1"), "NULL");
}

TEST_F(WalkTest, remove_removes_and_counts) {
  EXPECT_EQ(on_shop(Ask::find(0, {"2"}, KeyOperator::at_or_after).limit(2).remove()), "= 2");
  EXPECT_EQ(ids(Ask::find(0, {"0"}, KeyOperator::after).limit(9)), "1 4 5");
}

TEST_F(WalkTest, an_in_list_can_modify) {
  EXPECT_EQ(on_shop(Ask::find(0, {""}).in(0, {"1", "3", "5"}).limit(9).remove()), "= 3");
  EXPECT_EQ(engine.rows("shop.item").size(), 2);
}

TEST_F(WalkTest, increment_leaves_null_and_counts_the_row) {
  EXPECT_EQ(on_shop(Ask::find(1, {"20"}).limit(9).add({"3"})), "= 2");
  EXPECT_EQ(stock("3"), "NULL");
  EXPECT_EQ(stock("4"), "10");
}

TEST_F(WalkTest, a_decrement_below_zero_is_refused_and_not_counted) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(9).subtract({"6"})), "= 4");
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(stock("2"), "-6");
  EXPECT_EQ(stock("4"), "1");
  EXPECT_EQ(count(Counter::rows_updated), 4);
}

TEST_F(WalkTest, a_modification_can_reply_with_the_rows_as_they_were) {
  EXPECT_EQ(on_shop(Ask::find(1, {"10"}).limit(9).update({"8"}).rows_before()), "rows/3 5 pen 1 0 ink 2");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).add({"1"}).rows_before()), "rows/3 8 pen 1");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).remove().rows_before()), "rows/3 9 pen 1");
  EXPECT_EQ(stock("1"), "none");
}

TEST_F(WalkTest, a_refused_decrement_still_shows_its_row) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).subtract({"6"}).rows_before()), "rows/3 5 pen 1");
}

TEST_F(WalkTest, an_update_that_moves_rows_along_the_index_meets_each_row_once) {
  EXPECT_EQ(on_shop(Ask::find(3, {"0"}, KeyOperator::at_or_after).limit(9).add({"1"})), "= 4");
  EXPECT_THAT((std::vector{stock("1"), stock("2"), stock("4"), stock("5")}),
              ElementsAre("6", "1", "8", "10"));
}

TEST_F(WalkTest, rows_that_move_are_replied_as_they_were) {
  EXPECT_EQ(on_shop(Ask::find(3, {"5"}, KeyOperator::at_or_after).limit(2).update({"99"}).rows_before()),
            "rows/3 5 pen 1 7 box 4");
}

TEST_F(WalkTest, an_in_list_does_not_find_what_it_moved) {
  EXPECT_EQ(on_shop(Ask::find(3, {""}).in(0, {"5", "7"}).limit(9).update({"7"})), "= 2");
}

TEST_F(WalkTest, an_in_list_that_names_a_value_twice_adds_twice) {
  EXPECT_EQ(on_shop(Ask::find(0, {""}).in(0, {"1", "1"}).limit(9).add({"1"})), "= 2");
  EXPECT_EQ(stock("1"), "7");
}

TEST_F(WalkTest, a_row_found_twice_is_changed_only_while_its_filters_take_it) {
  const auto taking_five = [] { return Ask::find(3, {""}).in(0, {"5", "5"}).limit(9); };
  EXPECT_EQ(on_shop(taking_five().skip_unless(0, Comparison::greater_or_equal, "5").subtract({"5"})), "= 1");
  EXPECT_EQ(stock("1"), "0");
}

TEST_F(WalkTest, a_row_that_its_filters_take_no_more_is_none_of_those_found) {
  EXPECT_EQ(on_shop(Ask::find(3, {""})
                        .in(0, {"5", "5"})
                        .limit(9)
                        .skip_unless(0, Comparison::greater_or_equal, "5")
                        .subtract({"5"})
                        .in_full()),
            "= 1 1 1");
}

TEST_F(WalkTest, an_error_in_a_later_row_undoes_the_earlier_ones) {
  engine.fail_write(3, Error(ErrorCode::engine, 151));
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(9).update({"1"}).rows_before()),
            "error engine 151");
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(count(Counter::rows_updated), 0);
}

TEST_F(WalkTest, a_read_that_fails_half_way_replies_with_the_error_only) {
  engine.fail_read(2, Error(ErrorCode::engine, 126));
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(9)), "error engine 126");
}

TEST_F(WalkTest, a_reply_beyond_its_limit_becomes_an_error) {
  settings.reply_bytes_max = 30;
  use_settings();
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(9)), "error reply_too_large");
  EXPECT_EQ(ids(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(2)), "1 2");
}

TEST_F(WalkTest, the_limit_of_a_reply_is_not_shared_by_the_replies_of_a_turn) {
  settings.reply_bytes_max = 30;
  use_settings();
  const Ask find = Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(2);
  EXPECT_THAT(turn(shop, {find, find}), ElementsAre("rows/3 5 pen 1 0 ink 2", "rows/3 5 pen 1 0 ink 2"));
}

TEST_F(WalkTest, a_modification_whose_reply_is_too_large_changes_nothing) {
  settings.reply_bytes_max = 30;
  use_settings();
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(9).remove().rows_before()),
            "error reply_too_large");
  EXPECT_EQ(engine.rows("shop.item").size(), 5);
}

TEST_F(WalkTest, rows_read_counts_every_row_that_was_looked_at) {
  on_shop(Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(1, 1).skip_unless(0, Comparison::greater, "5"));
  EXPECT_EQ(count(Counter::rows_read), 5);
}

}  // namespace
}  // namespace rowsocket::exec
