// SPDX-License-Identifier: GPL-2.0-only
//
// Cursor::seek and next: which rows a range has, in which order, and what a range can not be.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

using enum KeyOperator;

class Seeking : public Contract {
 protected:
  /// The ids found.
  std::string by_id(const Range& range) { return client().ids(client().open(), range); }
  std::string by_name(const Range& range) { return client().ids(client().open(item("by_name")), range); }
  std::string by_stock(const Range& range) {
    return client().ids(client().open(item("by_stock_name")), range);
  }
  /// Why the range is refused.
  ErrorCode refusal(const Range& range) {
    Cursor& cursor = client().begin(client().open(), Intent::read);
    const Step step = cursor.seek(range.range());
    const ErrorCode code = cursor.error().code;
    client().session().abandon_request();
    return step == Step::failed ? code : ErrorCode::none;
  }
};

TEST_P(Seeking, the_shape_of_a_key_is_that_of_its_index) {
  const auto shape_of = [this](const std::string& index) {
    const uint64_t shape = client().begin(client().open(item(index)), Intent::read).key_shape();
    client().session().abandon_request();
    return shape;
  };
  EXPECT_EQ(shape_of("PRIMARY"), shape_of("PRIMARY"));
  EXPECT_NE(shape_of("PRIMARY"), shape_of("by_name"));
  EXPECT_NE(shape_of("by_name"), shape_of("by_stock_name"));
}

TEST_P(Seeking, equal_finds_the_rows_of_the_key) {
  EXPECT_EQ(by_id({equal, {"3"}}), "3");
  EXPECT_EQ(by_id({equal, {"5"}}), "");
  EXPECT_EQ(by_stock({equal, {"20", "cup"}}), "3");
}

TEST_P(Seeking, after_begins_behind_the_key) {
  EXPECT_EQ(by_id({after, {"2"}}), "3 4");
  EXPECT_EQ(by_id({after, {"4"}}), "");
}

TEST_P(Seeking, at_or_after_begins_with_the_key) {
  EXPECT_EQ(by_id({at_or_after, {"2"}}), "2 3 4");
  EXPECT_EQ(by_name({at_or_after, {"cat"}}), "3 2");
}

TEST_P(Seeking, before_goes_down_from_below_the_key) {
  EXPECT_EQ(by_id({before, {"3"}}), "2 1");
  EXPECT_EQ(by_id({before, {"1"}}), "");
}

TEST_P(Seeking, at_or_before_goes_down_from_the_key) {
  EXPECT_EQ(by_id({at_or_before, {"3"}}), "3 2 1");
  EXPECT_EQ(by_name({at_or_before, {"cat"}}), "1 4");
}

TEST_P(Seeking, starts_with_is_equal_in_all_parts_but_the_last_whose_text_begins_with_the_value) {
  EXPECT_EQ(by_name({starts_with, {"c"}}), "1 3");
  EXPECT_EQ(by_name({starts_with, {""}}), "4 1 3 2");
  EXPECT_EQ(by_name({starts_with, {"cx"}}), "");
  EXPECT_EQ(by_stock({starts_with, {"20", "cu"}}), "3");
  EXPECT_EQ(by_stock({starts_with, {"10", "c"}}), "");
}

TEST_P(Seeking, key_values_are_for_the_first_parts_of_the_index) {
  EXPECT_EQ(by_stock({equal, {"20"}}), "1 3");
  EXPECT_EQ(by_stock({after, {"10"}}), "1 3");
  EXPECT_EQ(by_stock({at_or_after, {"20"}}), "1 3");
  EXPECT_EQ(by_stock({before, {"20"}}), "2 4");
  EXPECT_EQ(by_stock({at_or_before, {"20"}}), "3 1 2 4");
}

TEST_P(Seeking, all_parts_of_a_key_decide_in_their_order) {
  EXPECT_EQ(by_stock({after, {"20", "cap"}}), "3");
  EXPECT_EQ(by_stock({at_or_after, {"10", "z"}}), "1 3");
  EXPECT_EQ(by_stock({before, {"20", "cup"}}), "1 2 4");
  EXPECT_EQ(by_stock({at_or_before, {"10", "pen"}}), "2 4");
}

TEST_P(Seeking, null_comes_before_every_value) {
  EXPECT_EQ(by_stock({equal, {nullptr}}), "4");
  EXPECT_EQ(by_stock({at_or_after, {nullptr}}), "4 2 1 3");
  EXPECT_EQ(by_stock({after, {nullptr}}), "2 1 3");
  EXPECT_EQ(by_stock({at_or_before, {nullptr}}), "4");
  EXPECT_EQ(by_stock({before, {nullptr}}), "");
}

