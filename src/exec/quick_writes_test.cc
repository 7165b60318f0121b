// SPDX-License-Identifier: GPL-2.0-only
#include "exec/quick_writes.h"

#include <gtest/gtest.h>

namespace rowsocket::exec {
namespace {

void write_quickly(QuickWrites& writes, QuickWrites::Place place, int times = QuickWrites::known_count) {
  for (int time = 0; time < times; ++time) {
    writes.note_quick(place);
  }
}

TEST(QuickWrites, who_writes_quickly_often_enough_is_known_for_it_in_this_place_only) {
  QuickWrites writes;
  EXPECT_FALSE(writes.is_known(0));
  write_quickly(writes, 5, QuickWrites::known_count - 1);
  EXPECT_FALSE(writes.is_known(5));
  write_quickly(writes, 5, 1);
  EXPECT_TRUE(writes.is_known(5));
  EXPECT_FALSE(writes.is_known(6));
}

TEST(QuickWrites, a_few_places_are_known_beside_each_other_and_a_new_one_takes_the_place_of_the_oldest) {
  QuickWrites writes;
  for (size_t place = 0; place <= QuickWrites::places_max; ++place) {
    write_quickly(writes, static_cast<QuickWrites::Place>(place));
  }
  EXPECT_FALSE(writes.is_known(0));
  for (size_t place = 1; place <= QuickWrites::places_max; ++place) {
    EXPECT_TRUE(writes.is_known(static_cast<QuickWrites::Place>(place)));
  }
}

TEST(QuickWrites, a_slow_one_ends_it_and_tells_whether_there_was_anything_to_end) {
  QuickWrites writes;
  EXPECT_FALSE(writes.note_slow(5, 1));
  write_quickly(writes, 5);
  write_quickly(writes, 6);
  EXPECT_TRUE(writes.note_slow(5, 1));
  EXPECT_FALSE(writes.is_known(5));
  EXPECT_TRUE(writes.is_known(6));
  EXPECT_FALSE(writes.note_slow(5, 1));
}

TEST(QuickWrites, behind_a_slow_one_more_are_expected_and_nothing_is_known_of_any_place) {
  QuickWrites writes;
  writes.note_slow(5, limits::distrusted_us);
  write_quickly(writes, 6);
  for (uint32_t time = 0; time < limits::distrusted_us / limits::slow_write_us_per_write; ++time) {
    EXPECT_TRUE(writes.expects_slow());
    EXPECT_FALSE(writes.is_known(6));
    writes.note_expected();
  }
  EXPECT_FALSE(writes.expects_slow());
  EXPECT_TRUE(writes.is_known(6));
}

TEST(QuickWrites, what_a_busy_machine_explains_makes_nobody_slow) {
  QuickWrites writes;
  writes.note_slow(5, limits::distrusted_us - 1);
  EXPECT_FALSE(writes.expects_slow());
}

TEST(QuickWrites, of_the_slowest_as_many_are_expected_as_can_be_counted) {
  QuickWrites writes;
  writes.note_slow(5, uint64_t{24} * 3600 * 1'000'000);
  EXPECT_TRUE(writes.expects_slow());
}

}  // namespace
}  // namespace rowsocket::exec
