// SPDX-License-Identifier: GPL-2.0-only
//
// What a turn does with requests, slow clients and clients that go.
#include <gmock/gmock.h>

#include <deque>

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(TurnLoopTest, pipelined_requests_are_answered_in_order_in_one_turn) {
  TestClient client = connect();
  EXPECT_EQ(ask(client, std::string(open_items).append(find_pen).append(find_ink).append(find_pen)),
            std::string(ok).append(pen).append(ink).append(pen));
  EXPECT_EQ(count(Counter::turns), 1u);
  EXPECT_EQ(count(Counter::turn_requests), 4u);
}

TEST_F(TurnLoopTest, many_connections_share_a_turn_and_a_commit) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  const uint64_t commits_before = engine_.commits_with_changes();
  first.send("0\t+\t2\t10\tcup\n");
  second.send("0\t+\t2\t11\tmug\n");
  turn();
  EXPECT_EQ(first.received(), ok);
  EXPECT_EQ(second.received(), ok);
  EXPECT_EQ(engine_.commits_with_changes(), commits_before + 1);
}

TEST_F(TurnLoopTest, who_comes_while_a_turn_writes_takes_part_in_its_commit) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  EXPECT_EQ(ask(second, "0\t+\t2\t9\tjug\n"), ok);
  const uint64_t commits_before = engine_.commits_with_changes();
  engine_.on_next_write([&] { second.send("0\t+\t2\t11\tmug\n"); });
  first.send("0\t+\t2\t10\tcup\n");
  turn();
  EXPECT_EQ(first.received(), ok);
  EXPECT_EQ(second.received(), ok);
  EXPECT_EQ(engine_.commits_with_changes(), commits_before + 1);
}

TEST_F(TurnLoopTest, who_read_last_comes_behind_the_commit_of_a_turn_that_writes) {
  TestClient writer = connect_with_items();
  TestClient reader = connect_with_items();
  engine_.on_next_write([&] { reader.send(find_pen); });
  writer.send("0\t+\t2\t10\tcup\n");
  turn();
  EXPECT_EQ(writer.received(), ok);
  EXPECT_EQ(reader.received(), "");
  turn();
  EXPECT_EQ(reader.received(), pen);
}

TEST_F(TurnLoopTest, who_comes_after_the_turns_first_read_reads_what_the_turn_wrote) {
  TestClient writer = connect_with_items();
  TestClient reader = connect_with_items();
  EXPECT_EQ(ask(reader, "0\t+\t2\t9\tjug\n"), ok) << "it may write again";
  engine_.on_next_write([&] { reader.send("0\t=\t1\t12\n"); });
  writer.send(std::string(find_pen) + "0\t+\t2\t12\tmug\n");
  const uint64_t turns_before = count(Counter::turns);
  turn();
  EXPECT_EQ(writer.received(), std::string(pen) + std::string(ok));
  EXPECT_EQ(reader.received(), "0\t2\t12\tmug\n");
  EXPECT_EQ(count(Counter::turns), turns_before + 1);
}

TEST_F(TurnLoopTest, who_sends_more_while_his_turn_writes_is_served_in_the_next) {
  TestClient client = connect_with_items();
  TestClient idle = connect();
  engine_.on_next_write([&] { client.send(find_pen); });
  client.send("0\t+\t2\t10\tcup\n");
  turn();
  EXPECT_EQ(client.received(), ok);
  turn();
  EXPECT_EQ(client.received(), pen);
}

/// Eight clients, after a commit that took a while, and the sleeps of the worker since that commit.
class ReturnTest : public TurnLoopTest {
 protected:
  ReturnTest() {
    for (size_t i = 0; i < 8; ++i) {
      clients_.push_back(connect_with_items());
    }
    clock_.on_sleep = [this](uint64_t microseconds) {
      slept_us_.push_back(microseconds);
      for (size_t i = come_back_at_once_; i < clients_.size(); ++i) {
        clients_[i].send(find_pen);
      }
    };
  }

  void insert_with_all(uint64_t commit_us) {
    engine_.on_next_commit([this, commit_us] { clock_.advance_us(commit_us); });
    for (size_t i = 0; i < clients_.size(); ++i) {
      clients_[i].send("0\t+\t2\t" + std::to_string(100 + i) + "\tcup\n");
    }
    turn();
  }
  /// So many clients send at once after the commit. The others send only while the worker sleeps. The
  /// worker's wakeup counts as one more.
  void come_back(size_t at_once) {
    come_back_at_once_ = at_once;
    for (size_t i = 0; i < at_once; ++i) {
      clients_[i].send(find_pen);
    }
    turn();
  }