TEST_P(Seeking, a_null_that_no_row_can_have_is_before_every_row) {
  EXPECT_EQ(by_id({equal, {nullptr}}), "");
  EXPECT_EQ(by_id({after, {nullptr}}), "1 2 3 4");
  EXPECT_EQ(by_id({at_or_after, {nullptr}}), "1 2 3 4");
  EXPECT_EQ(by_id({at_or_before, {nullptr}}), "");
}

TEST_P(Seeking, numbers_order_as_numbers) {
  host().insert("d.item", {"10", "ten", "9"});
  host().insert("d.item", {"-5", "five", "-1"});
  EXPECT_EQ(by_id({at_or_after, {"-5"}}), "-5 1 2 3 4 10");
  EXPECT_EQ(by_stock({after, {nullptr}}), "-5 10 2 1 3");
}

TEST_P(Seeking, a_number_may_be_written_in_more_than_one_way) {
  EXPECT_EQ(by_id({equal, {"003"}}), "3");
  EXPECT_EQ(by_id({equal, {"+3"}}), "3");
  EXPECT_EQ(by_id({after, {"-0"}}), "1 2 3 4");
}

TEST_P(Seeking, a_number_beyond_the_column_is_beyond_every_row) {
  host().insert("d.item", {"9223372036854775807", "max", "1"});
  host().insert("d.item", {"-9223372036854775808", "min", "1"});
  EXPECT_EQ(by_id({equal, {"9223372036854775808"}}), "");
  EXPECT_EQ(by_id({equal, {"-9223372036854775809"}}), "");
  EXPECT_EQ(by_id({after, {"99999999999999999999"}}), "");
  EXPECT_EQ(by_id({at_or_after, {"9223372036854775808"}}), "");
  EXPECT_EQ(by_id({before, {"-99999999999999999999"}}), "");
  EXPECT_EQ(by_id({before, {"99999999999999999999"}}), "9223372036854775807 4 3 2 1 -9223372036854775808");
  EXPECT_EQ(by_id({after, {"-9223372036854775809"}}), "-9223372036854775808 1 2 3 4 9223372036854775807");
}

TEST_P(Seeking, a_text_longer_than_the_column_is_compared_whole) {
  host().insert("d.item", {"5", "cups", "1"});
  EXPECT_EQ(by_name({equal, {"cupsy"}}), "");
  EXPECT_EQ(by_name({at_or_after, {"cupsy"}}), "2");
  EXPECT_EQ(by_name({before, {"cupsy"}}), "5 3 1 4");
  EXPECT_EQ(by_name({starts_with, {"cupsy"}}), "");
}

TEST_P(Seeking, an_empty_text_is_a_value) {
  host().insert("d.item", {"5", "", "1"});
  EXPECT_EQ(by_name({equal, {""}}), "5");
  EXPECT_EQ(by_name({after, {""}}), "4 1 3 2");
}

TEST_P(Seeking, a_range_has_two_ends) {
  EXPECT_EQ(by_id({at_or_after, {"2"}, true, before, {"4"}}), "2 3");
  EXPECT_EQ(by_id({after, {"2"}, true, at_or_before, {"4"}}), "3 4");
  EXPECT_EQ(by_id({before, {"4"}, true, at_or_after, {"1"}}), "3 2 1");
  EXPECT_EQ(by_id({at_or_before, {"4"}, true, after, {"1"}}), "4 3 2");
}

TEST_P(Seeking, a_range_whose_ends_cross_is_empty) {
  EXPECT_EQ(by_id({at_or_after, {"3"}, true, before, {"3"}}), "");
  EXPECT_EQ(by_id({after, {"3"}, true, before, {"2"}}), "");
  EXPECT_EQ(by_id({before, {"2"}, true, after, {"3"}}), "");
}

TEST_P(Seeking, parts_that_have_no_value_in_an_end_are_open) {
  EXPECT_EQ(by_stock({at_or_after, {nullptr}, true, before, {"20"}}), "4 2");
  EXPECT_EQ(by_stock({after, {"20", "cap"}, true, at_or_before, {"20"}}), "3");
  EXPECT_EQ(by_stock({after, {nullptr}, true, before, {"20", "cup"}}), "2 1");
  EXPECT_EQ(by_stock({at_or_before, {"20", "cap"}, true, after, {"10"}}), "1");
}

TEST_P(Seeking, an_end_may_lie_beyond_every_row) {
  EXPECT_EQ(by_id({after, {"2"}, true, before, {"99999999999999999999"}}), "3 4");
  EXPECT_EQ(by_id({before, {"3"}, true, after, {"-99999999999999999999"}}), "2 1");
  EXPECT_EQ(by_id({after, {"2"}, true, before, {"-99999999999999999999"}}), "");
}

