// SPDX-License-Identifier: GPL-2.0-only
#include "request/counters.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rowsocket {
namespace {

TEST(Counters, StartAtZeroAndAddUp) {
  Counters counters;
  EXPECT_EQ(counters.read(Counter::rows_read), 0U);
  counters.add(Counter::rows_read);
  counters.add(Counter::rows_read, 41);
  EXPECT_EQ(counters.read(Counter::rows_read), 42U);
  EXPECT_EQ(counters.read(Counter::rows_inserted), 0U);
}

TEST(Counters, EachHasALowerCaseNameOfItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(Counter::count_); ++i) {
    const std::string_view name = counter_name(static_cast<Counter>(i));
    EXPECT_FALSE(name.empty()) << i;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(Counters, NamesStandWhereTheirCounterStands) {
  EXPECT_EQ(counter_name(Counter::connections_accepted), "connections_accepted");
  EXPECT_EQ(counter_name(Counter::requests_unknown), "requests_unknown");
  EXPECT_EQ(counter_name(Counter::errors_internal), "errors_internal");
  EXPECT_EQ(counter_name(Counter::turns), "turns");
  EXPECT_EQ(counter_name(Counter::metadata_lock_releases), "metadata_lock_releases");
}

TEST(Counters, AnErrorIsCountedByWhoCanMendIt) {
  EXPECT_EQ(counter_of(ErrorCode::syntax), Counter::errors_request);
  EXPECT_EQ(counter_of(ErrorCode::not_authenticated), Counter::errors_authentication);
  EXPECT_EQ(counter_of(ErrorCode::cannot_lock_table), Counter::errors_table);
  EXPECT_EQ(counter_of(ErrorCode::sql), Counter::errors_engine);
  EXPECT_EQ(counter_of(ErrorCode::commit_failed), Counter::errors_internal);
}

TEST(Counters, WorkersShareNoCacheLine) { EXPECT_EQ(sizeof(Counters) % 64, 0U); }

}  // namespace
}  // namespace rowsocket
