// SPDX-License-Identifier: GPL-2.0-only
#include "bench/schedule.h"

#include <gtest/gtest.h>

namespace rowsocket::bench {
namespace {

constexpr uint64_t start_ns = 5'000'000;

TEST(Schedule, RequestsAreDueAtAFixedRate) {
  Schedule schedule(1000, start_ns);
  EXPECT_EQ(schedule.due_ns(), start_ns);
  schedule.take();
  EXPECT_NEAR(static_cast<double>(schedule.due_ns()), start_ns + 1e6, 1);
}

TEST(Schedule, WhatWasNotTakenStaysDue) {
  Schedule schedule(1000, start_ns);
  EXPECT_EQ(schedule.backlog(start_ns - 1), 0u);
  EXPECT_EQ(schedule.backlog(start_ns), 1u);
  EXPECT_EQ(schedule.backlog(start_ns + 4'500'000), 5u);
  schedule.take();
  schedule.take();
  EXPECT_EQ(schedule.backlog(start_ns + 4'500'000), 3u);
}

}  // namespace
}  // namespace rowsocket::bench
