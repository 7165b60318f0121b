// SPDX-License-Identifier: GPL-2.0-only
//
// There may be no memory for the values of a request. Such a request is answered `memory`, takes its line,
// and leaves the next one readable. If there is no memory for the request itself, or for the members of a
// group, there is no answer, and the connection ends.
#include <gmock/gmock.h>
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
    Buffer out;
    size_t scanned_bytes = 0;
    Parsed parsed{};
    {
      const rowsocket::test::RefusedMemory refused(blocks);
      parsed = parse_request(line, {.settings = settings,
                                    .arena = arena,
                                    .out = out,
                                    .state = nullptr,
                                    .scanned_bytes = scanned_bytes});
    }
    EXPECT_EQ(parsed.consumed_bytes, line.size());
    if (parsed.status == Parsed::Status::fatal) {
      EXPECT_THAT(std::string(parsed.why), testing::HasSubstr("there is no memory for"));
    }
    return parsed.status == Parsed::Status::fatal ? "fatal: " + std::string(error_name(parsed.error))
                                                  : test::words_of(*parsed.request);
  }

  /// More values than the arena's first block holds.
  std::string many_values() {
    std::string values;
    for (int i = 0; i < 4000; ++i) {
      values += " v";
    }
    return values;
  }

  Settings settings{.line_bytes_max = limits::line_bytes_default, .in_values_max = 10'000, .id_max = 64};
};

TEST_F(ParserMemoryTest, NoMemoryForKeyValues) {
  EXPECT_EQ(read("5 = 4000" + many_values(), 1), "find 5: out_of_memory");
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
  const std::string find = "5 = 800" + many_values().substr(0, 2 * 800) + " 1 0";
  EXPECT_EQ(read(find + " F = 0 x", 1).substr(0, 8), "find 5 =");
  EXPECT_EQ(read(find + filters, 1), "find 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForNewValues) {
  EXPECT_EQ(read("5 = 1 a 1 0 U" + many_values(), 1), "find 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForClauses) {
  EXPECT_EQ(read("5 > 1 a 1 0 T < 4000" + many_values(), 1), "find 5: out_of_memory");
  EXPECT_EQ(read("5 = 1 a 1 0 @@ 4000" + many_values(), 1), "find 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForRowsAndTheirPositions) {
  EXPECT_EQ(read("5 ++ 4 1000" + many_values(), 1), "insert 5: out_of_memory");
  std::string positions = "0";
  for (int position = 1; position < 800; ++position) {
    positions += "," + std::to_string(position);
  }
  const std::string row = "5 ++ 800 1" + many_values().substr(0, 2 * 800);
  EXPECT_EQ(read(row + " U 0", 1).substr(0, 15), "insert 5 1 rows");
  EXPECT_EQ(read(row + " U " + positions, 1), "insert 5: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForAMembersValues) {
  EXPECT_EQ(read("G$5 = 4000$5 = 4000$E", 1), "group {find 5: out_of_memory; find 5: out_of_memory}");
}

TEST_F(ParserMemoryTest, NoMemoryForTheMembersOfAGroup) {
  std::string members;
  for (int i = 0; i < 1000; ++i) {
    members += "$5 = 1 a";
  }
  EXPECT_EQ(read("G" + members + "$E", 1), "fatal: out_of_memory");
}

TEST_F(ParserMemoryTest, NoMemoryForARequestOfAnyKind) {
  for (const std::string line : {"5 = 1 a", "5 + 1 a", "5 ++ 1 1 a", "P 3 test user PRIMARY id", "A 1 secret",
                                 "Q", "G$E", "G$5 = 1 a$E"}) {
    EXPECT_EQ(read(line, 0), "fatal: out_of_memory") << line;
  }
}

TEST_F(ParserMemoryTest, WhatNeedsNoMoreMemoryThanItselfIsRead) {
  EXPECT_EQ(read("P 3 test user PRIMARY id", 1), "open 3 test.user index 'PRIMARY' columns 'id'");
  EXPECT_EQ(read("A 1 secret", 1), "authenticate secret");
  EXPECT_EQ(read("Q", 1), "unknown: unknown_command");
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
