// SPDX-License-Identifier: GPL-2.0-only
//
// An insert in which each row is for itself, where the engine can not undo a row alone.
#include <future>

#include "exec/executor_fixture.h"
#include "exec/trail_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

/// shop.entry has a trigger that copies each id to shop.seen.
class RowsAloneTest : public ExecutorTest {
 protected:
  void create_tables(bool entries_have_transactions) {
    const std::vector<engine::memory::Column> id = {engine::memory::integer("id")};
    engine.create_table("shop.seen", {.columns = id, .indexes = {{"PRIMARY", {"id"}, true}}});
    engine.create_table("shop.entry", {.columns = id,
                                       .indexes = {{"PRIMARY", {"id"}, true}},
                                       .has_transactions = entries_have_transactions,
                                       .copies_to = "shop.seen"});
    EXPECT_EQ(ask(one, Ask::open(10, "shop.entry", "", "id")), "ok");
  }
  static Ask insert_three() { return Ask::insert_rows(10, 3, {"1", "2", "3"}).rows_alone(); }
  static Ask add_stock() { return Ask::find(0, {"1"}).add({"1"}); }
  [[nodiscard]] std::string ids(const std::string& table) const {
    std::string text;
    for (const Row& row : engine.rows(table)) {
      text += row[0].value_or("NULL");
    }
    return text;
  }

  /// The reply, and what the host is told of the request's rows: examined, told, changed.
  std::string ask_counted(const Ask& request) {
    engine.tell(&trail);
    std::string reply = ask(one, request);
    return reply + ", " + trail.take().back();
  }

  RecordingTrail trail;
  Connection& one = shopper();
};

TEST_F(RowsAloneTest, a_row_that_outlives_its_transaction_takes_along_no_trigger_of_another) {
  create_tables(false);
  engine.lose_transaction_at_write(4);  // the trigger of the second row
  EXPECT_EQ(ask(one, insert_three()), "rows/2 1# !149 1#");
  EXPECT_EQ(ids("shop.entry"), "123") << "nothing takes back the second row";
  EXPECT_EQ(ids("shop.seen"), "13");
}

TEST_F(RowsAloneTest, a_row_that_can_not_be_undone_alone_takes_no_other_along) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  EXPECT_TRUE(engine.insert("shop.seen", {"2"}));  // in the way of the second row's trigger
  EXPECT_THAT(turn(one, {add_stock(), insert_three(), add_stock()}),
              ElementsAre("= 1", "rows/2 1# !121 1#", "= 1"));
  EXPECT_EQ(ids("shop.entry"), "13");
  EXPECT_EQ(ids("shop.seen"), "123");
  EXPECT_EQ(stock("1"), "7");
}

TEST_F(RowsAloneTest, a_first_row_that_can_not_be_undone_alone_takes_no_other_along) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  EXPECT_TRUE(engine.insert("shop.seen", {"1"}));
  EXPECT_EQ(ask(one, insert_three()), "rows/2 !121 1# 1#");
  EXPECT_EQ(ids("shop.entry"), "23");
}

TEST_F(RowsAloneTest, such_a_row_may_come_up_where_the_insert_already_runs_again) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  engine.lose_transaction_at_write(7);                   // that of the request behind the insert
  engine.fail_write(10, Error(ErrorCode::engine, 121));  // again by itself: the trigger of the second row
  EXPECT_THAT(turn(one, {insert_three(), add_stock()}), ElementsAre("rows/2 1# 1# 1#", "= 1"));
  EXPECT_EQ(ids("shop.entry"), "123");
}

TEST_F(RowsAloneTest, one_whose_own_failure_loses_its_transaction_is_tried_by_itself_once) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  int tries = 0;
  const std::function<void()> fail_next = [&] {
    ++tries;
    engine.fail_write(2, Error(ErrorCode::engine, 135));  // that of the trigger
    engine.on_next_request(fail_next);
  };
  engine.on_next_request(fail_next);
  EXPECT_EQ(ask(one, Ask::insert(10, {"1"})), "error engine 135");
  EXPECT_EQ(tries, 2);
}

