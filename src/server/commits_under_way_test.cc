// SPDX-License-Identifier: GPL-2.0-only
#include "server/commits_under_way.h"

#include <gtest/gtest.h>

namespace rowsocket::server {
namespace {

constexpr uint64_t now_ms = 1000;
constexpr uint64_t quick_us = limits::slice_us - 1;

TEST(CommitsUnderWayTest, where_nobody_commits_nothing_waits) {
  CommitsUnderWay commits;
  EXPECT_EQ(commits.writes_wait_until_ms(), 0U);
  commits.begin(now_ms);
  commits.end(quick_us);
  EXPECT_EQ(commits.writes_wait_until_ms(), 0U);
}

TEST(CommitsUnderWayTest, writes_wait_for_a_while_from_when_somebody_commits) {
  CommitsUnderWay commits;
  commits.begin(now_ms);
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + limits::behind_commit_ms);
  commits.begin(now_ms + 7);
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + limits::behind_commit_ms)
      << "who has waited does not begin anew";
  commits.end(quick_us);
  commits.end(quick_us);
  commits.begin(now_ms + 9);
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + 9 + limits::behind_commit_ms);
}

TEST(CommitsUnderWayTest, they_are_long_where_writes_have_waited_for_them_or_go_on_waiting) {
  CommitsUnderWay commits;
  EXPECT_FALSE(commits.are_long(now_ms));
  commits.begin(now_ms);
  EXPECT_FALSE(commits.are_long(now_ms + limits::behind_commit_ms - 1));
  EXPECT_TRUE(commits.are_long(now_ms + limits::behind_commit_ms));
  for (uint32_t count = 1; count < limits::commits_beside_max; ++count) {
    commits.begin(now_ms);
  }
  EXPECT_TRUE(commits.are_long(now_ms));
  commits.end(quick_us);
  EXPECT_FALSE(commits.are_long(now_ms));
}

TEST(CommitsUnderWayTest, they_are_expected_to_take_as_long_as_the_last_one) {
  CommitsUnderWay commits;
  for (const uint64_t us : {quick_us, quick_us + 1, limits::behind_commit_ms * 1000UL - 1,
                            limits::behind_commit_ms * 1000UL, quick_us}) {
    commits.begin(now_ms);
    commits.end(us);
    EXPECT_EQ(commits.are_slow(), us > quick_us);
    EXPECT_EQ(commits.are_long(now_ms), us >= limits::behind_commit_ms * 1000UL);
  }
}

TEST(CommitsUnderWayTest, where_as_many_commit_as_may_writes_wait_for_an_end) {
  CommitsUnderWay commits;
  for (uint32_t count = 0; count < limits::commits_beside_max; ++count) {
    commits.begin(now_ms);
  }
  EXPECT_EQ(commits.writes_wait_until_ms(), std::numeric_limits<uint64_t>::max());
  commits.end(quick_us);
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + limits::behind_commit_ms);
}

}  // namespace
}  // namespace rowsocket::server
