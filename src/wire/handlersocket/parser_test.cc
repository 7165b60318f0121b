// SPDX-License-Identifier: GPL-2.0-only
//
// What each line is read as. The notation is that of test_vocabulary.h; parser_fixture.h reads every line in
// three ways.
#include "wire/handlersocket/parser.h"

#include <gmock/gmock.h>

#include <string>

#include "base/limits.h"
#include "wire/handlersocket/parser_fixture.h"

namespace rowsocket::wire::handlersocket {
namespace {

using test::bytes_of;
using test::words_of;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

using ParserTest = test::ParserTest;

// --- Lines and commands

TEST_F(ParserTest, EveryFirstTokenThatIsNoCommandIsUnknown) {
  for (const std::string_view line :
       {"", " ", "Q", "/", "p 1 db t PRIMARY a", "PP 1", "AA", " P 1", "-1 = 1 a", "x", "~", "^A", "Q 1"}) {
    EXPECT_EQ(read(line), "unknown: unknown_command") << line;
  }
}

TEST_F(ParserTest, OneCarriageReturnBeforeTheLineEndIsDropped) {
  EXPECT_EQ(read_bytes(bytes_of("5 = 1 a") + "\r\n"), "find 5 = (a) limit 1 offset 0");
  EXPECT_EQ(read_bytes(bytes_of("5 = 1 a") + "\r\r\n"), "find 5 = (a<0d>) limit 1 offset 0");
  EXPECT_EQ(read_bytes("\r\n"), "unknown: unknown_command");
  EXPECT_EQ(read_bytes(bytes_of("5 = 1 ~") + "\r\n"), "find 5 = (NULL) limit 1 offset 0");
}

TEST_F(ParserTest, PipelinedLinesAreTakenOneByOne) {
  const std::string input = bytes_of("5 = 1 a$6 = 1 b$7 =");
  std::string_view rest = input;
  size_t scanned_bytes = 0;
  EXPECT_EQ(parse(rest, scanned_bytes).consumed_bytes, 8U);
  rest.remove_prefix(8);
  const Parsed second = parse(rest, scanned_bytes);
  EXPECT_EQ(second.consumed_bytes, 8U);
  EXPECT_EQ(words_of(*second.request), "find 6 = (b) limit 1 offset 0");
  rest.remove_prefix(8);
  EXPECT_EQ(parse(rest, scanned_bytes).status, Parsed::Status::need_more);
}

TEST_F(ParserTest, BytesOnceScannedAreNotSearchedAgain) {
  std::string input = "5\t=\t1\n";
  size_t scanned_bytes = input.size();  // the caller's word that no line ends here
  EXPECT_EQ(parse(input, scanned_bytes).status, Parsed::Status::need_more);
}

TEST_F(ParserTest, NoLineEndWithinTheLongestLineIsFatal) {
  settings.line_bytes_max = 8;
  EXPECT_EQ(read_bytes("5\t=\t1\tab\n"), "find 5 = (ab) limit 1 offset 0");
  for (const std::string_view input : {"5\t=\t1\tabc", "5\t=\t1\tabc\n", "5\t=\t1\tabcdefgh\n5\t=\t1\ta\n"}) {
    const Parsed parsed = parse(input);
    EXPECT_EQ(parsed.status, Parsed::Status::fatal);
    EXPECT_EQ(parsed.error, ErrorCode::line_too_long);
    EXPECT_EQ(parsed.consumed_bytes, input.size());
    EXPECT_THAT(std::string(parsed.why), HasSubstr("a line that is too long"));
  }
}

TEST_F(ParserTest, WhatABrowserSendsEndsTheConnectionFromItsFirstLine) {
  for (const std::string line :
       {"POST / HTTP/1.1", "GET /0%09+ HTTP/1.1", "HEAD / HTTP/1.1", "PUT /x HTTP/1.1", "DELETE / HTTP/1.1",
        "OPTIONS * HTTP/1.1", "PATCH / HTTP/1.1", "CONNECT a:1 HTTP/1.1", "TRACE / HTTP/1.1", "Host: a",
        "hOST:a", "Host:"}) {
    for (const std::string end : {"\r\n", "\n"}) {
      const std::string input = line + end + "5\t=\t1\ta\n";
      for (size_t size = 0; size < line.size() + end.size(); ++size) {
        EXPECT_EQ(parse(input.substr(0, size)).status, Parsed::Status::need_more);
      }
      const Parsed parsed = parse(input);
      EXPECT_EQ(parsed.status, Parsed::Status::hang_up) << line;
      EXPECT_THAT(std::string(parsed.why), StartsWith("speaks HTTP"));
    }
  }
  EXPECT_EQ(read("GETS x"), "unknown: unknown_command");
  EXPECT_EQ(read("POST"), "unknown: unknown_command");
  EXPECT_EQ(read("Hosted: x"), "unknown: unknown_command");
}

// --- open_index

TEST_F(ParserTest, OpenIndexNamesDatabaseTableIndexAndColumns) {
  EXPECT_EQ(read("P 3 test user PRIMARY id,name"), "open 3 test.user index 'PRIMARY' columns 'id,name'");
  EXPECT_EQ(read("P 3 test user 1 id"), "open 3 test.user index '1' columns 'id'");
  EXPECT_EQ(read("P 3 test user  id"), "open 3 test.user index '' columns 'id'");
  EXPECT_EQ(read("P 3 test user PRIMARY "), "open 3 test.user index 'PRIMARY' columns ''");
  EXPECT_EQ(read("P 3 test user PRIMARY id a,b"),
            "open 3 test.user index 'PRIMARY' columns 'id' filter columns 'a,b'");
}

TEST_F(ParserTest, WhatOpenIndexLeavesOutIsEmpty) {
  EXPECT_EQ(read("P 3 test user"), "open 3 test.user index '' columns ''");
  EXPECT_EQ(read("P"), "open 0 . index '' columns ''");
  EXPECT_EQ(read("P 3 test user ~ id ~"), "open 3 test.user index '' columns 'id'");
}

TEST_F(ParserTest, NamesAreTakenAsTheyCome) {
  EXPECT_EQ(read("P 3 d^Ib t PRIMARY id"), "open 3 d<01>Ib.t index 'PRIMARY' columns 'id'");
  EXPECT_EQ(read("P 3 d%b t PRIMARY id"), "open 3 d b.t index 'PRIMARY' columns 'id'");
}

TEST_F(ParserTest, ANameWithANulByteIsRefused) {
  EXPECT_EQ(read("P 3 mysql~x user PRIMARY id"), "open 3: syntax");
  EXPECT_EQ(read("P 3 test user PRIMARY id~"), "open 3: syntax");
}

TEST_F(ParserTest, OpenIndexTakesOptionsWithCommasBetweenThem) {
  EXPECT_EQ(read("P 3 test user PRIMARY id  types"), "open 3 test.user index 'PRIMARY' columns 'id' types");
  EXPECT_EQ(read("P 3 test user PRIMARY id  detail,types,raw"),
            "open 3 test.user index 'PRIMARY' columns 'id' raw types");
}

TEST_F(ParserTest, OpenIndexTakesNoOtherOptions) {
  for (const char* const option : {"cooked", "raw,", ",raw", "raw,,types", "types,cooked", ",", "RAW"}) {
    EXPECT_EQ(read("P 3 test user PRIMARY id  " + std::string(option)), "open 3: syntax") << option;
  }
}

TEST_F(ParserTest, DetailHoldsForTheOpenIndexItselfAndForAllThatItsConnectionSendsLater) {
  ConnectionState connection;
  const auto refusal_of = [&](std::string_view readable) {
    size_t scanned_bytes = 0;
    out.clear();
    const std::string line = bytes_of(readable) + "\n";
    const Parsed parsed = parse_request(line, {.settings = settings,
                                               .arena = arena,
                                               .out = out,
                                               .state = &connection,
                                               .scanned_bytes = scanned_bytes});
    parsed.request->reply->failed(Error(ErrorCode::no_such_column, "no column 'custmer'"));
    return std::string(out.view());
  };
  EXPECT_EQ(refusal_of("0 = 1 7"), bytes_of("2 1 fld$"));
  EXPECT_EQ(refusal_of("P 0 shop user  custmer  detail"), bytes_of("2 1 fld no%column%'custmer'$"));
  EXPECT_EQ(refusal_of("0 = 1 7"), bytes_of("2 1 fld no%column%'custmer'$"));
}

TEST_F(ParserTest, WhatFollowsTheOptionsIsIgnored) {
  EXPECT_EQ(read("P 3 test user PRIMARY id a raw surplus"),
            "open 3 test.user index 'PRIMARY' columns 'id' filter columns 'a' raw");
  EXPECT_EQ(read("P 3 test user PRIMARY id a  surplus"),
            "open 3 test.user index 'PRIMARY' columns 'id' filter columns 'a'");
}

TEST_F(ParserTest, OpenIndexNeedsAnIdWithinItsLimit) {
  EXPECT_EQ(read("P 63 test user PRIMARY id"), "open 63 test.user index 'PRIMARY' columns 'id'");
  EXPECT_EQ(read("P 64 test user PRIMARY id"), "open 64: unknown_id");
  EXPECT_EQ(read("P 4294967296 test user PRIMARY id"), "open -: unknown_id");
  EXPECT_EQ(read("P 18446744073709551616 test user PRIMARY id"), "open -: syntax");
  EXPECT_EQ(read("P x test user PRIMARY id"), "open -: syntax");
  EXPECT_EQ(read("P  test user PRIMARY id"), "open 0 test.user index 'PRIMARY' columns 'id'");
}

// --- find

TEST_F(ParserTest, FindTakesEachOperator) {
  for (const std::string op : {"=", ">", ">=", "<", "<="}) {
    EXPECT_EQ(read("5 " + op + " 1 42"), "find 5 " + op + " (42) limit 1 offset 0");
  }
}

TEST_F(ParserTest, AnyOtherOperatorIsRefused) {
  for (const std::string op : {"", "==", "=>", "!=", "<>", "s", "SS", "+++", "~", "^", "^==", ">~", "=^"}) {
    EXPECT_EQ(read("5 " + op + " 1 42"), "find 5: bad_operator") << op;
  }
}

TEST_F(ParserTest, TheOperatorReservedForSqlIsNotImplemented) {
  EXPECT_EQ(read("5 S 1 SELECT"), "find 5: not_implemented");
  EXPECT_EQ(read("5 S 0"), "find 5: no_key_values");
}

TEST_F(ParserTest, FindTakesAsManyValuesAsItCounts) {
  EXPECT_EQ(read("5 = 1 a"), "find 5 = (a) limit 1 offset 0");
  EXPECT_EQ(read("5 = 3 a  c"), "find 5 = (a, '', c) limit 1 offset 0");
  EXPECT_EQ(read("5 = 1 a 10 20"), "find 5 = (a) limit 10 offset 20");
}

TEST_F(ParserTest, MissingValuesAreEmptyStrings) {
  EXPECT_EQ(read("5 = 3 a"), "find 5 = (a, '', '') limit 1 offset 0");
  EXPECT_EQ(read("5 = 1"), "find 5 = ('') limit 1 offset 0");
}

TEST_F(ParserTest, AFindWithoutValuesIsRefused) {
  for (const std::string_view line :
       {"5 = 0", "5 =", "5 = ", "5 = 0 1 0", "5 = 0 1 0 @ 0 1 a", "5 + 0", "5 +"}) {
    EXPECT_THAT(read(line), EndsWith("5: no_key_values")) << line;
  }
}

TEST_F(ParserTest, MoreValuesThanTheLimitAreRefusedUnread) {
  EXPECT_THAT(read("5 = 4096 a"), EndsWith(", '') limit 1 offset 0"));
  EXPECT_EQ(read("5 = 4097 a"), "find 5: too_many_values");
  EXPECT_EQ(read("0 = 2147483647 1"), "find 0: too_many_values");
  EXPECT_EQ(read("0 + 4294967297 1"), "insert 0: too_many_values");
  EXPECT_EQ(read("0 = 18446744073709551615 1"), "find 0: too_many_values");
}

TEST_F(ParserTest, FindNeedsAnIdWithinItsLimit) {
  EXPECT_EQ(read("0 = 1 a"), "find 0 = (a) limit 1 offset 0");
  EXPECT_EQ(read("63 = 1 a"), "find 63 = (a) limit 1 offset 0");
  EXPECT_EQ(read("64 = 1 a"), "find 64: unknown_id");
  EXPECT_EQ(read("1x = 1 a"), "find -: unknown_id");
  EXPECT_EQ(read("1~ = 1 a"), "find -: unknown_id");
  EXPECT_EQ(read("4294967296 = 1 a"), "find -: unknown_id");
  EXPECT_EQ(read("99999999999999999999 + 1 a"), "insert -: unknown_id");
  EXPECT_EQ(read("0005 = 1 a"), "find 5 = (a) limit 1 offset 0");
}

TEST_F(ParserTest, AMissingOrZeroLimitIsOne) {
  EXPECT_EQ(read("5 = 1 a 0 0"), "find 5 = (a) limit 1 offset 0");
  EXPECT_EQ(read("5 = 1 a  7"), "find 5 = (a) limit 1 offset 7");
  EXPECT_EQ(read("5 = 1 a 3"), "find 5 = (a) limit 3 offset 0");
  EXPECT_EQ(read("5 = 1 a "), "find 5 = (a) limit 1 offset 0");
}

TEST_F(ParserTest, LimitAndOffsetTogetherFit64Bits) {
  EXPECT_EQ(read("5 = 1 a 4294967296 4294967297"), "find 5 = (a) limit 4294967296 offset 4294967297");
  EXPECT_EQ(read("5 = 1 a 18446744073709551615 18446744073709551615"),
            "find 5 = (a) limit 9223372036854775807 offset 9223372036854775807");
}

TEST_F(ParserTest, AMalformedNumberIsASyntaxError) {
  for (const std::string number : {"-1", "+1", "1x", "x", "0x10", "1%", "%1", "1.0", "1~", "~", "^A",
                                   "18446744073709551616", "18446744073709551620", "100000000000000000000"}) {
    EXPECT_EQ(read("5 = " + number + " a"), "find 5: syntax") << number;
    EXPECT_EQ(read("5 = 1 a " + number + " 0"), "find 5: syntax") << number;
    EXPECT_EQ(read("5 = 1 a 1 " + number), "find 5: syntax") << number;
    EXPECT_EQ(read("5 = 1 a 1 0 @ " + number + " 1 b"), "find 5: syntax") << number;
    EXPECT_EQ(read("5 = 1 a 1 0 @ 0 " + number + " b"), "find 5: syntax") << number;
    EXPECT_EQ(read("5 = 1 a 1 0 F = " + number + " b"), "find 5: syntax") << number;
  }
}

TEST_F(ParserTest, OptionsNeedLimitAndOffsetBeforeThem) {
  EXPECT_EQ(read("5 = 1 a @ 0 1 b"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 a F = 0 b"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 a 1 U b"), "find 5: syntax");
}

// --- IN lists

TEST_F(ParserTest, AnInListNamesAKeyPartAndItsValues) {
  EXPECT_EQ(read("5 = 2 a b 10 0 @ 1 3 x y z"), "find 5 = (a, b) limit 10 offset 0 in 1 (x, y, z)");
  EXPECT_EQ(read("5 = 1  10 0 @ 0 3  ~ ^I"), "find 5 = ('') limit 10 offset 0 in 0 ('', NULL, <09>)");
  EXPECT_EQ(read("5 = 1  1 0 @  1 a"), "find 5 = ('') limit 1 offset 0 in 0 (a)");
}

TEST_F(ParserTest, AnInListHoldsAtLeastOneValue) {
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 0"), "find 5: bad_in_list");
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0"), "find 5: bad_in_list");
  EXPECT_EQ(read("5 = 1 a 1 0 @"), "find 5: bad_in_list");
}

TEST_F(ParserTest, MissingInValuesAreEmptyStrings) {
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 1"), "find 5 = (a) limit 1 offset 0 in 0 ('')");
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 3 x y"), "find 5 = (a) limit 1 offset 0 in 0 (x, y, '')");
}

TEST_F(ParserTest, AnInListIsBounded) {
  EXPECT_THAT(read("5 = 1 a 1 0 @ 0 100 v"), EndsWith("'', '')"));
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 101 v"), "find 5: bad_in_list");
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 4294967296 v"), "find 5: bad_in_list");
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 18446744073709551615 v"), "find 5: bad_in_list");
}

TEST_F(ParserTest, AnInListLeavesOutNoMoreThanAKeyCould) {
  settings.in_values_max = limits::in_list_max;
  EXPECT_THAT(read("5 = 1 a 1 0 @ 0 4097 v"), EndsWith("'', '')"));
  EXPECT_EQ(read("5 = 1 a 1 0 @ 0 5000 v"), "find 5: bad_in_list");
}

TEST_F(ParserTest, WhetherTheKeyPartOfAnInListIsThereIsNotAskedHere) {
  EXPECT_EQ(read("5 = 2 a b 1 0 @ 2 1 x"), "find 5 = (a, b) limit 1 offset 0 in 2 (x)");
  EXPECT_EQ(read("5 = 1 a 1 0 @ 4294967296 1 x"), "find 5 = (a) limit 1 offset 0 in 4294967295 (x)")
      << "out of reach";
}

// --- Filters

TEST_F(ParserTest, FiltersSkipOrStop) {
  EXPECT_EQ(read("5 > 1 a 9 0 F = 0 x"), "find 5 > (a) limit 9 offset 0 filter 0 = x");
  EXPECT_EQ(read("5 > 1 a 9 0 W != 3 ~"), "find 5 > (a) limit 9 offset 0 while 3 != NULL");
  EXPECT_EQ(read("5 > 1 a 9 0 F < 0 a F <= 1 b W > 2  W >= 3 ^I"),
            "find 5 > (a) limit 9 offset 0 filter 0 < a filter 1 <= b while 2 > '' while 3 >= <09>");
}

TEST_F(ParserTest, FiltersFollowAnInList) {
  EXPECT_EQ(read("5 = 1 a 9 0 @ 0 2 F W F = 0 x"), "find 5 = (a) limit 9 offset 0 in 0 (F, W) filter 0 = x");
}

TEST_F(ParserTest, AnUnknownFilterTypeOrOperatorIsRefused) {
  for (const std::string_view filter :
       {"FX = 0 x", "WW = 0 x", "F ! 0 x", "F  0 x", "F == 0 x", "F <> 0 x", "F", "W "}) {
    EXPECT_EQ(read("5 = 1 a 9 0 " + std::string(filter)), "find 5: bad_filter_type") << filter;
  }
}

TEST_F(ParserTest, AFiltersMissingTokensAreEmpty) {
  EXPECT_EQ(read("5 = 1 a 9 0 F = 0"), "find 5 = (a) limit 9 offset 0 filter 0 = ''");
  EXPECT_EQ(read("5 = 1 a 9 0 F ="), "find 5 = (a) limit 9 offset 0 filter 0 = ''");
}

TEST_F(ParserTest, AFilterColumnBeyond32BitsStaysOutOfReach) {
  EXPECT_EQ(read("5 = 1 a 9 0 F = 4294967296 x"), "find 5 = (a) limit 9 offset 0 filter 4294967295 = x");
}

TEST_F(ParserTest, FiltersAreBounded) {
  std::string filters;
  for (uint32_t i = 0; i < limits::filter_count_max; ++i) {
    filters += " F = 0 x";
  }
  EXPECT_THAT(read("5 = 1 a 9 0" + filters), EndsWith("filter 0 = x filter 0 = x"));
  EXPECT_EQ(read("5 = 1 a 9 0" + filters + " F = 0 x"), "find 5: too_many_values");
}

// --- Modifications

TEST_F(ParserTest, AModificationTakesAllValuesThatFollow) {
  EXPECT_EQ(read("5 = 1 a 1 0 U x y"), "find 5 = (a) limit 1 offset 0 update (x, y)");
  EXPECT_EQ(read("5 = 1 a 1 0 U? x"), "find 5 = (a) limit 1 offset 0 update (x) returning");
  EXPECT_EQ(read("5 = 1 a 1 0 + 1"), "find 5 = (a) limit 1 offset 0 increment (1)");
  EXPECT_EQ(read("5 = 1 a 1 0 +? 1 ~"), "find 5 = (a) limit 1 offset 0 increment (1, NULL) returning");
  EXPECT_EQ(read("5 = 1 a 1 0 - 1"), "find 5 = (a) limit 1 offset 0 decrement (1)");
  EXPECT_EQ(read("5 = 1 a 1 0 -? 1"), "find 5 = (a) limit 1 offset 0 decrement (1) returning");
}

TEST_F(ParserTest, AShortListOfNewValuesIsLeftShort) {
  EXPECT_EQ(read("5 = 1 a 1 0 U"), "find 5 = (a) limit 1 offset 0 update ()");
  EXPECT_EQ(read("5 = 1 a 1 0 U "), "find 5 = (a) limit 1 offset 0 update ('')");
  EXPECT_EQ(read("5 = 1 a 1 0 U x "), "find 5 = (a) limit 1 offset 0 update (x, '')");
}

TEST_F(ParserTest, ADeleteIgnoresWhatFollows) {
  EXPECT_EQ(read("5 = 1 a 1 0 D"), "find 5 = (a) limit 1 offset 0 delete ()");
  EXPECT_EQ(read("5 = 1 a 1 0 D? x ^"), "find 5 = (a) limit 1 offset 0 delete () returning");
}

TEST_F(ParserTest, AModificationFollowsInListAndFilters) {
  EXPECT_EQ(read("5 = 1 a 9 0 @ 0 1 b W > 0 c U x"),
            "find 5 = (a) limit 9 offset 0 in 0 (b) while 0 > c update (x)");
}

TEST_F(ParserTest, AnEmptyAmountIsNullUnlessTheServerIsStrict) {
  EXPECT_EQ(read("5 = 1 a 1 0 +  1"), "find 5 = (a) limit 1 offset 0 increment (NULL, 1)");
  EXPECT_EQ(read("5 = 1 a 1 0 U  1"), "find 5 = (a) limit 1 offset 0 update ('', 1)");
  EXPECT_TRUE(parse(bytes_of("5 = 1 a 1 0 -  1$")).request->is_lenient);
  EXPECT_FALSE(parse(bytes_of("5 = 1 a 1 0 - 1$")).request->is_lenient);
  EXPECT_FALSE(parse(bytes_of("5 = 1 a 1 0 - ~$")).request->is_lenient);
  settings.strict = true;
  EXPECT_EQ(read("5 = 1 a 1 0 +  1"), "find 5 = (a) limit 1 offset 0 increment ('', 1)");
  EXPECT_FALSE(parse(bytes_of("5 = 1 a 1 0 -  1$")).request->is_lenient);
}

TEST_F(ParserTest, ValuesBeyondTheColumnsAreDroppedUnlessTheServerIsStrictOrTheRequestNamesItsColumns) {
  const auto drops_surplus = [this](std::string_view line) {
    const Request& request = *parse(bytes_of(line)).request;
    return request.kind == RequestKind::insert ? static_cast<const Insert&>(request).drops_surplus
                                               : static_cast<const Find&>(request).drops_surplus;
  };
  EXPECT_TRUE(drops_surplus("5 = 1 a 1 0 U x$"));
  EXPECT_TRUE(drops_surplus("5 + 1 a$"));
  EXPECT_FALSE(drops_surplus("5 = 1 a 1 0 C id U x$"));
  EXPECT_FALSE(drops_surplus("5 ++ 1 1 a$"));
  settings.strict = true;
  EXPECT_FALSE(drops_surplus("5 = 1 a 1 0 U x$"));
  EXPECT_FALSE(drops_surplus("5 + 1 a$"));
}

TEST_F(ParserTest, AnUnknownModificationIsRefused) {
  for (const std::string_view modification : {"X", "UU", "U??", "U?x", "?", "u", "=", "~", "@x 0 1 a", "U~",
                                              "D!", "U!!", "U?!", "#?", "##", "TT", "RR", "r"}) {
    EXPECT_EQ(read("5 = 1 a 1 0 " + std::string(modification) + " x"), "find 5: bad_modification")
        << modification;
  }
}

TEST_F(ParserTest, AnEmptyModificationIsNone) {
  EXPECT_EQ(read("5 = 1 a 1 0 "), "find 5 = (a) limit 1 offset 0");
  EXPECT_EQ(read("5 = 1 a 1 0  U x"), "find 5 = (a) limit 1 offset 0");
}

TEST_F(ParserTest, NewValuesAreBounded) {
  EXPECT_THAT(read("5 = 1 a 1 0 U" + std::string(limits::value_count_max, ' ')), EndsWith("'')"));
  EXPECT_EQ(read("5 = 1 a 1 0 U" + std::string(limits::value_count_max + 1, ' ')), "find 5: too_many_values");
}

// --- insert

TEST_F(ParserTest, AnInsertTakesAsManyValuesAsItCounts) {
  EXPECT_EQ(read("5 + 3 1 ~ "), "insert 5 (1, NULL, '')");
  EXPECT_EQ(read("5 + 2 1"), "insert 5 (1, '')");
}

TEST_F(ParserTest, AnInsertIgnoresWhatFollows) {
  EXPECT_EQ(read("5 + 1 a 1 0"), "insert 5 (a)");
  EXPECT_EQ(read("5 + 1 a x y @ 0 0 ^"), "insert 5 (a)");
}

// --- authenticate

TEST_F(ParserTest, AuthenticateGivesTheSecretOfThePort) {
  EXPECT_EQ(read("A 1 secret"), "authenticate secret");
  EXPECT_EQ(read("A 1 se^Icret"), "authenticate se<09>cret");
  EXPECT_EQ(read("A 1"), "authenticate ''");
  EXPECT_EQ(read("A 1 ~"), "authenticate NULL");
  EXPECT_EQ(read("A 1 bad^"), "authenticate: syntax");
}

TEST_F(ParserTest, AuthenticateNamesAnAccount) {
  EXPECT_EQ(read("A 2 app pass"), "authenticate as app pass");
  EXPECT_EQ(read("A 2 a^Ip pa^Iss"), "authenticate as a<09>p pa<09>ss");
  EXPECT_EQ(read("A 2 app"), "authenticate as app ''");
  EXPECT_EQ(read("A 2 app ~"), "authenticate as app NULL");
  EXPECT_EQ(read("A 2 bad^ pass"), "authenticate: syntax");
  EXPECT_EQ(read("A 2 app bad^"), "authenticate: syntax");
  EXPECT_EQ(read("A 2 ^t pass"), "authenticate: syntax") << "the time is no name";
  EXPECT_EQ(read("A 2 app ^t"), "authenticate: syntax");
}

TEST_F(ParserTest, AnyOtherAuthenticationTypeIsRefused) {
  for (const std::string_view line :
       {"A", "A ", "A 3 secret", "A 01 secret", "A 1x secret", "A ~ secret", "A 3 bad^"}) {
    EXPECT_EQ(read(line), "authenticate: bad_authentication_type") << line;
  }
}

// --- Several requests

TEST_F(ParserTest, OnlyRequestsOnAnIdAreParsedBeforeWhatIsInFrontOfThemIsDone) {
  size_t scanned_bytes = 0;
  const auto parse_ahead = [&](std::string_view input) {
    return parse_request(input, {.settings = settings,
                                 .arena = arena,
                                 .out = out,
                                 .state = nullptr,
                                 .scanned_bytes = scanned_bytes,
                                 .is_ahead = true});
  };
  for (const std::string id : {"0", "5", "9"}) {
    EXPECT_TRUE(parse_ahead(id + "\t=\t1\ta\n").is_stateless) << id;
  }
  EXPECT_TRUE(parse_ahead("5\t+\t1\ta\n").is_stateless);
  EXPECT_FALSE(parse("P\t1\td\tt\tPRIMARY\tid\n").is_stateless);
  for (const std::string_view input : {"P\t1\td\tt\tPRIMARY\tid\n", "A\t1\tkey\n", "G\n1\t=\t1\ta\nE\n"}) {
    EXPECT_EQ(parse_ahead(input).status, Parsed::Status::later) << input;
  }
}

// --- Which error comes first

TEST_F(ParserTest, OfSeveralMistakesTheOneThatTheOriginalNoticesIsAnswered) {
  EXPECT_EQ(read("1x ? 5000 ^"), "find -: unknown_id");
  EXPECT_EQ(read("5 ? 5000 ^"), "find 5: too_many_values");
  EXPECT_EQ(read("5 ? 1 ^"), "find 5: syntax");
  EXPECT_EQ(read("5 ? 0 1 0 @ 9 0 X"), "find 5: bad_in_list");
  EXPECT_EQ(read("5 ? 0 1 0 @ 9 1 a FX = 0 a X"), "find 5: bad_filter_type");
  EXPECT_EQ(read("5 ? 0 1 0 @ 9 1 a X"), "find 5: bad_operator");
  EXPECT_EQ(read("5 = 0 1 0 @ 9 1 a X"), "find 5: no_key_values");
  EXPECT_EQ(read("5 = 1 a 1 0 @ 9 1 a X"), "find 5: bad_modification");
  EXPECT_EQ(read("5 = 1 a 1 0 @ 9 1 a U"), "find 5 = (a) limit 1 offset 0 in 9 (a) update ()")
      << "that is left to exec";
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