TEST_P(Seeking, reverse_gives_the_same_rows_in_the_opposite_order) {
  EXPECT_EQ(by_id({after, {"1"}, true, before, {"4"}, true}), "3 2");
  EXPECT_EQ(by_id({before, {"4"}, true, after, {"1"}, true}), "2 3");
  EXPECT_EQ(by_stock({.key_operator = equal, .key = {"20"}, .reverse = true}), "3 1");
  EXPECT_EQ(by_name({.key_operator = starts_with, .key = {"c"}, .reverse = true}), "3 1");
}

TEST_P(Seeking, reverse_without_another_end_begins_where_the_index_ends) {
  EXPECT_EQ(by_id({.key_operator = after, .key = {"2"}, .reverse = true}), "4 3");
  EXPECT_EQ(by_id({.key_operator = at_or_before, .key = {"2"}, .reverse = true}), "1 2");
  EXPECT_EQ(by_stock({.key_operator = before, .key = {"20"}, .reverse = true}), "4 2");
}

TEST_P(Seeking, more_key_values_than_parts_are_refused) {
  EXPECT_EQ(refusal({equal, {"1", "2"}}), ErrorCode::too_many_key_parts);
  EXPECT_EQ(refusal({after, {"1"}, true, before, {"1", "2"}}), ErrorCode::too_many_key_parts);
}

TEST_P(Seeking, only_text_begins_with_something) {
  EXPECT_EQ(refusal({starts_with, {"1"}}), ErrorCode::bad_operator);
}

TEST_P(Seeking, a_request_may_seek_again_and_again) {
  Selection& index = client().open();
  Cursor& cursor = client().begin(index, Intent::read);
  std::string found;
  for (const char* const id : {"3", "7", "1", "3"}) {
    const Texts key{id};
    found += cursor.seek({.key_operator = equal, .key = key}) == Step::row ? row_of(cursor) + " " : "- ";
  }
  EXPECT_EQ(found, "3 cup 20 - 1 cap 20 3 cup 20 ");
  EXPECT_TRUE(client().session().end_request().ok());
}

TEST_P(Seeking, now_is_a_key) {
  create_table("d.event", {.columns = {memory::text("at", 40), memory::integer("id")},
                           .indexes = {{"PRIMARY", {"at"}, true}}});
  host().insert("d.event", {"1999-12-31 23:59:59", "1"});
  host().insert("d.event", {"9999-12-31 23:59:59", "2"});
  Cursor& cursor = client().begin(client().open({"d", "event", "", "id", ""}), Intent::read);
  const Value key = Value::now();
  EXPECT_EQ(cursor.seek({.key_operator = before, .key = {&key, 1}}), Step::row);
  EXPECT_EQ(row_of(cursor), "1");
  EXPECT_TRUE(client().session().end_request().ok());
}

INSTANTIATE_TEST_SUITE_P(, Seeking, testing::ValuesIn(every_kind()), name_of_kind);

class Lenience : public Contract {};

TEST_P(Lenience, a_key_that_is_none_finds_what_sql_compares_equal_and_is_said) {
  Selection& index = client().open();
  EXPECT_EQ(client().ids(index, {equal, {"3"}}), "3");
  EXPECT_FALSE(client().session().took_lenience());
  EXPECT_EQ(client().ids(index, {equal, {"3 pieces"}}), "3");
  EXPECT_TRUE(client().session().took_lenience());
  EXPECT_FALSE(client().session().took_lenience());
}

TEST_P(Lenience, a_key_that_is_none_finds_nothing_where_values_are_exact) {
  Selection& index = client().open();
  EXPECT_EQ(client().ids(index, {.key_operator = equal, .key = {"3"}, .exact_values = true}), "3");
  EXPECT_EQ(client().ids(index, {.key_operator = equal, .key = {"3 pieces"}, .exact_values = true}), "");
  EXPECT_FALSE(client().session().took_lenience());
}

TEST_P(Lenience, what_was_taken_of_a_filter_is_said_where_the_key_is_exact) {
  Selection& index = client().open(item("", "stock"));
  const Error error = client().request(index, Intent::read, [](Cursor& cursor) {
    const Filter filter = {Mismatch::skip, Comparison::equal, 0, Value("10 pieces")};
    Error refused = cursor.set_filters({&filter, 1});
    const Texts key{"2"};
    EXPECT_EQ(cursor.seek({.key_operator = equal, .key = key, .exact_values = true}), Step::row);
    return refused;
  });
  EXPECT_TRUE(error.ok());
  EXPECT_TRUE(client().session().took_lenience());
}

INSTANTIATE_TEST_SUITE_P(, Lenience, testing::ValuesIn(lenient_kinds()), name_of_kind);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Lenience);

}  // namespace
}  // namespace rowsocket::engine::conformance
