// SPDX-License-Identifier: GPL-2.0-only
//
// What the clauses of a find add: both ends, reverse order, prefixes, counts, limits per value, lists of
// keys, columns of the request; and what an insert does about rows that are there. The columns of a reply are
// stock, name, id.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

class ClausesTest : public ExecutorTest {
 protected:
  ClausesTest() { open_for_insert(shop); }
  std::string on_shop(const Ask& request) { return ask(shop, request); }
  std::string ids(Ask request) { return on_shop(std::move(request).columns("id")).substr(6); }
  static Ask all_from(const std::string& id) { return Ask::find(0, {id}, KeyOperator::at_or_after).limit(9); }

  Connection& shop = shopper();
};

TEST_F(ClausesTest, a_range_has_two_ends) {
  EXPECT_EQ(ids(all_from("2").to(KeyOperator::before, {"4"})), " 2 3");
  EXPECT_EQ(ids(all_from("2").to(KeyOperator::at_or_before, {"4"})), " 2 3 4");
  EXPECT_EQ(ids(Ask::find(0, {"4"}, KeyOperator::before).limit(9).to(KeyOperator::after, {"1"})), " 3 2");
  EXPECT_EQ(ids(all_from("4").to(KeyOperator::before, {"2"})), "");
}

TEST_F(ClausesTest, ends_that_do_not_face_each_other_are_an_error) {
  struct Ends {
    KeyOperator one, other;
  };
  using enum KeyOperator;
  for (const Ends& ends : {Ends{equal, before}, Ends{after, after}, Ends{at_or_after, after},
                           Ends{at_or_after, at_or_after}, Ends{before, at_or_before}, Ends{after, equal},
                           Ends{after, starts_with}, Ends{starts_with, before}}) {
    const Ask find = Ask::find(0, {"2"}, ends.one).limit(9).to(ends.other, {"4"});
    EXPECT_EQ(on_shop(find), "error bad_operator")
        << static_cast<int>(ends.one) << " to " << static_cast<int>(ends.other);
    EXPECT_EQ(on_shop(Ask(find).limit(0)), "error bad_operator") << "whether or not a row is looked for";
  }
}

TEST_F(ClausesTest, an_other_end_has_a_value) {
  EXPECT_EQ(on_shop(all_from("2").to(KeyOperator::before, {})), "error no_key_values");
}

TEST_F(ClausesTest, reverse_gives_the_same_rows_from_the_other_side) {
  EXPECT_EQ(ids(all_from("2").to(KeyOperator::before, {"5"}).reverse()), " 4 3 2");
  EXPECT_EQ(ids(all_from("4").reverse()), " 5 4");
  EXPECT_EQ(ids(Ask::find(0, {"2"}, KeyOperator::at_or_before).limit(9).reverse()), " 1 2");
  EXPECT_EQ(ids(Ask::find(1, {"20"}).limit(1).reverse()), " 4");
}

TEST_F(ClausesTest, starts_with_looks_at_the_last_part) {
  EXPECT_EQ(ids(Ask::find(2, {"10", "p"}, KeyOperator::starts_with).limit(9)), " 1");
  EXPECT_EQ(ids(Ask::find(2, {"10", ""}, KeyOperator::starts_with).limit(9).reverse()), " 1 2");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}, KeyOperator::starts_with)), "error bad_operator");
}

TEST_F(ClausesTest, each_beginning_of_a_list_finds_all_of_its_rows) {
  EXPECT_EQ(ids(Ask::find(2, {"", ""}, KeyOperator::starts_with).in(0, {"20", "10"}).limit(9)), " 4 3 2 1");
}

TEST_F(ClausesTest, a_count_moves_no_rows) {
  EXPECT_EQ(on_shop(all_from("2").count()), "= 4");
  EXPECT_EQ(on_shop(all_from("2").limit(2, 3).count()), "= 1");
  EXPECT_EQ(on_shop(all_from("1").skip_unless(0, Comparison::greater, "0").count()), "= 3");
}

