// SPDX-License-Identifier: GPL-2.0-only
#include "bench/user_table.h"

#include <gtest/gtest.h>

namespace rowsocket::bench {
namespace {

TEST(UserTable, ARowIsWhatItsEssaySays) {
  Buffer row;
  append_user_name(row, 1234);
  row.append(' ');
  append_user_email(row, 1234);
  row.append(' ');
  append_created(row, 1234);
  EXPECT_EQ(row.view(), "user1234 user1234@example.com 2026-01-01 00:20:34");
}

TEST(UserTable, TheTimeOfDayWrapsAfterADay) {
  Buffer created;
  append_created(created, 86'400 + 86'399);
  EXPECT_EQ(created.view(), "2026-01-01 23:59:59");
}

}  // namespace
}  // namespace rowsocket::bench
