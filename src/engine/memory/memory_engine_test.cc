// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/memory_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace rowsocket::engine::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr ValueFormat words = {' ', "NULL", 0, '\\', 0};

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
  static std::shared_ptr<Index> open(Session& on, const std::string& index, const std::string& filter_columns = "") {
    IndexDescription description{"d", "t", index, "id,name,stock", filter_columns};
    std::shared_ptr<Index> opened;
    EXPECT_EQ(on.open_index(description, opened, last_error), Begin::ready);
    return opened;
  }
  Cursor& begin(Index& index, Intent intent = Intent::write) {
    Cursor* cursor = nullptr;
    Error error;
    EXPECT_EQ(session->begin_request(index, intent, cursor, error), Begin::ready);
    return *cursor;
  }
  static std::vector<Value> values(const std::vector<const char*>& texts) {
    std::vector<Value> result;
    for (const char* text : texts) {
      result.push_back(text == nullptr ? Value() : Value(std::string_view(text)));
    }
    return result;
  }
  Error insert(const std::vector<const char*>& texts) {
    const auto index = open(*session, "");
    const std::vector<Value> row = values(texts);
    RowOutcome outcome{};
    Error error = begin(*index).insert_row({.values = row}, outcome);
    if (error.ok()) {
      return session->end_request();
    }
    session->abandon_request();
    return error;
  }
  static Step seek(Cursor& cursor, KeyOperator key_operator, const std::vector<const char*>& key) {
    const std::vector<Value> key_values = values(key);
    return cursor.seek({.key_operator = key_operator, .key = key_values});
  }
  /// The ids found, in order.
  std::string ids(const std::string& index_name, KeyOperator key_operator, const std::vector<const char*>& key) {
    const auto index = open(*session, index_name);
    Cursor& cursor = begin(*index, Intent::read);
    std::string found;
    const std::vector<Value> key_values = values(key);
    for (Step step = cursor.seek({.key_operator = key_operator, .key = key_values}); step == Step::row; step = cursor.next()) {
      Buffer out;
      ValueWriter writer(out, words);
      cursor.write_row(writer);
      found += out.view().substr(0, 2);
    }
    EXPECT_TRUE(session->end_request().ok());
    return found;
  }

  static inline Error last_error;
  MemoryEngine engine;
  std::unique_ptr<Session> session;
  std::atomic<int> wakes = 0;
};

TEST_F(MemoryEngineTest, changes_are_seen_by_others_after_the_commit_only) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  EXPECT_THAT(engine.rows("d.t"), IsEmpty());
  EXPECT_TRUE(session->commit().ok());
  EXPECT_THAT(engine.rows("d.t"), ElementsAre(Row{"1", "pen", "5"}));
}

TEST_F(MemoryEngineTest, a_rollback_undoes_the_transaction) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  session->rollback();
  EXPECT_TRUE(session->commit().ok());
  EXPECT_THAT(engine.rows("d.t"), IsEmpty());
}

TEST_F(MemoryEngineTest, an_abandoned_request_is_undone_alone) {
  EXPECT_TRUE(insert({"1", "pen", "5"}).ok());
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index);
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"1"}), Step::row);
  EXPECT_TRUE(cursor.update_row(values({"2", "ink", nullptr})).ok());
  EXPECT_TRUE(cursor.delete_row().ok());
  session->abandon_request();
  EXPECT_TRUE(session->commit().ok());
  EXPECT_THAT(engine.rows("d.t"), ElementsAre(Row{"1", "pen", "5"}));
}

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

TEST_F(MemoryEngineTest, adding_is_exact) {
  engine.insert("d.t", {"9223372036854775807", "a", "1"});
  const auto index = open(*session, "");
  Cursor& cursor = begin(*index);
  bool changed = false;
  EXPECT_EQ(seek(cursor, KeyOperator::at_or_after, {"0"}), Step::row);
  EXPECT_EQ(cursor.add_to_row(values({"1"}), false, changed).number, 1264);
  EXPECT_TRUE(cursor.add_to_row(values({"1"}), true, changed).ok());
  EXPECT_TRUE(session->end_request().ok());
  EXPECT_TRUE(session->commit().ok());
  EXPECT_EQ(engine.rows("d.t")[0][0], "9223372036854775806");
}

