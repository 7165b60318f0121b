// SPDX-License-Identifier: GPL-2.0-only
//
// Turns, one at a time, on the test's own thread: a memory engine below, socket pairs above, and a clock that the test moves.
#include "server/turn_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <memory>
#include <new>

#include "server/test_support.h"
#include "wire/handlersocket/handlersocket.h"

namespace rowsocket::server {
namespace {

using engine::Interruption;
using testing::Contains;
using testing::HasSubstr;

class TurnLoopTest : public testing::Test {
 protected:
  TurnLoopTest() {
    create_items(engine_);
    board_.publish(settings_from(config_));
    session_ = engine_.create_session({.intent = engine::Intent::write, .worker_number = 0, .counters = &counters_, .wake = {}});
    loop_ =
        std::make_unique<TurnLoop>(TurnLoop::Surroundings{*session_, inbox_, counters_, board_, clock_, limited_log_, "write"});
  }

  TestClient connect(const Protocol& protocol = wire::handlersocket::handlersocket_protocol()) {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    EXPECT_EQ(::fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    Arrival arrival{net::Descriptor(fds[1]), "test", ++connections_, exec::Access::write, &protocol};
    EXPECT_TRUE(inbox_.offer(arrival));
    turn();
    return TestClient(net::Descriptor(fds[0]));
  }
  TestClient connect_with_items() {
    TestClient client = connect();
    EXPECT_EQ(ask(client, open_items), ok);
    return client;
  }

  /// Turns that never wait.
  bool turn(int times = 1) {
    bool goes_on = true;
    while (times-- > 0) {
      inbox_.wake();
      goes_on = loop_->turn();
    }
    return goes_on;
  }
  std::string ask(TestClient& client, std::string_view requests, int turns = 1) {
    EXPECT_TRUE(client.send(requests));
    turn(turns);
    return client.received();
  }
  void pass_ms(uint64_t milliseconds) {
    clock_.advance_ms(milliseconds);
    turn();
  }
  void reconfigure() { board_.publish(settings_from(config_)); }
  [[nodiscard]] uint64_t count(Counter counter) const { return counters_.read(counter); }

  Config config_;
  engine::memory::MemoryEngine engine_;
  Counters counters_;
  Inbox inbox_;
  SettingsBoard board_;
  ManualClock clock_;
  TestLog log_;
  LimitedLog limited_log_{log_, clock_, "rowsocket-w0"};
  std::unique_ptr<engine::Session> session_;
  std::unique_ptr<TurnLoop> loop_;
  uint64_t connections_ = 0;
};

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

TEST_F(TurnLoopTest, requests_may_be_cut_anywhere) {
  TestClient client = connect_with_items();
  const std::string requests = std::string(find_pen).append(find_ink);
  for (size_t cut = 1; cut < requests.size(); ++cut) {
    std::string replies = ask(client, requests.substr(0, cut));
    replies += ask(client, requests.substr(cut));
    ASSERT_EQ(replies, std::string(pen).append(ink)) << "cut at " << cut;
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

TEST_F(TurnLoopTest, a_turn_without_requests_counts_for_nothing) {
  TestClient client = connect_with_items();
  const uint64_t turns = count(Counter::turns);
  turn(5);
  ask(client, "0\t=");
  EXPECT_EQ(count(Counter::turns), turns);
}

// ---- clients that do not read
// -----------------------------------------------------------------------------------------------------

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
  config_.idle_timeout_s = 60;
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

TEST_F(TurnLoopTest, who_holds_most_is_closed_when_all_together_hold_too_much) {
  Settings settings = settings_from(config_);
  settings.held_bytes_max = 2 * big_name_bytes;
  board_.publish(settings);
  TestClient greedy = connect_with_items();
  TestClient modest = connect_with_items();
  greedy.send(repeat(find_big, 2));
  modest.send("0\t=");
  turn();
  EXPECT_EQ(loop_->connections().size(), 1u);
  EXPECT_EQ(ask(modest, "\t1\t1\n"), pen);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("connection 1 (test) holds most of too much memory")));
}

// ---- time-outs
// --------------------------------------------------------------------------------------------------------------------

TEST_F(TurnLoopTest, idle_connections_time_out_and_busy_ones_do_not) {
  config_.idle_timeout_s = 60;
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
}

TEST_F(TurnLoopTest, a_shorter_time_out_concerns_those_who_are_there) {
  TestClient client = connect_with_items();
  pass_ms(100'000);
  EXPECT_FALSE(client.sees_end());
  config_.idle_timeout_s = 99;
  reconfigure();
  turn();
  EXPECT_TRUE(client.sees_end());
}

TEST_F(TurnLoopTest, a_time_out_of_zero_is_never) {
  config_.idle_timeout_s = 0;
  reconfigure();
  TestClient client = connect_with_items();
  pass_ms(1'000'000'000'000);
  EXPECT_EQ(ask(client, find_pen), pen);
}

// ---- clients that go
// --------------------------------------------------------------------------------------------------------------

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

// ---- fair turns
// -------------------------------------------------------------------------------------------------------------------

TEST_F(TurnLoopTest, a_connection_gets_only_its_share_of_a_turn_and_the_rest_in_the_next) {
  TestClient greedy = connect_with_items();
  TestClient modest = connect_with_items();
  constexpr size_t requests = size_t{5} * limits::requests_per_connection_turn;
  greedy.send(repeat(find_pen, requests));
  EXPECT_EQ(ask(modest, find_ink), ink);

  uint64_t most = 0;
  std::string replies = greedy.received();
  while (replies.size() < requests * pen.size()) {
    const uint64_t before = count(Counter::turn_requests);
    ASSERT_TRUE(loop_->turn()) << "without being woken";
    most = std::max(most, count(Counter::turn_requests) - before);
    replies += greedy.received();
  }
  EXPECT_EQ(most, limits::requests_per_connection_turn);
}

TEST_F(TurnLoopTest, who_was_not_reached_comes_first_in_the_next_turn) {
  std::vector<TestClient> greedy;
  for (size_t i = 0; i <= limits::requests_per_turn / limits::requests_per_connection_turn; ++i) {
    greedy.push_back(connect_with_items());
  }
  TestClient modest = connect_with_items();
  for (TestClient& client : greedy) {
    client.send(repeat(find_pen, size_t{3} * limits::requests_per_connection_turn));
  }
  modest.send(find_ink);
  turn(2);
  EXPECT_EQ(modest.received(), ink);
}

TEST_F(TurnLoopTest, a_turn_stages_a_bounded_amount_of_replies) {
  TestClient client = connect_with_items();
  client.send(repeat(find_big, 10));
  turn();
  EXPECT_LE(count(Counter::turn_requests), 1 + limits::reply_bytes_per_turn / big_name_bytes);
}

// ---- bad streams
// ------------------------------------------------------------------------------------------------------------------

class BadStreamTest : public TurnLoopTest {
 protected:
  BadStreamTest() {
    config_.max_line_bytes = limits::line_bytes_min;
    reconfigure();
  }
  std::string send_too_long_a_line(TestClient& client, std::string_view before = "") {
    return ask(client, std::string(before) + std::string(limits::line_bytes_min + 1, 'x'), 3);
  }
};

TEST_F(BadStreamTest, a_line_that_is_too_long_is_answered_after_what_came_before_it) {
  TestClient client = connect_with_items();
  EXPECT_THAT(send_too_long_a_line(client, find_pen), testing::StartsWith(std::string(pen) + "2\t1\t"));
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(count(Counter::errors_request), 1u);
}

TEST_F(BadStreamTest, who_goes_on_sending_is_not_executed_and_closed_soon) {
  TestClient client = connect_with_items();
  send_too_long_a_line(client);
  EXPECT_EQ(ask(client, std::string(100'000, 'x').append("\n").append(find_pen), 5), "");
  pass_ms(limits::linger_ms - 1);
  EXPECT_EQ(loop_->connections().size(), 1u);
  pass_ms(limits::sweep_interval_ms);
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_EQ(count(Counter::connections_timed_out), 0u) << "that counter is for idle clients";
}

TEST_F(BadStreamTest, who_ends_is_closed_at_once) {
  TestClient client = connect_with_items();
  send_too_long_a_line(client);
  client.close_output();
  turn();
  EXPECT_EQ(loop_->connections().size(), 0u);
}

TEST_F(BadStreamTest, clients_can_not_flood_the_log) {
  for (size_t i = 0; i < 100; ++i) {
    TestClient client = connect();
    send_too_long_a_line(client);
  }
  EXPECT_EQ(log_.lines().size(), limits::log_lines_per_interval);
  pass_ms(limits::log_interval_ms);
  TestClient client = connect();
  send_too_long_a_line(client);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("left out 90 lines")));
}

// ---- waiting for locks
// ------------------------------------------------------------------------------------------------------------

TEST_F(TurnLoopTest, a_request_that_waits_for_a_lock_is_tried_again_and_answered_in_order) {
  TestClient waiting = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(waiting, std::string(find_pen).append("bad\n").append(find_ink)), "");
  pass_ms(10);
  EXPECT_EQ(waiting.received(), "");
  engine_.set_busy("shop.item", false);
  pass_ms(10);
  EXPECT_EQ(waiting.received(), std::string(pen).append("2\t1\tcmd\n").append(ink));
  EXPECT_EQ(count(Counter::parked), 1u);
}

TEST_F(TurnLoopTest, while_one_waits_for_a_lock_others_are_served) {
  engine_.create_table("shop.busy", {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  TestClient waiting = connect_with_items();
  TestClient other = connect_with_items();
  engine_.set_busy("shop.busy", true);
  EXPECT_EQ(ask(waiting, std::string(find_pen).append("P\t1\tshop\tbusy\t\tid\n").append(find_ink)), pen);
  EXPECT_EQ(ask(other, find_pen), pen);
  EXPECT_EQ(waiting.received(), "");
}

TEST_F(TurnLoopTest, a_waiting_request_is_not_tried_sooner_than_its_time) {
  TestClient waiting = connect_with_items();
  engine_.set_busy("shop.item", true);
  ask(waiting, find_pen);
  engine_.set_busy("shop.item", false);
  turn(5);
  EXPECT_EQ(waiting.received(), "");
  pass_ms(limits::parked_retry_us / 1000 + 1);
  EXPECT_EQ(waiting.received(), pen);
}

TEST_F(TurnLoopTest, who_waits_too_long_for_a_lock_gets_an_error_and_goes_on) {
  engine_.set_lock_wait_timeout_ms(5'000);
  TestClient waiting = connect_with_items();
  engine_.set_busy("shop.item", true);
  ask(waiting, find_pen);
  pass_ms(5'000);
  EXPECT_THAT(waiting.received(), testing::StartsWith("1\t1\t"));
  engine_.set_busy("shop.item", false);
  EXPECT_EQ(ask(waiting, find_pen), pen);
}

TEST_F(TurnLoopTest, who_goes_while_it_waits_for_a_lock_is_executed_and_forgotten) {
  TestClient waiting = connect_with_items();
  engine_.set_busy("shop.item", true);
  ask(waiting, "0\t+\t2\t10\tcup\n");
  waiting.close();
  pass_ms(10);
  EXPECT_EQ(loop_->connections().size(), 1u);
  engine_.set_busy("shop.item", false);
  pass_ms(10);
  turn();
  EXPECT_EQ(engine_.rows("shop.item").size(), 4u);
  EXPECT_EQ(loop_->connections().size(), 0u);
}

// ---- orders from outside
// ----------------------------------------------------------------------------------------------------------

TEST_F(TurnLoopTest, a_kill_closes_the_connections_and_new_ones_are_served) {
  TestClient idle = connect_with_items();
  TestClient sending = connect_with_items();
  TestClient waiting = connect_with_items();
  engine_.set_busy("shop.item", true);
  ask(waiting, find_pen);
  engine_.set_busy("shop.item", false);
  sending.send(find_pen);
  engine_.interrupt(Interruption::close_connections);
  EXPECT_TRUE(turn());
  for (TestClient* client : {&idle, &sending, &waiting}) {
    EXPECT_EQ(client->received(), "");
    EXPECT_TRUE(client->sees_end());
  }
  pass_ms(10);
  connect_with_items();
}

TEST_F(TurnLoopTest, a_shutdown_ends_the_turns) {
  TestClient client = connect_with_items();
  engine_.interrupt(Interruption::stop);
  EXPECT_FALSE(turn());
  loop_.reset();
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(inbox_.connection_count(), 0u);
}

TEST_F(TurnLoopTest, new_secrets_concern_new_connections) {
  TestClient before = connect_with_items();
  config_.secret_read = config_.secret_write = "sesame";
  reconfigure();
  EXPECT_EQ(ask(before, find_pen), pen);
  TestClient after = connect();
  EXPECT_EQ(ask(after, open_items), "3\t1\tunauth\n");
  EXPECT_EQ(ask(after, std::string("A\t1\tsesame\n").append(open_items)), repeat(ok, 2));
}

TEST_F(TurnLoopTest, processlist_shows_the_connections_but_does_not_follow_every_change) {
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 0 connections"));
  pass_ms(limits::activity_interval_ms);
  TestClient first = connect();
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 1 connections"));
  TestClient second = connect();
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 1 connections"));
  pass_ms(limits::activity_interval_ms);
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 2 connections"));
}

// ---- other protocols
// --------------------------------------------------------------------------------------------------------------

/// Every byte is a request that means nothing; '!' is more than the machine can take.
class OneByteProtocol final : public Protocol {
 public:
  [[nodiscard]] std::string_view name() const override { return "one byte"; }
  [[nodiscard]] Parsed parse(std::string_view input, const ParseLimits&, Arena&, size_t&, Request& request) const override {
    if (input[0] == '!') {
      throw std::bad_alloc();
    }
    request = {};
    return {Parsed::Status::request, 1};
  }
  void reply_ok(Buffer& out) const override { out.append('+'); }
  void reply_number(Buffer& out, uint64_t) const override { out.append('#'); }
  void begin_rows(Buffer&, size_t) const override {}
  void end_rows(Buffer&) const override {}
  void reply_error(Buffer& out, const Error&, bool) const override { out.append('-'); }
  [[nodiscard]] const ValueFormat& value_format() const override {
    return wire::handlersocket::handlersocket_protocol().value_format();
  }
};

TEST_F(TurnLoopTest, connections_of_different_protocols_share_a_turn) {
  const OneByteProtocol protocol;
  TestClient other = connect(protocol);
  TestClient client = connect_with_items();
  other.send("abc");
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_EQ(other.received(), "---");
}

TEST_F(TurnLoopTest, a_refused_allocation_costs_one_connection) {
  const OneByteProtocol protocol;
  TestClient unlucky = connect(protocol);
  TestClient client = connect_with_items();
  unlucky.send("a!");
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_TRUE(unlucky.sees_end());
  EXPECT_EQ(ask(client, find_pen), pen);
}

}  // namespace
}  // namespace rowsocket::server
