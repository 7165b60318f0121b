// SPDX-License-Identifier: GPL-2.0-only
//
// Groups: where they end, what they hold, and which are refused. The notation is that of test_vocabulary.h.
#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "wire/handlersocket/parser_fixture.h"

namespace rowsocket::wire::handlersocket {
namespace {

using test::bytes_of;
using test::words_of;

class ParserGroupTest : public test::ParserTest {
 protected:
  /// A group of `count` members, each of which is `line`.
  static std::string group_of(size_t count, const std::string& line) {
    std::string bytes = "G\n";
    for (size_t i = 0; i < count; ++i) {
      bytes += bytes_of(line) + "\n";
    }
    return bytes + "E\n";
  }

  /// The one group that `input` is.
  const Group& parse_group(std::string_view input) {
    const Parsed parsed = parse(input);
    EXPECT_EQ(parsed.consumed_bytes, input.size());
    EXPECT_EQ(parsed.request->kind, RequestKind::group);
    return static_cast<const Group&>(*parsed.request);
  }

  /// What input that can not be followed is read as.
  std::string read_fatal(std::string_view input) {
    const Parsed parsed = parse(input);
    EXPECT_EQ(parsed.status, Parsed::Status::fatal);
    EXPECT_EQ(parsed.consumed_bytes, input.size());
    return std::string(error_name(parsed.error));
  }
};

// --- What is in a group

TEST_F(ParserGroupTest, AGroupIsOneRequestWithItsMembers) {
  EXPECT_EQ(read("G$5 = 1 a 1 0 - 1$6 + 1 b$E"),
            "group {find 5 = (a) limit 1 offset 0 decrement (1); insert 6 (b)}");
  EXPECT_EQ(read("G$5 = 1 a$E"), "group {find 5 = (a) limit 1 offset 0}");
  EXPECT_EQ(read("G$E"), "group {}");
}

TEST_F(ParserGroupTest, OptionsStandAfterTheWord) {
  EXPECT_EQ(read("G must$E"), "group must {}");
  EXPECT_EQ(read("G gtid$E"), "group gtid {}");
  EXPECT_EQ(read("G gtid must$E"), "group must gtid {}");
}

TEST_F(ParserGroupTest, TheEndOfAGroupThatAsksForItsGtidWaitsForThat) {
  for (const auto& [group, told] : {std::pair{"G$E$", "0 1$0 1$"}, {"G gtid$E$", "0 1$"}}) {
    out.clear();
    Reply& reply = *parse(bytes_of(group)).request->reply;
    reply.group_begins();
    reply.group_ends();
    EXPECT_EQ(out.view(), bytes_of(told)) << group;
  }
}

TEST_F(ParserGroupTest, AnUnknownOptionRefusesTheGroup) {
  for (const std::string options : {"x", "must x", "MUST", "must,gtid", "", "must ", "~"}) {
    EXPECT_EQ(read("G " + options + "$5 = 1 a$E"), "group of 1: syntax") << options;
  }
}

TEST_F(ParserGroupTest, AMistakeIsThatOfItsMember) {
  EXPECT_EQ(read("G$5 = 1 a$5 ? 1 a$$nonsense$99 + 1 a$E"),
            "group {find 5 = (a) limit 1 offset 0; find 5: bad_operator; unknown: unknown_command; unknown: "
            "unknown_command; "
            "insert 99: unknown_id}");
}

TEST_F(ParserGroupTest, WhatMayNotStandInAGroupIsNotRead) {
  EXPECT_EQ(read("G$P 1 test user PRIMARY id$A 1 secret$G must$E"),
            "group {unknown: not_in_group; unknown: not_in_group; unknown: not_in_group}");
}

TEST_F(ParserGroupTest, AnEndWithoutABeginningIsARequestOfItsOwn) {
  EXPECT_EQ(read("E"), "unknown: not_in_group");
  EXPECT_EQ(read_bytes("E\r\n"), "unknown: not_in_group");
  EXPECT_EQ(read("E "), "unknown: unknown_command");
  EXPECT_EQ(read("EE"), "unknown: unknown_command");
}

TEST_F(ParserGroupTest, MembersViewTheInputAndTheArena) {
  const std::string input = bytes_of("G$5 + 2 plain esc^Iaped$E$");
  const Group& group = parse_group(input);
  ASSERT_EQ(group.members.size(), 1U);
  ASSERT_EQ(group.members[0]->kind, RequestKind::insert);
  const auto& insert = static_cast<const Insert&>(*group.members[0]);
  EXPECT_EQ(insert.values[0].data, input.data() + 8);
  EXPECT_EQ(words_of(insert.values), "(plain, esc<09>aped)");
}

// --- Where it ends

TEST_F(ParserGroupTest, OnlyALineOfTheWordAloneIsTheEnd) {
  EXPECT_EQ(read("G$E $ E$EE$5 = 1 E$E"),
            "group {unknown: unknown_command; unknown: unknown_command; unknown: unknown_command; find 5 = "
            "(E) limit 1 offset 0}");
}

TEST_F(ParserGroupTest, EachLineMayEndInACarriageReturn) {
  EXPECT_EQ(read_bytes(bytes_of("G must") + "\r\n" + bytes_of("5 = 1 a") + "\r\nE\r\n"),
            "group must {find 5 = (a) limit 1 offset 0}");
  EXPECT_EQ(read_bytes("G\r\nE\r\n"), "group {}");
  EXPECT_EQ(read_bytes("G\nE\r\r\nE\n"), "group {unknown: unknown_command}");
}

TEST_F(ParserGroupTest, WhatOnlyLooksLikeABeginningIsALine) {
  for (const std::string line : {"GG\n", "g\n", "G\r\r\n", "G\rx\n"}) {
    EXPECT_EQ(read_bytes(line), "unknown: unknown_command") << line;
  }
}

TEST_F(ParserGroupTest, AGroupInPiecesIsSearchedFromWhereTheLastPieceEnded) {
  const std::string input = bytes_of("G$5 = 1 a$E$");
  size_t scanned_bytes = input.size();  // the caller's word that it does not end here
  EXPECT_EQ(parse(input, scanned_bytes).status, Parsed::Status::need_more);
}

TEST_F(ParserGroupTest, GroupsAndLinesFollowOneAnother) {
  const std::string input = bytes_of("G$5 = 1 a$E$5 = 1 b$G$E$");
  std::string_view rest = input;
  std::string words;
  while (!rest.empty()) {
    const Parsed parsed = parse(rest);
    ASSERT_EQ(parsed.status, Parsed::Status::request);
    words += words_of(*parsed.request) + "|";
    rest.remove_prefix(parsed.consumed_bytes);
  }
  EXPECT_EQ(words, "group {find 5 = (a) limit 1 offset 0}|find 5 = (b) limit 1 offset 0|group {}|");
}

// --- What is too much

TEST_F(ParserGroupTest, AGroupIsAtMostAsLongAsALine) {
  settings.line_bytes_max = 12;
  EXPECT_EQ(read("G$5 = 1 ab$E").substr(0, 6), "group ") << "12 bytes and a LF";
  EXPECT_EQ(read_fatal(bytes_of("G$5 = 1 abc$E$")), "line_too_long");
  EXPECT_EQ(read_fatal(bytes_of("G$5 = 1 abcd$")), "line_too_long");
}

TEST_F(ParserGroupTest, TooManyRequestsAreRefusedAndStillCounted) {
  const std::string most = group_of(limits::group_requests_max, "");
  const std::string too_many = group_of(limits::group_requests_max + 1, "");
  EXPECT_EQ(read_bytes(most).substr(0, 31), "group {unknown: unknown_command");
  EXPECT_EQ(read_bytes(too_many), "group of 1025: too_many_values");
}

TEST_F(ParserGroupTest, AGroupOfMoreLinesThanAreAnsweredIsFatal) {
  const std::string most = group_of(limits::group_lines_max, "");
  EXPECT_EQ(parse_once(most, most.size()), "group of 16384: too_many_values");
  EXPECT_EQ(read_fatal(group_of(limits::group_lines_max + 1, "")), "line_too_long");
}

TEST_F(ParserGroupTest, TheValuesOfAGroupAreBoundedAsAWhole) {
  const std::string group = group_of(257, "5 = 4096");  // each takes 4096 values, the missing ones empty
  const auto& members = parse_group(group).members;
  ASSERT_EQ(members.size(), 257U);
  EXPECT_EQ(members[255]->mistake, ErrorCode::none);
  EXPECT_EQ(members[256]->mistake, ErrorCode::too_many_values);
  EXPECT_LT(arena.held_bytes(), 2 * limits::request_values_max * sizeof(Value));
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
