// SPDX-License-Identifier: GPL-2.0-only
//
// Ranges: what stands for NULL and for the time, and how many columns there may be.
#include <gmock/gmock.h>

#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

using testing::HasSubstr;

class RowsTest : public RespTest {};

TEST_F(RowsTest, a_text_can_stand_for_null_wherever_a_range_has_values) {
  const Find& find = find_of({"ROWS.FIND", "d.t", "a", ">=", "2", "1",     "-", "TO", "<", "1",     "-",
                              "IN",        "1",   "2", "5",  "-", "WHERE", "c", "=",  "-", "NULLS", "-"});
  EXPECT_EQ(words_of(find.range.key), "1 NULL");
  EXPECT_EQ(words_of(find.range.end_key), "NULL");
  EXPECT_EQ(words_of(find.list.values), "5 NULL");
  EXPECT_TRUE(find.filters[0].value.is_null());
}

TEST_F(RowsTest, each_value_has_the_name_of_its_column_where_names_are_asked_for) {
  const Find& find = find_of({"ROWS.FIND", "d.t", "a,bc,def", "=", "1", "7", "NAMES"});
  EXPECT_THAT(reply_to(find, {Value("1"), Value("2"), Value("3")}),
              HasSubstr("$1\r\na\r\n$1\r\n1\r\n$2\r\nbc\r\n$1\r\n2\r\n$3\r\ndef\r\n$1\r\n3\r\n"));
}

TEST_F(RowsTest, a_row_of_all_columns_says_how_many_there_are) {
  const auto told = [this] {
    return reply_to(find_of({"ROWS.FIND", "d.t", "*", "=", "1", "7"}), {Value("1"), Value("2")}, {"a", "b"});
  };
  const std::string columns = "$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n";
  EXPECT_EQ(told(), "*1\r\n*4\r\n" + columns);
  state.version = 3;
  EXPECT_EQ(told(), "*1\r\n%2\r\n" + columns);
}

