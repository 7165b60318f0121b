// SPDX-License-Identifier: GPL-2.0-only
#include "server/surplus.h"

#include <gtest/gtest.h>

namespace rowsocket::server {
namespace {

constexpr uint64_t begin_ms = 5000;
constexpr uint64_t idle_ms = limits::stand_in_idle_ms;

TEST(Surplus, one_ends_that_was_not_needed_for_a_while) {
  Surplus surplus;
  EXPECT_FALSE(surplus.one_ends(begin_ms, 1));
  EXPECT_FALSE(surplus.one_ends(begin_ms + idle_ms - 1, 1));
  EXPECT_TRUE(surplus.one_ends(begin_ms + idle_ms, 1));
}

TEST(Surplus, who_is_needed_now_and_then_stays) {
  Surplus surplus;
  for (uint64_t now_ms = begin_ms; now_ms < begin_ms + 10 * idle_ms; now_ms += idle_ms / 2) {
    EXPECT_FALSE(surplus.one_ends(now_ms, 0));
    EXPECT_FALSE(surplus.one_ends(now_ms + 1, 1));
  }
}

TEST(Surplus, the_others_of_a_burst_end_one_by_one) {
  Surplus surplus;
  EXPECT_FALSE(surplus.one_ends(begin_ms, 3));
  EXPECT_TRUE(surplus.one_ends(begin_ms + idle_ms, 3));
  EXPECT_FALSE(surplus.one_ends(begin_ms + idle_ms, 2));
  EXPECT_TRUE(surplus.one_ends(begin_ms + idle_ms + limits::stand_in_ends_ms, 2));
}

}  // namespace
}  // namespace rowsocket::server
