// SPDX-License-Identifier: GPL-2.0-only
#include "server/holders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

namespace rowsocket::server {
namespace {

class HoldersTest : public testing::Test {
 protected:
  HoldersTest() { holders_.reserve(all_.size()); }

  /// The number of the one that holds most; -1 if there is none.
  [[nodiscard]] int64_t largest() const {
    const Holder* const largest = holders_.largest();
    return largest == nullptr ? -1 : largest - all_.data();
  }

  std::array<Holder, 50> all_{};
  Holders holders_;
};

TEST_F(HoldersTest, nobody_holds_most_where_nobody_holds_anything) {
  EXPECT_EQ(largest(), -1);
  holders_.rank(all_[3], 10);
  holders_.rank(all_[3], 0);
  EXPECT_EQ(largest(), -1);
}

TEST_F(HoldersTest, who_holds_most_may_change) {
  holders_.rank(all_[1], 10);
  holders_.rank(all_[2], 20);
  EXPECT_EQ(largest(), 2);
  holders_.rank(all_[1], 30);
  EXPECT_EQ(largest(), 1);
  holders_.rank(all_[1], 5);
  EXPECT_EQ(largest(), 2);
  holders_.rank(all_[2], 0);
  EXPECT_EQ(largest(), 1);
}

/// Where one went below 90, the last one of the heap comes to stand: 300, until others stand behind it.
TEST_F(HoldersTest, the_last_one_may_come_to_stand_below_one_that_holds_less) {
  constexpr std::array bytes = {1000, 100, 900, 90, 80, 800, 700, 50, 40, 30, 20, 600, 500, 400, 300};
  for (size_t number = 0; number < bytes.size(); ++number) {
    holders_.rank(all_[number], bytes[number]);
  }
  holders_.rank(all_[7], 0);
  for (size_t number = bytes.size(); number < 2 * bytes.size(); ++number) {
    holders_.rank(all_[number], 1);
  }
  for (const int64_t next : {0, 2, 5, 6, 11, 12, 13, 14, 1}) {
    EXPECT_EQ(largest(), next);
    holders_.rank(all_[static_cast<size_t>(next)], 0);
  }
}

TEST_F(HoldersTest, whatever_changes_the_largest_is_found) {
  std::mt19937 numbers(1);  // NOLINT(*-random-generator-seed,cert-msc32-c,cert-msc51-cpp): the same each time
  for (int change = 0; change < 20'000; ++change) {
    holders_.rank(all_[numbers() % all_.size()], numbers() % 4 == 0 ? 0 : numbers() % 1000);
    const auto most = std::max_element(all_.begin(), all_.end(), [](const Holder& one, const Holder& other) {
      return one.ranked_bytes < other.ranked_bytes;
    });
    const Holder* const found = holders_.largest();
    ASSERT_EQ(found == nullptr ? 0 : found->ranked_bytes, most->ranked_bytes) << "change " << change;
  }
}

}  // namespace
}  // namespace rowsocket::server
