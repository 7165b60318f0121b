// SPDX-License-Identifier: GPL-2.0-only
#include "server/returned.h"

#include <gtest/gtest.h>

#include <array>

namespace rowsocket::server {
namespace {

TEST(Returned, what_was_given_back_is_taken_once_in_its_order) {
  // Nobody looks at the connections: their addresses will do.
  std::array<char, 3> places{};
  const auto at = [&places](size_t number) { return reinterpret_cast<ClientConnection*>(&places[number]); };
  Returned returned;
  returned.reserve(3);
  EXPECT_TRUE(returned.take().empty());
  returned.give_back(std::array{at(0), at(1)});
  returned.give_back(std::array{at(2)});
  const auto taken = returned.take();
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0], at(0));
  EXPECT_EQ(taken[2], at(2));
  EXPECT_TRUE(returned.take().empty());
}

}  // namespace
}  // namespace rowsocket::server
