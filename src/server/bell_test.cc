// SPDX-License-Identifier: GPL-2.0-only
#include "server/bell.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

constexpr std::chrono::hours for_good(24);

TEST(Bell, a_ring_before_the_sleep_ends_it) {
  Bell bell;
  bell.arm();
  bell.ring_if_armed();
  EXPECT_EQ(bell.sleep(for_good), Bell::Woken::by_ring);
}

TEST(Bell, a_ring_wakes_who_sleeps) {
  Bell bell;
  bell.arm();
  std::thread loop([&bell] { bell.ring_if_armed(); });
  EXPECT_EQ(bell.sleep(for_good), Bell::Woken::by_ring);
  loop.join();
}

TEST(Bell, rings_once_each_time_it_is_armed) {
  Bell bell;
  bell.arm();
  bell.ring_if_armed();
  bell.ring_if_armed();
  EXPECT_EQ(bell.sleep(for_good), Bell::Woken::by_ring);
  EXPECT_EQ(bell.sleep(std::chrono::milliseconds(1)), Bell::Woken::by_time);
}

TEST(Bell, does_not_ring_where_it_is_not_armed) {
  Bell bell;
  bell.ring_if_armed();
  bell.arm();
  bell.disarm();
  bell.ring_if_armed();
  EXPECT_EQ(bell.sleep(std::chrono::milliseconds(1)), Bell::Woken::by_time);
}

TEST(Bell, nobody_sleeps_after_the_stop) {
  Bell bell;
  bell.stop();
  EXPECT_EQ(bell.sleep(for_good), Bell::Woken::to_stop);
}

TEST_F(TurnLoopTest, a_loop_that_has_waited_for_clients_wakes_the_ticker) {
  EXPECT_FALSE(loop_->is_napping());
  bell_.arm();
  turn();
  EXPECT_EQ(bell_.sleep(std::chrono::milliseconds(1)), Bell::Woken::by_ring);
}

}  // namespace
}  // namespace rowsocket::server
