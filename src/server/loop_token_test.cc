// SPDX-License-Identifier: GPL-2.0-only
//
// Who has the loop, and how others stop the request that goes on.
#include "server/loop_token.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "engine/memory/memory_engine.h"

namespace rowsocket::server {
namespace {

using Left = LoopToken::Left;
using Ticket = LoopToken::Ticket;

TEST(LoopTokenTest, a_request_that_nobody_touches_is_left_alone) {
  LoopToken token;
  EXPECT_EQ(token.leave(token.enter(false)), Left::alone);
  EXPECT_EQ(token.seen(), 0U);
}

TEST(LoopTokenTest, what_is_seen_can_be_taken_once) {
  LoopToken token;
  const Ticket ticket = token.enter(true);
  EXPECT_TRUE(LoopToken::is_settled(token.seen()));
  EXPECT_TRUE(token.take(ticket));
  EXPECT_FALSE(token.take(ticket));
  EXPECT_EQ(token.leave(ticket), Left::taken);
}

TEST(LoopTokenTest, what_is_not_under_way_can_not_be_pinned) {
  LoopToken token;
  EXPECT_FALSE(token.pin());
  EXPECT_EQ(token.leave(token.enter(false)), Left::alone);
  EXPECT_FALSE(token.pin());
}

TEST(LoopTokenTest, a_pin_leaves_no_trace_unless_the_request_was_told) {
  LoopToken token;
  Ticket ticket = token.enter(false);
  ASSERT_TRUE(token.pin());
  token.unpin(false);
  EXPECT_EQ(token.leave(ticket), Left::alone);
  ticket = token.enter(false);
  ASSERT_TRUE(token.pin());
  token.unpin(true);
  EXPECT_EQ(token.seen(), ticket);
  EXPECT_EQ(token.leave(ticket), Left::told);
  EXPECT_EQ(token.leave(token.enter(false)), Left::alone);
}

TEST(LoopTokenTest, while_it_is_pinned_nobody_takes_it) {
  LoopToken token;
  const Ticket ticket = token.enter(false);
  ASSERT_TRUE(token.pin());
  EXPECT_EQ(token.seen(), ticket);
  EXPECT_FALSE(token.pin());
  EXPECT_FALSE(token.take(ticket));
  token.unpin(true);
  EXPECT_TRUE(token.take(ticket)) << "also where the request was told to stop";
  EXPECT_EQ(token.leave(ticket), Left::taken);
}

TEST(LoopTokenTest, an_execution_does_not_end_while_it_is_pinned) {
  LoopToken token;
  uint64_t of_request = 0;  // no atomic: the pin is what keeps the two threads apart
  std::atomic<bool> stops{false};
  std::thread owner([&] {
    while (!stops.load()) {
      ++of_request;
      static_cast<void>(token.leave(token.enter(false)));
    }
  });
  for (int pins = 0; pins < 300;) {
    if (token.pin()) {
      const uint64_t seen = of_request;
      std::this_thread::yield();
      EXPECT_EQ(of_request, seen);
      token.unpin(++pins % 2 == 0);
    }
  }
  stops.store(true);
  owner.join();
}

class LoopHoldTest : public testing::Test {
 protected:
  LoopHoldTest() { hold_.begin_turn(); }
  void enter_and_lose_loop(bool is_settled) {
    hold_.enter(is_settled);
    EXPECT_TRUE(token_.take(token_.seen()));
  }

  engine::memory::MemoryEngine engine_;
  std::unique_ptr<engine::Session> session_ = engine_.create_session({.intent = engine::Intent::write});
  LoopToken token_;
  LoopHold hold_{&token_, *session_};
};

TEST_F(LoopHoldTest, a_stop_is_remembered_where_earlier_replies_become_final_meanwhile) {
  hold_.enter(false);
  ASSERT_TRUE(token_.pin());
  token_.unpin(true);
  EXPECT_TRUE(hold_.note_settled());
  EXPECT_TRUE(hold_.was_settled());
  hold_.leave();
  EXPECT_FALSE(hold_.is_adrift());
  hold_.enter(false);
  hold_.leave();
  EXPECT_FALSE(hold_.is_adrift());
}

TEST_F(LoopHoldTest, what_becomes_final_between_requests_lets_nobody_take_the_loop) {
  EXPECT_TRUE(hold_.note_settled());
  EXPECT_EQ(hold_.ticket(), 0U);
  EXPECT_EQ(token_.seen(), 0U);
}

TEST_F(LoopHoldTest, what_becomes_final_behind_a_hand_over_was_left_with_the_turn) {
  enter_and_lose_loop(false);
  EXPECT_FALSE(hold_.note_settled());
  EXPECT_TRUE(hold_.was_settled());
  hold_.leave();
  EXPECT_TRUE(hold_.is_adrift());
}

TEST_F(LoopHoldTest, what_was_final_before_a_hand_over_is_the_loops) {
  enter_and_lose_loop(true);
  EXPECT_TRUE(hold_.note_settled()) << "it is not given back a second time";
  hold_.leave();
  EXPECT_TRUE(hold_.is_adrift());
}

TEST_F(LoopHoldTest, what_becomes_final_twice_is_left_with_the_turn_once) {
  enter_and_lose_loop(false);
  EXPECT_FALSE(hold_.note_settled());
  EXPECT_TRUE(hold_.note_settled());
}

TEST_F(LoopHoldTest, a_turn_whose_loop_is_taken_is_adrift) {
  enter_and_lose_loop(true);
  hold_.leave();
  EXPECT_TRUE(hold_.is_adrift());
}

}  // namespace
}  // namespace rowsocket::server
