// SPDX-License-Identifier: GPL-2.0-only
//
// Inserts of many rows, and what they do where a row is there already. The notation is that of
// test_vocabulary.h.
#include <gmock/gmock.h>

#include <string>

#include "base/limits.h"
#include "wire/handlersocket/parser_fixture.h"

namespace rowsocket::wire::handlersocket {
namespace {

using testing::EndsWith;

using ParserInsertTest = test::ParserTest;

/// What an arena holds that was asked for little.
size_t block_bytes() {
  Arena arena;
  EXPECT_NE(arena.allocate(1), nullptr);
  return arena.held_bytes();
}

TEST_F(ParserInsertTest, RowsStandOneAfterTheOther) {
  EXPECT_EQ(read("5 ++ 2 2 1 a 2 ~"), "insert 5 2 rows (1, a, 2, NULL)");
  EXPECT_EQ(read("5 ++ 1 1 "), "insert 5 1 rows ('')");
  EXPECT_EQ(read("5 ++ 1 3 a ^t ^I"), "insert 5 3 rows (a, now, <09>)");
  EXPECT_EQ(read("5 ++ 1 2 a b "), "insert 5 2 rows (a, b)");
}

TEST_F(ParserInsertTest, ThereIsAtLeastOneValueOfOneRow) {
  for (const std::string counts : {"0 1 a", "1 0 a", "0 0", " 1 a", "1  a"}) {
    EXPECT_EQ(read("5 ++ " + counts), "insert 5: no_key_values") << counts;
  }
}

TEST_F(ParserInsertTest, NoValueMayBeMissing) {
  for (const std::string rows : {"", "1", "1 1", "2 2 a b c", "4096 1 a", "1 10000 a"}) {
    EXPECT_EQ(read("5 ++ " + rows), "insert 5: syntax") << rows;
  }
  EXPECT_EQ(read("5 ++"), "insert 5: syntax");
}

TEST_F(ParserInsertTest, NoMemoryIsTakenForValuesThatCanNotBeThere) {
  EXPECT_EQ(read("5 ++ 4096 200 a"), "insert 5: syntax");
  EXPECT_LE(arena.held_bytes(), block_bytes()) << "the request and its reply alone";
}

TEST_F(ParserInsertTest, RowsAndTheirValuesAreBounded) {
  EXPECT_EQ(read("5 ++ 4097 1 a"), "insert 5: too_many_values");
  EXPECT_EQ(read("5 ++ 1 10001 a"), "insert 5: too_many_values");
  EXPECT_EQ(read("5 ++ 18446744073709551615 18446744073709551615 a"), "insert 5: too_many_values");
  EXPECT_THAT(read("5 ++ 1 10000" + std::string(10'000, ' ')), EndsWith("'', '')"));
  const std::string too_many = "5\t++\t4096\t257" + std::string(size_t{4096} * 257, '\t') + "\n";
  EXPECT_EQ(parse_once(too_many, too_many.size()), "insert 5: too_many_values");
}

TEST_F(ParserInsertTest, AMalformedNumberOrValueIsASyntaxError) {
  for (const std::string rows : {"x 1 a", "1 x a", "-1 1 a", "1 1 ^", "1 2 a ^P"}) {
    EXPECT_EQ(read("5 ++ " + rows), "insert 5: syntax") << rows;
  }
}

TEST_F(ParserInsertTest, AClauseSaysWhatIsDoneToARowThatIsThere) {
  EXPECT_EQ(read("5 ++ 2 1 1 a I"), "insert 5 1 rows (1, a) keep");
  EXPECT_EQ(read("5 ++ 2 1 1 a R"), "insert 5 1 rows (1, a) replace");
  EXPECT_EQ(read("5 ++ 2 1 1 a U 1"), "insert 5 1 rows (1, a) set 1");
  EXPECT_EQ(read("5 ++ 2 1 1 a U 1,0"), "insert 5 1 rows (1, a) set 1,0");
  EXPECT_EQ(read("5 ++ 2 1 1 a + 1"), "insert 5 1 rows (1, a) add 1");
  EXPECT_EQ(read("5 ++ 3 1 1 a b U 1 + 0,2"), "insert 5 1 rows (1, a, b) set 1 add 0,2");
}

TEST_F(ParserInsertTest, ClausesComeInAnyOrder) {
  const std::string expected = "insert 5 1 rows (1, a) columns 'k,v' set 1 add 0 each alone";
  for (const std::string clauses :
       {"C k,v U 1 + 0 E", "E + 0 U 1 C k,v", "+ 0 E C k,v U 1", "U 1 C k,v E + 0 "}) {
    EXPECT_EQ(read("5 ++ 2 1 1 a " + clauses), expected) << clauses;
  }
}

TEST_F(ParserInsertTest, ChoicesExcludeOneAnother) {
  for (const std::string clauses :
       {"I R", "R I", "I U 1", "U 1 I", "R U 1", "R + 1", "+ 1 R", "I + 1", "I I", "R R"}) {
    EXPECT_EQ(read("5 ++ 2 1 1 a " + clauses), "insert 5: syntax") << clauses;
  }
}

TEST_F(ParserInsertTest, AClauseStandsAtMostOnce) {
  for (const std::string clauses : {"U 0 U 1", "+ 0 + 1", "E E", "C k C k"}) {
    EXPECT_EQ(read("5 ++ 2 1 1 a " + clauses), "insert 5: syntax") << clauses;
  }
}

TEST_F(ParserInsertTest, PositionsAreDistinctNumbersBelowTheCount) {
  for (const std::string positions :
       {"", "2", "0,2", "x", "0,", ",0", "0,,1", "0,0", "1,0,1", "18446744073709551616", "-1", "1%"}) {
    EXPECT_EQ(read("5 ++ 2 1 1 a U " + positions + " E"), "insert 5: syntax") << positions;
    EXPECT_EQ(read("5 ++ 2 1 1 a + " + positions + " E"), "insert 5: syntax") << positions;
  }
  EXPECT_EQ(read("5 ++ 2 1 1 a U 0 + 0"), "insert 5: syntax");
  EXPECT_EQ(read("5 ++ 2 1 1 a U 0 + 0,1"), "insert 5: syntax");
}

TEST_F(ParserInsertTest, WhatIsNoClauseIsASyntaxErrorAndNotIgnored) {
  for (const std::string clauses : {"X", " E", "e", "II", "E surplus", "@ 0 1 a", "~", "C", "U", "+"}) {
    EXPECT_EQ(read("5 ++ 2 1 1 a " + clauses), "insert 5: syntax") << clauses;
  }
}

TEST_F(ParserInsertTest, AnIdBeyondItsLimitComesFirst) {
  EXPECT_EQ(read("64 ++ 0 0"), "insert 64: unknown_id");
  EXPECT_EQ(read("1x ++ 1 1 a"), "insert -: unknown_id");
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
