// SPDX-License-Identifier: GPL-2.0-only
//
// What disturbs the run of turns: locks, orders from outside.
#include <gmock/gmock.h>

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

using engine::Interruption;

/// HandlerSocket, with a count of parses.
class CountedProtocol final : public Protocol {
 public:
  [[nodiscard]] std::unique_ptr<WireState> new_state() const override { return protocol_.new_state(); }
  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    ++parses_;
    return protocol_.parse(input, parsing);
  }
  void refuse_stream(Buffer& out, const Error& error, const Settings& settings) const override {
    protocol_.refuse_stream(out, error, settings);
  }
  /// Since the last call.
  [[nodiscard]] size_t take_parses() const { return std::exchange(parses_, 0); }

 private:
  const Protocol& protocol_ = wire::handlersocket::handlersocket_protocol();
  mutable size_t parses_ = 0;
};

// ---- waiting for locks

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

TEST_F(TurnLoopTest, what_is_behind_a_request_that_waits_is_not_parsed_for_each_try) {
  const CountedProtocol protocol;
  TestClient waiting = connect(protocol);
  ASSERT_EQ(ask(waiting, open_items), ok);
  engine_.set_busy("shop.item", true);
  ASSERT_EQ(ask(waiting, std::string(find_pen).append(find_ink).append(find_ink)), "");
  static_cast<void>(protocol.take_parses());
  pass_ms(10);
  EXPECT_EQ(protocol.take_parses(), 1U);
}

TEST_F(TurnLoopTest, while_one_waits_for_a_lock_others_are_served) {
  engine_.create_table("shop.busy",
                       {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
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

TEST_F(TurnLoopTest, who_goes_while_it_waits_for_a_lock_is_forgotten) {
  TestClient waiting = connect_with_items();
  engine_.set_busy("shop.item", true);
  ask(waiting, "0\t+\t2\t10\tcup\n");
  waiting.close();
  pass_ms(limits::presence_ms);
  turn();
  EXPECT_EQ(loop_->connections().size(), 0u);
  EXPECT_EQ(count(Counter::requests_stopped), 1u);
  engine_.set_busy("shop.item", false);
  pass_ms(10);
  EXPECT_EQ(engine_.rows("shop.item").size(), 3u);
}

// ---- who has gone

TEST_F(TurnLoopTest, behind_a_request_that_was_stopped_nothing_of_its_client_is_begun) {
  TestClient client = connect_with_items();
  engine_.on_next_request([this] { loop_->connections().all()[0]->client.left_at = 0; });
  EXPECT_EQ(ask(client, std::string(find_pen).append("0\t+\t2\t10\tcup\n")), pen);
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(engine_.rows("shop.item").size(), 3U);
}

TEST_F(TurnLoopTest, who_had_sent_more_than_is_read_behind_it_still_gets_what_it_was_told) {
  TestClient client = connect_with_items();
  engine_.on_next_request([this] { loop_->connections().all()[0]->client.left_at = 0; });
  client.send(std::string(find_pen).append(repeat(find_ink, limits::receive_bytes / find_ink.size())));
  turn();
  EXPECT_EQ(loop_->connections().size(), 1U) << "to close with bytes unread is a reset";
  EXPECT_EQ(client.received(), pen);
  EXPECT_TRUE(client.sees_end());
  client.close_output();
  turn(3);
  EXPECT_EQ(loop_->connections().size(), 0U);
}

TEST_F(TurnLoopTest, who_resets_while_the_request_of_another_takes_long_has_nothing_begun) {
  TestClient slow = connect_with_items();
  TestClient other = connect_with_items();
  ask(slow, find_pen);
  other.send(find_pen);
  turn();  // it never takes the reply, so that its close is a reset
  for (const bool takes_long : {false, true}) {
    TestClient& writer = other;
    engine_.on_next_request([&] {
      if (takes_long) {
        writer.close();
        clock_.advance_us(clock_.us_of(limits::look_ticks));
      }
    });
    slow.send(find_pen);
    writer.send(takes_long ? "0\t+\t2\t11\tcup\n" : "0\t+\t2\t10\tcup\n");
    turn();
  }
  turn();
  EXPECT_EQ(engine_.rows("shop.item").size(), 4U);
  EXPECT_EQ(count(Counter::requests_stopped), 1U);
  EXPECT_EQ(loop_->connections().size(), 1U);
}

TEST_F(TurnLoopTest, who_begins_with_tls_where_that_is_not_served_is_closed) {
  TestClient client = connect();
  EXPECT_EQ(ask(client, "\x16"), "");
  EXPECT_TRUE(client.sees_end());
}

// ---- orders from outside

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
  settings_.secret_read = settings_.secret_write = "sesame";
  reconfigure();
  EXPECT_EQ(ask(before, find_pen), pen);
  TestClient after = connect();
  EXPECT_EQ(ask(after, open_items), "3\t1\tunauth\n");
  EXPECT_EQ(ask(after, std::string("A\t1\tsesame\n").append(open_items)), repeat(ok, 2));
}

TEST_F(TurnLoopTest, processlist_shows_the_connections_but_does_not_follow_every_change) {
  turn();
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 0 connections"));
  pass_ms(limits::activity_interval_ms);
  TestClient first = connect();
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 1 connections"));
  TestClient second = connect();
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 1 connections"));
  pass_ms(limits::activity_interval_ms);
  EXPECT_THAT(engine_.activities(), testing::ElementsAre("rowsocket: write worker, 2 connections"));
}

}  // namespace
}  // namespace rowsocket::server
