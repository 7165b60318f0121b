// SPDX-License-Identifier: GPL-2.0-only
#include "server/guesses.h"

#include <gtest/gtest.h>

namespace rowsocket::server {
namespace {

constexpr Guesses::Allowance three_then_one_per_second{3, 1000};

/// How many wrong guesses are tried until this time, one after the other.
int tried_until(Guesses& guesses, uint64_t begin_ms, uint64_t end_ms) {
  int tried = 0;
  for (uint64_t now_ms = begin_ms; now_ms < end_ms; now_ms = std::max(now_ms, guesses.next_at_ms(now_ms))) {
    guesses.begin();
    guesses.end(true, now_ms);
    ++tried;
  }
  return tried;
}

TEST(Guesses, a_few_are_tried_at_once_and_then_one_per_interval) {
  Guesses guesses(three_then_one_per_second);
  EXPECT_EQ(tried_until(guesses, 0, 1), 3);
  EXPECT_TRUE(guesses.is_slowed(1));
  EXPECT_FALSE(guesses.may_try(999));
  EXPECT_EQ(tried_until(guesses, 1000, 11'000), 10);
}

TEST(Guesses, logins_that_succeed_cost_nothing) {
  Guesses guesses(three_then_one_per_second);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(guesses.may_try(0));
    guesses.begin();
    guesses.end(false, 0);
  }
  EXPECT_TRUE(guesses.is_even(0));
}

TEST(Guesses, a_login_under_way_counts_until_it_has_ended) {
  Guesses guesses(three_then_one_per_second);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(guesses.may_try(0));
    guesses.begin();
  }
  EXPECT_FALSE(guesses.may_try(0));
  EXPECT_FALSE(guesses.is_slowed(0));
  guesses.end(false, 0);
  EXPECT_TRUE(guesses.may_try(0));
}

TEST(Guesses, time_makes_good) {
  Guesses guesses(three_then_one_per_second);
  EXPECT_EQ(tried_until(guesses, 0, 1), 3);
  EXPECT_FALSE(guesses.is_even(2999));
  EXPECT_TRUE(guesses.is_even(3000));
  EXPECT_EQ(tried_until(guesses, 3000, 3001), 3);
}

}  // namespace
}  // namespace rowsocket::server
