// SPDX-License-Identifier: GPL-2.0-only
#include "server/commits_adrift.h"

#include <gtest/gtest.h>

namespace rowsocket::server {
namespace {

constexpr uint64_t now_ms = 1000;

TEST(CommitsAdriftTest, where_none_goes_on_nothing_waits) {
  CommitsAdrift commits;
  EXPECT_EQ(commits.writes_wait_until_ms(), 0U);
  commits.begin(now_ms);
  commits.end();
  EXPECT_EQ(commits.writes_wait_until_ms(), 0U);
}

TEST(CommitsAdriftTest, writes_wait_for_a_while_behind_the_last_one) {
  CommitsAdrift commits;
  commits.begin(now_ms);
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + limits::behind_commit_ms);
  commits.begin(now_ms + 7);
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + 7 + limits::behind_commit_ms);
  commits.end();
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + 7 + limits::behind_commit_ms) << "either may have ended";
}

TEST(CommitsAdriftTest, where_as_many_go_on_as_may_writes_wait_for_an_end) {
  CommitsAdrift commits;
  for (uint32_t count = 0; count < limits::commits_adrift_max; ++count) {
    commits.begin(now_ms);
  }
  EXPECT_EQ(commits.writes_wait_until_ms(), std::numeric_limits<uint64_t>::max());
  commits.end();
  EXPECT_EQ(commits.writes_wait_until_ms(), now_ms + limits::behind_commit_ms);
}

}  // namespace
}  // namespace rowsocket::server
