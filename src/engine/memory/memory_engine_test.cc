// SPDX-License-Identifier: GPL-2.0-only
//
// Sessions: transactions, groups, what is lost, who waits, and tables that change under an opened index.
#include <thread>

#include "engine/memory/memory_engine_fixture.h"

namespace rowsocket::engine::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
  bool changed = false;
  const std::vector<Assignment> assignments = {{1, Operation::set, values({"ink"})[0]},
                                               {2, Operation::set, Value()}};
  EXPECT_TRUE(cursor.change_row(assignments, false, changed).ok());
  EXPECT_TRUE(cursor.delete_row(changed).ok());
  session->abandon_request();
  EXPECT_TRUE(session->commit().ok());
  EXPECT_THAT(engine.rows("d.t"), ElementsAre(Row{"1", "pen", "5"}));
}

TEST_F(MemoryEngineTest, an_opened_index_follows_a_table_that_was_replaced) {
  const auto index = open(*session, "");
  engine.create_table("d.t", {.columns = {nullable(integer("stock")), integer("id"), text("name")},
                              .indexes = {{"PRIMARY", {"id"}, true}}});
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

TEST_F(MemoryEngineTest, an_abandoned_group_is_undone_alone) {
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_EQ(begin_group(), Begin::ready);
  EXPECT_TRUE(insert({"2", "b", "1"}).ok());
  EXPECT_EQ(upsert({"1", "c", "1"}, OnDuplicate::replace), "2");
  session->abandon_group();
  EXPECT_TRUE(insert({"3", "c", "1"}).ok());
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "a", "1"}, Row{"3", "c", "1"}));
}

TEST_F(MemoryEngineTest, a_group_that_ended_is_kept_in_the_transaction) {
  EXPECT_EQ(begin_group(), Begin::ready);
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_EQ(insert({"1", "b", "1"}).number, 121);
  EXPECT_TRUE(insert({"2", "b", "1"}).ok());
  EXPECT_TRUE(session->end_group().ok());
  EXPECT_THAT(engine.rows("d.t"), IsEmpty());
  EXPECT_THAT(committed(), ElementsAre(Row{"1", "a", "1"}, Row{"2", "b", "1"}));
}

TEST_F(MemoryEngineTest, a_group_ends_with_its_transaction) {
  EXPECT_EQ(begin_group(), Begin::ready);
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_TRUE(session->commit().ok());
  EXPECT_TRUE(insert({"2", "b", "1"}).ok());
  session->abandon_group();
  EXPECT_EQ(committed().size(), 2u);
}

TEST_F(MemoryEngineTest, a_group_whose_transaction_is_lost_may_be_abandoned) {
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_EQ(begin_group(), Begin::ready);
  engine.lose_transaction_at_write(1);
  EXPECT_EQ(insert({"2", "b", "1"}).number, 149);
  session->abandon_group();
  EXPECT_TRUE(session->transaction_lost());
  session->rollback();
  EXPECT_THAT(committed(), IsEmpty());
}

TEST_F(MemoryEngineTest, a_group_writes_to_tables_with_transactions_only) {
  create_table_without_transactions();
  EXPECT_EQ(begin_group(), Begin::failed);
  EXPECT_EQ(last_error.code, ErrorCode::no_transactions);
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
}

TEST_F(MemoryEngineTest, what_was_changed_without_transactions_is_not_undone) {
  create_table_without_transactions();
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  EXPECT_TRUE(session->did_lasting_work());
  EXPECT_TRUE(session->wants_commit());
  session->rollback();
  EXPECT_FALSE(session->did_lasting_work());
  EXPECT_THAT(engine.rows("d.t"), ElementsAre(Row{"1", "a", "1"}));
}

TEST_F(MemoryEngineTest, lasting_work_is_the_first_of_its_transaction) {
  EXPECT_TRUE(insert({"1", "a", "1"}).ok());
  create_table_without_transactions();
  const auto index = open(*session, "");
  Cursor* cursor = nullptr;
  EXPECT_EQ(session->begin_request(*index, Intent::write, cursor, last_error), Begin::commit_first);
  EXPECT_TRUE(session->commit().ok());
  EXPECT_EQ(session->begin_request(*index, Intent::write, cursor, last_error), Begin::ready);
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
  engine.interrupt(Interruption::close_connections);
  EXPECT_EQ(session->interruption(), Interruption::close_connections);
  EXPECT_EQ(wakes, 1);
  session->clear_interruption();
  EXPECT_EQ(session->interruption(), Interruption::none);
}

TEST_F(MemoryEngineTest, workers_of_many_threads_lose_no_update) {
  engine.insert("d.t", {"1", "a", "0"});
  const auto work = [this] {
    const auto own = open_session(Intent::write);
    const std::vector<Value> key = values({"1"});
    const Assignment one_more = {0, Operation::add, key[0]};
    SelectionDescription description{"d", "t", "", "stock", ""};
    std::shared_ptr<Selection> index;
    Error error;
    EXPECT_EQ(own->open_selection(description, index, error), Begin::ready);
    for (int round = 0; round < 200; ++round) {
      Cursor* cursor = nullptr;
      ASSERT_EQ(own->begin_request(*index, Intent::write, cursor, error), Begin::ready);
      bool changed = false;
      EXPECT_EQ(cursor->seek({.key_operator = KeyOperator::equal, .key = key}), Step::row);
      EXPECT_TRUE(cursor->change_row({&one_more, 1}, false, changed).ok());
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