TEST_F(ClausesTest, a_limit_per_value_is_beside_the_limit_of_all) {
  EXPECT_EQ(ids(Ask::find(1, {""}).limit(9).in(0, {"20", "10"}).limit_per_value(1)), " 3 1");
  EXPECT_EQ(ids(Ask::find(1, {""}).limit(3).in(0, {"20", "10"}).limit_per_value(2)), " 3 4 1");
  EXPECT_EQ(ids(Ask::find(0, {""}, KeyOperator::after).limit(9).in(0, {"1", "3"}).limit_per_value(2)),
            " 2 3 4 5");
}

TEST_F(ClausesTest, a_value_of_the_list_takes_its_place_in_both_ends) {
  const auto boxes = [] {
    return Ask::find(2, {"", "a"}, KeyOperator::after).limit(9).in(0, {"20", "10"}).limit_per_value(9);
  };
  EXPECT_EQ(ids(boxes().to(KeyOperator::at_or_before, {""})), " 4 3 2 1");
  EXPECT_EQ(ids(boxes().to(KeyOperator::before, {"", "j"})), " 4 3 2");
}

TEST_F(ClausesTest, a_list_holds_whole_keys) {
  EXPECT_EQ(ids(Ask::find(2, {"", ""}).limit(9).in_keys({"20", "cap", "10", "no", "10", "ink"})), " 3 2");
  EXPECT_EQ(on_shop(Ask::find(2, {"", ""}).limit(9).in_keys({"20", "cap", "10", "ink"}).remove()), "= 2");
  EXPECT_EQ(stock("3"), "none");
}

TEST_F(ClausesTest, columns_of_the_request_take_the_place_of_the_opened_ones) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).columns("shelf,stock")), "rows/2 10 5");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).update({"11"}).columns("shelf")), "= 1");
  EXPECT_EQ(committed("1", 1), "11");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).columns("nope")), "error no_such_column");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).columns("nope").count()), "error no_such_column");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).update({"1", "2"}).columns("shelf")), "error too_many_values");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"})), "rows/3 5 pen 1");
}

TEST_F(ClausesTest, more_column_lists_than_are_remembered_work_as_well) {
  for (int round = 0; round < 2; ++round) {
    for (uint32_t number = 1; number <= limits::column_lists_per_index + 2; ++number) {
      std::string names = "id";
      for (uint32_t more = 1; more < number; ++more) {
        names += ",id";
      }
      EXPECT_EQ(on_shop(Ask::find(0, {"1"}).columns(names)).substr(0, 8 + (number > 9)),
                "rows/" + std::to_string(number) + " 1");
    }
  }
}

TEST_F(ClausesTest, an_id_that_is_opened_again_forgets_the_column_lists) {
  EXPECT_EQ(on_shop(Ask::find(0, {"20"}).columns("name")), "rows/1");
  EXPECT_EQ(on_shop(Ask::open(0, "shop.item", "by_shelf", "id")), "ok");
  EXPECT_EQ(on_shop(Ask::find(0, {"20"}).columns("name")), "rows/1 cap");
}

TEST_F(ClausesTest, changes_beyond_the_columns_are_dropped_and_no_other_request_of_the_turn_has_them) {
  const auto add_one_to = [](const Cell& id) {
    return Ask::find(0, {id})
        .change(0, Operation::add, "1")
        .change(3, Operation::add, "1")  // of 0 to 2
        .dropping_surplus();
  };
  Connection& shop = shopper();
  turn(shop, {add_one_to("1"), add_one_to("1")});
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).columns("stock")), "rows/1 7");
}

TEST_F(ClausesTest, rows_as_a_change_left_them) {
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).add({"3"}).rows_after()), "rows/3 8 pen 1");
  EXPECT_EQ(on_shop(Ask::find(0, {"1"}).subtract({"9"}).rows_after()), "rows/3");
}