TEST_F(MemoryEngineTest, an_opened_index_follows_a_table_that_was_replaced) {
  const auto index = open(*session, "");
  engine.create_table(
      "d.t", {.columns = {nullable(integer("stock")), integer("id"), text("name")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  engine.insert("d.t", {"5", "1", "pen"});
  Cursor& cursor = begin(*index, Intent::read);
  EXPECT_EQ(seek(cursor, KeyOperator::equal, {"1"}), Step::row);
  EXPECT_TRUE(session->end_request().ok());
}

TEST_F(MemoryEngineTest, an_opened_index_whose_table_changed_too_much_fails) {
  const auto index = open(*session, "");
  Cursor* cursor = nullptr;
  Error error;
  engine.create_table("d.t", {.columns = {integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_EQ(session->begin_request(*index, Intent::read, cursor, error), Begin::failed);
  EXPECT_EQ(error.code, ErrorCode::no_such_column);
  engine.drop_table("d.t");
  EXPECT_EQ(session->begin_request(*index, Intent::read, cursor, error), Begin::failed);
  EXPECT_EQ(error.code, ErrorCode::cannot_open_table);
}

TEST_F(MemoryEngineTest, a_lost_transaction_says_so_until_it_is_rolled_back) {
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  engine.lose_transaction_at_write(1);
  EXPECT_EQ(insert({"2", "b", "1"}).number, 149);
  EXPECT_TRUE(session->transaction_lost());
  session->rollback();
  EXPECT_FALSE(session->transaction_lost());
  EXPECT_THAT(engine.rows("d.t"), IsEmpty());
}

TEST_F(MemoryEngineTest, a_failed_commit_undoes_everything) {
  engine.fail_commit(Error(ErrorCode::engine, 135));
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_EQ(session->commit().number, 135);
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_TRUE(session->commit().ok());
  EXPECT_EQ(engine.commits_with_changes(), 1);
}

TEST_F(MemoryEngineTest, a_session_that_only_reads_refuses_writes) {
  session = open_session(Intent::read);
  const auto index = open(*session, "");
  Cursor* cursor = nullptr;
  Error error;
  EXPECT_EQ(session->begin_request(*index, Intent::write, cursor, error), Begin::failed);
  EXPECT_EQ(error.code, ErrorCode::read_only);
}

TEST_F(MemoryEngineTest, a_busy_table_makes_requests_wait) {
  const auto index = open(*session, "");
  engine.set_busy("d.t", true);
  Cursor* cursor = nullptr;
  Error error;
  EXPECT_EQ(session->begin_request(*index, Intent::read, cursor, error), Begin::wait);
}

TEST_F(MemoryEngineTest, a_writer_of_the_same_thread_makes_others_wait_until_its_commit) {
  const auto reader = open_session(Intent::read);
  const auto index = open(*reader, "");
  Cursor* cursor = nullptr;
  Error error;
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_EQ(reader->begin_request(*index, Intent::read, cursor, error), Begin::wait);
  EXPECT_TRUE(session->commit().ok());
  EXPECT_EQ(reader->begin_request(*index, Intent::read, cursor, error), Begin::ready);
}

TEST_F(MemoryEngineTest, an_interruption_reaches_and_wakes_every_session) {
  engine.interrupt(Interruption::stop);
  EXPECT_EQ(session->interruption(), Interruption::stop);
  EXPECT_EQ(wakes, 1);
  session->clear_interruption();
  EXPECT_EQ(session->interruption(), Interruption::none);
}

TEST_F(MemoryEngineTest, workers_of_many_threads_lose_no_update) {
  engine.insert("d.t", {"1", "a", "0"});
  const auto work = [this] {
    const auto own = open_session(Intent::write);
    const std::vector<Value> key = values({"1"});
    IndexDescription description{"d", "t", "", "stock", ""};
    std::shared_ptr<Index> index;
    Error error;
    EXPECT_EQ(own->open_index(description, index, error), Begin::ready);
    for (int round = 0; round < 200; ++round) {
      Cursor* cursor = nullptr;
      ASSERT_EQ(own->begin_request(*index, Intent::write, cursor, error), Begin::ready);
      bool changed = false;
      EXPECT_EQ(cursor->seek({.key_operator = KeyOperator::equal, .key = key}), Step::row);
      EXPECT_TRUE(cursor->add_to_row(values({"1"}), false, changed).ok());
      EXPECT_TRUE(own->end_request().ok());
      EXPECT_TRUE(own->commit().ok());
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(engine.rows("d.t"), ElementsAre(Row{"1", "a", "800"}));
}

}  // namespace
}  // namespace rowsocket::engine::memory
