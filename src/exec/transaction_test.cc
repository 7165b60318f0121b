// SPDX-License-Identifier: GPL-2.0-only
//
// Invariant 1: no reply to a write without its commit. Invariant 2: a request is atomic, and a lost
// transaction costs nobody a request.
#include "exec/transaction_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

TEST_F(TransactionTest, a_turn_commits_once) {
  turn(one, {add_stock("1"), add_stock("1"), add_stock("2")});
  EXPECT_EQ(engine.commits_with_changes(), 1);
  EXPECT_EQ(count(Counter::commits), 1);
  EXPECT_EQ(stock("1"), "7");
}

TEST_F(TransactionTest, who_wants_to_know_hears_of_each_commit_of_changes_and_how_long_it_took) {
  std::vector<std::string> heard;
  executor = std::make_unique<Executor>(
      *session, counters, shared_settings(), clock,
      Executor::Notices{.commits = {.begins = [&] { heard.emplace_back("begins"); },
                                    .ended = [&](uint64_t us) { heard.push_back(std::to_string(us)); }}});
  turn(one, {read("1")});
  EXPECT_THAT(heard, ElementsAre());
  engine.on_next_commit([this] { clock.advance_us(1500); });
  turn(one, {add_stock("1"), add_stock("2")});
  EXPECT_THAT(heard, ElementsAre("begins", "1500"));
}

TEST_F(TransactionTest, what_changes_the_parsers_state_comes_behind_what_is_final) {
  begin();
  send(one, add_stock("1"));
  send(one, Ask::refused(ErrorCode::syntax));
  EXPECT_EQ(engine.commits_with_changes(), 0);
  send(one, Ask::refused(ErrorCode::syntax).changing_state());
  EXPECT_EQ(engine.commits_with_changes(), 1);
  end();
}

TEST_F(TransactionTest, nothing_is_committed_before_the_turn_ends) {
  begin();
  send(one, add_stock("1"));
  EXPECT_EQ(stock("1"), "5");
  EXPECT_FALSE(executor->nothing_staged());
  end();
  EXPECT_EQ(stock("1"), "6");
  EXPECT_TRUE(executor->nothing_staged());
}

