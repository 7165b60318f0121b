// SPDX-License-Identifier: GPL-2.0-only
//
// What a turn does besides finding and committing: waiting for locks, counting.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

class ParkedTest : public ExecutorTest {
 protected:
  ParkedTest() { engine.set_lock_wait_timeout_ms(50); }
  Connection& shopper_of(Executor& reader) {
    Connection& client = connect(Access::read);
    const Ask open = Ask::open(0, "shop.item", "", "stock");
    EXPECT_EQ(send(reader, client, open), Executed::done);
    reader.end_turn();
    replies(client);
    return client;
  }

  const Ask find = Ask::find(0, {"1"});
  Connection& shop = shopper();
};

TEST_F(ParkedTest, a_request_whose_table_is_locked_is_parked_and_writes_nothing) {
  engine.set_busy("shop.item", true);
  begin();
  EXPECT_EQ(send(shop, find), Executed::parked);
  end();
  EXPECT_TRUE(shop.out.empty());
  EXPECT_EQ(shop.client.parked_since_ms, now_ms);
  EXPECT_EQ(count(Counter::parked), 1);
}

/// So that each request counts that has a thread of its own.
TEST_F(ParkedTest, a_request_that_is_answered_waits_alone_no_longer) {
  shop.client.has_waited_alone = true;
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(shop, find), "parked");
  EXPECT_TRUE(shop.client.has_waited_alone);
  engine.set_busy("shop.item", false);
  ask(shop, find);
  EXPECT_FALSE(shop.client.has_waited_alone);
}

TEST_F(ParkedTest, it_is_answered_when_the_lock_is_gone) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(shop, find), "parked");
  now_ms += 20;
  engine.set_busy("shop.item", false);
  EXPECT_EQ(ask(shop, find), "rows/3 5 pen 1");
  EXPECT_EQ(shop.client.parked_since_ms, 0);
}

TEST_F(ParkedTest, it_is_refused_when_it_waited_too_long_and_the_next_one_waits_anew) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(shop, find), "parked");
  now_ms += 49;
  EXPECT_EQ(ask(shop, find), "parked");
  now_ms += 1;
  EXPECT_EQ(ask(shop, find), "error cannot_lock_table");
  EXPECT_EQ(ask(shop, find), "parked");
  EXPECT_EQ(count(Counter::parked), 2);
  EXPECT_EQ(count(Counter::errors_table), 1);
}

TEST_F(ParkedTest, with_a_timeout_of_zero_nobody_waits) {
  engine.set_lock_wait_timeout_ms(0);
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(shop, find), "error cannot_lock_table");
}

TEST_F(ParkedTest, a_request_whose_row_is_locked_is_parked_and_undone) {
  const Ask add = Ask::find(0, {"1"}).add({"1"});
  engine.fail_write(2, Error(ErrorCode::engine, 146));
  begin();
  EXPECT_EQ(send(shop, add), Executed::done);
  EXPECT_EQ(send(shop, add), Executed::parked);
  end();
  EXPECT_THAT(replies(shop), ElementsAre("= 1")) << "what came before it in the turn is committed";
  EXPECT_EQ(ask(shop, add), "= 1");
  EXPECT_EQ(ask(shop, find), "rows/3 7 pen 1");
}

TEST_F(ParkedTest, a_row_that_stays_locked_is_the_engines_error) {
  engine.fail_write(1, Error(ErrorCode::engine, 146));
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).add({"1"})), "parked");
  now_ms += 50;
  engine.fail_write(1, Error(ErrorCode::engine, 146));
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).add({"1"})), "error engine 146");
  EXPECT_EQ(ask(shop, find), "rows/3 5 pen 1");
}

TEST_F(ParkedTest, a_wait_in_place_that_ends_early_is_not_the_end_of_the_time) {
  engine.set_busy("shop.item", true);
  executor->begin_turn(now_ms, true);
  EXPECT_EQ(send(shop, find), Executed::parked);
  end();
  now_ms += 20;
  engine.set_busy("shop.item", false);
  EXPECT_EQ(ask(shop, find), "rows/3 5 pen 1");
}

