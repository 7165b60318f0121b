// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>

#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

using testing::HasSubstr;

class RowsInsertTest : public RespTest {
 protected:
  std::string reply_of(const Insert& insert, const std::vector<RowOutcome>& outcomes) {
    out.clear();
    insert.reply->begin_outcomes();
    for (const RowOutcome& outcome : outcomes) {
      insert.reply->inserted(outcome);
    }
    insert.reply->end_outcomes();
    return std::string(out.view());
  }
  const RowOutcome new_row{.error = {}, .rows_affected = 1, .has_id = true, .id = 7};
  const RowOutcome changed_row{.error = {}, .rows_affected = 2, .has_id = false, .id = 0};
  const RowOutcome kept_row{.error = {}, .rows_affected = 0, .has_id = false, .id = 0};
};

TEST_F(RowsInsertTest, rows_stand_one_behind_the_other) {
  const Insert& insert = insert_of({"ROWS.INSERT", "d.t", "a,b", "4", "1", "x", "2", "y"});
  EXPECT_EQ(insert.selection.names->columns, "a,b");
  EXPECT_EQ(insert.row_count, 2U);
  EXPECT_EQ(words_of(insert.values), "1 x 2 y");
  EXPECT_EQ(insert.on_duplicate, OnDuplicate::fail);
  EXPECT_EQ(reply_of(insert, {new_row, kept_row}), ":1\r\n");
}

TEST_F(RowsInsertTest, a_row_that_is_there_is_kept_replaced_or_changed) {
  EXPECT_EQ(insert_of({"ROWS.INSERT", "d.t", "a", "1", "1", "KEEP"}).on_duplicate, OnDuplicate::keep);
  EXPECT_EQ(insert_of({"ROWS.INSERT", "d.t", "a", "1", "1", "replace"}).on_duplicate, OnDuplicate::replace);
  const Insert& insert =
      insert_of({"ROWS.INSERT", "d.t", "a,b,c", "3", "1", "2", "3", "UPDATE", "c", "ADD", "b"});
  EXPECT_EQ(insert.on_duplicate, OnDuplicate::change);
  ASSERT_EQ(insert.duplicate_changes.size(), 2U);
  EXPECT_EQ(insert.duplicate_changes[0].position, 2U);
  EXPECT_EQ(insert.duplicate_changes[1].position, 1U);
  EXPECT_EQ(insert.duplicate_changes[1].operation, Operation::add);
}

TEST_F(RowsInsertTest, a_text_can_stand_for_null) {
  EXPECT_EQ(words_of(insert_of({"ROWS.INSERT", "d.t", "a,b", "2", "1", "-", "NULLS", "-"}).values), "1 NULL");
}

TEST_F(RowsInsertTest, a_text_can_stand_for_the_time) {
  const Insert& insert =
      insert_of({"ROWS.INSERT", "d.t", "a,b", "2", "now", "-", "NOW", "now", "NULLS", "-"});
  EXPECT_TRUE(insert.values[0].is_now());
  EXPECT_TRUE(insert.values[1].is_null());
}

TEST_F(RowsInsertTest, an_id_beyond_63_bits_is_told_as_it_is) {
  const RowOutcome far{.error = {}, .rows_affected = 1, .has_id = true, .id = 9223372036854775808U};
  EXPECT_EQ(reply_of(insert_of({"ROWS.INSERT", "d.t", "a", "1", "1", "IDS"}), {far}),
            "*1\r\n:9223372036854775808\r\n");
}

TEST_F(RowsInsertTest, ids_are_told_and_errors_of_rows_that_stand_alone) {
  EXPECT_EQ(reply_of(insert_of({"ROWS.INSERT", "d.t", "a", "2", "1", "2", "IDS"}), {new_row, kept_row}),
            "*2\r\n:7\r\n$-1\r\n");
  const Insert& alone = insert_of({"ROWS.INSERT", "d.t", "a", "3", "1", "2", "3", "ALONE"});
  EXPECT_TRUE(alone.rows_alone);
  const RowOutcome failed{
      .error = Error(ErrorCode::engine, 121), .rows_affected = 0, .has_id = false, .id = 0};
  EXPECT_THAT(reply_of(alone, {new_row, failed, changed_row}), HasSubstr("*3\r\n:1\r\n-ERR engine 121"));
}

TEST_F(RowsInsertTest, a_column_is_named_once) {
  EXPECT_EQ(answer_to({"ROWS.INSERT", "d.t", "a,b,A", "3", "1", "2", "3"}),
            "-ERR a column is named twice\r\n");
  EXPECT_EQ(insert_of({"ROWS.INSERT", "d.t", "a,b,aa", "3", "1", "2", "3"}).row_count, 1U);
}

/// Each is compared with others, so there may be no more of them than a table can have.
TEST_F(RowsInsertTest, columns_are_no_more_than_a_table_has) {
  const std::string most = names(4096);
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", most, "1", "x"}), HasSubstr("as columns, for each row"));
  EXPECT_EQ(answer_to({"ROWS.INSERT", "d.t", most + ",one_more", "1", "x"}),
            "-ERR no table has so many columns\r\n");
}

