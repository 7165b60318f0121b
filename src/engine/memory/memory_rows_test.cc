// SPDX-License-Identifier: GPL-2.0-only
//
// Rows: what a column takes, which rows a range has and in which order, and what filters say of them.
#include "engine/memory/memory_engine_fixture.h"

namespace rowsocket::engine::memory {
namespace {

using testing::ElementsAre;

TEST_F(MemoryEngineTest, unique_keys_hold_and_null_is_never_a_duplicate) {
  engine.create_table("d.t", {.columns = {integer("id"), text("name"), nullable(integer("stock"))},
                              .indexes = {{"PRIMARY", {"id"}, true}, {"by_stock", {"stock"}, true}}});
  EXPECT_TRUE(insert({"1", "a", nullptr}).ok());
  EXPECT_TRUE(insert({"2", "a", nullptr}).ok());
  EXPECT_TRUE(insert({"3", "a", "7"}).ok());
  EXPECT_EQ(insert({"4", "a", "7"}).number, 121);
  EXPECT_EQ(insert({"01", "a", "8"}).number, 121);
}

TEST_F(MemoryEngineTest, values_are_converted_strictly) {
  EXPECT_EQ(insert({"x", "a", "1"}).number, 1366);
  EXPECT_EQ(insert({"9223372036854775808", "a", "1"}).number, 1264);
  EXPECT_EQ(insert({nullptr, "a", "1"}).number, 1048);
  EXPECT_EQ(insert({"1", "abcde", "1"}).number, 1406);
  EXPECT_EQ(insert({"1"}).number, 1364);
  EXPECT_TRUE(insert({"-007", "a"}).ok());
  EXPECT_TRUE(session->commit().ok());
  EXPECT_THAT(engine.rows("d.t"), ElementsAre(Row{"-7", "a", std::nullopt}));
}

TEST_F(MemoryEngineTest, keys_order_as_numbers_with_null_first) {
  engine.insert("d.t", {"1", "a", "10"});
  engine.insert("d.t", {"2", "b", "9"});
  engine.insert("d.t", {"3", "c", std::nullopt});
  engine.insert("d.t", {"4", "d", "-2"});
  EXPECT_EQ(ids("by_stock_name", KeyOperator::at_or_after, {nullptr}), " 3 4 2 1");
  EXPECT_EQ(ids("by_stock_name", KeyOperator::before, {"10"}), " 2 4 3");
  EXPECT_EQ(ids("by_stock_name", KeyOperator::equal, {nullptr}), " 3");
  EXPECT_EQ(ids("by_stock_name", KeyOperator::after, {"9"}), " 1");
  EXPECT_EQ(ids("by_stock_name", KeyOperator::at_or_before, {"9", "b"}), " 2 4 3");
}

TEST_F(MemoryEngineTest, a_key_beyond_every_row_compares_and_a_key_that_is_no_number_finds_nothing) {
  engine.insert("d.t", {"9223372036854775807", "a", "1"});
  EXPECT_EQ(ids("", KeyOperator::equal, {"9223372036854775808"}), "");
  EXPECT_EQ(ids("", KeyOperator::before, {"99999999999999999999"}), " 9");
  EXPECT_EQ(ids("", KeyOperator::before, {"many"}), "");
}

TEST_F(MemoryEngineTest, a_range_has_two_ends) {
  insert_four_rows();
  using enum KeyOperator;
  EXPECT_EQ(ids("", {at_or_after, {"2"}, before, {"4"}}), " 2 3");
  EXPECT_EQ(ids("", {after, {"2"}, at_or_before, {"4"}}), " 3 4");
  EXPECT_EQ(ids("", {before, {"4"}, at_or_after, {"1"}}), " 3 2 1");
  EXPECT_EQ(ids("", {at_or_before, {"4"}, after, {"1"}}), " 4 3 2");
  EXPECT_EQ(ids("", {at_or_after, {"3"}, before, {"3"}}), "");
  EXPECT_EQ(ids("", {after, {"3"}, before, {"2"}}), "");
}

TEST_F(MemoryEngineTest, the_ends_of_a_range_may_have_different_parts) {
  insert_four_rows();
  using enum KeyOperator;
  EXPECT_EQ(ids("by_stock_name", {at_or_after, {nullptr}, before, {"20"}}), " 4 2");
  EXPECT_EQ(ids("by_stock_name", {after, {"20", "cap"}, at_or_before, {"20"}}), " 3");
  EXPECT_EQ(ids("by_stock_name", {after, {nullptr}, before, {"20", "cup"}}), " 2 1");
}

TEST_F(MemoryEngineTest, reverse_gives_the_same_rows_from_the_other_side) {
  insert_four_rows();
  using enum KeyOperator;
  EXPECT_EQ(ids("", {after, {"1"}, before, {"4"}, true}), " 3 2");
  EXPECT_EQ(ids("", {before, {"4"}, after, {"1"}, true}), " 2 3");
  const std::vector<Value> twenty = values({"20"});
  EXPECT_EQ(ids("by_stock_name", {.key_operator = equal, .key = twenty, .reverse = true}), " 3 1");
  EXPECT_EQ(ids("by_stock_name", {.key_operator = before, .key = twenty, .reverse = true}), " 4 2");
}

TEST_F(MemoryEngineTest, a_range_by_how_a_text_begins) {
  insert_four_rows();
  EXPECT_EQ(ids("by_name", KeyOperator::starts_with, {"c"}), " 1 3");
  EXPECT_EQ(ids("by_name", KeyOperator::starts_with, {""}), " 4 1 3 2");
  EXPECT_EQ(ids("by_stock_name", KeyOperator::starts_with, {"20", "cu"}), " 3");
}

TEST_F(MemoryEngineTest, ranges_that_make_no_sense_fail) {
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index, Intent::read);
  const std::vector<Value> one = values({"1"});
  const std::vector<Value> two = values({"1", "2"});
  const auto failure = [&cursor](const KeyRange& range) {
    EXPECT_EQ(cursor.seek(range), Step::failed);
    return cursor.error().code;
  };
  using enum KeyOperator;
  EXPECT_EQ(failure({starts_with, one}), ErrorCode::bad_operator);
  EXPECT_EQ(failure({after, one, true, before, two}), ErrorCode::too_many_key_parts);
}

TEST_F(MemoryEngineTest, each_row_is_told_from_its_first_column_on) {
  insert_four_rows();
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index, Intent::read);
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"1"}), Step::row);
  ColumnEnd ends[3] = {};
  Buffer out;
  ValueWriter writer(out, words, {.ends = ends});
  cursor.write_row(writer);
  const ColumnEnd first = ends[0];
  cursor.write_row(writer);
  EXPECT_GT(ends[0].bytes, first.bytes) << "of the second row";
}

