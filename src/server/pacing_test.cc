// SPDX-License-Identifier: GPL-2.0-only
#include "server/pacing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

#include "base/limits.h"

namespace rowsocket::server {
namespace {

constexpr LoopToken::Ticket walk = 7;

class PaceTest : public testing::Test {
 protected:
  PaceTest() {
    clock_.on_sleep = [this](uint64_t microseconds) { rested_us_ += microseconds; };
  }

  /// The walk runs for a burst, of which the loop's thread waited a part. Returns for how long the walk rests
  /// after it, in bursts.
  double rest_after_burst(uint64_t waited_us) {
    rested_us_ = 0;
    clock_.advance_us(limits::walk_burst_us);
    waited_us_ += waited_us;
    pace_.keep(walk, true);
    return static_cast<double>(rested_us_) / limits::walk_burst_us;
  }

  /// After a burst that was as long as the walk's bursts are.
  [[nodiscard]] static uint64_t walks_rest_us_of_one() {
    AllWalks walks{2};
    walks.begin();
    return walks.rest_us(limits::walk_burst_us);
  }

  ManualClock clock_;
  uint64_t waited_us_ = 0;
  uint64_t rested_us_ = 0;
  AllWalks walks_{2};
  Pace pace_{walks_, clock_, [this] { return waited_us_; }};
};

TEST_F(PaceTest, a_walk_does_not_rest_where_nobody_waits_for_a_processor) {
  pace_.keep(walk, true);
  for (int burst = 0; burst < 100; ++burst) {
    EXPECT_EQ(rest_after_burst(0), 0);
  }
}

TEST_F(PaceTest, a_walk_rests_where_the_thread_of_its_loop_waited) {
  pace_.keep(walk, true);
  EXPECT_GT(rest_after_burst(limits::walk_burst_us), 0);
  EXPECT_EQ(rest_after_burst(0), 0) << "only as long as it waits";
}

TEST_F(PaceTest, a_walk_does_not_rest_before_its_burst_is_over) {
  pace_.keep(walk, true);
  clock_.advance_us(limits::walk_burst_us_first - 1);
  waited_us_ += limits::walk_burst_us_first;
  pace_.keep(walk, true);
  EXPECT_EQ(rested_us_, 0U);
}

TEST_F(PaceTest, each_burst_is_longer_than_the_one_before_up_to_a_bound) {
  pace_.keep(walk, true);
  for (uint64_t burst_us = limits::walk_burst_us_first; burst_us < limits::walk_burst_us; burst_us *= 2) {
    clock_.advance_us(burst_us - 1);
    waited_us_ += burst_us;
    pace_.keep(walk, true);
    EXPECT_EQ(rested_us_, 0U);
    clock_.advance_us(1);
    pace_.keep(walk, true);
    EXPECT_GT(std::exchange(rested_us_, 0), 0U);
  }
  EXPECT_GT(rest_after_burst(limits::walk_burst_us), 0U);
}

TEST_F(PaceTest, a_new_walk_rests_at_once_where_others_have_seen_that_loops_wait) {
  pace_.keep(walk, true);
  EXPECT_GT(rest_after_burst(limits::walk_burst_us), 0);
  rested_us_ = 0;
  Pace other(walks_, clock_, [this] { return waited_us_; });
  other.keep(walk + 2, true);
  EXPECT_GT(rested_us_, 0U);
  other.end();
  rested_us_ = 0;
  other.keep(walk + 4, false);
  EXPECT_EQ(rested_us_, 0U) << "it may not rest";
  other.end();
  clock_.advance_us(limits::walk_waits_us);
  other.keep(walk + 6, true);
  EXPECT_EQ(rested_us_, 0U) << "they have not waited lately";
}

TEST_F(PaceTest, all_walks_together_take_their_share_of_the_processors) {
  walks_.begin();
  walks_.begin();
  walks_.begin();
  pace_.keep(walk, true);
  const double each = 1 / (1 + rest_after_burst(limits::walk_burst_us));
  EXPECT_NEAR(4 * each, 2.0 / limits::walks_share, 0.01);
}

TEST_F(PaceTest, the_first_burst_of_a_request_begins_with_it) {
  pace_.keep(walk, true);
  pace_.end();
  clock_.advance_us(1'000'000);
  waited_us_ += 1'000'000;
  pace_.keep(walk + 2, true);
  EXPECT_EQ(rested_us_, 0U);
}

TEST_F(PaceTest, a_walk_that_may_not_rest_owes_its_rests) {
  pace_.keep(walk, false);
  clock_.advance_us(limits::walk_burst_us);
  waited_us_ += limits::walk_burst_us;
  pace_.keep(walk, false);
  EXPECT_EQ(rested_us_, 0U);
  EXPECT_EQ(pace_.end(), walks_rest_us_of_one());
  EXPECT_EQ(pace_.end(), 0U) << "once";
}

TEST_F(PaceTest, what_a_walk_owes_is_bounded) {
  pace_.keep(walk, false);
  for (int burst = 0; burst < 1000; ++burst) {
    clock_.advance_us(limits::walk_burst_us);
    waited_us_ += limits::walk_burst_us;
    pace_.keep(walk, false);
  }
  EXPECT_EQ(pace_.end(), limits::owed_rest_us_max);
}

TEST_F(PaceTest, a_walk_does_not_rest_where_the_system_no_longer_says_who_waited) {
  waited_us_ = 1'000'000;
  pace_.keep(walk, true);
  waited_us_ = 0;
  EXPECT_EQ(rest_after_burst(0), 0);
}

TEST_F(PaceTest, the_next_walk_of_a_thread_takes_the_place_of_the_one_before) {
  for (LoopToken::Ticket ticket = walk; ticket < walk + 9; ++ticket) {
    pace_.keep(ticket, true);
  }
  pace_.end();
  EXPECT_EQ(walks_.rest_us(1000), 0U);
}

TEST_F(PaceTest, a_walk_that_is_over_does_not_count) {
  AllWalks walks(1);
  {
    Pace over(walks, clock_, [] { return 0; });
    over.keep(walk, true);
    EXPECT_GT(walks.rest_us(1000), 0U);
  }
  EXPECT_EQ(walks.rest_us(1000), 0U);
}

TEST(AllWalksTest, what_the_threads_of_all_loops_waited_counts) {
  const std::atomic<ThreadNumber> own = this_thread_number();
  const std::atomic<ThreadNumber> none = 0;
  AllWalks walks(2);
  EXPECT_EQ(walks.loops_waited_us(), 0U);
  walks.add_loop(own);
  walks.add_loop(none);
  const uint64_t once_us = walks.loops_waited_us();
  EXPECT_GE(once_us, waited_for_processor_us(own) / 2);
  EXPECT_LE(once_us, waited_for_processor_us(own));
}

TEST(WaitedForProcessor, of_no_thread_is_nothing) {
  EXPECT_EQ(waited_for_processor_us(0), 0U);
  static_cast<void>(waited_for_processor_us(this_thread_number()));
}

}  // namespace
}  // namespace rowsocket::server
