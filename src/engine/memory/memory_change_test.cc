// SPDX-License-Identifier: GPL-2.0-only
//
// Changes: what each operation makes of a column, and which rows stay as they are.
#include "engine/memory/memory_engine_fixture.h"

namespace rowsocket::engine::memory {
namespace {

using testing::ElementsAre;

class MemoryChangeTest : public MemoryEngineTest {
 protected:
  /// What the operation makes of a stock.
  std::string stock_after(Operation operation, const Cell& stock, const char* value,
                          bool keeps_signs = false) {
    return after({"1", "", stock}, {2, operation, values({value})[0]}, keeps_signs);
  }
  /// What it makes of a name, which has room for 4 bytes.
  std::string name_after(Operation operation, const char* name, const char* value) {
    return after({"1", name, std::nullopt}, {1, operation, values({value})[0]});
  }
  /// The assignment's column of the row, after the assignment: its value, "refused", or the error's name and
  /// number.
  std::string after(const Row& row, const Assignment& assignment, bool keeps_signs = false) {
    create_table_of_texts_and_numbers();
    EXPECT_TRUE(engine.insert("d.t", row));
    const auto index = open(*session, "");
    Cursor& cursor = begin(*index);
    EXPECT_EQ(seek(cursor, KeyOperator::at_or_after, {"0"}), Step::row);
    bool changed = false;
    const Error error = cursor.change_row({&assignment, 1}, keeps_signs, changed);
    EXPECT_TRUE(session->end_request().ok());
    const Row is_there = committed()[0];
    EXPECT_TRUE(changed || is_there == row) << "a row that is not changed stays";
    if (!error.ok()) {
      return std::string(error_name(error.code)) +
             (error.number != 0 ? " " + std::to_string(error.number) : "");
    }
    return changed ? is_there[assignment.column].value_or("NULL") : "refused";
  }
  void create_table_of_texts_and_numbers() {
    engine.create_table("d.t", {.columns = {integer("id"), text("name", 4), nullable(integer("stock"))},
                                .indexes = {{"PRIMARY", {"id"}, true}}});
  }
};

constexpr const char* int64_max = "9223372036854775807";
constexpr const char* int64_min = "-9223372036854775808";
constexpr const char* uint64_max = "18446744073709551615";

TEST_F(MemoryChangeTest, set_takes_what_the_column_can_hold) {
  using enum Operation;
  EXPECT_EQ(stock_after(set, "5", "007"), "7");
  EXPECT_EQ(stock_after(set, "5", nullptr), "NULL");
  EXPECT_EQ(stock_after(set, "5", "many"), "sql 1366");
  EXPECT_EQ(stock_after(set, "5", "9223372036854775808"), "sql 1264");
  EXPECT_EQ(name_after(set, "pen", "ink"), "ink");
  EXPECT_EQ(name_after(set, "pen", "inked"), "sql 1406");
  EXPECT_EQ(name_after(set, "pen", nullptr), "sql 1048");
}

TEST_F(MemoryChangeTest, sums_are_exact_over_the_type_of_the_column) {
  using enum Operation;
  EXPECT_EQ(stock_after(add, "5", "7"), "12");
  EXPECT_EQ(stock_after(add, "5", "-7"), "-2");
  EXPECT_EQ(stock_after(add, "9223372036854775806", "1"), int64_max);
  EXPECT_EQ(stock_after(add, int64_max, "1"), "sql 1264");
  EXPECT_EQ(stock_after(add, "0", "9223372036854775808"), "sql 1264");
  EXPECT_EQ(stock_after(subtract, "5", "7"), "-2");
  EXPECT_EQ(stock_after(subtract, "-9223372036854775807", "1"), int64_min);
  EXPECT_EQ(stock_after(subtract, int64_min, "1"), "sql 1264");
}

TEST_F(MemoryChangeTest, sums_leave_null_and_refuse_what_is_no_number) {
  using enum Operation;
  EXPECT_EQ(stock_after(add, std::nullopt, "7"), "NULL");
  EXPECT_EQ(stock_after(add, "5", nullptr), "5");
  EXPECT_EQ(stock_after(add, "5", "many"), "sql 1292");
  EXPECT_EQ(stock_after(subtract, "5", ""), "sql 1292");
  EXPECT_EQ(name_after(add, "5", "7"), "sql 1292");
}

TEST_F(MemoryChangeTest, a_sum_that_keeps_signs_refuses_a_row_whose_sign_would_change) {
  using enum Operation;
  EXPECT_EQ(stock_after(subtract, "5", "5", true), "0");
  EXPECT_EQ(stock_after(subtract, "5", "6", true), "refused");
  EXPECT_EQ(stock_after(subtract, "-5", "-5", true), "0");
  EXPECT_EQ(stock_after(subtract, "-5", "-6", true), "refused");
  EXPECT_EQ(stock_after(subtract, "0", "6", true), "-6");
  EXPECT_EQ(stock_after(add, "5", "-6", true), "refused");
  EXPECT_EQ(stock_after(set, "5", "-6", true), "-6");
}

TEST_F(MemoryChangeTest, one_column_that_is_refused_refuses_the_whole_row) {
  EXPECT_TRUE(engine.insert("d.t", {"1", "pen", "5"}));
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index);
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"1"}), Step::row);
  const std::vector<Assignment> assignments = {{1, Operation::set, values({"ink"})[0]},
                                               {2, Operation::subtract, values({"6"})[0]}};
  bool changed = true;
  EXPECT_TRUE(cursor.change_row(assignments, true, changed).ok());
  EXPECT_FALSE(changed);
  EXPECT_TRUE(session->end_request().ok());
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "pen", "5"}));
}