  std::vector<TestClient> clients_;
  size_t come_back_at_once_ = 0;
  std::vector<uint64_t> slept_us_;
};

TEST_F(ReturnTest, who_was_answered_is_waited_for_by_the_next_turn) {
  insert_with_all(800);
  const uint64_t turns_before = count(Counter::turns);
  come_back(2);
  EXPECT_THAT(slept_us_, ElementsAre(100));
  EXPECT_EQ(count(Counter::turns), turns_before + 1);
  for (TestClient& client : clients_) {
    EXPECT_EQ(client.received(), std::string(ok).append(pen));
  }
}

TEST_F(ReturnTest, half_of_them_are_enough) {
  insert_with_all(800);
  come_back(4);
  EXPECT_THAT(slept_us_, IsEmpty());
}

TEST_F(ReturnTest, the_wait_is_bounded_and_once_per_commit) {
  insert_with_all(1'000'000);
  come_back(1);
  come_back(1);
  EXPECT_THAT(slept_us_, ElementsAre(limits::return_wait_us_max));
}

TEST_F(ReturnTest, nobody_waits_while_requests_are_left_over) {
  clients_[0].send(repeat("x\n", limits::requests_per_connection_turn));
  insert_with_all(800);
  come_back(0);
  EXPECT_THAT(slept_us_, IsEmpty());
}

TEST_F(ReturnTest, nobody_waits_after_a_commit_without_a_flush) {
  insert_with_all(100);
  come_back(1);
  EXPECT_THAT(slept_us_, IsEmpty());
}

/// Another thread of the worker was told before, which woke this one.
TEST_F(TurnLoopTest, a_session_that_is_told_to_stop_while_its_turn_begins_wakes_the_next) {
  engine_.on_next_interruption_look([this] {
    engine_.interrupt(engine::Interruption::stop);
    inbox_.wake();
  });
  EXPECT_TRUE(turn());
  ASSERT_FALSE(poller_.wait(0).empty());
  EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::stop);
}

TEST_F(TurnLoopTest, requests_may_be_cut_anywhere) {
  TestClient client = connect_with_items();
  const std::string requests = std::string(find_pen).append("x\n").append(find_ink);
  for (size_t cut = 1; cut < requests.size(); ++cut) {
    std::string replies = ask(client, requests.substr(0, cut));
    replies += ask(client, requests.substr(cut));
    ASSERT_EQ(replies, std::string(pen).append("2\t1\tcmd\n").append(ink)) << "cut at " << cut;
  }
}

TEST_F(TurnLoopTest, requests_may_come_byte_by_byte) {
  TestClient client = connect_with_items();
  std::string replies;
  for (const char byte : repeat(find_pen, 3)) {
    replies += ask(client, {&byte, 1});
  }
  EXPECT_EQ(replies, repeat(pen, 3));
}

TEST_F(TurnLoopTest, a_failed_commit_answers_no_ok) {
  TestClient client = connect_with_items();
  engine_.fail_commit({ErrorCode::commit_failed});
  EXPECT_NE(ask(client, "0\t+\t2\t10\tcup\n").substr(0, 2), "0\t");
}

TEST_F(TurnLoopTest, idle_connections_hold_no_buffers) {
  TestClient client = connect_with_items();
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_EQ(loop_->connections().held_bytes(), 0u);
  ask(client, "0\t=");
  EXPECT_GT(loop_->connections().held_bytes(), 0u);
  EXPECT_EQ(ask(client, "\t1\t1\n"), pen);
  EXPECT_EQ(loop_->connections().held_bytes(), 0u);
}

TEST_F(TurnLoopTest, the_memory_of_a_burst_is_given_back_before_a_sleep) {
  std::deque<TestClient> clients;
  constexpr size_t buffers = 2 * limits::pool_bytes_idle / limits::receive_bytes_first;
  for (size_t number = 0; number < buffers; ++number) {
    clients.push_back(connect_with_items());
    clients.back().send("0\t=");
  }
  turn();
  for (TestClient& client : clients) {
    client.send("\t1\t1\n");
  }
  turn();
  EXPECT_TRUE(loop_->connections().has_surplus());
  engine_.set_busy("shop.item", true);
  clients.front().send(find_pen);
  turn();
  EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::well)
      << "it slept until the request that waits was to be tried again";
  EXPECT_FALSE(loop_->connections().has_surplus());
}

TEST_F(TurnLoopTest, a_turn_without_requests_counts_for_nothing) {
  TestClient client = connect_with_items();
  const uint64_t turns = count(Counter::turns);
  turn(5);
  ask(client, "0\t=");
  EXPECT_EQ(count(Counter::turns), turns);
}