TEST_F(ParkedTest, a_request_on_a_thread_of_its_own_is_tried_more_often_where_it_loses_its_transaction) {
  engine.lose_transaction_at_write(1, limits::replay_retries + 2);
  executor->begin_turn(now_ms, true);
  EXPECT_EQ(send(shop, Ask::find(0, {"1"}).add({"1"})), Executed::done);
  end();
  EXPECT_THAT(replies(shop), ElementsAre("= 1"));
}

TEST_F(ParkedTest, until_when_a_request_waits_is_known) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(shop, find), "parked");
  now_ms += 20;
  EXPECT_EQ(ask(shop, find), "parked");
  EXPECT_EQ(shop.client.waits_until_ms, shop.client.parked_since_ms + 50);
}

TEST_F(ParkedTest, a_request_whose_time_is_over_is_not_run_again_though_its_transaction_is_lost) {
  const Ask add = Ask::find(0, {"1"}).add({"1"});
  engine.fail_write(1, Error(ErrorCode::engine, 146));
  EXPECT_EQ(ask(shop, add), "parked");
  now_ms += 50;
  engine.fail_write(1, Error(ErrorCode::engine, 146));
  begin();
  session->lose_transaction();
  send(shop, add);
  end();
  EXPECT_THAT(replies(shop), ElementsAre("error engine 146"));
  EXPECT_EQ(ask(shop, find), "rows/3 5 pen 1");
}

TEST_F(ParkedTest, an_open_index_can_wait_too) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id")), "parked");
  now_ms += 50;
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id")), "error cannot_lock_table");
}