TEST_F(MemoryChangeTest, add_wrapping_counts_over_64_bits_without_a_sign) {
  EXPECT_EQ(stock_after(Operation::add_wrapping, "5", "7"), "12");
  EXPECT_EQ(stock_after(Operation::add_wrapping, "5", uint64_max), "4");
  EXPECT_EQ(stock_after(Operation::add_wrapping, int64_max, "1"), "sql 1264") << "the column has a sign";
  EXPECT_EQ(name_after(Operation::add_wrapping, "99", "1"), "100");
  EXPECT_EQ(name_after(Operation::add_wrapping, "9999", "1"), "sql 1406");
  EXPECT_EQ(name_after(Operation::add_wrapping, "2", uint64_max), "1");
}

TEST_F(MemoryChangeTest, subtract_to_zero_stops_at_0) {
  EXPECT_EQ(stock_after(Operation::subtract_to_zero, "5", "2"), "3");
  EXPECT_EQ(stock_after(Operation::subtract_to_zero, "5", "5"), "0");
  EXPECT_EQ(stock_after(Operation::subtract_to_zero, "5", uint64_max), "0");
  EXPECT_EQ(name_after(Operation::subtract_to_zero, "100", "1"), "99");
}

TEST_F(MemoryChangeTest, counting_needs_numbers_without_a_sign) {
  for (const Operation operation : {Operation::add_wrapping, Operation::subtract_to_zero}) {
    EXPECT_EQ(stock_after(operation, "-5", "1"), "not_a_number");
    EXPECT_EQ(stock_after(operation, std::nullopt, "1"), "not_a_number");
    EXPECT_EQ(stock_after(operation, "5", "-1"), "not_a_number");
    EXPECT_EQ(stock_after(operation, "5", "18446744073709551616"), "not_a_number");
    EXPECT_EQ(stock_after(operation, "5", ""), "not_a_number");
    EXPECT_EQ(stock_after(operation, "5", nullptr), "5");
    EXPECT_EQ(name_after(operation, "pen", "1"), "not_a_number");
    EXPECT_EQ(name_after(operation, "", "1"), "not_a_number");
  }
}

TEST_F(MemoryChangeTest, append_and_prepend_join_texts) {
  EXPECT_EQ(name_after(Operation::append, "ab", "cd"), "abcd");
  EXPECT_EQ(name_after(Operation::prepend, "ab", "cd"), "cdab");
  EXPECT_EQ(name_after(Operation::append, "ab", ""), "ab");
  EXPECT_EQ(name_after(Operation::prepend, "ab", nullptr), "ab");
  EXPECT_EQ(name_after(Operation::append, "ab", "cde"), "sql 1406");
  EXPECT_EQ(name_after(Operation::prepend, "ab", "cde"), "sql 1406");
  EXPECT_EQ(stock_after(Operation::append, "5", "6"), "bad_modification");
}

TEST_F(MemoryChangeTest, what_is_joined_to_null_is_all_there_is) {
  engine.create_table("d.t", {.columns = {integer("id"), nullable(text("name")), nullable(integer("stock"))},
                              .indexes = {{"PRIMARY", {"id"}, true}}});
  engine.insert("d.t", {"1", std::nullopt, "5"});
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index);
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"1"}), Step::row);
  const Assignment assignment = {1, Operation::append, values({"pen"})[0]};
  bool changed = false;
  EXPECT_TRUE(cursor.change_row({&assignment, 1}, false, changed).ok());
  EXPECT_EQ(told_by(cursor), " 1 pen 5");
}

TEST_F(MemoryChangeTest, assignments_are_done_to_the_columns_that_they_name) {
  EXPECT_TRUE(engine.insert("d.t", {"1", "pen", "5"}));
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index);
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"1"}), Step::row);
  const std::vector<Assignment> assignments = {{2, Operation::add, values({"1"})[0]},
                                               {1, Operation::append, values({"s"})[0]}};
  bool changed = false;
  EXPECT_TRUE(cursor.change_row(assignments, false, changed).ok());
  EXPECT_TRUE(changed);
  EXPECT_EQ(told_by(cursor), " 1 pens 6");
}

TEST_F(MemoryChangeTest, a_change_that_fails_changes_no_row) {
  EXPECT_TRUE(engine.insert("d.t", {"1", "pen", "5"}));
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index);
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"1"}), Step::row);
  engine.fail_write(1, Error(ErrorCode::engine, 135));
  const Assignment assignment = {2, Operation::add, values({"1"})[0]};
  bool changed = true;
  EXPECT_EQ(cursor.change_row({&assignment, 1}, false, changed).number, 135);
  EXPECT_FALSE(changed);
  EXPECT_EQ(told_by(cursor), " 1 pen 5");
}

TEST_F(MemoryChangeTest, a_change_of_the_index_walked_moves_rows) {
  const auto moves = [this](const std::string& index_name, uint32_t column) {
    const auto index = open(*session, index_name);
    const Assignment assignment = {column, Operation::append, values({"1"})[0]};
    return begin(*index).change_moves_rows({&assignment, 1});
  };
  EXPECT_TRUE(moves("by_stock_name", 1));
  EXPECT_TRUE(moves("by_stock_name", 2));
  EXPECT_FALSE(moves("by_stock_name", 0));
  EXPECT_FALSE(moves("", 2));
}

}  // namespace
}  // namespace rowsocket::engine::memory