TEST_F(ClausesTest, many_rows_are_inserted_or_none) {
  EXPECT_EQ(on_shop(Ask::insert_rows(9, 2, {"6", "30", "mug", "1", "7", "30", "cup", "2"})), "rows/2 1# 1#");
  EXPECT_EQ(on_shop(Ask::insert_rows(9, 2, {"8", "30", "x", "1", "7", "30", "y", "2"})), "error engine 121");
  EXPECT_EQ(stock("8"), "none");
  EXPECT_EQ(stock("7"), "2");
}

TEST_F(ClausesTest, rows_can_be_inserted_in_the_order_of_their_keys) {
  const auto rows = [] {
    return Ask::insert_rows(9, 3, {"7", "30", "a", "1", "07", "30", "b", "2", "6", "30", "c", "3"})
        .on_duplicate(OnDuplicate::change, {3});
  };
  EXPECT_EQ(on_shop(rows().in_key_order()), "rows/2 1# 1# 2#") << "6, and then both of 7";
  EXPECT_EQ(stock("7"), "2") << "the last one of a key counts";
  EXPECT_EQ(stock("6"), "3");
}

TEST_F(ClausesTest, rows_that_stand_alone_fail_alone) {
  EXPECT_EQ(
      on_shop(Ask::insert_rows(9, 3, {"6", "30", "mug", "1", "1", "30", "x", "2", "7", "30", "cup", "x"})
                  .rows_alone()),
      "rows/2 1# !121 !1366");
  EXPECT_EQ(stock("6"), "1");
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(stock("7"), "none");
}

TEST_F(ClausesTest, rows_that_stand_alone_need_no_transactions) {
  engine.create_table("shop.log", {.columns = {engine::memory::integer("id")},
                                   .indexes = {{"PRIMARY", {"id"}, true}},
                                   .has_transactions = false});
  EXPECT_EQ(on_shop(Ask::open(10, "shop.log", "", "id")), "ok");
  EXPECT_EQ(on_shop(Ask::insert_rows(10, 3, {"1", "1", "2"}).rows_alone()), "rows/2 1# !121 1#");
  EXPECT_EQ(engine.rows("shop.log").size(), 2);
}

TEST_F(ClausesTest, rows_that_stand_alone_and_can_not_be_undone_are_committed_before_one_waits) {
  engine.create_table("shop.log", {.columns = {engine::memory::integer("id")},
                                   .indexes = {{"PRIMARY", {"id"}, true}},
                                   .has_transactions = false});
  EXPECT_EQ(on_shop(Ask::open(10, "shop.log", "", "id")), "ok");
  // Behind the first row; this thread could wait for itself for ever.
  engine.on_next_request([this] { engine.set_busy("shop.log", true); });
  EXPECT_EQ(on_shop(Ask::insert_rows(10, 3, {"1", "2", "3"}).rows_alone()),
            "rows/2 1# !cannot_lock_table !cannot_lock_table");
  EXPECT_FALSE(engine.is_held("shop.log"));
  engine.set_busy("shop.log", false);
  EXPECT_EQ(on_shop(Ask::insert_rows(10, 2, {"1", "2"}).rows_alone()), "rows/2 !121 1#")
      << "the first one is there, once";
}

TEST_F(ClausesTest, what_is_there_is_kept_replaced_or_updated) {
  const auto again = [] { return Ask::insert_rows(9, 1, {"1", "30", "new", "2"}); };
  EXPECT_EQ(on_shop(again().on_duplicate(OnDuplicate::keep)), "rows/2 0#");
  EXPECT_EQ(committed("1", 2), "pen");
  EXPECT_EQ(on_shop(again().on_duplicate(OnDuplicate::change, {2}, {3})), "rows/2 2#");
  EXPECT_EQ(committed("1", 2), "new");
  EXPECT_EQ(stock("1"), "7");
  EXPECT_EQ(on_shop(again().on_duplicate(OnDuplicate::replace)), "rows/2 2#");
  EXPECT_EQ(stock("1"), "2");
}