TEST_F(TransactionTest, what_must_be_first_does_not_run_where_its_client_has_been_put_back) {
  engine.create_table("shop.other",
                      {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_EQ(ask(one, Ask::open(5, "shop.other", "", "id")), "ok");
  begin();
  send(one, add_stock("1"));
  engine.fail_commit(deadlock);
  engine.on_next_commit([this] { engine.set_busy("shop.item", true); });  // in the way when it runs again
  engine.ask_to_commit_first(1);
  EXPECT_EQ(send(one, Ask::insert(5, {"1"})), Executed::parked);
  end();
  EXPECT_THAT(replies(one), ElementsAre());
  EXPECT_THAT(engine.rows("shop.other"), ElementsAre());
  engine.set_busy("shop.item", false);
  EXPECT_THAT(turn(one, one.put_back), ElementsAre("= 1", "ok"));
  EXPECT_EQ(stock("1"), "6");
}

TEST_F(TransactionTest, behind_a_request_that_is_refused_since_its_client_has_gone_nothing_is_begun) {
  struct Goes final : Presence {
    [[nodiscard]] bool is_gone() const override { return has_gone; }
    [[nodiscard]] bool is_lost() const override { return has_gone; }
    bool has_gone = false;
  } goes;
  one.client.presence = &goes;
  begin();
  send(one, add_stock("1"));
  engine.on_next_commit([&goes] { goes.has_gone = true; });
  engine.ask_to_commit_first(1);
  EXPECT_EQ(send(one, add_stock("2")), Executed::done);
  EXPECT_TRUE(one.client.left_at.has_value());
  end();
  EXPECT_THAT(replies(one), ElementsAre("= 1", "error client_gone"));
}

TEST_F(TransactionTest, a_connection_reads_its_own_writes) {
  EXPECT_THAT(turn(one, {add_stock("1"), read("1")}), ElementsAre("= 1", "rows/3 6 pen 1"));
}

TEST_F(TransactionTest, reads_alone_are_never_staged_and_never_commit_changes) {
  begin();
  send(one, read("1"));
  EXPECT_TRUE(executor->nothing_staged());
  end();
  EXPECT_EQ(count(Counter::commits), 0);
}

TEST_F(TransactionTest, an_error_in_one_request_leaves_the_others) {
  open_for_insert(one);
  EXPECT_THAT(turn(one, {add_stock("1"), Ask::insert(9, {"2", "1", "x", "1"}), add_stock("1")}),
              ElementsAre("= 1", "error engine 121", "= 1"));
  EXPECT_EQ(stock("1"), "7");
  EXPECT_EQ(count(Counter::errors_engine), 1);
}

TEST_F(TransactionTest, an_insert_replies_with_ok_or_the_new_id) {
  open_for_insert(one);
  EXPECT_EQ(ask(one, Ask::insert(9, {"6", "30", "lid", NULL_VALUE})), "ok");
  engine.create_table("shop.order",
                      {.columns = {engine::memory::auto_increment("id"), engine::memory::text("who")},
                       .indexes = {{"PRIMARY", {"id"}, true}}});
  ask(one, Ask::open(8, "shop.order", "", "who,id"));
  EXPECT_THAT(turn(one, {Ask::insert(8, {"ann"}), Ask::insert(8, {"bob"}), Ask::insert(8, {"eve", "9"})}),
              ElementsAre("= 1", "= 2", "= 0"));
}

TEST_F(TransactionTest, a_value_that_does_not_fit_writes_nothing) {
  open_for_insert(one);
  EXPECT_EQ(ask(one, Ask::insert(9, {"6", "30", "far too long", "1"})), "error sql 1406");
  EXPECT_EQ(ask(one, Ask::insert(9, {"6", "30"})), "error sql 1364");
  EXPECT_EQ(engine.rows("shop.item").size(), 5);
}

TEST_F(TransactionTest, when_the_commit_fails_every_write_of_the_turn_is_an_error) {
  engine.fail_commit(disk_full);
  begin();
  send(one, add_stock("1"));
  send(two, add_stock("2"));
  send(one, add_stock("4"));
  end();
  EXPECT_THAT(replies(one), ElementsAre("error engine 135", "error engine 135"));
  EXPECT_THAT(replies(two), ElementsAre("error engine 135"));
  EXPECT_THAT((std::vector{stock("1"), stock("2"), stock("4")}), ElementsAre("5", "0", "7"));
  EXPECT_EQ(count(Counter::commit_failures), 1);
  EXPECT_EQ(count(Counter::errors_engine), 3);
  EXPECT_EQ(count(Counter::rows_updated), 0);
}

TEST_F(TransactionTest, when_the_commit_fails_earlier_reads_stay_and_later_ones_are_made_anew) {
  engine.fail_commit(Error(ErrorCode::commit_failed));
  EXPECT_THAT(turn(one, {read("1"), add_stock("1"), read("1")}),
              ElementsAre("rows/3 5 pen 1", "error commit_failed", "rows/3 5 pen 1"));
}

TEST_F(TransactionTest, when_the_commit_fails_replies_of_earlier_turns_stay) {
  begin();
  send(one, read("1"));
  end();
  engine.fail_commit(disk_full);
  begin();
  send(one, add_stock("1"));
  end();
  EXPECT_THAT(replies(one), ElementsAre("rows/3 5 pen 1", "error engine 135"));
}

TEST_F(TransactionTest, when_the_commit_fails_what_needs_no_transaction_keeps_its_answer) {
  engine.fail_commit(disk_full);
  EXPECT_THAT(turn(one, {add_stock("1"), Ask::open(5, "shop.item", "", "id"), Ask::find(5, {"4"}),
                         Ask::find(7, {"1"})}),
              ElementsAre("error engine 135", "ok", "rows/1 4", "error unknown_id"));
  EXPECT_EQ(count(Counter::errors_request), 1);
}

TEST_F(TransactionTest, writes_of_an_unknown_outcome_have_no_reply_and_do_not_run_again) {
  engine.fail_commit(Error(ErrorCode::commit_failed).because(Reason::unknown_outcome));
  begin();
  send(one, read("1"));
  send(one, add_stock("1"));
  send(two, read("2"));
  end();
  EXPECT_TRUE(one.out.failed());
  EXPECT_THAT(replies(two), ElementsAre("rows/3 0 ink 2"));
  EXPECT_EQ(count(Counter::replays), 0);
}

TEST_F(TransactionTest, behind_a_write_of_an_unknown_outcome_nothing_of_the_client_is_executed) {
  engine.fail_commit(Error(ErrorCode::commit_failed).because(Reason::unknown_outcome));
  engine.ask_to_commit_first(2);
  begin();
  send(one, add_stock("1"));
  send(one, add_stock("2"));  // commits first
  send(one, add_stock("4"));
  send(one, Ask::open(5, "shop.item", "", "id"));
  end();
  EXPECT_TRUE(one.out.failed());
  EXPECT_THAT((std::vector{stock("2"), stock("4")}), ElementsAre("0", "7"));
}

TEST_F(TransactionTest, a_failed_write_of_a_failed_commit_is_an_error_too) {
  open_for_insert(one);
  engine.fail_commit(disk_full);
  EXPECT_THAT(turn(one, {add_stock("1"), Ask::insert(9, {"1", "1", "x", "1"})}),
              ElementsAre("error engine 135", "error engine 135"));
}

TEST_F(TransactionTest, a_commit_that_may_succeed_next_time_is_replayed) {
  engine.fail_commit(deadlock);
  EXPECT_THAT(turn(one, {add_stock("1"), add_stock("1"), read("1")}),
              ElementsAre("= 1", "= 1", "rows/3 7 pen 1"));
  EXPECT_EQ(stock("1"), "7");
  EXPECT_EQ(count(Counter::replays), 1);
  EXPECT_EQ(count(Counter::rows_updated), 2);
  EXPECT_EQ(count(Counter::requests_increment), 2);
}

TEST_F(TransactionTest, a_lost_transaction_is_replayed_request_by_request) {
  engine.lose_transaction_at_write(3);
  begin();
  send(one, add_stock("1"));
  send(two, add_stock("2"));
  send(one, add_stock("1"));
  send(two, read("1"));
  end();
  EXPECT_THAT(replies(one), ElementsAre("= 1", "= 1"));
  EXPECT_THAT(replies(two), ElementsAre("= 1", "rows/3 7 pen 1"));
  EXPECT_EQ(stock("1"), "7");
  EXPECT_EQ(stock("2"), "1");
  EXPECT_EQ(engine.commits_with_changes(), 3);
  EXPECT_EQ(count(Counter::errors_engine), 0);
}

TEST_F(TransactionTest, a_request_of_a_replay_that_must_be_the_first_of_a_transaction_is) {
  engine.lose_transaction_at_write(2);
  engine.ask_to_commit_first(3);  // the first one of the replay
  EXPECT_THAT(turn(one, {add_stock("1"), add_stock("2")}), ElementsAre("= 1", "= 1"));
  EXPECT_EQ(stock("1"), "6");
  EXPECT_EQ(stock("2"), "1");
  EXPECT_EQ(count(Counter::errors_engine), 0);
}

TEST_F(TransactionTest, the_turn_goes_on_after_a_replay_with_nothing_staged) {
  engine.lose_transaction_at_write(2);
  begin();
  send(one, add_stock("1"));
  send(one, add_stock("2"));
  EXPECT_TRUE(executor->nothing_staged());
  EXPECT_EQ(stock("1"), "6");
  engine.fail_commit(disk_full);
  send(one, add_stock("4"));
  end();
  EXPECT_THAT(replies(one), ElementsAre("= 1", "= 1", "error engine 135"));
}

TEST_F(TransactionTest, a_write_whose_commit_is_too_large_also_alone_is_not_tried_once_more) {
  engine.fail_commit(Error(ErrorCode::engine, 1026).because(Reason::too_large), 100);
  EXPECT_EQ(ask(one, add_stock("1")), "error engine 1026");
  EXPECT_EQ(count(Counter::commit_failures), 2) << "in its turn, and alone";
}

TEST_F(TransactionTest, a_request_that_keeps_losing_its_transaction_is_put_back_and_the_others_are_done) {
  engine.lose_transaction_at_write(2, 5);  // the write, then add_stock(1) of the replay and its retries
  begin();
  send(one, add_stock("1"));
  send(two, add_stock("2"));
  end();
  EXPECT_THAT(replies(two), ElementsAre("= 1"));
  EXPECT_THAT(replies(one), ElementsAre());
  EXPECT_THAT(turn(one, one.put_back), ElementsAre("= 1"));
  EXPECT_EQ(stock("1"), "6");
  EXPECT_EQ(stock("2"), "1");
  EXPECT_EQ(count(Counter::errors_engine), 0);
}

TEST_F(TransactionTest, a_request_that_keeps_losing_its_transaction_for_long_gets_the_error) {
  engine.lose_transaction_at_write(1, 5);
  begin();
  EXPECT_EQ(send(one, add_stock("1")), Executed::parked);
  end();
  now_ms += limits::conflict_ms;
  engine.lose_transaction_at_write(1, 5);
  EXPECT_THAT(turn(one, one.put_back), ElementsAre("error engine 149"));
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(count(Counter::errors_engine), 1);
}

TEST_F(TransactionTest, a_read_that_loses_its_transaction_is_run_again) {
  engine.lose_transaction_at_read(1);
  EXPECT_EQ(ask(one, read("1")), "rows/3 5 pen 1");
  EXPECT_EQ(count(Counter::replays), 1);
  EXPECT_EQ(count(Counter::errors_engine), 0);
}

TEST_F(TransactionTest, a_read_that_keeps_losing_its_transaction_is_put_back_with_what_is_behind_it) {
  engine.lose_transaction_at_read(1, 5);
  begin();
  EXPECT_EQ(send(one, read("1")), Executed::parked);
  EXPECT_EQ(send(one, read("2")), Executed::parked);
  end();
  EXPECT_THAT(replies(one), ElementsAre());
  EXPECT_THAT(turn(one, one.put_back), ElementsAre("rows/3 5 pen 1", "rows/3 0 ink 2"));
}

TEST_F(TransactionTest, a_read_can_lose_the_transaction_of_the_writes_before_it) {
  engine.lose_transaction_at_read(2);
  EXPECT_THAT(turn(one, {add_stock("1"), read("1")}), ElementsAre("= 1", "rows/3 6 pen 1"));
  EXPECT_EQ(stock("1"), "6");
}

TEST_F(TransactionTest, a_request_of_a_replay_may_lose_its_transaction_three_times) {
  engine.lose_transaction_at_write(2, 4);
  EXPECT_THAT(turn(one, {add_stock("1"), add_stock("2")}), ElementsAre("= 1", "= 1"));
  EXPECT_EQ(stock("1"), "6");
}

TEST_F(TransactionTest, a_commit_that_fails_in_a_replay_concerns_its_own_request_only) {
  engine.lose_transaction_at_write(2);
  engine.fail_commit(disk_full);
  EXPECT_THAT(turn(one, {add_stock("1"), add_stock("2")}), ElementsAre("error engine 135", "= 1"));
  EXPECT_EQ(stock("1"), "5");
}

TEST_F(TransactionTest, replies_that_change_their_size_in_a_replay_leave_each_other_whole) {
  engine.lose_transaction_at_write(2);
  engine.fail_commit(disk_full, 2);
  EXPECT_THAT(turn(one, {add_stock("1"), add_stock("2")}),
              ElementsAre("error engine 135", "error engine 135"));
}

TEST_F(TransactionTest, a_replay_undoes_nothing_of_an_earlier_turn) {
  ask(one, add_stock("1"));
  engine.lose_transaction_at_write(1);
  EXPECT_EQ(ask(one, add_stock("1")), "= 1");
  EXPECT_EQ(stock("1"), "7");
}

TEST_F(TransactionTest, a_final_error_is_final_in_a_replay_too) {
  open_for_insert(one);
  engine.lose_transaction_at_write(2);
  EXPECT_THAT(turn(one, {add_stock("1"), Ask::insert(9, {"1", "1", "x", "1"}), add_stock("2")}),
              ElementsAre("= 1", "error engine 121", "= 1"));
  EXPECT_EQ(count(Counter::errors_engine), 1);
}

TEST_F(TransactionTest, a_replay_uses_the_index_that_an_id_meant_when_it_was_asked) {
  engine.lose_transaction_at_write(2);
  EXPECT_THAT(turn(one, {add_stock("1"), Ask::open(0, "shop.item", "", "name"), read("1"),
                         Ask::find(1, {"20"}).add({"1"})}),
              ElementsAre("= 1", "ok", "rows/1 pen", "= 1"));
  EXPECT_EQ(stock("1"), "6");
}

TEST_F(TransactionTest, a_replay_uses_columns_that_its_client_has_forgotten_since) {
  begin();
  send(one, Ask::find(0, {"1"}).add({"1"}).columns("stock"));
  for (uint32_t number = 1; number <= limits::column_lists_per_index + 1; ++number) {
    std::string names = "id";
    for (uint32_t more = 1; more < number; ++more) {
      names += ",id";
    }
    EXPECT_EQ(send(one, Ask::find(0, {"77"}).columns(names)), Executed::done);
  }
  engine.lose_transaction_at_write(1);
  send(one, add_stock("2"));
  end();
  EXPECT_EQ(replies(one).front(), "= 1");
  EXPECT_EQ(stock("1"), "6");
}

TEST_F(TransactionTest, a_replay_honours_the_access_that_a_client_had_when_it_asked) {
  settings.secret_write = "w";
  use_settings();
  Connection& writer = connect();
  turn(writer, {Ask::authenticate("w"), Ask::open(0, "shop.item", "", "stock")});
  engine.lose_transaction_at_write(2);
  begin();
  send(writer, add_stock("1"));
  send(writer, Ask::authenticate("wrong"));
  send(writer, add_stock("1"));
  send(one, add_stock("2"));
  end();
  EXPECT_THAT(replies(writer), ElementsAre("= 1", "error not_authenticated", "error read_only"));
  EXPECT_EQ(stock("1"), "6");
}

/// A request whose table is locked when it runs again, because the request behind it lost their transaction.
class ReplayThatWaitsTest : public TransactionTest {
 protected:
  ReplayThatWaitsTest() {
    engine.create_table("shop.other",
                        {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
    engine.set_lock_wait_timeout_ms(50);
    ask(one, Ask::open(8, "shop.other", "", "id"));
    begin();
    send(one, add_stock("2"));
    send(one, insert);
    engine.set_busy("shop.other", true);
  }
  void lose_transaction_of(Connection& last) {
    engine.lose_transaction_at_write(1);
    send(last, add_stock("1"));
  }

  const Ask insert = Ask::insert(8, {"1"});
};

TEST_F(ReplayThatWaitsTest, it_is_put_back_with_what_its_client_asked_behind_it) {
  lose_transaction_of(one);
  end();
  EXPECT_THAT(replies(one), ElementsAre("= 1"));
  EXPECT_EQ(one.put_back.size(), 2U);
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(stock("2"), "1");
  EXPECT_EQ(count(Counter::parked), 1);
  EXPECT_EQ(count(Counter::requests_insert), 0);
}

TEST_F(ReplayThatWaitsTest, it_is_done_when_the_lock_is_gone) {
  lose_transaction_of(one);
  end();
  replies(one);
  engine.set_busy("shop.other", false);
  EXPECT_THAT(turn(one, one.put_back), ElementsAre("ok", "= 1"));
  EXPECT_EQ(count(Counter::requests_insert), 1);
}

TEST_F(ReplayThatWaitsTest, it_counts_once_as_lenient_and_as_one_that_waited_alone) {
  const Ask lenient = Ask::insert(8, {"2", "surplus"}).dropping_surplus();
  engine.set_busy("shop.other", false);
  two.client.has_waited_alone = true;
  ask(two, Ask::open(8, "shop.other", "", "id"));
  begin();
  two.client.has_waited_alone = true;
  send(two, lenient);
  engine.set_busy("shop.other", true);
  lose_transaction_of(one);
  end();
  EXPECT_TRUE(two.client.has_waited_alone);
  EXPECT_EQ(count(Counter::requests_lenient), 0);
  engine.set_busy("shop.other", false);
  EXPECT_THAT(turn(two, two.put_back), ElementsAre("ok"));
  EXPECT_EQ(count(Counter::requests_lenient), 1);
}

TEST_F(ReplayThatWaitsTest, the_requests_of_others_are_done) {
  lose_transaction_of(two);
  end();
  EXPECT_THAT(replies(two), ElementsAre("= 1"));
  EXPECT_EQ(one.put_back.size(), 1U);
}

TEST_F(ReplayThatWaitsTest, nothing_more_of_its_client_is_executed_in_this_turn) {
  lose_transaction_of(two);
  EXPECT_EQ(send(one, add_stock("4")), Executed::parked);
  end();
  EXPECT_EQ(one.put_back.size(), 2U);
  EXPECT_EQ(stock("4"), "7");
}

TEST_F(ReplayThatWaitsTest, it_is_an_error_when_it_has_waited_too_long) {
  lose_transaction_of(one);
  end();
  replies(one);
  now_ms += 50;
  EXPECT_EQ(ask(one, insert), "error cannot_lock_table");
}

TEST_F(ReplayThatWaitsTest, it_waits_from_its_first_try_on_however_often_it_is_put_back) {
  lose_transaction_of(one);
  end();
  replies(one);
  now_ms += 50;
  engine.set_busy("shop.other", false);
  begin();
  send(one, insert);
  engine.set_busy("shop.other", true);
  lose_transaction_of(one);
  end();
  EXPECT_THAT(replies(one), ElementsAre("error cannot_lock_table", "= 1"));
}

TEST_F(ReplayThatWaitsTest, an_id_is_not_opened_anew_before_what_it_meant_is_done) {
  engine.fail_commit(Error(ErrorCode::engine, 149));
  EXPECT_EQ(send(one, Ask::open(8, "shop.item", "", "id")), Executed::parked);
  end();
  EXPECT_THAT(replies(one), ElementsAre("= 1"));
  engine.set_busy("shop.other", false);
  EXPECT_THAT(turn(one, one.put_back), ElementsAre("ok", "ok"));
  EXPECT_EQ(engine.rows("shop.other").size(), 1U);
}

TEST_F(TransactionTest, an_insert_that_waited_keeps_its_ids_where_it_must_be_the_first) {
  open_for_insert(one);
  const Ask insert = Ask::insert(9, {"6", "30", "lid", "1"});
  engine.set_generated_ids({{.table = 1, .id = 6}});
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(one, insert), "parked");
  engine.set_busy("shop.item", false);
  engine.set_generated_ids({{.table = 1, .id = 7}});
  engine.ask_to_commit_first(1);
  EXPECT_EQ(ask(one, insert), "ok");
  const std::vector<engine::GeneratedId> ids = session->generated_ids();
  ASSERT_EQ(ids.size(), 1U);
  EXPECT_EQ(ids.front().id, 6U);
}

/// Presented again, it would change the state again.
TEST_F(TransactionTest, what_has_changed_the_parsers_state_is_answered_by_a_replay_that_waits) {
  engine.create_table("shop.other",
                      {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  ask(one, Ask::open(8, "shop.other", "", "id"));
  begin();
  send(one, Ask::insert(8, {"1"}).changing_state());
  engine.set_busy("shop.other", true);
  engine.lose_transaction_at_write(1);
  send(two, add_stock("1"));
  end();
  EXPECT_TRUE(one.put_back.empty());
  EXPECT_THAT(replies(one), ElementsAre("error cannot_lock_table"));
  EXPECT_THAT(replies(two), ElementsAre("= 1"));
}

TEST_F(TransactionTest, a_refused_write_starts_no_staging) {
  begin();
  send(one, Ask::insert(7, {"1"}));
  EXPECT_TRUE(executor->nothing_staged());
  end();
}

TEST_F(TransactionTest, a_reply_that_cannot_be_written_undoes_its_request) {
  one.refuse_memory();
  begin();
  EXPECT_EQ(send(one, add_stock("1")), Executed::done);
  end();
  EXPECT_TRUE(one.out.failed());
  EXPECT_EQ(stock("1"), "5");
}

TEST_F(TransactionTest, nothing_more_is_executed_for_a_connection_whose_reply_was_lost) {
  one.refuse_memory();
  begin();
  send(one, add_stock("1"));
  one.out.set_bytes_max(limits::mebibyte);
  send(one, add_stock("2"));
  engine.lose_transaction_at_write(1);
  send(two, add_stock("4"));
  end();
  EXPECT_TRUE(one.out.failed());
  EXPECT_THAT((std::vector{stock("1"), stock("2"), stock("4")}), ElementsAre("5", "0", "8"));
}

}  // namespace
}  // namespace rowsocket::exec