// ---- clients that do not read

TEST_F(TurnLoopTest, a_slow_reader_gets_every_byte) {
  TestClient client = connect_with_items();
  std::string replies = ask(client, std::string(find_big).append(find_big).append(find_pen));
  while (replies.size() < 2 * big().size() + pen.size()) {
    turn();
    const std::string more = client.received();
    ASSERT_FALSE(more.empty());
    replies += more;
  }
  EXPECT_TRUE(replies == big() + big() + std::string(pen));
}

TEST_F(TurnLoopTest, who_does_not_read_is_not_read_from) {
  TestClient client = connect_with_items();
  client.send(find_big);
  turn(3);
  const uint64_t bytes_received = count(Counter::bytes_received);
  client.send(repeat(find_pen, 1000));
  turn(10);
  EXPECT_EQ(count(Counter::bytes_received), bytes_received);

  std::string replies;
  while (replies.size() < big().size() + 1000 * pen.size()) {
    turn();
    replies += client.received();
  }
  EXPECT_TRUE(replies == big() + repeat(pen, 1000));
}

TEST_F(TurnLoopTest, who_never_reads_is_closed_after_the_idle_time_out) {
  settings_.idle_timeout_s = 60;
  reconfigure();
  TestClient client = connect_with_items();
  client.send(find_big);
  turn();
  pass_ms(59'000);
  EXPECT_EQ(loop_->connections().size(), 1u);
  pass_ms(1'000);
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_EQ(count(Counter::connections_timed_out), 1u);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("connection 1 (test) does not read its replies")));
}

// ---- time-outs

