// SPDX-License-Identifier: GPL-2.0-only
#include "bench/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace rowsocket::bench {
namespace {

TEST(Histogram, OfNothingIsZero) { EXPECT_EQ(Histogram().percentile(99), 0u); }

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (uint64_t value = 1; value <= 200; ++value) {
    histogram.record(value);
  }
  EXPECT_EQ(histogram.percentile(50), 100u);
  EXPECT_EQ(histogram.percentile(99), 198u);
  EXPECT_EQ(histogram.percentile(100), 200u);
  EXPECT_EQ(histogram.total(), 200u);
}

TEST(Histogram, PercentilesAreAtMostOneBucketAboveTheTruth) {
  Histogram histogram;
  std::vector<uint64_t> values;
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency_ns(10, 2);
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(static_cast<uint64_t>(latency_ns(random)));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const auto rank = static_cast<size_t>(std::ceil(static_cast<double>(values.size()) * percent / 100));
    const double truth = static_cast<double>(values[rank - 1]);
    const double measured = static_cast<double>(histogram.percentile(percent));
    EXPECT_GE(measured, truth) << percent;
    EXPECT_LE(measured, truth * (1 + 1.0 / 128)) << percent;
  }
}

TEST(Histogram, ValuesBeyondTheLargestCountAsTheLargest) {
  Histogram histogram;
  histogram.record(~uint64_t{0});
  EXPECT_EQ(histogram.percentile(50), Histogram::value_max);
}

TEST(Histogram, MergedCountsBoth) {
  Histogram low;
  Histogram high;
  low.record(10);
  high.record(200);
  low.add(high);
  EXPECT_EQ(low.total(), 2u);
  EXPECT_EQ(low.percentile(50), 10u);
  EXPECT_EQ(low.percentile(100), 200u);
}

TEST(Histogram, KnowsItsLargestValueAndItsMeanExactly) {
  Histogram one;
  Histogram other;
  one.record(1000);
  other.record(1'000'001);
  one.add(other);
  EXPECT_EQ(one.max(), 1'000'001u);
  EXPECT_DOUBLE_EQ(one.mean(), 500'500.5);
}

TEST(Histogram, ShowsItsBucketsInOrder) {
  Histogram histogram;
  for (const uint64_t value : {7, 7, 3, 300}) {
    histogram.record(value);
  }
  std::vector<std::pair<uint64_t, uint64_t>> buckets;
  histogram.for_each_bucket([&](uint64_t last_value, uint64_t count) { buckets.emplace_back(last_value, count); });
  EXPECT_EQ(buckets, (std::vector<std::pair<uint64_t, uint64_t>>{{3, 1}, {7, 2}, {301, 1}}));
}

}  // namespace
}  // namespace rowsocket::bench
