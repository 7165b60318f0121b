// SPDX-License-Identifier: GPL-2.0-only
#include "exec/write_under_way.h"

#include <gtest/gtest.h>

namespace rowsocket::exec {
namespace {

constexpr uint64_t commit_us = limits::long_write_us_per_commit;
constexpr int least = limits::long_write_us_min / limits::long_write_us_per_commit;
constexpr LongRequests::Place place = 7;

class WriteUnderWayTest : public testing::Test {
 protected:
  /// It goes on by itself since 0.
  LongRequests::Count look_at(uint64_t now_us, LongRequests::Count noted_count = 0) {
    return write_.note_longer(requests_, 0, now_us, noted_count);
  }
  int expected_count() {
    int count = 0;
    for (; requests_.expects(place); ++count) {
      requests_.note_expected(place);
    }
    return count;
  }

  LongRequests requests_{1};
  WriteUnderWay write_;
};

TEST_F(WriteUnderWayTest, the_longer_it_goes_on_the_more_are_expected_to_be_long) {
  write_.add(place);
  EXPECT_EQ(look_at(least * commit_us - 1), 0);
  EXPECT_EQ(expected_count(), 0);
  EXPECT_EQ(look_at(least * commit_us), least);
  EXPECT_EQ(look_at((least + 1) * commit_us, least), least + 1);
  EXPECT_EQ(look_at((least + 2) * commit_us - 1, least + 1), least + 1);
  EXPECT_EQ(expected_count(), least + 1);
  EXPECT_EQ(look_at(uint64_t{3600} * 1'000'000), limits::commits_behind_max);
  EXPECT_EQ(look_at(uint64_t{3600} * 1'000'000, 1), limits::commits_behind_max);
  EXPECT_EQ(expected_count(), limits::commits_behind_max);
}

TEST_F(WriteUnderWayTest, what_came_before_it_went_on_by_itself_does_not_count) {
  write_.add(place);
  EXPECT_EQ(write_.note_longer(requests_, 10 * commit_us, (10 + least) * commit_us, 0), least);
  EXPECT_EQ(write_.note_longer(requests_, 11 * commit_us, 10 * commit_us, 0), 0) << "of another core's clock";
}

TEST_F(WriteUnderWayTest, what_is_not_its_own_time_does_not_count) {
  write_.add(place);
  write_.end_own_time();
  EXPECT_EQ(look_at(10 * commit_us), 0);
  write_.begin_own_time(10 * commit_us);
  EXPECT_EQ(look_at((10 + least) * commit_us), least);
  write_.begin();
  write_.add(place);
  EXPECT_EQ(look_at((least + 1) * commit_us), least + 1);
}

TEST_F(WriteUnderWayTest, a_request_that_writes_nothing_says_nothing) {
  write_.add(place);
  write_.begin();
  EXPECT_TRUE(write_.is_empty());
  EXPECT_EQ(look_at(10 * commit_us), 10);
  EXPECT_EQ(expected_count(), 0);
}

TEST_F(WriteUnderWayTest, a_place_that_is_written_twice_is_one_and_the_first_of_many_are_remembered) {
  for (const LongRequests::Place one : {place, place}) {
    write_.add(one);
  }
  for (LongRequests::Place one = 100; one < 200; ++one) {
    write_.add(one);
  }
  EXPECT_EQ(look_at(least * commit_us), least);
  EXPECT_EQ(expected_count(), least);
  EXPECT_TRUE(requests_.expects(100));
  EXPECT_FALSE(requests_.expects(199));
}

}  // namespace
}  // namespace rowsocket::exec