TEST_F(ClausesTest, what_is_there_is_changed_only_where_the_filters_match_it) {
  EXPECT_EQ(on_shop(Ask::open(10, "shop.item", "", "id,shelf,name,stock", "stock")), "ok");
  const auto again = [](const Cell& stock) {
    return Ask::insert_rows(10, 1, {"1", "30", "new", "2"})
        .on_duplicate(OnDuplicate::change, {2})
        .skip_unless(0, Comparison::equal, stock);
  };
  EXPECT_EQ(on_shop(again("6")), "rows/2 0#");
  EXPECT_EQ(committed("1", 2), "pen");
  EXPECT_EQ(on_shop(again("5")), "rows/2 2#");
  EXPECT_EQ(committed("1", 2), "new");
}

TEST_F(ClausesTest, a_change_that_finds_no_row_inserts_one) {
  const auto set_name = [](const std::string& id) {
    return Ask::find(9, {id})
        .change(2, Operation::set, "new")
        .otherwise(Ask::insert_rows(9, 1, {id, "30", "new", "2"}).on_duplicate(OnDuplicate::change, {2}));
  };
  EXPECT_EQ(on_shop(set_name("1")), "= 1");
  EXPECT_EQ(committed("1", 1), "10") << "only the name was changed";
  EXPECT_EQ(on_shop(set_name("6")), "rows/2 1#");
  EXPECT_EQ(committed("6", 1), "30");
  EXPECT_EQ(counters.read(Counter::rows_inserted), 1);
}

TEST_F(ClausesTest, a_row_that_a_filter_refuses_was_found) {
  EXPECT_EQ(on_shop(Ask::open(10, "shop.item", "", "id,shelf,name,stock", "stock")), "ok");
  EXPECT_EQ(on_shop(Ask::find(10, {"1"})
                        .change(2, Operation::set, "new")
                        .refuse_unless(0, Comparison::equal, "6")
                        .otherwise(Ask::insert_rows(10, 1, {"1", "30", "new", "2"}))),
            "= 0");
  EXPECT_EQ(committed("1", 2), "pen");
}

TEST_F(ClausesTest, an_insert_in_place_of_a_change_fits_the_columns_and_can_fail) {
  const auto otherwise = [](std::vector<Cell> row) {
    return Ask::find(9, {"6"})
        .change(2, Operation::set, "new")
        .otherwise(Ask::insert_rows(9, 1, std::move(row)));
  };
  EXPECT_EQ(on_shop(otherwise({"6", "30", "new", "2", "5"})), "error too_many_values");
  EXPECT_EQ(on_shop(otherwise({"1", "30", "new", "2"})), "error engine 121");
}

TEST_F(ClausesTest, an_insert_can_tell_the_rows_as_they_are_afterwards) {
  const auto rows = [] {
    return Ask::insert_rows(9, 2, {"6", "30", "mug", "1", "1", "30", "new", "2"}).telling_rows();
  };
  EXPECT_EQ(on_shop(rows().on_duplicate(OnDuplicate::change, {}, {3})), "rows/4 6 30 mug 1 1 10 pen 7");
  EXPECT_EQ(on_shop(rows().on_duplicate(OnDuplicate::keep)), "rows/4 6 30 mug 1 1 10 pen 7");
  EXPECT_EQ(on_shop(rows().on_duplicate(OnDuplicate::replace)), "rows/4 6 30 mug 1 1 30 new 2");
}

TEST_F(ClausesTest, rows_of_an_insert_that_make_the_reply_too_large_are_not_inserted) {
  settings.reply_bytes_max = 20;
  use_settings();
  EXPECT_EQ(on_shop(Ask::insert_rows(9, 2, {"6", "30", "mug", "1", "7", "30", "cup", "2"}).telling_rows()),
            "error reply_too_large");
  EXPECT_EQ(stock("6"), "none");
}

}  // namespace
}  // namespace rowsocket::exec