TEST_F(RowsAloneTest, one_that_loses_its_own_transaction_to_others_fails_alone_there) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  EXPECT_TRUE(engine.insert("shop.seen", {"2"}));
  // Rows and triggers: three writes of the first try; then two of the first row, one of the second row.
  engine.lose_transaction_at_write(7);
  EXPECT_EQ(ask(one, insert_three()), "rows/2 1# !121 !149");
  EXPECT_EQ(ids("shop.entry"), "1");
}

/// The first row can not be undone, so the insert is not to be tried again.
TEST_F(RowsAloneTest, behind_a_row_whose_commit_failed_the_next_one_waits_in_place_for_its_table) {
  create_tables(false);
  engine.fail_commit(Error(ErrorCode::engine, 135));
  bool is_tried_again = false;
  engine.on_next_interruption_look([&] { is_tried_again = true; });
  std::promise<void> first_has_table;
  std::promise<void> somebody_waits_for_it;
  engine.on_next_request([&] {
    first_has_table.set_value();
    somebody_waits_for_it.get_future().wait();
  });
  std::future<std::string> reply =
      std::async(std::launch::async, [this] { return ask(one, insert_three()); });
  first_has_table.get_future().wait();
  engine.set_busy("shop.entry", true);
  somebody_waits_for_it.set_value();
  engine.await_patient_wait();
  engine.set_busy("shop.entry", false);
  EXPECT_EQ(reply.get(), "rows/2 !135 1# 1#");
  EXPECT_FALSE(is_tried_again);
}

TEST_F(RowsAloneTest, a_row_whose_commit_fails_counts_as_no_row_that_was_inserted) {
  create_tables(false);
  engine.fail_commit(Error(ErrorCode::engine, 135));
  EXPECT_EQ(ask_counted(insert_three()), "rows/2 !135 1# 1#, ended 0/0/2 ok");
}

TEST_F(RowsAloneTest, a_row_that_waits_makes_those_before_it_wait_with_it_where_they_can_be_undone) {
  create_tables(true);
  engine.on_next_request([this] { engine.set_busy("shop.entry", true); });  // behind the first row
  EXPECT_EQ(ask(one, insert_three()), "parked");
  EXPECT_EQ(engine.commits_with_changes(), 0U);
  engine.set_busy("shop.entry", false);
  EXPECT_EQ(ask_counted(insert_three()), "rows/2 1# 1# 1#, ended 0/0/3 ok");
  EXPECT_EQ(ids("shop.entry"), "123");
}

/// Its first row can not be undone, and then somebody has the table for good.
class EndlessWaitTest : public RowsAloneTest {
 protected:
  EndlessWaitTest() {
    create_tables(false);
    engine.on_next_request([this] { engine.set_busy("shop.entry", true); });
    engine.set_lock_wait_timeout_ms(1'000'000);
  }
  static Ask insert_two() { return Ask::insert_rows(10, 2, {"1", "2"}).rows_alone(); }
  /// Each time that the second row has waited for a while, and may wait on.
  void at_each_try(const std::function<void()>& action) {
    engine.on_next_interruption_look([this, action] {
      ++tries;
      action();
      at_each_try(action);
    });
  }

  int tries = 0;
};

TEST_F(EndlessWaitTest, a_row_that_waits_in_place_does_so_as_long_as_the_server_says) {
  engine.set_lock_wait_timeout_ms(3 * limits::table_wait_ms);
  at_each_try([] {});
  EXPECT_EQ(ask(one, insert_two()), "rows/2 1# !cannot_lock_table");
  EXPECT_EQ(tries, 3);
}

TEST_F(EndlessWaitTest, a_row_that_waits_in_place_is_inserted_when_its_table_is_free) {
  at_each_try([this] { engine.set_busy("shop.entry", tries < 2); });
  EXPECT_EQ(ask_counted(insert_two()), "rows/2 1# 1#, ended 0/0/2 ok");
  EXPECT_EQ(ids("shop.entry"), "12");
}

