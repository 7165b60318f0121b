// SPDX-License-Identifier: GPL-2.0-only
#include "bench/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace rowsocket::bench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

std::vector<uint32_t> drawn(const KeyRange& range, uint64_t seed = 1) {
  KeySource source(range, seed);
  std::vector<uint32_t> keys;
  source.next(keys);
  return keys;
}

TEST(KeysTest, EveryKeyOfTheRangeIsDrawnAboutAsOften) {
  KeySource source({.least = 11, .most = 20}, 1);
  std::map<uint32_t, int> counts;
  std::vector<uint32_t> keys;
  for (int i = 0; i < 100'000; ++i) {
    source.next(keys);
    ++counts[keys.front()];
  }
  EXPECT_EQ(counts.begin()->first, 11u);
  EXPECT_EQ(counts.rbegin()->first, 20u);
  for (const auto& [key, count] : counts) {
    EXPECT_NEAR(count, 10'000, 500) << key;
  }
}

TEST(KeysTest, TheSameSeedGivesTheSameKeys) {
  const KeyRange range{.count = 5, .least = 1, .most = 1'000'000};
  EXPECT_EQ(drawn(range, 7), drawn(range, 7));
  EXPECT_NE(drawn(range, 7), drawn(range, 8));
}

TEST(KeysTest, TheKeysOfARequestDifferAndAscend) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto keys = drawn({.count = 50, .least = 100, .most = 160}, seed);
    EXPECT_EQ(keys.size(), 50u);
    EXPECT_THAT(keys, Each(AllOf(Ge(100u), Le(160u))));
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>()), keys.end());
  }
}

TEST(KeysTest, AsManyKeysAsThereAreIsAllOfThem) {
  EXPECT_THAT(drawn({.count = 4, .least = 3, .most = 6}), ElementsAre(3, 4, 5, 6));
}

TEST(KeysTest, MoreKeysThanThereAreIsAMistake) {
  EXPECT_THROW(drawn({.count = 5, .least = 3, .most = 6}), std::runtime_error);
  EXPECT_THROW(drawn({.least = 2, .most = 1}), std::runtime_error);
}

TEST(KeysTest, NewKeysAscendAndAreEachUsedOnce) {
  KeySource source({.count = 2, .least = 1000, .next = true}, 1);
  std::vector<uint32_t> keys;
  source.next(keys);
  source.next(keys);
  EXPECT_THAT(keys, ElementsAre(1002, 1003));
  EXPECT_EQ(source.unused(), 1004u);
}

TEST(KeysTest, AListIsDrawnFromAsOftenAsItSays) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("keys-test-" + std::to_string(::getpid()));
  const std::vector<uint32_t> list{5, 5, 5, 9};
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(list.data()), static_cast<long>(list.size() * sizeof(uint32_t)));
  KeySource source({.least = 1, .most = 9, .list = path}, 1);
  std::filesystem::remove(path);
  std::map<uint32_t, int> counts;
  std::vector<uint32_t> keys;
  for (int i = 0; i < 10'000; ++i) {
    source.next(keys);
    ++counts[keys.front()];
  }
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts[5], 7500, 300);
  EXPECT_THROW(drawn({.least = 1, .most = 9, .list = path}), std::runtime_error);
}

}  // namespace
}  // namespace rowsocket::bench
