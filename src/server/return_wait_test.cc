// SPDX-License-Identifier: GPL-2.0-only
#include "server/return_wait.h"

#include <gtest/gtest.h>

namespace rowsocket::server {
namespace {

constexpr uint64_t flush_us = uint64_t{limits::return_wait_share} * limits::return_wait_us_min;

TEST(ReturnWait, a_turn_waits_once_for_each_commit) {
  ReturnWait wait;
  EXPECT_EQ(wait.take_us(), 0U);
  wait.note_commit(flush_us, 10);
  EXPECT_EQ(wait.take_us(), limits::return_wait_us_min);
  EXPECT_EQ(wait.take_us(), 0U);
}

TEST(ReturnWait, a_commit_without_a_flush_is_not_worth_a_wait) {
  ReturnWait wait;
  wait.note_commit(flush_us - 1, 10);
  EXPECT_EQ(wait.take_us(), 0U);
}

TEST(ReturnWait, the_wait_is_bounded) {
  ReturnWait wait;
  wait.note_commit(1'000'000, 10);
  EXPECT_EQ(wait.take_us(), limits::return_wait_us_max);
}

TEST(ReturnWait, half_of_those_who_were_answered_are_enough) {
  ReturnWait wait;
  wait.note_commit(flush_us, 10);
  EXPECT_TRUE(wait.are_few(4));
  EXPECT_FALSE(wait.are_few(5));
}

TEST(ReturnWait, no_more_are_waited_for_than_a_poll_tells_of) {
  ReturnWait wait;
  wait.note_commit(flush_us, size_t{100} * limits::events_per_poll);
  EXPECT_FALSE(wait.are_few(limits::events_per_poll / 2));
}

}  // namespace
}  // namespace rowsocket::server
