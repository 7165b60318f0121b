// SPDX-License-Identifier: GPL-2.0-only
#include "server/own_time.h"

#include <gtest/gtest.h>

namespace rowsocket::server {
namespace {

/// In how many turns somebody is heavy whose requests of a turn take so long; 0 = in none.
int turns_to_heavy(uint64_t us) {
  OwnTime time;
  for (int turns = 1; turns <= 1000; ++turns) {
    time.add(us);
    if (time.is_heavy()) {
      return turns;
    }
  }
  return 0;
}

TEST(OwnTime, the_longer_each_request_takes_the_sooner_it_is_heavy_but_never_at_once) {
  EXPECT_EQ(turns_to_heavy(limits::own_us_free_per_turn), 0);
  EXPECT_EQ(turns_to_heavy(300), 6);
  EXPECT_EQ(turns_to_heavy(450), 4);
  EXPECT_EQ(turns_to_heavy(uint64_t{3600} * 1'000'000), 3);
}

TEST(OwnTime, who_asks_quick_requests_between_is_heavy_all_the_same) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(300);
    time.add(300);
    time.add(0);
  }
  EXPECT_TRUE(time.is_heavy());
}

TEST(OwnTime, what_is_slow_once_in_a_while_is_light) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(5'000);
    for (int quick = 0; quick < 5; ++quick) {
      time.add(0);
    }
  }
  EXPECT_FALSE(time.is_heavy());
}

TEST(OwnTime, who_was_heavy_for_long_is_light_again_after_some_quick_turns) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(100'000);
  }
  int turns = 0;
  for (; time.is_heavy(); ++turns) {
    time.add(0);
  }
  EXPECT_EQ(turns, 9);
}

}  // namespace
}  // namespace rowsocket::server
