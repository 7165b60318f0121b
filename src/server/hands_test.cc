// SPDX-License-Identifier: GPL-2.0-only
#include "server/hands.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <string>

namespace rowsocket::server {
namespace {

class HandsTest : public testing::Test {
 protected:
  void add(std::function<void(Hand&)> work) {
    std::string failure;
    ASSERT_TRUE(hands_.add("test", std::move(work), failure)) << failure;
  }

  Hands hands_;
};

TEST_F(HandsTest, what_all_threads_counted_is_summed_up) {
  for (int number = 0; number < 3; ++number) {
    add([](Hand& hand) { hand.counters.add(Counter::turns, 2); });
  }
  hands_.join();
  EXPECT_EQ(hands_.count(Counter::turns), 6U);
  EXPECT_EQ(hands_.size(), 3U);
}

TEST_F(HandsTest, a_thread_that_has_ended_is_forgotten_and_what_it_counted_is_not) {
  std::binary_semaphore may_end(0);
  add([this](Hand& hand) {
    hand.counters.add(Counter::turns);
    hands_.note_end(hand);
  });
  add([&may_end](Hand&) { may_end.acquire(); });
  size_t forgotten = 0;
  while (forgotten == 0) {
    forgotten = hands_.forget_ended();
  }
  EXPECT_EQ(forgotten, 1U);
  EXPECT_EQ(hands_.size(), 1U);
  EXPECT_EQ(hands_.count(Counter::turns), 1U);
  may_end.release();
  hands_.join();
}

}  // namespace
}  // namespace rowsocket::server
