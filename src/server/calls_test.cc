// SPDX-License-Identifier: GPL-2.0-only
#include "server/calls.h"

#include <gtest/gtest.h>

#include <thread>

namespace rowsocket::server {
namespace {

TEST(Calls, a_call_that_comes_before_the_wait_ends_it) {
  Calls calls;
  const uint32_t expected = calls.expect();
  calls.call_for(7);
  calls.wait(expected);
  EXPECT_EQ(calls.called_for(), 7U);
}

TEST(Calls, a_call_wakes_who_waits) {
  Calls calls;
  std::thread stand_in([&calls] {
    const uint32_t expected = calls.expect();
    calls.wait(expected);
    calls.rest_is_over();
  });
  while (calls.idle_count() == 0) {
    std::this_thread::yield();
  }
  calls.call_all();
  stand_in.join();
  EXPECT_EQ(calls.idle_count(), 0U);
}

TEST(Calls, one_ends_of_all_that_are_told) {
  Calls calls;
  EXPECT_FALSE(calls.must_end());
  calls.let_one_end();
  EXPECT_TRUE(calls.must_end());
  EXPECT_FALSE(calls.must_end());
}

TEST(Calls, who_expects_calls_has_started) {
  Calls calls;
  calls.note_start(true);
  EXPECT_TRUE(calls.one_is_starting());
  static_cast<void>(calls.expect());
  EXPECT_FALSE(calls.one_is_starting());
}

}  // namespace
}  // namespace rowsocket::server
