// SPDX-License-Identifier: GPL-2.0-only
#include "base/buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rowsocket {
namespace {

TEST(Buffer, stays_failed_when_it_was_given_up_until_it_is_cleared) {
  Buffer buffer;
  buffer.append("reply");
  buffer.give_up();
  buffer.truncate(0);
  EXPECT_TRUE(buffer.failed());
  Buffer other(std::move(buffer));
  other.truncate(0);
  EXPECT_TRUE(other.failed());
  other.clear();
  other.fail();
  other.truncate(0);
  EXPECT_FALSE(other.failed());
}

TEST(Buffer, HoldsNothingAndNoMemoryAtFirst) {
  const Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.capacity(), 0U);
  EXPECT_EQ(buffer.view(), "");
}

TEST(Buffer, KeepsWhatIsAppendedInOrder) {
  Buffer buffer;
  buffer.append("ab");
  buffer.append('c');
  buffer.append(std::string_view{});
  EXPECT_EQ(buffer.view(), "abc");
}

TEST(Buffer, TakesAnEmptyAppendBeforeAnythingElse) {
  Buffer buffer;
  buffer.append(std::string_view{});
  EXPECT_TRUE(buffer.empty());
  EXPECT_FALSE(buffer.failed());
}

TEST(Buffer, ShowsWhatWasWrittenIntoReservedRoom) {
  Buffer buffer;
  buffer.append("a");
  ASSERT_TRUE(buffer.reserve(2));
  buffer.end()[0] = 'b';
  buffer.end()[1] = 'c';
  buffer.advance(2);
  EXPECT_EQ(buffer.view(), "abc");
}

TEST(Buffer, ForgetsWhatIsConsumed) {
  Buffer buffer;
  buffer.append("abcd");
  buffer.consume(3);
  EXPECT_EQ(buffer.view(), "d");
  buffer.append("e");
  EXPECT_EQ(buffer.view(), "de");
}

TEST(Buffer, UsesTheConsumedFrontAgainInsteadOfGrowing) {
  Buffer buffer;
  buffer.append(std::string(4000, 'x'));
  const size_t capacity = buffer.capacity();
  buffer.consume(3999);
  buffer.append(std::string(4000, 'y'));
  EXPECT_EQ(buffer.capacity(), capacity);
  EXPECT_EQ(buffer.view(), "x" + std::string(4000, 'y'));
}

TEST(Buffer, UsesAllItsRoomAgainWhenEverythingIsConsumed) {
  Buffer buffer;
  buffer.append("abc");
  buffer.consume(3);
  EXPECT_EQ(buffer.free_bytes(), buffer.capacity());
}

TEST(Buffer, FailsBeyondItsCapAndKeepsWhatItHas) {
  Buffer buffer(4);
  buffer.append("abc");
  buffer.append("de");
  EXPECT_TRUE(buffer.failed());
  EXPECT_EQ(buffer.view(), "abc");
}

TEST(Buffer, TakesExactlyItsCap) {
  Buffer buffer(4);
  buffer.append("abcd");
  EXPECT_FALSE(buffer.failed());
  EXPECT_FALSE(buffer.reserve(1));
  EXPECT_TRUE(buffer.failed());
}

TEST(Buffer, CountsOnlyUnconsumedBytesAgainstItsCap) {
  Buffer buffer(4);
  buffer.append("abcd");
  buffer.consume(2);
  buffer.append("ef");
  EXPECT_FALSE(buffer.failed());
  EXPECT_EQ(buffer.view(), "cdef");
}

TEST(Buffer, HasFailedAlsoWhereItMoves) {
  Buffer buffer(1);
  buffer.append("ab");
  const Buffer moved(std::move(buffer));
  EXPECT_TRUE(moved.failed());
}

TEST(Buffer, RefusesASizeThatOverflows) {
  Buffer buffer;
  buffer.append("a");
  EXPECT_FALSE(buffer.reserve(static_cast<size_t>(-1)));
  EXPECT_EQ(buffer.view(), "a");
}

TEST(Buffer, IsGoodAgainAfterTruncate) {
  Buffer buffer(4);
  buffer.append("abc");
  buffer.append("de");
  buffer.truncate(1);
  EXPECT_FALSE(buffer.failed());
  buffer.append("xyz");
  EXPECT_EQ(buffer.view(), "axyz");
}

TEST(Buffer, TruncateCountsFromTheUnconsumedFront) {
  Buffer buffer;
  buffer.append("abcdef");
  buffer.consume(2);
  buffer.truncate(3);
  EXPECT_EQ(buffer.view(), "cde");
}

TEST(Buffer, ClearKeepsTheMemoryAndReleaseGivesItBack) {
  Buffer buffer;
  buffer.append("abc");
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_GT(buffer.capacity(), 0U);
  buffer.release();
  EXPECT_EQ(buffer.capacity(), 0U);
  buffer.append("d");
  EXPECT_EQ(buffer.view(), "d");
}

TEST(Buffer, ThatFailedIsGoodAgainAfterRelease) {
  Buffer buffer;
  buffer.set_bytes_max(1);
  buffer.append("ab");
  EXPECT_TRUE(buffer.failed());
  buffer.release();
  EXPECT_FALSE(buffer.failed());
  buffer.give_up();
  buffer.release();
  EXPECT_FALSE(buffer.failed());
}

TEST(Buffer, MovesItsBytesAndItsCap) {
  Buffer buffer(8);
  buffer.append("abcd");
  buffer.consume(1);
  Buffer moved(std::move(buffer));
  EXPECT_EQ(moved.view(), "bcd");
  EXPECT_FALSE(moved.reserve(6));
  moved = Buffer();
  EXPECT_TRUE(moved.empty());
}

RC_GTEST_PROP(BufferProperty, BehavesLikeAString,
              (const std::vector<std::pair<std::string, uint8_t>>& steps)) {
  Buffer buffer;
  std::string model;
  for (const auto& [bytes, consumed] : steps) {
    // Large enough at times to cross the first capacity.
    const std::string block = bytes + std::string(bytes.size() * 64, 'x');
    buffer.append(block);
    model += block;
    const size_t taken = model.size() * consumed / 255;
    buffer.consume(taken);
    model.erase(0, taken);
    RC_ASSERT(buffer.view() == model);
  }
}

/// A buffer of three bytes after a call that breaks its contract: what it holds, or "counts nothing".
template <typename Call>
std::string after_broken(Call call) {
  Buffer buffer;
  buffer.append("abc");
  const uint64_t broken_before = broken_invariants();
  call(buffer);
  return broken_invariants() == broken_before + 1 && buffer.failed() ? std::string(buffer.view())
                                                                     : "counts nothing";
}

TEST(Buffer, FailsWhereItIsAskedForBytesThatAreNotThere) {
  EXPECT_EQ(after_broken([](Buffer& buffer) { buffer.truncate(4); }), "abc");
  EXPECT_EQ(after_broken([](Buffer& buffer) { buffer.consume(4); }), "");
  EXPECT_EQ(after_broken([](Buffer& buffer) { buffer.set_bytes_max(2); }), "abc");
}

}  // namespace
}  // namespace rowsocket