TEST_F(ParkedTest, an_open_index_that_waited_too_long_is_an_error_after_a_replay_too) {
  engine.create_table("shop.other",
                      {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  engine.set_lock_wait_timeout_ms(0);
  engine.set_busy("shop.other", true);
  engine.fail_commit(Error(ErrorCode::engine, 149));
  EXPECT_THAT(turn(shop, {Ask::find(0, {"1"}).add({"1"}), Ask::open(5, "shop.other", "", "id"), find}),
              ElementsAre("= 1", "error cannot_lock_table", "rows/3 6 pen 1"));
}

TEST_F(ParkedTest, a_parked_write_is_not_staged) {
  engine.set_busy("shop.item", true);
  begin();
  EXPECT_EQ(send(shop, Ask::find(0, {"1"}).remove()), Executed::parked);
  EXPECT_TRUE(executor->nothing_staged());
  end();
}

TEST_F(ParkedTest, a_parked_request_leaves_what_was_staged_before_it) {
  begin();
  send(shop, Ask::find(0, {"1"}).add({"1"}));
  engine.set_busy("shop.item", true);
  EXPECT_EQ(send(shop, Ask::find(0, {"2"}).add({"1"})), Executed::parked);
  end();
  EXPECT_THAT(replies(shop), ElementsAre("= 1"));
  EXPECT_EQ(stock("1"), "6");
}

TEST_F(ParkedTest, a_request_that_waits_for_another_worker_is_done_after_its_commit) {
  const auto read_session = new_session(engine::Intent::read);
  Executor reader(*read_session, counters, shared_settings(), clock);
  begin();
  send(shop, Ask::find(0, {"1"}).add({"1"}));
  Connection& client = shopper_of(reader);
  EXPECT_EQ(send(reader, client, find), Executed::parked);
  end();
  EXPECT_EQ(send(reader, client, find), Executed::done);
  reader.end_turn();
  EXPECT_THAT(replies(client), ElementsAre("rows/1 6"));
}

TEST_F(ParkedTest, a_parked_request_counts_once_when_it_is_done) {
  const uint64_t before = count(Counter::turn_requests);
  engine.set_busy("shop.item", true);
  ask(shop, find);
  ask(shop, find);
  engine.set_busy("shop.item", false);
  ask(shop, find);
  EXPECT_EQ(count(Counter::requests_find), 1);
  EXPECT_EQ(count(Counter::turn_requests) - before, 1);
}

TEST_F(ParkedTest, it_leaves_the_bound_of_its_output_as_it_was) {
  engine.set_busy("shop.item", true);
  const size_t bytes_max = shop.out.bytes_max();
  EXPECT_EQ(ask(shop, find), "parked");
  EXPECT_EQ(shop.out.bytes_max(), bytes_max);
}

class CountingTest : public ExecutorTest {};

TEST_F(CountingTest, requests_count_by_kind) {
  Connection& shop = shopper();
  open_for_insert(shop);
  turn(shop, {Ask::find(0, {"1"}), Ask::find(0, {"1"}).in(0, {"2"}), Ask::find(0, {"1"}).update({"1"}),
              Ask::find(0, {"1"}).add({"1"}), Ask::find(0, {"1"}).subtract({"1"}),
              Ask::find(0, {"1"}).remove(), Ask::insert(9, {"8", "1", "x", "1"}), Ask::authenticate(""),
              Ask::refused(ErrorCode::unknown_command)});
  EXPECT_EQ(count(Counter::requests_open_index), 5);
  EXPECT_EQ(count(Counter::requests_find), 2);
  EXPECT_EQ(count(Counter::requests_in_list), 1);
  EXPECT_EQ(count(Counter::requests_update), 1);
  EXPECT_EQ(count(Counter::requests_increment), 2);
  EXPECT_EQ(count(Counter::requests_delete), 1);
  EXPECT_EQ(count(Counter::requests_insert), 1);
  EXPECT_EQ(count(Counter::requests_authenticate), 1);
  EXPECT_EQ(count(Counter::requests_unknown), 1);
}

TEST_F(CountingTest, a_change_counts_as_an_increment_where_all_of_it_counts) {
  Connection& shop = shopper();
  turn(shop,
       {Ask::find(0, {"1"}).change(0, Operation::add_wrapping, "1"),
        Ask::find(0, {"1"}).change(0, Operation::subtract_to_zero, "1"), Ask::find(0, {"1"}).subtract({})});
  EXPECT_EQ(count(Counter::requests_increment), 3);
  turn(shop, {Ask::find(0, {"1"}).change(0, Operation::add, "1").change(1, Operation::append, "x"),
              Ask::find(0, {"1"}).update({})});
  EXPECT_EQ(count(Counter::requests_update), 2);
}

TEST_F(CountingTest, what_a_protocol_sets_beside_a_count_makes_no_update_of_it) {
  Connection& shop = shopper();
  const auto count_and_set = [] {
    return Ask::find(0, {"1"}).change(0, Operation::add_wrapping, "1").change(1, Operation::set, "x");
  };
  turn(shop, {count_and_set().as_increment()});
  EXPECT_EQ(count(Counter::requests_increment), 1);
  EXPECT_EQ(count(Counter::requests_update), 0);
  turn(shop, {count_and_set()});
  EXPECT_EQ(count(Counter::requests_update), 1);
}

TEST_F(CountingTest, a_request_for_nothing_is_a_request_of_the_turn) {
  Connection& shop = shopper();
  const uint64_t before = count(Counter::turn_requests);
  turn(shop, {Ask::nothing()});
  EXPECT_EQ(count(Counter::turn_requests) - before, 1);
}

TEST_F(CountingTest, lenient_requests_count_and_the_first_of_each_client_is_met) {
  Connection& shop = shopper();
  const auto surplus = [] {
    return Ask::find(0, {"1"}).update({"1", "x", "1", "surplus"}).dropping_surplus();
  };
  begin();
  send(shop, Ask::find(0, {"1"}));
  EXPECT_FALSE(executor->met_first_lenience());
  send(shop, surplus());
  EXPECT_TRUE(executor->met_first_lenience());
  send(shop, Ask::find(0, {"1"}));
  EXPECT_FALSE(executor->met_first_lenience());
  send(shop, surplus());
  EXPECT_FALSE(executor->met_first_lenience());
  end();
  EXPECT_EQ(count(Counter::requests_lenient), 2);
}

/// `stats` of a protocol, say.
TEST_F(CountingTest, a_reply_that_counts_does_so_once_when_its_request_is_done) {
  class Counting final : public TextReply {
   public:
    explicit Counting(Buffer& out) : TextReply(out) { counts_ = true; }
    void count() override { ++times; }
    int times = 0;
  };
  Connection& shop = shopper();
  Counting added(shop.out);
  Counting refused(shop.out);
  const auto ask = [&](const Ask& what, Reply& reply, size_t position) {
    Request& request = *what.bind(arena, shop.out);
    request.reply = &reply;
    EXPECT_EQ(executor->execute(shop.client, request, position), Executed::done);
  };
  const Ask add = Ask::find(0, {"1"}).add({"1"});
  const Ask unopened = Ask::find(77, {"1"});
  engine.lose_transaction_at_write(2);
  begin();
  ask(add, added, 0);
  ask(unopened, refused, 1);
  EXPECT_EQ(added.times, 0) << "its commit is still to come";
  send(shop, Ask::find(0, {"2"}).add({"1"}));
  executor->end_turn();
  EXPECT_EQ(added.times, 1);
  EXPECT_EQ(refused.times, 0);
  EXPECT_EQ(count(Counter::replays), 1);
}

TEST_F(CountingTest, rows_count_by_what_was_done_to_them) {
  Connection& shop = shopper();
  open_for_insert(shop);
  turn(shop, {Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(3), Ask::insert(9, {"8", "1", "x", "1"}),
              Ask::find(1, {"10"}).limit(9).add({"1"}), Ask::find(0, {"8"}).remove()});
  EXPECT_EQ(count(Counter::rows_inserted), 1);
  EXPECT_EQ(count(Counter::rows_updated), 2);
  EXPECT_EQ(count(Counter::rows_deleted), 1);
  EXPECT_EQ(count(Counter::rows_read), 3 + 2 + 1);
}

TEST_F(CountingTest, transactions_count_where_they_changed_rows) {
  Connection& shop = shopper();
  open_for_insert(shop);
  const auto add = [] { return Ask::find(0, {"1"}).add({"1"}); };
  const auto duplicate = [] { return Ask::insert(9, {"2", "1", "x", "1"}); };
  turn(shop, {duplicate(), Ask::find(0, {"99"}).remove(), Ask::group({add(), duplicate()})});
  EXPECT_EQ(count(Counter::commits), 0);
  turn(shop, {duplicate(), add(), add()});
  EXPECT_EQ(count(Counter::commits), 1);
}

TEST_F(CountingTest, only_turns_that_executed_something_count) {
  Connection& shop = shopper();
  const uint64_t turns = count(Counter::turns);
  turn(shop, {});
  turn(shop, {Ask::find(0, {"1"}), Ask::find(0, {"2"})});
  EXPECT_EQ(count(Counter::turns) - turns, 1);
}

TEST_F(ExecutorTest, each_reply_may_be_as_large_as_the_limit_however_many_there_are) {
  settings.reply_bytes_max = 64;
  use_settings();
  const std::string reply = "rows/3 5 pen 1";
  const size_t count = 2 * limits::reply_slack_bytes / reply.size();
  EXPECT_THAT(turn(shopper(), std::vector<Ask>(count, Ask::find(0, {"1"}))),
              testing::AllOf(testing::SizeIs(count), testing::Each(reply)));
}

}  // namespace
}  // namespace rowsocket::exec
