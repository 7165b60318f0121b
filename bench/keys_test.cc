// SPDX-License-Identifier: GPL-2.0-only
#include "bench/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace rowsocket::bench {
namespace {

constexpr int draws = 200'000;

TEST(KeySource, UniformReachesEveryKeyAndNoOther) {
  KeySource keys(100, 0, 1);
  std::vector<int> counts(102);
  for (int i = 0; i < draws; ++i) {
    ++counts.at(keys.next());
  }
  EXPECT_EQ(counts.front() + counts.back(), 0);
  EXPECT_NEAR(*std::min_element(counts.begin() + 1, counts.end() - 1), draws / 100, 250);
}

TEST(KeySource, TheSameSeedGivesTheSameKeys) {
  KeySource first(1'000'000, 0.99, 7);
  KeySource second(1'000'000, 0.99, 7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(first.next(), second.next());
  }
}

TEST(KeySource, ZipfKeysAreScatteredButStayInRange) {
  KeySource keys(1000, 0.99, 3);
  std::set<uint32_t> seen;
  for (int i = 0; i < draws; ++i) {
    seen.insert(keys.next());
  }
  EXPECT_GE(*seen.begin(), 1u);
  EXPECT_LE(*seen.rbegin(), 1000u);
  EXPECT_GT(seen.size(), 990u);
}

class ZipfOf : public testing::TestWithParam<double> {};

TEST_P(ZipfOf, HasTheProbabilitiesOfTheDefinition) {
  constexpr uint32_t ranks = 1000;
  const double exponent = GetParam();
  double sum = 0;
  for (uint32_t rank = 1; rank <= ranks; ++rank) {
    sum += std::pow(rank, -exponent);
  }
  Random random(11);
  const Zipf zipf(ranks, exponent);
  std::vector<double> counts(ranks + 1);
  for (int i = 0; i < draws; ++i) {
    ++counts.at(zipf.rank(random));
  }
  for (const uint32_t rank : {1u, 2u, 3u, 10u, 100u}) {
    const double expected = draws * std::pow(rank, -exponent) / sum;
    EXPECT_NEAR(counts[rank], expected, 6 * std::sqrt(expected)) << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Exponents, ZipfOf, testing::Values(0.5, 0.99, 1.0, 1.3));

}  // namespace
}  // namespace rowsocket::bench
