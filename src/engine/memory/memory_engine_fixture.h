// SPDX-License-Identifier: GPL-2.0-only
//
// The vocabulary of the memory engine's tests: table d.t (id, name, stock), a session that writes, and short words for requests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/memory/memory_engine.h"

namespace rowsocket::engine::memory {

/// A range with two ends.
struct Between {
  KeyOperator key_operator;
  std::vector<const char*> key;
  KeyOperator end_operator;
  std::vector<const char*> end_key;
  bool reverse = false;
};

class MemoryEngineTest : public testing::Test {
 protected:
  MemoryEngineTest() {
    engine.create_table(
        "d.t", {.columns = {integer("id"), text("name", 4), nullable(integer("stock"))},
                .indexes = {{"PRIMARY", {"id"}, true}, {"by_stock_name", {"stock", "name"}}, {"by_name", {"name"}, true}}});
    session = open_session(Intent::write);
  }

  std::unique_ptr<Session> open_session(Intent intent) {
    SessionOptions options;
    options.intent = intent;
    options.wake = [this] { ++wakes; };
    return engine.create_session(options);
  }
  static std::shared_ptr<Selection> open(Session& on, const std::string& index, const std::string& filter_columns = "") {
    SelectionDescription description{"d", "t", index, "id,name,stock", filter_columns};
    std::shared_ptr<Selection> opened;
    EXPECT_EQ(on.open_selection(description, opened, last_error), Begin::ready);
    return opened;
  }
  Cursor& begin(Selection& index, Intent intent = Intent::write) {
    Cursor* cursor = nullptr;
    Error error;
    EXPECT_EQ(session->begin_request(index, intent, cursor, error), Begin::ready);
    return *cursor;
  }
  /// A group that is to write to `d.t`.
  Begin begin_group() {
    const auto index = open(*session, "");
    const GroupMember member{index.get(), Intent::write, false};
    size_t failed_member = 0;
    return session->begin_group({&member, 1}, failed_member, last_error);
  }
  static std::vector<Value> values(const std::vector<const char*>& texts) {
    std::vector<Value> result;
    for (const char* text : texts) {
      result.push_back(text == nullptr ? Value() : Value(std::string_view(text)));
    }
    return result;
  }
  Error insert(const std::vector<const char*>& texts) {
    RowOutcome outcome{};
    return insert(texts, {}, outcome);
  }
  Error insert(const std::vector<const char*>& texts, RowToInsert row, RowOutcome& outcome,
               std::span<const Filter> duplicate_filters = {}) {
    const auto index = open(*session, "", "name,stock");
    const std::vector<Value> row_values = values(texts);
    row.values = row_values;
    Cursor& cursor = begin(*index);
    EXPECT_TRUE(cursor.set_filters(duplicate_filters).ok());
    Error error = cursor.insert_row(row, outcome);
    told = error.ok() && row.tells_row ? told_by(cursor) : "";
    if (error.ok()) {
      return session->end_request();
    }
    session->abandon_request();
    return error;
  }
  /// What came of it: rows affected, and the id where there is one; or the error's number. See `told`.
  std::string upsert(const std::vector<const char*>& texts, OnDuplicate on_duplicate,
                     const std::vector<DuplicateChange>& changes = {}, const std::vector<Filter>& filters = {}) {
    RowOutcome outcome{};
    const RowToInsert row = {.values = {},
                             .on_duplicate = on_duplicate,
                             .duplicate_changes = changes,
                             .filters_duplicates = !filters.empty(),
                             .tells_row = true};
    const Error error = insert(texts, row, outcome, filters);
    if (!error.ok()) {
      return "error " + std::to_string(error.number);
    }
    return std::to_string(outcome.rows_affected) + (outcome.has_id ? "#" + std::to_string(outcome.id) : "");
  }
  /// A condition on `name` (0) or `stock` (1).
  static Filter filter(uint32_t column, Comparison comparison, const char* value, Mismatch mismatch = Mismatch::skip) {
    return {mismatch, comparison, column, values({value})[0]};
  }
  /// The current row.
  static std::string told_by(Cursor& cursor) {
    Buffer out;
    ValueWriter writer(out, words);
    cursor.write_row(writer);
    return std::string(out.view());
  }
  static Step seek(Cursor& cursor, KeyOperator key_operator, const std::vector<const char*>& key) {
    const std::vector<Value> key_values = values(key);
    return cursor.seek({.key_operator = key_operator, .key = key_values});
  }
  /// The ids found, in order.
  std::string ids(const std::string& index_name, const KeyRange& range) {
    const auto index = open(*session, index_name);
    Cursor& cursor = begin(*index, Intent::read);
    std::string found;
    for (Step step = cursor.seek(range); step == Step::row; step = cursor.next()) {
      found += told_by(cursor).substr(0, 2);
    }
    EXPECT_TRUE(session->end_request().ok());
    return found;
  }
  std::string ids(const std::string& index_name, KeyOperator key_operator, const std::vector<const char*>& key) {
    const std::vector<Value> key_values = values(key);
    return ids(index_name, {.key_operator = key_operator, .key = key_values});
  }
  std::string ids(const std::string& index_name, const Between& between) {
    const std::vector<Value> key = values(between.key);
    const std::vector<Value> end_key = values(between.end_key);
    return ids(index_name, {between.key_operator, key, true, between.end_operator, end_key, between.reverse});
  }
  /// The ids of the rows whose stock compares so, in order.
  std::string ids_where(Comparison comparison, const char* stock) {
    const auto index = open(*session, "", "name,stock");
    Cursor& cursor = begin(*index, Intent::read);
    const Filter condition = filter(1, comparison, stock);
    EXPECT_TRUE(cursor.set_filters({&condition, 1}).ok());
    std::string found;
    for (Step step = seek(cursor, KeyOperator::at_or_after, {"0"}); step == Step::row; step = cursor.next()) {
      found += cursor.verdict() == Verdict::match ? told_by(cursor).substr(0, 2) : "";
    }
    EXPECT_TRUE(session->end_request().ok());
    return found;
  }
  void create_table_without_transactions() {
    engine.create_table("d.t", {.columns = {integer("id"), text("name"), nullable(integer("stock"))},
                                .indexes = {{"PRIMARY", {"id"}, true}},
                                .has_transactions = false});
  }
  void insert_four_rows() {
    EXPECT_TRUE(engine.insert("d.t", {"1", "cap", "20"}));
    EXPECT_TRUE(engine.insert("d.t", {"2", "pen", "10"}));
    EXPECT_TRUE(engine.insert("d.t", {"3", "cup", "20"}));
    EXPECT_TRUE(engine.insert("d.t", {"4", "box", std::nullopt}));
  }
  std::vector<Row> committed() {
    EXPECT_TRUE(session->commit().ok());
    return engine.rows("d.t");
  }

  static constexpr ValueFormat words = {.separator = ' ', .null_token = "NULL"};
  static inline Error last_error;
  std::string told;  ///< the row that the last upsert left
  MemoryEngine engine;
  std::unique_ptr<Session> session;
  std::atomic<int> wakes = 0;
};

}  // namespace rowsocket::engine::memory
