// SPDX-License-Identifier: GPL-2.0-only
#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace rowsocket {
namespace {

/// An item whose default is not the bytes that were there.
struct Item {
  const char* place = nullptr;
  size_t number = 7;
};

bool is_aligned(const void* place) {
  return reinterpret_cast<uintptr_t>(place) % alignof(std::max_align_t) == 0;
}

TEST(Arena, GivesAlignedPlacesThatDoNotOverlap) {
  Arena arena;
  std::vector<char*> places;
  for (size_t size = 1; size < 200; ++size) {
    char* const place = arena.allocate(size);
    ASSERT_NE(place, nullptr);
    EXPECT_TRUE(is_aligned(place));
    std::memset(place, static_cast<int>(size), size);
    places.push_back(place);
  }
  for (size_t size = 1; size < 200; ++size) {
    EXPECT_EQ(places[size - 1][0], static_cast<char>(size));
    EXPECT_EQ(places[size - 1][size - 1], static_cast<char>(size));
  }
}

TEST(Arena, GivesMoreThanABlock) {
  Arena arena;
  for (const size_t size : {size_t{100'000}, size_t{10}, size_t{1'000'000}, size_t{16 * 1024}}) {
    char* const place = arena.allocate(size);
    ASSERT_NE(place, nullptr);
    EXPECT_TRUE(is_aligned(place));
    std::memset(place, 1, size);
  }
}

TEST(Arena, GivesTheSamePlaceAgainAfterReset) {
  Arena arena;
  char* const first = arena.allocate(100);
  arena.reset();
  EXPECT_EQ(arena.allocate(50), first) << "the steady state allocates nothing";
}

TEST(Arena, KeepsTheFirstBlockWhenManyWereNeeded) {
  Arena arena;
  char* const first = arena.allocate(1);
  for (int i = 0; i < 100; ++i) {
    ASSERT_NE(arena.allocate(10'000), nullptr);
  }
  arena.reset();
  EXPECT_EQ(arena.allocate(1), first);
}

TEST(Arena, UsesAllOfTheFirstBlockAgainAfterResetAndNoMore) {
  Arena arena;
  const auto take = [&arena](size_t byte_count) { EXPECT_NE(arena.allocate(byte_count), nullptr); };
  take(limits::arena_bytes_first / 2);
  take(4 * limits::arena_bytes_first);
  arena.reset();
  EXPECT_EQ(arena.held_bytes(), limits::arena_bytes_first);
  take(limits::arena_bytes_first / 2);
  take(limits::arena_bytes_first / 4);
  EXPECT_EQ(arena.held_bytes(), limits::arena_bytes_first);
  take(limits::arena_bytes_first / 2);
  EXPECT_EQ(arena.held_bytes(), 2 * limits::arena_bytes_first);
}

TEST(Arena, KeepsNoHugeBlockEvenIfTheFirstRequestWasHuge) {
  Arena arena;
  char* const huge = arena.allocate(10'000'000);
  ASSERT_NE(huge, nullptr);
  arena.reset();
  char* const next = arena.allocate(16);
  EXPECT_TRUE(next < huge || next >= huge + 10'000'000);
}

TEST(Arena, ResetBeforeUseIsHarmless) {
  Arena arena;
  arena.reset();
  EXPECT_NE(arena.allocate(1), nullptr);
}

TEST(Arena, KnowsWhatItHolds) {
  Arena arena;
  EXPECT_EQ(arena.held_bytes(), 0U);
  ASSERT_NE(arena.allocate(1), nullptr);
  const size_t first_block_bytes = arena.held_bytes();
  ASSERT_NE(arena.allocate(1'000'000), nullptr);
  EXPECT_GE(arena.held_bytes(), first_block_bytes + 1'000'000);
  arena.reset();
  EXPECT_EQ(arena.held_bytes(), first_block_bytes) << "the first block is kept, the others are given back";
}

TEST(Arena, RefusesASizeThatNoMemoryHas) {
  Arena arena;
  EXPECT_EQ(arena.allocate(static_cast<size_t>(-1)), nullptr);
  EXPECT_EQ(arena.allocate(static_cast<size_t>(-1) / 2), nullptr);
  EXPECT_TRUE(arena.array<Item>(static_cast<size_t>(-1)).empty());
  EXPECT_TRUE(arena.array<Item>(static_cast<size_t>(-1) / sizeof(Item) + 2).empty());
  EXPECT_NE(arena.allocate(8), nullptr) << "and goes on giving what there is";
}

TEST(Arena, MakesArraysOfDefaultItems) {
  Arena arena;
  std::memset(arena.allocate(1000), 0xFF, 1000);
  arena.reset();
  const auto items = arena.array<Item>(10);
  ASSERT_EQ(items.size(), 10U);
  for (const Item& item : items) {
    EXPECT_EQ(item.place, nullptr);
    EXPECT_EQ(item.number, 7U);
  }
  EXPECT_TRUE(arena.array<Item>(0).empty());
}

TEST(Arena, CopiesAText) {
  Arena arena;
  EXPECT_NE(arena.copy_of_text("").data(), nullptr) << "an empty text is no refused memory";
  std::string text = "here";
  const std::string_view copy = arena.copy_of_text(text);
  text = "gone";
  EXPECT_EQ(copy, "here");
}

TEST(Arena, CopiesAnItem) {
  Arena arena;
  const Item item{.place = "here", .number = 9};
  const Item* const first = arena.copy_of(item);
  const Item* const second = arena.copy_of(item);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(first, second);
  EXPECT_TRUE(is_aligned(first) && is_aligned(second));
  EXPECT_EQ(first->place, item.place);
  EXPECT_EQ(second->number, 9U);
}

}  // namespace
}  // namespace rowsocket
