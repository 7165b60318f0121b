// SPDX-License-Identifier: GPL-2.0-only
//
// What Arena and Buffer do when the machine has no more memory.
#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <utility>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/limits.h"
#include "base/refused_memory.h"

namespace rowsocket {
namespace {

using test::RefusedMemory;

TEST(Memory, AnArenaWithoutMemoryGivesNothing) {
  Arena arena;
  {
    const RefusedMemory refused;
    EXPECT_EQ(arena.allocate(1), nullptr);
    EXPECT_TRUE(arena.array<int>(10).empty());
    EXPECT_EQ(arena.copy_of(1), nullptr);
    EXPECT_EQ(arena.copy_of_text("a").data(), nullptr);
  }
  EXPECT_NE(arena.allocate(1), nullptr) << "and gives again when there is memory";
}

TEST(Memory, AnArenaKeepsWhatItGaveWhenItCanNotGrow) {
  Arena arena;
  char* const given = arena.allocate(1000);
  given[999] = 'x';
  const RefusedMemory refused;
  EXPECT_EQ(arena.allocate(100'000), nullptr);
  EXPECT_EQ(given[999], 'x');
  EXPECT_NE(arena.allocate(1000), nullptr) << "there is still room in the first block";
}

TEST(Memory, AnArenaWhoseSecondBlockIsRefusedStaysUsable) {
  Arena arena;
  {
    const RefusedMemory refused(1);
    EXPECT_EQ(arena.allocate(100'000), nullptr);
  }
  EXPECT_NE(arena.allocate(1000), nullptr);
  arena.reset();
  EXPECT_NE(arena.allocate(100'000), nullptr);
}

TEST(Memory, ABufferThatCanNotGrowFailsAndKeepsItsBytes) {
  Buffer buffer;
  buffer.append("abc");
  const std::string more(100'000, 'x');
  {
    const RefusedMemory refused;
    buffer.append(more);
  }
  EXPECT_TRUE(buffer.failed());
  EXPECT_EQ(buffer.view(), "abc");
  buffer.truncate(buffer.size());
  buffer.append(more);
  EXPECT_EQ(buffer.size(), 100'003U);
}

/// What is not mapped has no pages that the kernel could tell of.
bool is_mapped(char* page) {
  unsigned char is_resident = 0;
  return ::mincore(page, 1, &is_resident) == 0;
}

TEST(Memory, MappedMemoryIsTheKernelsAgainWhenItIsGivenBack) {
  char* const bytes = take_memory(limits::mapped_bytes_min);
  ASSERT_TRUE(is_mapped(bytes));
  give_back_memory(bytes, limits::mapped_bytes_min);
  EXPECT_FALSE(is_mapped(bytes));
}

size_t taken_bytes = 0;
size_t given_back_bytes = 0;

TEST(Memory, WhatIsTakenAndGivenBackIsTold) {
  watch_memory({.taken = [](size_t byte_count) { taken_bytes += byte_count; },
                .given_back = [](size_t byte_count) { given_back_bytes += byte_count; }});
  {
    Arena arena;
    EXPECT_NE(arena.allocate(1), nullptr);
    EXPECT_EQ(taken_bytes, arena.held_bytes());
    Buffer buffer;
    for (size_t size = 1; size <= 4 * limits::mapped_bytes_min; size *= 2) {
      buffer.append(std::string(size, 'x'));
      EXPECT_EQ(taken_bytes - given_back_bytes, arena.held_bytes() + buffer.capacity());
    }
    const Buffer moved = std::move(buffer);
    const RefusedMemory refused;
    EXPECT_EQ(take_memory(1), nullptr);
  }
  EXPECT_EQ(taken_bytes, given_back_bytes);
  watch_memory({.taken = [](size_t) {}, .given_back = [](size_t) {}});
}

}  // namespace
}  // namespace rowsocket