TEST_F(EndlessWaitTest, a_row_that_has_waited_in_place_can_fail_with_its_commit) {
  at_each_try([this] {
    engine.set_busy("shop.entry", false);
    engine.fail_commit(Error(ErrorCode::engine, 135));
  });
  EXPECT_EQ(ask_counted(insert_two()), "rows/2 1# !135, ended 0/0/1 ok");
}

TEST_F(EndlessWaitTest, a_row_that_waits_in_place_ends_with_a_kill) {
  at_each_try([this] { engine.interrupt(engine::Interruption::close_connections); });
  EXPECT_EQ(ask(one, insert_two()), "rows/2 1# !cannot_lock_table");
  EXPECT_EQ(tries, 2);
}

TEST_F(EndlessWaitTest, a_row_that_waits_in_place_ends_with_the_time_of_its_request) {
  settings.request_ms_max = 1;
  use_settings();
  at_each_try([this] { clock.advance_ms(2); });
  EXPECT_EQ(ask(one, insert_two()), "rows/2 1# !cannot_lock_table");
  EXPECT_EQ(tries, 1);
}

TEST_F(EndlessWaitTest, a_row_behind_one_that_can_not_be_undone_waits_in_place) {
  engine.create_table("shop.plain", {.columns = {engine::memory::integer("id")},
                                     .indexes = {{"PRIMARY", {"id"}, true}},
                                     .has_transactions = false});
  EXPECT_EQ(ask(one, Ask::open(11, "shop.plain", "", "id")), "ok");
  engine.on_next_request([this] { engine.set_busy("shop.plain", true); });
  at_each_try([this] { engine.set_busy("shop.plain", tries < 2); });
  EXPECT_EQ(ask_counted(Ask::insert_rows(11, 2, {"1", "2"}).rows_alone()), "rows/2 1# 1#, ended 0/0/2 ok");
  EXPECT_EQ(ids("shop.plain"), "12");
}

/// What such a request did stays, whatever becomes of the rest of its transaction.
class LastingTest : public RowsAloneTest {
 protected:
  LastingTest() { create_tables(false); }
  static Ask insert_one() { return Ask::insert(10, {"1"}); }
};

TEST_F(LastingTest, a_request_whose_work_stays_does_not_run_again_when_its_commit_fails) {
  engine.fail_commit(Error(ErrorCode::engine, 149));  // a deadlock: another try may do better
  EXPECT_EQ(ask(one, insert_one()), "error engine 149");
  EXPECT_EQ(ids("shop.entry"), "1");
  EXPECT_EQ(count(Counter::replays), 0U);
}

TEST_F(LastingTest, a_request_whose_work_stays_leaves_no_lost_transaction_to_those_behind_it) {
  engine.lose_transaction_at_write(2);  // in its trigger
  EXPECT_THAT(turn(one, {insert_one(), add_stock()}), ElementsAre("error engine 149", "= 1"));
  EXPECT_EQ(ids("shop.entry"), "1");
  EXPECT_EQ(count(Counter::replays), 0U);
  EXPECT_EQ(count(Counter::commit_failures), 0U);
}

TEST_F(RowsAloneTest, in_a_group_such_a_row_fails_the_group) {
  create_tables(true);
  engine.lose_transaction_by_failures();
  EXPECT_TRUE(engine.insert("shop.seen", {"2"}));
  EXPECT_THAT(turn(one, {add_stock(), Ask::group({add_stock(), insert_three()}), add_stock()}),
              ElementsAre("= 1", "ok", "error undone_with_group", "error engine 121",
                          "error undone_with_group", "= 1"));
  EXPECT_EQ(ids("shop.entry"), "");
  EXPECT_EQ(ids("shop.seen"), "2");
  EXPECT_EQ(stock("1"), "7");
}

}  // namespace
}  // namespace rowsocket::exec