TEST_F(RowsTest, the_values_of_a_row_without_names_are_a_list_in_each_version) {
  state.version = 3;
  EXPECT_EQ(reply_to(find_of({"HVALS", "d.t:1"}), {Value("1"), Value("2")}, {"a", "b"}),
            "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
}

TEST_F(RowsTest, a_value_of_several_columns_is_there_whatever_they_hold) {
  EXPECT_EQ(reply_to(find_of({"GET", "@@wide.1|2"}), {Value("5"), Value()}), "$2\r\n5|\r\n");
  EXPECT_EQ(reply_to(find_of({"GETEX", "a", "EX", "7"}), {Value(), Value(), Value(), Value()}), "$-1\r\n")
      << "one column with NULL is no value";
}

TEST_F(RowsTest, a_reply_that_is_made_again_counts_its_rows_anew) {
  const Find& find = find_of({"ROWS.FIND", "d.t", "a", "=", "1", "7"});
  EXPECT_EQ(reply_to(find, {Value("1")}), "*1\r\n*1\r\n$1\r\n1\r\n");
  EXPECT_EQ(reply_to(find, {Value("1")}), "*1\r\n*1\r\n$1\r\n1\r\n");
}

TEST_F(RowsTest, a_text_can_stand_for_the_time) {
  const Find& find = find_of({"ROWS.CHANGE", "d.t", "<", "1", "now", "WHERE", "c", ">", "now", "SET", "a",
                              "now", "APPEND", "b", "now", "NOW", "now"});
  EXPECT_TRUE(find.range.key[0].is_now());
  EXPECT_TRUE(find.filters[0].value.is_now());
  EXPECT_TRUE(find.change.assignments[0].value.is_now());
  EXPECT_EQ(find.change.assignments[1].value.view(), "now") << "no text is made longer by a time";
}

TEST_F(RowsTest, null_is_no_text_that_stands_for_the_time) {
  const Find& find = find_of({"ROWS.FIND", "d.t", "a", "=", "1", "7", "WHERE", "c", "IS", "NULL", "NOW", ""});
  EXPECT_TRUE(find.filters[0].value.is_null());
}

TEST_F(RowsTest, a_transaction_can_be_one_that_must_change_rows) {
  const auto must_change = [this](Words change) {
    answer_to({"MULTI"});
    answer_to({"SET", "a", "1"});
    EXPECT_EQ(answer_to(change), "+QUEUED\r\n");
    const Parsed exec = parse(encoded({"EXEC"}));
    EXPECT_EQ(exec.request->kind, RequestKind::group);
    state.forget_collected();
    return static_cast<const Group*>(exec.request)->must_change;
  };
  EXPECT_FALSE(must_change({"ROWS.CHANGE", "d.t", "=", "1", "7", "SET", "a", "1"}));
  EXPECT_TRUE(must_change({"ROWS.CHANGE", "d.t", "=", "1", "7", "SET", "a", "1", "MUST"}));
  EXPECT_TRUE(must_change({"ROWS.INSERT", "d.t", "a", "1", "7", "KEEP", "MUST"}));
}

TEST_F(RowsTest, columns_are_named_or_all_of_them) {
  EXPECT_TRUE(find_of({"ROWS.FIND", "d.t", "*", "=", "1", "7"}).selection.names->all_columns);
  EXPECT_EQ(answer_to({"ROWS.FIND", "d.t", "", "=", "1", "7"}),
            "-ERR columns are a list with commas, or *\r\n");
}

TEST_F(RowsTest, columns_are_no_more_than_a_table_has) {
  const std::string most = names(4096);
  const std::string more = names(4097);
  const std::string_view refusal = "-ERR no table has so many columns\r\n";
  EXPECT_EQ(find_of({"ROWS.FIND", "d.t", most, "=", "1", "7", "NAMES"}).selection.names->columns, most);
  const Find& told = find_of({"ROWS.CHANGE", "d.t", "=", "1", "7", "DELETE", "RETURN", "BEFORE", most});
  EXPECT_EQ(told.selection.names->columns, most);
  EXPECT_EQ(answer_to({"ROWS.FIND", "d.t", more, "=", "1", "7", "NAMES"}), refusal);
  EXPECT_EQ(answer_to({"ROWS.CHANGE", "d.t", "=", "1", "7", "DELETE", "RETURN", "BEFORE", more}), refusal);
}

TEST_F(RowsTest, the_keys_of_a_list_are_whole_and_not_too_many) {
  settings.in_values_max = 4;
  const Find& find = find_of({"ROWS.FIND", "d.t", "a", "=", "2", "1", "2", "KEYS", "4", "5", "6", "7", "8"});
  EXPECT_EQ(words_of(find.list.values), "5 6 7 8");
  EXPECT_THAT(answer_to({"ROWS.FIND", "d.t", "a", "=", "2", "1", "2", "KEYS", "3", "5", "6", "7"}),
              HasSubstr("as many values as the key"));
  EXPECT_EQ(
      words_of(
          find_of({"ROWS.FIND", "d.t", "a", "=", "2", "1", "2", "IN", "1", "3", "5", "6", "7"}).list.values),
      "5 6 7")
      << "each is of one part";
  EXPECT_THAT(answer_to({"ROWS.FIND", "d.t", "a", "=", "1", "1", "IN", "0", "5", "5", "6", "7", "8", "9"}),
              HasSubstr("too many keys"));
}

TEST_F(RowsTest, rows_of_each_key_are_at_least_one) {
  EXPECT_THAT(answer_to({"ROWS.FIND", "d.t", "a", "=", "1", "", "IN", "0", "1", "5", "EACH", "0"}),
              HasSubstr("EACH is at least 1"));
}

TEST_F(RowsTest, a_list_can_stand_in_any_part_of_the_key) {
  const Find& find = find_of({"ROWS.FIND", "d.t", "a", "=", "2", "1", "2", "IN", "1", "2", "5", "6"});
  EXPECT_EQ(find.list.part, 1U);
  EXPECT_FALSE(find.list.holds_whole_keys);
  EXPECT_TRUE(find_of({"ROWS.FIND", "d.t", "a", "=", "1", "1", "KEYS", "1", "5"}).list.holds_whole_keys);
}

TEST_F(RowsTest, changed_rows_are_told_as_they_were_or_as_they_are) {
  const auto tell = [this](std::string_view when) {
    return find_of({"ROWS.CHANGE", "d.t", "=", "1", "7", "SET", "a", "1", "RETURN", when, "b"}).tell;
  };
  EXPECT_EQ(tell("BEFORE"), Tell::rows);
  EXPECT_EQ(tell("AFTER"), Tell::rows_after);
  EXPECT_EQ(find_of({"ROWS.CHANGE", "d.t", "=", "1", "7", "SET", "a", "1"}).tell, Tell::count);
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
