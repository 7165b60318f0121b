// SPDX-License-Identifier: GPL-2.0-only
//
// A request for which there is no memory is answered as such, takes its line, and leaves the next one readable. A group that has
// no memory for its members can not be answered line by line, and ends the connection.
#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "base/refused_memory.h"
#include "wire/handlersocket/parser.h"
#include "wire/handlersocket/test_vocabulary.h"

namespace rowsocket::wire::handlersocket {
namespace {

class ParserMemoryTest : public testing::Test {
 protected:
  /// The request of one line, for which the arena gets `blocks` blocks of memory.
  std::string read(const std::string& readable, long blocks) {
    const std::string line = test::bytes_of(readable) + "\n";
    Arena arena;
    Request request;
    size_t scanned_bytes = 0;
    Parsed parsed{};
    {
      const rowsocket::test::RefusedMemory refused(blocks);
      parsed = parse_request(line, limits, arena, scanned_bytes, request);
    }
    EXPECT_EQ(parsed.consumed_bytes, line.size());
    return (parsed.status == Parsed::Status::fatal ? "fatal: " : "") + test::words_of(request);
  }

  /// More values than the arena's first block holds.
  std::string many_values() {
    std::string values;
    for (int i = 0; i < 4000; ++i) {
      values += " v";
    }
    return values;
  }

  ParseLimits limits{.line_bytes_max = limits::line_bytes_default, .in_values_max = 10'000, .index_id_max = 64};
};

TEST_F(ParserMemoryTest, NoMemoryForKeyValues) {
  EXPECT_EQ(read("5 = 1 a", 0), "find 5: out_of_memory");
  EXPECT_EQ(read("5 + 4000" + many_values(), 1), "insert 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForAnUnescapedValue) {
  EXPECT_EQ(read("5 = 1 ^I" + std::string(20'000, 'x'), 1), "find 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForAnInList) {
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 4000" + many_values(), 1), "find 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForFilters) {
  std::string filters;
  for (int i = 0; i < 200; ++i) {
    filters += " F = 0 x";
  }
  EXPECT_EQ(read("5 = 1000" + many_values().substr(0, 2000) + " 1 0" + filters, 1), "find 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForNewValues) { EXPECT_EQ(read("5 = 1 a 1 0 U" + many_values(), 1), "find 5: out_of_memory"); }

TEST_F(ParserMemoryTest, NoMemoryForClauses) {
  EXPECT_EQ(read("5 > 1 a 1 0 T < 4000" + many_values(), 1), "find 5: out_of_memory");
  EXPECT_EQ(read("5 = 1 a 1 0 @@ 4000" + many_values(), 1), "find 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForRowsAndTheirPositions) {
  EXPECT_EQ(read("5 ++ 4 1000" + many_values(), 1), "insert 5: out_of_memory");
  EXPECT_EQ(read("5 ++ 1 1 a U 0", 0), "insert 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForAMembersValues) {
  EXPECT_EQ(read("G$5 = 4000$5 = 4000$E", 1), "group {find 5: out_of_memory; find 5: out_of_memory}");
}

TEST_F(ParserMemoryTest, NoMemoryForTheMembersOfAGroup) { EXPECT_EQ(read("G$5 = 1 a$E", 0), "fatal: group of 0: out_of_memory"); }

TEST_F(ParserMemoryTest, WhatNeedsNoMemoryIsReadWithoutAny) {
  EXPECT_EQ(read("P 3 test user PRIMARY id", 0), "open 3 test.user index 'PRIMARY' columns 'id'");
  EXPECT_EQ(read("A 1 secret", 0), "authenticate type 1 secret");
  EXPECT_EQ(read("Q", 0), "unknown: unknown_command");
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
