// SPDX-License-Identifier: GPL-2.0-only
#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/ticks.h"

namespace rowsocket {
namespace {

TEST(LatencyBuckets, each_time_is_below_the_end_of_its_bucket_and_not_below_that_of_the_one_before) {
  std::mt19937_64 random(1);  // NOLINT(bugprone-random-generator-seed): the same in each run
  for (uint32_t bits = 1; bits < 64; ++bits) {
    for (int draw = 0; draw < 200; ++draw) {
      const uint64_t ns = random() >> (64U - bits);
      const size_t bucket = LatencyBuckets::of(ns);
      ASSERT_LT(bucket, LatencyBuckets::count);
      EXPECT_LT(ns, LatencyBuckets::end_ns(bucket));
      if (bucket > 0) {
        EXPECT_GE(ns, LatencyBuckets::end_ns(bucket - 1));
      }
    }
  }
}

TEST(LatencyBuckets, ends_rise_and_are_an_eighth_apart_at_most) {
  for (size_t bucket = 1; bucket + 1 < LatencyBuckets::count; ++bucket) {
    const uint64_t begin = LatencyBuckets::end_ns(bucket - 1);
    const uint64_t end = LatencyBuckets::end_ns(bucket);
    EXPECT_LT(begin, end);
    EXPECT_LE((end - begin) * 8, begin);
    EXPECT_EQ(LatencyBuckets::of(end - 1), bucket);
    EXPECT_EQ(LatencyBuckets::of(end), bucket + 1);
  }
  EXPECT_EQ(LatencyBuckets::end_ns(LatencyBuckets::count - 1), UINT64_MAX);
  EXPECT_EQ(LatencyBuckets::end_ns(0), 256U);
  EXPECT_EQ(LatencyBuckets::of(255), 0U);
  EXPECT_EQ(LatencyBuckets::of(256), 1U);
}

TEST(Histogram, percentiles_are_those_of_the_times_to_an_eighth) {
  std::mt19937_64 random(2);  // NOLINT(bugprone-random-generator-seed): the same in each run
  std::lognormal_distribution<double> draw(8, 2);
  std::vector<uint64_t> times;
  Histogram histogram;
  for (int number = 0; number < 20'000; ++number) {
    times.push_back(static_cast<uint64_t>(draw(random)) + 256);
    histogram.add(times.back());
  }
  std::sort(times.begin(), times.end());
  for (const uint64_t permille : {1U, 500U, 950U, 990U, 999U, 1000U}) {
    const uint64_t exact = times[(times.size() * permille + 999) / 1000 - 1];
    EXPECT_GE(histogram.permille_ns(permille), exact);
    EXPECT_LE(histogram.permille_ns(permille), exact + exact / 8 + 1);
  }
  EXPECT_EQ(histogram.count(), times.size());
  EXPECT_EQ(histogram.max_ns(), times.back());
}

TEST(Histogram, half_of_two_times_took_no_longer_than_the_shorter_one) {
  Histogram histogram;
  histogram.add(300);
  histogram.add(100'000);
  EXPECT_LT(histogram.permille_ns(500), 400U);
  EXPECT_EQ(histogram.permille_ns(501), 100'000U);
}

TEST(Histogram, of_nothing_says_nothing) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.permille_ns(500), 0U);
}

TEST(Histogram, one_time_is_each_of_its_percentiles) {
  Histogram histogram;
  histogram.add(1'000'000'000'000);
  EXPECT_EQ(histogram.permille_ns(1), 1'000'000'000'000U);
  EXPECT_EQ(histogram.permille_ns(999), 1'000'000'000'000U);
}

TEST(Histogram, those_of_threads_are_added_and_cleared) {
  PublishedHistogram one;
  PublishedHistogram other;
  one.add(300);
  one.add(5'000);
  other.add(5'000);
  other.add(9'000);
  Histogram sum;
  sum.add_all(one);
  sum.add_all(other);
  EXPECT_EQ(sum.count(), 4U);
  EXPECT_EQ(sum.total_ns(), 19'300U);
  EXPECT_EQ(sum.max_ns(), 9'000U);
  EXPECT_EQ(sum.count_of(LatencyBuckets::of(5'000)), 2U);
  one.clear();
  EXPECT_EQ(one.count(), 0U);
  EXPECT_EQ(one.max_ns(), 0U);
}

TEST(TickRate, ticks_become_the_time_that_has_passed) {
  const TickRate rate;
  const uint64_t began_ns = system_ns();
  const uint64_t began = ticks_now();
  while (system_ns() - began_ns < 5'000'000) {
  }
  const uint64_t ticks = ticks_now() - began;
  const uint64_t passed_ns = system_ns() - began_ns;
  const uint64_t told_ns = TickRate::to_ns(ticks, rate.ns_per_mebitick());
  EXPECT_GT(told_ns, passed_ns / 2);
  EXPECT_LT(told_ns, passed_ns * 2);
}

TEST(TickRate, a_minute_of_ticks_does_not_overflow) {
  const uint64_t minute = uint64_t{60} * 4'000'000'000;
  EXPECT_EQ(TickRate::to_ns(minute, uint64_t{1} << 18U), uint64_t{60} * 1'000'000'000);
}

TEST(Histogram, is_as_new_when_it_was_cleared) {
  Histogram histogram;
  histogram.add(1'000);
  histogram.add(2'000);
  EXPECT_EQ(histogram.total_ns(), 3'000U);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.total_ns(), 0U);
  EXPECT_EQ(histogram.max_ns(), 0U);
}

}  // namespace
}  // namespace rowsocket