TEST_F(MemoryEngineTest, a_filter_says_what_becomes_of_a_row_that_does_not_match) {
  insert_four_rows();
  const auto index = open(*session, "", "name,stock");
  const auto verdict = [&](const std::vector<Filter>& filters) {
    Cursor& cursor = begin(*index, Intent::read);
    EXPECT_TRUE(cursor.set_filters(filters).ok());
    EXPECT_EQ(seek(cursor, KeyOperator::equal, {"2"}), Step::row);
    return cursor.verdict();
  };
  const Filter is_ten = filter(1, Comparison::equal, "10", Mismatch::stop);
  EXPECT_EQ(verdict({is_ten}), Verdict::match);
  EXPECT_EQ(verdict({filter(1, Comparison::greater, "10", Mismatch::skip)}), Verdict::skip);
  EXPECT_EQ(verdict({filter(1, Comparison::greater, "10", Mismatch::stop)}), Verdict::stop);
  EXPECT_EQ(verdict({filter(1, Comparison::greater, "10", Mismatch::refuse)}), Verdict::refuse);
}

TEST_F(MemoryEngineTest, of_several_filters_the_first_that_does_not_match_decides) {
  insert_four_rows();
  const auto index = open(*session, "", "name,stock");
  Cursor& cursor = begin(*index, Intent::read);
  const std::vector<Filter> filters = {filter(0, Comparison::equal, "pen", Mismatch::stop),
                                       filter(1, Comparison::greater, "10", Mismatch::refuse),
                                       filter(1, Comparison::greater, "11", Mismatch::skip)};
  EXPECT_TRUE(cursor.set_filters(filters).ok());
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"2"}), Step::row);
  EXPECT_EQ(cursor.verdict(), Verdict::refuse);
}

TEST_F(MemoryEngineTest, a_comparison_puts_null_before_every_value) {
  insert_four_rows();
  using enum Comparison;
  EXPECT_EQ(ids_where(equal, "20"), " 1 3");
  EXPECT_EQ(ids_where(not_equal, "20"), " 2 4");
  EXPECT_EQ(ids_where(less, "20"), " 2 4");
  EXPECT_EQ(ids_where(less_or_equal, "10"), " 2 4");
  EXPECT_EQ(ids_where(greater, "10"), " 1 3");
  EXPECT_EQ(ids_where(greater_or_equal, "10"), " 1 2 3");
  EXPECT_EQ(ids_where(equal, nullptr), " 4");
  EXPECT_EQ(ids_where(greater, nullptr), " 1 2 3");
}

TEST_F(MemoryEngineTest, what_is_unset_is_0_or_null) {
  insert_four_rows();
  EXPECT_TRUE(engine.insert("d.t", {"5", "jar", "0"}));
  EXPECT_EQ(ids_where(Comparison::greater_or_unset, "10"), " 1 3 4 5");
  EXPECT_EQ(ids_where(Comparison::greater_or_unset, "20"), " 4 5");
}

TEST_F(MemoryEngineTest, ids_that_are_used_up_are_an_error) {
  engine.create_table("d.t", {.columns = {auto_increment("id"), text("name"), nullable(integer("stock"))},
                              .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_EQ(upsert({"9223372036854775805", "a"}, OnDuplicate::fail), "1#0");
  EXPECT_EQ(upsert({nullptr, "b"}, OnDuplicate::fail), "1#9223372036854775806");
  EXPECT_EQ(upsert({nullptr, "c"}, OnDuplicate::fail), "error 167");
}

}  // namespace
}  // namespace rowsocket::engine::memory
