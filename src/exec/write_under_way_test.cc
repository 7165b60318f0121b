// SPDX-License-Identifier: GPL-2.0-only
#include "exec/write_under_way.h"

#include <gtest/gtest.h>

namespace rowsocket::exec {
namespace {

constexpr uint64_t least_us = limits::long_write_us_min;
constexpr LongRequests::Place place = 7;

class WriteUnderWayTest : public testing::Test {
 protected:
  /// It goes on by itself since 0.
  uint64_t look_at(uint64_t now_us, uint64_t noted_us = 0) {
    return write_.note_longer(requests_, 0, now_us, noted_us);
  }
  /// For how long writes of the place are expected to take long.
  uint64_t take_expected_us() {
    uint64_t us = 0;
    for (; requests_.expects(place); us += step_us) {
      requests_.note_commit(place, step_us);
    }
    return us;
  }

  static constexpr uint64_t step_us = 100;
  LongRequests requests_{1};
  WriteUnderWay write_;
};

TEST_F(WriteUnderWayTest, the_longer_it_goes_on_the_longer_are_those_behind_it_expected_to_take) {
  write_.add(place);
  EXPECT_EQ(look_at(least_us - 1), 0U);
  EXPECT_EQ(take_expected_us(), 0U);
  EXPECT_EQ(look_at(least_us), least_us);
  EXPECT_EQ(look_at(least_us + step_us, least_us), least_us + step_us);
  EXPECT_EQ(look_at(least_us, least_us + step_us), least_us + step_us) << "nothing is noted twice";
  EXPECT_EQ(take_expected_us(), least_us + step_us);
  look_at(uint64_t{3600} * 1'000'000);
  EXPECT_EQ(take_expected_us(), limits::commits_behind_us_max);
}

TEST_F(WriteUnderWayTest, of_all_clients_if_its_own_is_trusted) {
  write_.add(place);
  look_at(least_us);
  EXPECT_FALSE(requests_.expects_of_all(place));
  write_.set_trusted(true);
  look_at(2 * least_us, least_us);
  EXPECT_TRUE(requests_.expects_of_all(place));
  write_.begin();
  EXPECT_FALSE(write_.is_trusted());
}

TEST_F(WriteUnderWayTest, what_came_before_it_went_on_by_itself_does_not_count) {
  write_.add(place);
  EXPECT_EQ(write_.note_longer(requests_, 10 * least_us, 11 * least_us, 0), least_us);
  EXPECT_EQ(write_.note_longer(requests_, 11 * least_us, 10 * least_us, 0), 0U) << "of another core's clock";
}

TEST_F(WriteUnderWayTest, what_is_not_its_own_time_does_not_count) {
  write_.add(place);
  write_.end_own_time();
  EXPECT_EQ(look_at(10 * least_us), 0U);
  write_.begin_own_time(10 * least_us);
  EXPECT_EQ(look_at(11 * least_us), least_us);
  write_.begin();
  write_.add(place);
  EXPECT_EQ(look_at(2 * least_us), 2 * least_us);
}

TEST_F(WriteUnderWayTest, what_comes_behind_its_end_does_not_count_until_the_next_one_begins) {
  write_.add(place);
  write_.end();
  write_.begin_own_time(0);  // a wait of what runs again is over
  EXPECT_EQ(look_at(10 * least_us), 0U);
  write_.begin();
  write_.add(place);
  EXPECT_EQ(look_at(10 * least_us), 10 * least_us);
}

TEST_F(WriteUnderWayTest, behind_one_that_is_over_the_next_goes_on_by_itself_again_after_a_wait) {
  write_.end();
  write_.begin();
  write_.add(place);
  write_.end_own_time();
  write_.begin_own_time(0);
  EXPECT_EQ(look_at(least_us), least_us);
}

TEST_F(WriteUnderWayTest, a_request_that_writes_nothing_says_nothing) {
  write_.add(place);
  write_.begin();
  look_at(10 * least_us);
  EXPECT_EQ(take_expected_us(), 0U);
}

TEST_F(WriteUnderWayTest, a_place_that_is_written_twice_is_one_and_the_first_of_many_are_remembered) {
  for (const LongRequests::Place one : {place, place}) {
    write_.add(one);
  }
  for (LongRequests::Place one = 100; one < 200; ++one) {
    write_.add(one);
  }
  look_at(least_us);
  EXPECT_EQ(take_expected_us(), least_us);
  EXPECT_TRUE(requests_.expects(100));
  EXPECT_FALSE(requests_.expects(199));
}

}  // namespace
}  // namespace rowsocket::exec
