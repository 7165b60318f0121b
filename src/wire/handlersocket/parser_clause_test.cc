// SPDX-License-Identifier: GPL-2.0-only
//
// The extensions of a find: clauses, the operator "starts with", counting, rows as a change left them, and
// now as a value. The notation is that of test_vocabulary.h, in which `^=` as an operator has to be written
// as bytes.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/limits.h"
#include "wire/handlersocket/parser_fixture.h"

namespace rowsocket::wire::handlersocket {
namespace {

using testing::EndsWith;

using ParserClauseTest = test::ParserTest;

/// A line with TABs for spaces, and ^ as it is.
std::string line_of(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '\t');
  return text + "\n";
}

// --- The other end

TEST_F(ParserClauseTest, ARangeHasASecondEndInTheOppositeDirection) {
  EXPECT_EQ(read("5 >= 1 42 9 0 T < 1 50"), "find 5 >= (42) to < (50) limit 9 offset 0");
  EXPECT_EQ(read("5 > 1 42 9 0 T <= 1 50"), "find 5 > (42) to <= (50) limit 9 offset 0");
  EXPECT_EQ(read("5 < 1 50 9 0 T > 1 42"), "find 5 < (50) to > (42) limit 9 offset 0");
  EXPECT_EQ(read("5 <= 1 50 9 0 T >= 1 42"), "find 5 <= (50) to >= (42) limit 9 offset 0");
}

TEST_F(ParserClauseTest, TheOtherEndMayHaveMoreOrFewerValues) {
  EXPECT_EQ(read("5 >= 1 a 9 0 T < 2 a ~"), "find 5 >= (a) to < (a, NULL) limit 9 offset 0");
  EXPECT_EQ(read("5 >= 2 a b 9 0 T < 1 ^I"), "find 5 >= (a, b) to < (<09>) limit 9 offset 0");
}

TEST_F(ParserClauseTest, AnEndWithoutAnOperatorIsABadOperator) {
  for (const std::string_view line : {"5 > 1 a 9 0 T x 1 b", "5 > 1 a 9 0 T  1 b", "5 > 1 a 9 0 T x 0"}) {
    EXPECT_EQ(read(line), "find 5: bad_operator") << line;
  }
}

TEST_F(ParserClauseTest, AnEndThatIsRightDoesNotMendABeginningThatIsWrong) {
  EXPECT_EQ(read("5 ? 1 a 9 0 T < 1 b"), "find 5: bad_operator");
  EXPECT_EQ(read("5 > 0 9 0 T < 1 b"), "find 5: no_key_values");
}

TEST_F(ParserClauseTest, EndsThatDoNotFaceEachOtherAreLeftToExec) {
  EXPECT_EQ(read("5 = 1 a 9 0 T < 1 b"), "find 5 = (a) to < (b) limit 9 offset 0");
  EXPECT_EQ(read("5 > 1 a 9 0 T > 1 b"), "find 5 > (a) to > (b) limit 9 offset 0");
  EXPECT_EQ(read_bytes(line_of("5 > 1 a 9 0 T ^= 1 b")), "find 5 > (a) to ^= (b) limit 9 offset 0");
}

TEST_F(ParserClauseTest, EndsThatDoNotFaceEachOtherAreTheMistakeOfALineThatIsWrongAnyhow) {
  EXPECT_EQ(read("5 < 1 a 9 0 T < 0"), "find 5: bad_operator");
  EXPECT_EQ(read("5 = 1 a 9 0 T < 1 b X"), "find 5: bad_operator");
  EXPECT_EQ(read("5 S 1 a 9 0 T < 1 b"), "find 5: not_implemented");
}

TEST_F(ParserClauseTest, AnEndNeedsAValueAndNoMoreThanTheLimit) {
  EXPECT_EQ(read("5 > 1 a 9 0 T < 0"), "find 5: no_key_values");
  EXPECT_EQ(read("5 > 1 a 9 0 T <  x"), "find 5: no_key_values");
  EXPECT_EQ(read("5 > 1 a 9 0 T < 4097" + std::string(5000, ' ')), "find 5: too_many_values");
  EXPECT_THAT(read("5 > 1 a 9 0 T < 4096" + std::string(4096, ' ')), EndsWith("'') limit 9 offset 0"));
}

// --- Order, limits, columns

TEST_F(ParserClauseTest, ReverseIsAWordOfItsOwn) {
  EXPECT_EQ(read("5 = 1 a 9 0 R"), "find 5 = (a) reverse limit 9 offset 0");
  EXPECT_EQ(read("5 = 1 a 9 0 R "), "find 5 = (a) reverse limit 9 offset 0");
}

TEST_F(ParserClauseTest, ALimitPerValueIsForAListAndAtLeastOne) {
  EXPECT_EQ(read("5 = 1  600 0 @ 0 2 x y L 3"),
            "find 5 = ('') limit 600 offset 0 in 0 (x, y) limit per value 3");
  EXPECT_EQ(read("5 = 1  600 0 L 3 @@ 2 x y"),
            "find 5 = ('') limit 600 offset 0 keys (x, y) limit per value 3");
  EXPECT_THAT(read("5 = 1  600 0 @ 0 1 x L 18446744073709551615"),
              EndsWith("limit per value 9223372036854775807"));
  EXPECT_EQ(read("5 = 1 a 9 0 @ 0 1 x L 0"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 a 9 0 @ 0 1 x L "), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 a 9 0 L 3"), "find 5: syntax");
}

TEST_F(ParserClauseTest, ColumnsTakeThePlaceOfTheOpenIndexs) {
  EXPECT_EQ(read("5 = 1 a 1 0 C id,name"), "find 5 = (a) limit 1 offset 0 columns 'id,name'");
  EXPECT_EQ(read("5 = 1 a 1 0 C id U x"), "find 5 = (a) limit 1 offset 0 columns 'id' update (x)");
  EXPECT_EQ(read("5 = 1 a 1 0 C "), "find 5 = (a) limit 1 offset 0 columns ''");
  EXPECT_EQ(read("5 = 1 a 1 0 C  #"), "find 5 = (a) limit 1 offset 0 columns '' counting");
  EXPECT_EQ(read("5 = 1 a 1 0 C id~"), "find 5: syntax");
}

// --- Lists of keys

TEST_F(ParserClauseTest, AListOfKeysHoldsAsManyValuesForEachAsTheKey) {
  EXPECT_EQ(read("5 = 2   10 0 @@ 2 a 1 b 2"), "find 5 = ('', '') limit 10 offset 0 keys (a, 1, b, 2)");
  EXPECT_EQ(read("5 = 1  10 0 @@ 1 ~"), "find 5 = ('') limit 10 offset 0 keys (NULL)");
}

TEST_F(ParserClauseTest, AListOfKeysIsBounded) {
  EXPECT_EQ(read("5 = 1  10 0 @@ 0"), "find 5: bad_in_list");
  EXPECT_EQ(read("5 = 1  10 0 @@ 101 v"), "find 5: bad_in_list");
  EXPECT_EQ(read("5 = 1  10 0 @@ 18446744073709551615 v"), "find 5: bad_in_list");
  EXPECT_THAT(read("5 = 1  10 0 @@ 100" + std::string(100, ' ')), EndsWith("'')"));
}

TEST_F(ParserClauseTest, TheValuesOfARequestAreBoundedAsAWhole) {
  settings.in_values_max = limits::in_list_max;
  const std::string key = line_of("5 = 4096" + std::string(4096, ' ') + " 10 0 @@ ");
  const auto list = [&](size_t keys) {
    return key.substr(0, key.size() - 1) + std::to_string(keys) + std::string(keys * 4096, '\t') + '\n';
  };
  const std::string fits = list(255);
  const std::string surpasses = list(256);
  EXPECT_THAT(parse_once(fits, fits.size()), EndsWith("'')"));
  EXPECT_EQ(parse_once(surpasses, surpasses.size()), "find 5: too_many_values");
}

// --- Clauses together

TEST_F(ParserClauseTest, ClausesComeInAnyOrder) {
  const std::string expected =
      "find 5 > (a) to < (z) reverse limit 9 offset 1 in 0 (x, y) limit per value 2 filter 0 = f while 1 < w "
      "columns 'c' "
      "increment (1) returning";
  const std::vector<std::string> clauses = {"T < 1 z", "R", "@ 0 2 x y", "L 2", "F = 0 f W < 1 w", "C c"};
  for (size_t first = 0; first < clauses.size(); ++first) {
    std::string line = "5 > 1 a 9 1";
    for (size_t i = 0; i < clauses.size(); ++i) {
      line += " " + clauses[(first + i) % clauses.size()];
    }
    EXPECT_EQ(read(line + " +? 1"), expected) << line;
  }
}

TEST_F(ParserClauseTest, AClauseStandsAtMostOnce) {
  for (const std::string clauses :
       {"T < 1 z T < 1 z", "R R", "@ 0 1 x @ 0 1 x", "@@ 1 x @@ 1 x", "@ 0 1 x @@ 1 x", "@@ 1 x @ 0 1 x",
        "@ 0 1 x L 2 L 2", "C c C c", "F = 0 f R F = 0 f"}) {
    EXPECT_EQ(read("5 > 1 a 9 1 " + clauses), "find 5: syntax") << clauses;
  }
}

TEST_F(ParserClauseTest, NoTokenOfAClauseMayBeMissing) {
  for (const std::string clause :
       {"T", "T <", "T < 1", "T < 2 z", "@ 0 1 x L", "C", "@@", "@@ 1", "@@ 2 x", "T < 4096 z"}) {
    EXPECT_EQ(read("5 > 1 a 9 1 " + clause), "find 5: syntax") << clause;
  }
}

TEST_F(ParserClauseTest, ANumberOfAClauseIsANumber) {
  for (const std::string clause : {"T < x z", "@ 0 1 x L -1", "@@ 1x z", "T < 18446744073709551616 z"}) {
    EXPECT_EQ(read("5 > 1 a 9 1 " + clause), "find 5: syntax") << clause;
  }
}

TEST_F(ParserClauseTest, OfSeveralMistakesTheFirstOfTheTokensIsAnswered) {
  EXPECT_EQ(read("5 ? 1 a 9 0 T < 5000 z"), "find 5: too_many_values");
  EXPECT_EQ(read("5 > 0 9 0 T > 1 z L 3"), "find 5: syntax");
  EXPECT_EQ(read("5 > 0 9 0 T > 1 z X"), "find 5: bad_operator");
  EXPECT_EQ(read("5 > 1 a 9 0 T < 0 X"), "find 5: no_key_values");
}

// --- Starts with

TEST_F(ParserClauseTest, StartsWithIsAnOperator) {
  EXPECT_EQ(read_bytes(line_of("5 ^= 1 Jo 10 0")), "find 5 ^= (Jo) limit 10 offset 0");
  EXPECT_EQ(read_bytes(line_of("5 ^= 2 a Jo 10 0 R #")),
            "find 5 ^= (a, Jo) reverse limit 10 offset 0 counting");
  EXPECT_EQ(read_bytes(line_of("5 ^= 0 10 0")), "find 5: no_key_values");
}

// --- Counting, and rows as a change left them

TEST_F(ParserClauseTest, CountingTakesItsLimitAsItIsAndZeroAsNone) {
  EXPECT_EQ(read("5 > 1 a 0 0 #"), "find 5 > (a) limit 9223372036854775807 offset 0 counting");
  EXPECT_EQ(read("5 > 1 a 1 0 #"), "find 5 > (a) limit 1 offset 0 counting");
  EXPECT_EQ(read("5 > 1 a 7 3 F = 0 x #"), "find 5 > (a) limit 7 offset 3 filter 0 = x counting");
  EXPECT_EQ(read("5 > 1 a 0 0 # surplus ^"), "find 5 > (a) limit 9223372036854775807 offset 0 counting");
}

TEST_F(ParserClauseTest, OnlyCountingTakesALimitOfZeroAsNone) {
  EXPECT_EQ(read("5 > 1 a 0 0 U x"), "find 5 > (a) limit 1 offset 0 update (x)");
  EXPECT_EQ(read("5 > 1 a 0 0 R"), "find 5 > (a) reverse limit 1 offset 0");
}

TEST_F(ParserClauseTest, AChangeMayReplyWithTheRowsAsItLeftThem) {
  EXPECT_EQ(read("5 = 1 a 1 0 U! x"), "find 5 = (a) limit 1 offset 0 update (x) returning new");
  EXPECT_EQ(read("5 = 1 a 1 0 +! 1"), "find 5 = (a) limit 1 offset 0 increment (1) returning new");
  EXPECT_EQ(read("5 = 1 a 1 0 -! 1"), "find 5 = (a) limit 1 offset 0 decrement (1) returning new");
  EXPECT_EQ(read("5 = 1 a 1 0 D!"), "find 5: bad_modification");
}

// --- Now

TEST_F(ParserClauseTest, NowStandsForAnyValueOfARowAKeyAListOrAFilter) {
  EXPECT_EQ(read("5 > 2 ^t a 9 0 T < 1 ^t F < 0 ^t"),
            "find 5 > (now, a) to < (now) limit 9 offset 0 filter 0 < now");
  EXPECT_EQ(read("5 = 1 ^t 9 0 @ 0 2 ^t b U c ^t"),
            "find 5 = (now) limit 9 offset 0 in 0 (now, b) update (c, now)");
  EXPECT_EQ(read("5 + 2 ^t x"), "insert 5 (now, x)");
}

TEST_F(ParserClauseTest, NowIsItsTwoBytesAndNothingElse) {
  for (const std::string token : {"^T", "^tx", "x^t", "^t^t"}) {
    EXPECT_EQ(read("5 + 1 " + token), "insert 5: syntax") << token;
  }
  EXPECT_EQ(read("5 + 1 t"), "insert 5 (t)");
}

TEST_F(ParserClauseTest, NowIsNoAmountAndNoSecret) {
  EXPECT_EQ(read("5 = 1 a 1 0 + 1 ^t"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 a 1 0 -? ^t"), "find 5: syntax");
  EXPECT_EQ(read("A 1 ^t"), "authenticate: syntax");
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