TEST_F(RowsInsertTest, columns_that_are_changed_are_found_without_regard_to_case) {
  const Insert& insert = insert_of({"ROWS.INSERT", "d.t", "b,A", "2", "1", "2", "UPDATE", "B", "ADD", "a"});
  ASSERT_EQ(insert.duplicate_changes.size(), 2U);
  EXPECT_EQ(insert.duplicate_changes[0].position, 0U);
  EXPECT_EQ(insert.duplicate_changes[1].position, 1U);
}

TEST_F(RowsInsertTest, what_makes_no_sense_is_refused) {
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a,b", "3", "1", "2", "3"}), HasSubstr("as columns"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "2", "1"}), HasSubstr("number of values"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "1", "1", "KEEP", "REPLACE"}), HasSubstr("exclude"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "1", "1", "KEEP", "ADD", "a"}), HasSubstr("exclude"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "1", "1", "KEEP", "KEEP"}), HasSubstr("exclude"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "1", "1", "UPDATE", "b"}), HasSubstr("UPDATE and ADD"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "1", "1", "UPDATE", "a,a"}), HasSubstr("UPDATE and ADD"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "1", "1", "UPDATE", ""}), HasSubstr("UPDATE and ADD"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "", "1", "1"}), HasSubstr("a list with commas"));
  EXPECT_THAT(answer_to({"ROWS.INSERT", "d.t", "a", "1", "1", "MAYBE"}), HasSubstr("syntax error"));
}

/// In which order, the engine decides (Cursor::order_rows): it knows which keys are equal.
TEST_F(RowsInsertTest, pairs_of_an_mset_are_locked_in_one_order) {
  const Insert& insert = insert_of({"MSET", "b", "1", "A", "2", "c", "3", "a", "4"});
  ASSERT_EQ(insert.row_count, 4U);
  EXPECT_EQ(insert.order.size(), 4U);
  EXPECT_TRUE(insert.names_row);
  const size_t size = insert.values.size() / 4;
  std::string keys;
  for (size_t row = 0; row < 4; ++row) {
    keys += insert.values[row * size].view();
  }
  EXPECT_EQ(keys, "bAca") << "the last one of equal keys counts";
}

TEST_F(RowsInsertTest, tables_of_an_mset_are_locked_in_one_order) {
  const auto tables_of = [this](std::initializer_list<std::string_view> arguments) {
    std::string tables;
    for (const Request* const member : static_cast<const Group&>(request_of(encoded(arguments))).members) {
      const auto& insert = static_cast<const Insert&>(*member);
      tables += std::string(insert.selection.names->table) + std::to_string(insert.row_count) + " ";
    }
    return tables;
  };
  EXPECT_EQ(tables_of({"MSET", "@@wide.1|2", "x", "a", "1", "@@bare.a", "2", "b", "3"}), "bare1 t2 wide1 ");
  EXPECT_EQ(tables_of({"MSET", "@@bare.a", "2", "b", "3", "@@wide.1|2", "x", "a", "1"}), "bare1 t2 wide1 ");
}

TEST_F(RowsInsertTest, tables_of_two_databases_are_locked_in_one_order) {
  std::vector<std::unique_ptr<const Container>> all;
  for (const auto& [database, table] : {std::pair("a", "y"), std::pair("b", "x")}) {
    all.push_back(std::make_unique<const Container>(
        ContainerFields{database, database, table, "k", "v", "", "", "", "PRIMARY"}));
  }
  settings.containers = std::make_shared<const Containers>(std::move(all));
  const auto databases_of = [this](std::initializer_list<std::string_view> arguments) {
    std::string databases;
    for (const Request* const member : static_cast<const Group&>(request_of(encoded(arguments))).members) {
      databases += static_cast<const Insert&>(*member).selection.names->database;
    }
    return databases;
  };
  EXPECT_EQ(databases_of({"MSET", "@@a.k", "1", "@@b.k", "2"}), "ab");
  EXPECT_EQ(databases_of({"MSET", "@@b.k", "2", "@@a.k", "1"}), "ab");
}

TEST_F(RowsInsertTest, pairs_of_two_containers_of_one_table_stay_in_the_order_of_the_command) {
  std::vector<std::unique_ptr<const Container>> all;
  for (const char* name : {"one", "two"}) {
    all.push_back(
        std::make_unique<const Container>(ContainerFields{name, "d", "t", "k", "v", "", "", "", "PRIMARY"}));
  }
  settings.containers = std::make_shared<const Containers>(std::move(all));
  const auto& group = static_cast<const Group&>(
      request_of(encoded({"MSET", "@@two.a", "1", "@@one.a", "2", "@@two.a", "3"})));
  ASSERT_EQ(group.members.size(), 3U);
  EXPECT_EQ(words_of(static_cast<const Insert&>(*group.members[1]).values), "a 2");
}

TEST_F(RespTest, a_cas_that_its_table_keeps_is_not_written) {
  const Insert& insert = insert_of({"MSET", "@@wide.1|2", "x|y", "@@wide.1|3", "x|z"});
  EXPECT_EQ(words_of(insert.values), "1 2 x y 0 1 3 x z 0");
  EXPECT_EQ(insert.row_count, 2U);
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