TEST_F(TurnLoopTest, idle_connections_time_out_and_busy_ones_do_not) {
  settings_.idle_timeout_s = 60;
  reconfigure();
  TestClient idle = connect_with_items();
  TestClient busy = connect_with_items();
  pass_ms(40'000);
  EXPECT_EQ(ask(busy, find_pen), pen);
  pass_ms(20'000);
  EXPECT_TRUE(idle.sees_end());
  EXPECT_EQ(ask(busy, find_pen), pen);
  EXPECT_EQ(count(Counter::connections_timed_out), 1u);
  EXPECT_EQ(inbox_.connection_count(), 1u);
  EXPECT_THAT(log_.lines(), Not(Contains(HasSubstr("does not read its replies"))));
}

TEST_F(TurnLoopTest, who_sends_or_reads_slowly_is_not_idle) {
  settings_.idle_timeout_s = 60;
  reconfigure();
  TestClient writes = connect_with_items();
  TestClient reads = connect_with_items();
  reads.send(find_big);
  turn();
  size_t read_bytes = 0;
  for (const char byte : find_pen.substr(0, find_pen.size() - 1)) {
    writes.send(std::string(1, byte));
    read_bytes += reads.received().size();
    pass_ms(40'000);
  }
  EXPECT_EQ(ask(writes, "\n"), pen);
  while (read_bytes < big().size()) {
    const std::string more = reads.received();
    ASSERT_FALSE(more.empty());
    read_bytes += more.size();
    turn();
  }
  EXPECT_EQ(count(Counter::connections_timed_out), 0u);
}

TEST_F(TurnLoopTest, who_waits_for_a_lock_is_not_idle) {
  settings_.idle_timeout_s = 60;
  reconfigure();
  engine_.set_lock_wait_timeout_ms(1'000'000);
  TestClient client = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(client, find_pen), "");
  pass_ms(40'000);
  pass_ms(40'000);
  engine_.set_busy("shop.item", false);
  pass_ms(limits::parked_retry_ms_max);
  EXPECT_EQ(client.received(), pen);
}

TEST_F(TurnLoopTest, a_shorter_time_out_concerns_those_who_are_there) {
  TestClient client = connect_with_items();
  pass_ms(100'000);
  EXPECT_FALSE(client.sees_end());
  settings_.idle_timeout_s = 99;
  reconfigure();
  turn();
  EXPECT_TRUE(client.sees_end());
}

TEST_F(TurnLoopTest, a_time_out_of_zero_is_never) {
  settings_.idle_timeout_s = 0;
  reconfigure();
  TestClient client = connect_with_items();
  pass_ms(1'000'000'000'000);
  EXPECT_EQ(ask(client, find_pen), pen);
}

// ---- clients that go

TEST_F(TurnLoopTest, who_closes_only_its_output_gets_its_replies) {
  TestClient client = connect_with_items();
  client.send(std::string(find_pen).append(find_big).append(find_ink).append("0\t="));
  client.close_output();
  std::string replies;
  while (loop_->connections().size() > 0) {
    turn();
    replies += client.received();
  }
  EXPECT_TRUE(replies == std::string(pen) + big() + std::string(ink));
  EXPECT_TRUE(client.sees_end());
}

TEST_F(TurnLoopTest, what_was_complete_is_executed_though_the_client_is_gone) {
  TestClient client = connect_with_items();
  client.send("0\t+\t2\t10\tcup\n0\t+\t2");
  client.close();
  turn(2);
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_EQ(engine_.rows("shop.item").size(), 4u);
}

TEST_F(TurnLoopTest, who_goes_in_the_middle_disturbs_nobody) {
  TestClient gone = connect_with_items();
  TestClient other = connect_with_items();
  gone.send("0\t=\t1");
  turn();
  gone.close();
  EXPECT_EQ(ask(other, find_pen), pen);
  turn();
  EXPECT_EQ(loop_->connections().size(), 1u);
  EXPECT_EQ(count(Counter::connections_closed), 1u);
}

TEST_F(TurnLoopTest, who_goes_without_reading_a_large_reply_is_forgotten) {
  TestClient client = connect_with_items();
  client.send(repeat(find_big, 3));
  turn();
  client.close();
  turn(3);
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_EQ(loop_->connections().held_bytes(), 0u);
}

// ---- groups

/// Inserts a row and finds the pen.
std::string group_with(const std::string& id) { return "G\n0\t+\t2\t" + id + "\tcup\n0\t=\t1\t1\nE\n"; }
const std::string group_done = std::string(ok).append(ok).append(pen).append(ok);

TEST_F(TurnLoopTest, a_group_in_pieces_begins_when_its_end_is_there) {
  TestClient client = connect_with_items();
  const uint64_t turns = count(Counter::turns);
  for (const std::string_view piece : {"G\n0\t+", "\t2\t10\tcup\n", "0\t=\t1\t1\n", "E"}) {
    EXPECT_EQ(ask(client, piece), "");
    EXPECT_EQ(count(Counter::turns), turns);
  }
  EXPECT_EQ(ask(client, "\n"), group_done);
  EXPECT_EQ(engine_.rows("shop.item").size(), 4u);
  EXPECT_EQ(engine_.commits_with_changes(), 1u);
}

TEST_F(TurnLoopTest, a_group_may_be_cut_anywhere) {
  TestClient client = connect_with_items();
  for (size_t cut = 1; cut < group_with("100").size(); ++cut) {
    const std::string group = group_with(std::to_string(100 + cut));
    ASSERT_EQ(ask(client, std::string_view(group).substr(0, cut)), "") << "cut at " << cut;
    ASSERT_EQ(ask(client, std::string_view(group).substr(cut)), group_done) << "cut at " << cut;
  }
}

TEST_F(TurnLoopTest, who_goes_in_the_middle_of_a_group_leaves_nothing_behind) {
  TestClient gone = connect_with_items();
  TestClient other = connect_with_items();
  const std::string group = group_with("10");
  EXPECT_EQ(ask(gone, std::string_view(group).substr(0, group.size() - 2)), "");
  gone.close();
  turn(2);
  EXPECT_EQ(loop_->connections().size(), 1u);
  EXPECT_EQ(loop_->connections().held_bytes(), 0u);
  EXPECT_EQ(engine_.rows("shop.item").size(), 3u);
  EXPECT_EQ(count(Counter::requests_group), 0u);
  EXPECT_EQ(ask(other, group), group_done);
  EXPECT_EQ(engine_.rows("shop.item").size(), 4u);
}

TEST_F(TurnLoopTest, a_group_that_waits_is_not_done_when_its_client_has_gone) {
  TestClient client = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(client, group_with("10")), "");
  client.close();
  turn();
  EXPECT_EQ(engine_.rows("shop.item").size(), 3u);
  engine_.set_busy("shop.item", false);
  pass_ms(limits::presence_ms);
  turn();
  EXPECT_EQ(engine_.rows("shop.item").size(), 3u);
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_EQ(count(Counter::requests_stopped), 1u);
}

TEST_F(TurnLoopTest, requests_that_wait_when_they_run_again_are_answered_in_a_later_turn) {
  TestClient client = connect_with_items();
  TestClient other = connect_with_items();
  engine_.fail_commit(Error(ErrorCode::engine, 149));
  engine_.fail_write(2, Error(ErrorCode::engine, 146));  // the row is locked when the insert runs again
  client.send("0\t+\t2\t7\tcap\n0\t=\t1\t7\n0\t=\t1\t2\t1000\t0");
  EXPECT_EQ(ask(other, find_pen), pen);
  client.send("\n");
  EXPECT_EQ(client.received(), "");
  pass_ms(limits::parked_retry_us / 1000 + 1);
  turn();
  EXPECT_EQ(client.received(), std::string("0\t1\n0\t2\t7\tcap\n").append(ink));
}

// ---- fair turns

TEST_F(TurnLoopTest, a_connection_gets_only_its_share_of_a_turn_and_the_rest_in_the_next) {
  TestClient greedy = connect_with_items();
  TestClient modest = connect_with_items();
  constexpr size_t requests = size_t{20} * limits::requests_per_connection_turn;
  greedy.send(repeat(find_pen, requests));
  EXPECT_EQ(ask(modest, find_ink), ink);

  uint64_t most = 0;
  std::string replies = greedy.received();
  while (replies.size() < requests * pen.size()) {
    const uint64_t before = count(Counter::turn_requests);
    ASSERT_EQ(loop_->run(*turn_), TurnLoop::Ended::well) << "without being woken";
    most = std::max(most, count(Counter::turn_requests) - before);
    replies += greedy.received();
  }
  EXPECT_EQ(most, limits::requests_per_connection_turn);
}

TEST_F(TurnLoopTest, what_was_asked_before_a_reset_is_not_begun) {
  TestClient client = connect_with_items();
  const size_t rows = engine_.rows("shop.item").size();
  client.send(find_pen);
  turn();  // a socket that is closed with a reply in it is reset
  client.send("0\t+\t2\t44\tcup\n");
  client.close();
  turn();
  EXPECT_EQ(engine_.rows("shop.item").size(), rows);
  EXPECT_EQ(loop_->connections().size(), 0U);
}

TEST_F(TurnLoopTest, what_was_asked_before_the_end_of_the_input_is_answered) {
  TestClient client = connect_with_items();
  client.send(find_pen);
  client.close_output();
  turn();
  EXPECT_EQ(client.received(), pen);
}

TEST_F(TurnLoopTest, a_turn_takes_a_bounded_number_of_requests) {
  std::deque<TestClient> clients;
  constexpr size_t requests_each = limits::receive_bytes_first / find_pen.size();  // received at once
  constexpr size_t client_count = 50;  // so many that their shares are more than a turn has
  for (size_t number = 0; number < client_count; ++number) {
    clients.push_back(connect_with_items());
  }
  const uint64_t before = count(Counter::turn_requests);
  for (TestClient& client : clients) {
    client.send(repeat(find_pen, requests_each));
  }
  turn();
  EXPECT_EQ(count(Counter::turn_requests) - before, limits::requests_per_turn);
}

TEST_F(TurnLoopTest, a_turn_stages_requests_of_a_bounded_size) {
  const std::string list = "0\t=\t1\t1\t1\t0\t@\t0\t10000" + repeat("\t1", 10'000) + "\n";
  const size_t list_bytes = 10'000 * sizeof(Value);
  TestClient writer = connect_with_items();
  std::deque<TestClient> clients;
  for (size_t number = 0; number < 2 * limits::arena_bytes_per_turn / list_bytes; ++number) {
    clients.push_back(connect_with_items());
    send_without_end(clients.back(), list);
  }
  const uint64_t before = count(Counter::turn_requests);
  writer.send("0\t+\t2\t10\tcup\n");  // what comes behind it is staged
  for (TestClient& client : clients) {
    client.send("\n");
  }
  turn();
  const uint64_t requests = count(Counter::turn_requests) - before;
  EXPECT_LE((requests - 2) * list_bytes, limits::arena_bytes_per_turn);
  EXPECT_EQ(writer.received(), ok);
}

TEST_F(TurnLoopTest, who_was_not_reached_comes_before_those_who_had_their_share) {
  std::vector<TestClient> greedy;
  for (int i = 0; i < 60; ++i) {  // their shares are more than a turn has
    greedy.push_back(connect_with_items());
  }
  TestClient modest = connect_with_items();
  for (TestClient& client : greedy) {
    client.send(repeat("\n", 2000));  // received at once
  }
  turn(2);
  modest.send(find_ink);
  turn(4);
  EXPECT_EQ(modest.received(), ink);
}

TEST_F(TurnLoopTest, a_turn_stages_a_bounded_amount_of_replies) {
  TestClient client = connect_with_items();
  client.send(repeat(find_big, 10));
  turn();
  EXPECT_LE(count(Counter::turn_requests), 1 + limits::reply_bytes_per_turn / big_name_bytes);
}

}  // namespace
}  // namespace rowsocket::server
