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

TEST(QuickWrites, a_few_places_are_known_beside_each_other) {
  QuickWrites writes;
  for (QuickWrites::Place place = 1; place <= QuickWrites::places_max; ++place) {
    write_quickly(writes, place);
  }
  for (QuickWrites::Place place = 1; place <= QuickWrites::places_max; ++place) {
    EXPECT_TRUE(writes.is_known(place));
  }
}

TEST(QuickWrites, a_new_place_takes_that_of_one_into_which_it_writes_no_more) {
  QuickWrites writes;
  for (QuickWrites::Place place = 1; place <= QuickWrites::places_max; ++place) {
    write_quickly(writes, place);
  }
  write_quickly(writes, 300, 2 * QuickWrites::known_count);
  EXPECT_TRUE(writes.is_known(300));
}

TEST(QuickWrites, rare_writes_elsewhere_do_not_take_the_place_of_frequent_ones) {
  QuickWrites writes;
  for (QuickWrites::Place place = 1; place <= QuickWrites::places_max; ++place) {
    write_quickly(writes, place);
  }
  for (QuickWrites::Place rare = 100; rare < 200; ++rare) {
    write_quickly(writes, rare, 1);
    for (QuickWrites::Place place = 1; place <= QuickWrites::places_max; ++place) {
      write_quickly(writes, place, 1);
    }
  }
  EXPECT_TRUE(writes.is_known(1));
}

TEST(QuickWrites, what_is_forgotten_has_to_be_shown_anew) {
  QuickWrites writes;
  writes.forget(5);
  write_quickly(writes, 5);
  write_quickly(writes, 6);
  writes.forget(5);
  EXPECT_FALSE(writes.is_known(5));
  EXPECT_TRUE(writes.is_known(6));
  write_quickly(writes, 5, QuickWrites::known_count - 1);
  EXPECT_FALSE(writes.is_known(5));
}

}  // namespace
}  // namespace rowsocket::exec
