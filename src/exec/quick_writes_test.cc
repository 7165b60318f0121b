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

TEST(QuickWrites, a_new_place_is_remembered_instead_of_the_one_of_which_least_is_known) {
  QuickWrites writes;
  write_quickly(writes, 1);
  for (QuickWrites::Place rare = 100; rare < 200; ++rare) {
    write_quickly(writes, rare, 1);
  }
  EXPECT_TRUE(writes.is_known(1));
  write_quickly(writes, 300);
  EXPECT_TRUE(writes.is_known(300));
}

TEST(QuickWrites, what_is_forgotten_has_to_be_shown_anew) {
  QuickWrites writes;
  EXPECT_FALSE(writes.forget(5));
  write_quickly(writes, 5);
  write_quickly(writes, 6);
  EXPECT_TRUE(writes.forget(5));
  EXPECT_FALSE(writes.is_known(5));
  EXPECT_TRUE(writes.is_known(6));
  EXPECT_FALSE(writes.forget(5));
  write_quickly(writes, 5, QuickWrites::known_count - 1);
  EXPECT_FALSE(writes.is_known(5));
}

}  // namespace
}  // namespace rowsocket::exec
