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
  EXPECT_EQ(token.leave(token.enter()), Left::alone);
  EXPECT_EQ(token.seen(), 0U);
}

TEST(LoopTokenTest, what_is_seen_can_be_taken_once) {
  LoopToken token;
  const Ticket ticket = token.enter();
  EXPECT_TRUE(token.take(ticket));
  EXPECT_FALSE(token.take(ticket));
  EXPECT_EQ(token.leave(ticket), Left::taken);
}

TEST(LoopTokenTest, what_is_not_under_way_can_not_be_pinned) {
  LoopToken token;
  EXPECT_FALSE(token.pin());
  EXPECT_EQ(token.leave(token.enter()), Left::alone);
  EXPECT_FALSE(token.pin());
}

TEST(LoopTokenTest, a_pin_leaves_no_trace_unless_the_request_was_told) {
  LoopToken token;
  Ticket ticket = token.enter();
  ASSERT_TRUE(token.pin());
  token.unpin(false);
  EXPECT_EQ(token.leave(ticket), Left::alone);
  ticket = token.enter();
  ASSERT_TRUE(token.pin());
  token.unpin(true);
  EXPECT_EQ(token.seen(), ticket);
  EXPECT_EQ(token.leave(ticket), Left::told);
  EXPECT_EQ(token.leave(token.enter()), Left::alone);
}

TEST(LoopTokenTest, while_it_is_pinned_nobody_takes_it) {
  LoopToken token;
  const Ticket ticket = token.enter();
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
      static_cast<void>(token.leave(token.enter()));
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
  void lose_loop() { EXPECT_TRUE(token_.take(token_.seen())); }
  /// True if the turn has told what has changed, and has entered again.
  bool enter_again() {
    bool has_told = false;
    EXPECT_EQ(hold_.enter_again([&] {
      EXPECT_EQ(token_.seen(), 0U) << "nobody takes the loop, and sees half of it";
      has_told = true;
    }),
              has_told);
    return has_told;
  }

  engine::memory::MemoryEngine engine_;
  std::unique_ptr<engine::Session> session_ = engine_.create_session({.intent = engine::Intent::write});
  LoopToken token_;
  LoopHold hold_{&token_, *session_};
};

TEST_F(LoopHoldTest, a_stop_is_remembered_where_the_request_is_entered_again) {
  hold_.enter();
  ASSERT_TRUE(token_.pin());
  token_.unpin(true);
  EXPECT_TRUE(enter_again());
  EXPECT_EQ(hold_.ticket(), token_.seen());
  hold_.leave();
  EXPECT_FALSE(hold_.is_adrift());
  hold_.enter();
  hold_.leave();
  EXPECT_FALSE(hold_.is_adrift());
}

TEST_F(LoopHoldTest, what_told_a_request_to_stop_is_not_meant_for_what_comes_behind_it) {
  uint64_t forgotten = 0;
  for (const bool is_entered_again : {false, true}) {
    hold_.enter();
    ASSERT_TRUE(token_.pin());
    token_.unpin(true);
    EXPECT_TRUE(!is_entered_again || enter_again());
    hold_.leave();
    EXPECT_EQ(engine_.stops_forgotten(), ++forgotten) << is_entered_again;
    hold_.enter();
    EXPECT_TRUE(!is_entered_again || enter_again());
    hold_.leave();
    EXPECT_EQ(engine_.stops_forgotten(), forgotten) << "nobody told this one";
  }
}

TEST_F(LoopHoldTest, nothing_is_told_behind_a_hand_over) {
  hold_.enter();
  lose_loop();
  EXPECT_FALSE(enter_again());
  hold_.leave();
  EXPECT_TRUE(hold_.is_adrift());
}

TEST_F(LoopHoldTest, what_is_entered_again_can_be_taken) {
  hold_.enter();
  EXPECT_TRUE(enter_again());
  lose_loop();
  hold_.leave();
  EXPECT_TRUE(hold_.is_adrift());
}

TEST_F(LoopHoldTest, a_turn_whose_loop_is_taken_is_adrift) {
  hold_.enter();
  lose_loop();
  hold_.leave();
  EXPECT_TRUE(hold_.is_adrift());
}

}  // namespace
}  // namespace rowsocket::server
