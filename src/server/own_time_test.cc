// SPDX-License-Identifier: GPL-2.0-only
#include "server/own_time.h"

#include <gtest/gtest.h>

namespace rowsocket::server {
namespace {

/// In how many turns somebody is heavy who asks one request in each that takes so long; 0 = in none.
int turns_to_heavy(uint64_t us) {
  OwnTime time;
  for (int turns = 1; turns <= 1000; ++turns) {
    time.add(us, 1, 0);
    if (time.is_heavy()) {
      return turns;
    }
  }
  return 0;
}

TEST(OwnTime, the_longer_each_request_takes_the_sooner_it_is_heavy_but_never_at_once) {
  EXPECT_EQ(turns_to_heavy(limits::own_us_free_per_turn + limits::own_us_free_per_read), 0);
  EXPECT_EQ(turns_to_heavy(300), 7);
  EXPECT_EQ(turns_to_heavy(500), 4);
  EXPECT_EQ(turns_to_heavy(uint64_t{3600} * 1'000'000), 3);
}

TEST(OwnTime, who_asks_quick_requests_between_is_heavy_all_the_same) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(300, 1, 0);
    time.add(300, 1, 0);
    time.add_nothing();
  }
  EXPECT_TRUE(time.is_heavy());
}

TEST(OwnTime, a_slow_request_in_a_pipeline_of_quick_ones_counts) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(310, 6, 0);
  }
  EXPECT_TRUE(time.is_heavy());
}

TEST(OwnTime, a_pipeline_of_quick_ones_is_light_however_long_it_is) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(1000 * limits::own_us_free_per_read, 1000, 0);
  }
  EXPECT_FALSE(time.is_heavy());
}

TEST(OwnTime, what_is_slow_once_in_a_while_is_light) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(5'000, 1, 0);
    for (int quick = 0; quick < 5; ++quick) {
      time.add_nothing();
    }
  }
  EXPECT_FALSE(time.is_heavy());
}

TEST(OwnTime, who_was_heavy_for_long_is_light_again_after_some_quick_turns) {
  OwnTime time;
  for (int turns = 0; turns < 100; ++turns) {
    time.add(100'000, 1, 0);
  }
  int turns = 0;
  for (; time.is_heavy(); ++turns) {
    time.add_nothing();
  }
  EXPECT_EQ(turns, 9);
}

}  // namespace
}  // namespace rowsocket::server
