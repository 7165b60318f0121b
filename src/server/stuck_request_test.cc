// SPDX-License-Identifier: GPL-2.0-only
#include "server/stuck_request.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string_view>
#include <thread>

#include "base/limits.h"
#include "server/server_fixture.h"

namespace rowsocket::server {
namespace {

/// A thread that waits until the test ends.
class StuckRequestTest : public testing::Test {
 protected:
  StuckRequestTest() {
    number_.wait(0);
    EXPECT_TRUE(eventually([this] { return state() == 'S'; }));
  }
  ~StuckRequestTest() override {
    ends_.store(true);
    ends_.notify_all();
    thread_.join();
  }
  [[nodiscard]] char state() const {
    std::array<char, 128> place{};
    const std::string_view told = told_of(number_.load(), "stat", place);
    const size_t name_end = told.rfind(')');
    return name_end == std::string_view::npos ? '?' : told[name_end + 2];
  }
  /// How many looks at what has been entered it takes until it counts as stuck.
  int looks_at(LoopToken::Ticket ticket) {
    int looks = 1;
    while (!request_.look(ticket, number_.load())) {
      ++looks;
    }
    return looks;
  }

  std::atomic<ThreadNumber> number_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_{[this] {
    number_.store(this_thread_number());
    number_.notify_all();
    ends_.wait(false);
  }};
  LoopToken token_;
  StuckRequest request_;
};

TEST_F(StuckRequestTest, what_waits_at_two_looks_is_stuck) { EXPECT_EQ(looks_at(token_.enter()), 2); }

TEST_F(StuckRequestTest, what_was_entered_anew_is_another) {
  EXPECT_FALSE(request_.look(token_.enter(), number_.load()));
  EXPECT_EQ(looks_at(token_.enter()), 2);
}

TEST_F(StuckRequestTest, what_is_unhurried_is_looked_at_more_often) {
  EXPECT_EQ(looks_at(token_.enter(true)), 1 + static_cast<int>(limits::unhurried_ticks));
  EXPECT_EQ(looks_at(token_.enter(true)), 1 + static_cast<int>(limits::unhurried_ticks));
}

TEST_F(StuckRequestTest, where_nothing_is_under_way_nothing_is_stuck) {
  EXPECT_FALSE(request_.look(0, number_.load()));
  EXPECT_FALSE(request_.look(0, number_.load()));
}

}  // namespace
}  // namespace rowsocket::server
