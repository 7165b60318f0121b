// SPDX-License-Identifier: GPL-2.0-only
#include "bench/latencies.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rowsocket::bench {
namespace {

std::vector<std::pair<uint64_t, uint64_t>> buckets(const Latencies& latencies) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  latencies.for_each_bucket([&](uint64_t last, uint64_t count) { found.emplace_back(last, count); });
  return found;
}

TEST(LatenciesTest, CountsSmallValuesExactly) {
  Latencies latencies;
  for (const uint64_t value : {0, 7, 7, 255}) {
    latencies.record(value);
  }
  EXPECT_EQ(buckets(latencies), (std::vector<std::pair<uint64_t, uint64_t>>{{0, 1}, {7, 2}, {255, 1}}));
}

TEST(LatenciesTest, ABucketEndsAtMostOnePercentAboveItsValues) {
  for (uint64_t value = 1; value < uint64_t{1} << 40; value += value / 3 + 1) {
    Latencies latencies;
    latencies.record(value);
    const uint64_t last = buckets(latencies).front().first;
    EXPECT_GE(last, value);
    EXPECT_LE(static_cast<double>(last), static_cast<double>(value) * 1.008);
  }
}

TEST(LatenciesTest, KnowsSumAndLargestExactly) {
  Latencies latencies;
  latencies.record(1'000'003);
  latencies.record(2'000'001);
  EXPECT_EQ(latencies.sum(), 3'000'004u);
  EXPECT_EQ(latencies.max(), 2'000'001u);
}

TEST(LatenciesTest, CountsWhatIsBeyondItsRangeAtTheEnd) {
  Latencies latencies;
  latencies.record(UINT64_MAX / 2);
  EXPECT_EQ(buckets(latencies).front().first, (uint64_t{1} << 40) - 1);
}

}  // namespace
}  // namespace rowsocket::bench
