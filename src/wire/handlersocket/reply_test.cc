// SPDX-License-Identifier: GPL-2.0-only
//
// What each outcome is on the wire, and that a value comes back from it unchanged.
#include "wire/handlersocket/reply.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/handlersocket/handlersocket.h"
#include "wire/handlersocket/test_vocabulary.h"
#include "wire/handlersocket/token_reader.h"

namespace rowsocket::wire::handlersocket {
namespace {

using test::bytes_of;
using test::words_of;

class ReplyTest : public testing::Test {
 protected:
  std::string error(const Error& failure, bool with_detail = false) {
    Buffer text;
    LineReply(text, with_detail).failed(failure);
    return std::string(text.view());
  }

  /// What a group of two members is answered that failed.
  std::string group_failed(size_t member, const Error& failure) {
    out.clear();
    GroupReply(out, false, 2).group_failed(member, failure);
    return std::string(out.view());
  }

  ValueWriter values_of(const Reply& reply) {
    return ValueWriter(out, reply.value_format(), reply.per_column());
  }

  Buffer out;
  LineReply line{out, false};
};

// --- Any request

TEST_F(ReplyTest, OkIsZeroAndOneColumnOfNothing) {
  line.done();
  EXPECT_EQ(out.view(), bytes_of("0 1$"));
}

TEST_F(ReplyTest, ASelectionThatWasOpenedIsOkAndTellsTheTypesThatWereAskedFor) {
  constexpr std::string_view types[] = {"INT", "TEXT"};
  line.opened({});
  line.opened(types);
  EXPECT_EQ(out.view(), bytes_of("0 1$0 2 INT TEXT$"));
}

TEST_F(ReplyTest, ANumberIsOneColumn) {
  line.counted(0);
  line.counted(18446744073709551615U);
  EXPECT_EQ(out.view(), bytes_of("0 1 0$0 1 18446744073709551615$"));
}

TEST_F(ReplyTest, OfAChangeTheRowsThatWereChangedAreTold) {
  line.changed({.rows_found = 3, .rows_matched = 2, .rows_changed = 1});
  EXPECT_EQ(out.view(), bytes_of("0 1 1$"));
}

TEST_F(ReplyTest, RowsStandOneAfterTheOtherInOneLine) {
  line.begin_rows(2);
  ValueWriter values = values_of(line);
  values.integer(-1);
  values.text("a\tb");
  values.null();
  values.text("");
  line.end_rows();
  EXPECT_EQ(out.view(), bytes_of("0 2 -1 a^Ib ~ $"));
}

TEST_F(ReplyTest, NoRowsAreTheColumnCountAlone) {
  line.begin_rows(3);
  line.end_rows();
  EXPECT_EQ(out.view(), bytes_of("0 3$"));
}

TEST_F(ReplyTest, NeitherRowsNorMissesAreAskedFor) {
  EXPECT_FALSE(line.tells_rows());
  EXPECT_FALSE(line.tells_misses());
  EXPECT_EQ(line.per_column().prefixes, nullptr);
  EXPECT_EQ(line.per_column().ends, nullptr);
}

TEST_F(ReplyTest, RepliesAreAppended) {
  line.done();
  line.failed(Error(ErrorCode::unknown_command));
  line.done();
  EXPECT_EQ(out.view(), bytes_of("0 1$2 1 cmd$0 1$"));
}

TEST_F(ReplyTest, AReplyThatDoesNotFitIsSeenInTheBuffer) {
  out.set_bytes_max(5);
  line.failed(Error(ErrorCode::cannot_open_table));
  EXPECT_TRUE(out.failed());
}

// --- Inserts

TEST_F(ReplyTest, AnInsertedRowIsItsNewIdWhereTheTableHasOne) {
  InsertReply insert(out, false);
  insert.begin_outcomes();
  insert.inserted({.error = {}, .rows_affected = 1, .has_id = true, .id = 18446744073709551615U});
  insert.end_outcomes();
  EXPECT_EQ(out.view(), bytes_of("0 1 18446744073709551615$"));
  out.clear();
  insert.begin_outcomes();
  insert.inserted({.error = {}, .rows_affected = 1, .has_id = false, .id = 0});
  insert.end_outcomes();
  EXPECT_EQ(out.view(), bytes_of("0 1$"));
}

TEST_F(ReplyTest, OutcomesAreRowsOfWhatWasDoneAndTheId) {
  OutcomesReply rows(out, false);
  rows.begin_outcomes();
  rows.inserted({.error = {}, .rows_affected = 1, .has_id = true, .id = 18446744073709551615U});
  rows.inserted({.error = {}, .rows_affected = 2, .has_id = false, .id = 0});
  rows.inserted({.error = {}, .rows_affected = 0, .has_id = true, .id = 0});
  rows.inserted(
      {.error = {}, .rows_affected = 0, .has_id = true, .id = ~uint64_t{4}, .id_is_negative = true});
  rows.end_outcomes();
  EXPECT_EQ(out.view(), bytes_of("0 2 1 18446744073709551615 2 ~ 0 0 0 -5$"));
}

TEST_F(ReplyTest, ARowThatFailedSaysWhyAndHasNoId) {
  const auto failed = [this](Error failure) {
    out.clear();
    OutcomesReply(out, true).inserted(
        {.error = std::move(failure), .rows_affected = 1, .has_id = true, .id = 7});
    return std::string(out.view());
  };
  EXPECT_EQ(failed({ErrorCode::engine, 121}), bytes_of(" !121 ~"));
  EXPECT_EQ(failed({ErrorCode::sql, 1406, "Data too long"}), bytes_of(" !1406 ~"));
  EXPECT_EQ(failed(ErrorCode::cannot_lock_table), bytes_of(" !lock_tables ~"));
}

// --- Groups

TEST_F(ReplyTest, AGroupIsALineForItsBeginningAndOneForItsEnd) {
  GroupReply group(out, false, 1);
  group.group_begins();
  line.counted(1);
  group.group_ends();
  EXPECT_EQ(out.view(), bytes_of("0 1$0 1 1$0 1$"));
}

TEST_F(ReplyTest, TheEndOfAGroupWaitsForAGtidThatIsAskedFor) {
  GroupReply group(out, false, 1);
  group.expect_gtid();
  group.group_begins();
  line.counted(1);
  group.group_ends();
  EXPECT_EQ(out.view(), bytes_of("0 1$0 1 1$"));
  Buffer text;
  group.committed(text, "0-1-42");
  group.committed(text, "");
  EXPECT_EQ(text.view(), bytes_of("0 1 0-1-42$0 1 $"));
  EXPECT_EQ(out.view(), bytes_of("0 1$0 1 1$"));
}

TEST_F(ReplyTest, OfAGroupThatFailedTheMemberThatFailedSaysWhy) {
  EXPECT_EQ(group_failed(0, {ErrorCode::engine, 121}), bytes_of("0 1$1 1 121$1 1 group$1 1 group$"));
  EXPECT_EQ(group_failed(1, {ErrorCode::engine, 121}), bytes_of("0 1$1 1 group$1 1 121$1 1 group$"));
}

TEST_F(ReplyTest, AGroupThatIsMalformedSaysSoAtItsBeginning) {
  EXPECT_EQ(group_failed(Reply::group_itself, ErrorCode::syntax),
            bytes_of("2 1 syntax$2 1 group$2 1 group$2 1 group$"));
}

TEST_F(ReplyTest, AGroupThatCanNotBeKeptSaysWhyInAllLinesButItsFirst) {
  EXPECT_EQ(group_failed(Reply::every_member, ErrorCode::commit_failed),
            bytes_of("0 1$1 1 commit$1 1 commit$1 1 commit$"));
}

// --- Errors

TEST_F(ReplyTest, AnErrorIsItsCodeAndItsText) {
  EXPECT_EQ(error(ErrorCode::unknown_id), bytes_of("2 1 stmtnum$"));
  EXPECT_EQ(error(ErrorCode::too_many_values), bytes_of("2 1 fldnum$"));
  EXPECT_EQ(error(ErrorCode::read_only), bytes_of("2 1 readonly$"));
  EXPECT_EQ(error(ErrorCode::not_authenticated), bytes_of("3 1 unauth$"));
  EXPECT_EQ(error(ErrorCode::bad_authentication_type), bytes_of("3 1 authtype$"));
  EXPECT_EQ(error(ErrorCode::cannot_open_table), bytes_of("1 1 open_table$"));
  EXPECT_EQ(error(ErrorCode::cannot_lock_table), bytes_of("1 1 lock_tables$"));
  EXPECT_EQ(error(ErrorCode::not_in_group), bytes_of("2 1 group$"));
  EXPECT_EQ(error(ErrorCode::undone_with_group), bytes_of("1 1 group$"));
  EXPECT_EQ(error(ErrorCode::nothing_changed), bytes_of("1 1 unchanged$"));
  EXPECT_EQ(error(ErrorCode::no_transactions), bytes_of("1 1 notrans$"));
}

TEST_F(ReplyTest, AnErrorOfTheEngineOrTheServerIsItsNumber) {
  EXPECT_EQ(error({ErrorCode::engine, 121}), bytes_of("1 1 121$"));
  EXPECT_EQ(error({ErrorCode::sql, 1406}), bytes_of("1 1 1406$"));
}

TEST_F(ReplyTest, EachErrorHasItsClassAndItsWord) {
  const std::vector<std::pair<ErrorCode, std::string_view>> all = {
      {ErrorCode::cannot_open_table, "1 1 open_table$"},
      {ErrorCode::cannot_lock_table, "1 1 lock_tables$"},
      {ErrorCode::not_a_number, "1 1 number$"},
      {ErrorCode::undone_with_group, "1 1 group$"},
      {ErrorCode::nothing_changed, "1 1 unchanged$"},
      {ErrorCode::no_transactions, "1 1 notrans$"},
      {ErrorCode::commit_failed, "1 1 commit$"},
      {ErrorCode::out_of_memory, "1 1 memory$"},
      {ErrorCode::shutting_down, "1 1 shutdown$"},
      {ErrorCode::unknown_command, "2 1 cmd$"},
      {ErrorCode::unknown_id, "2 1 stmtnum$"},
      {ErrorCode::bad_operator, "2 1 op$"},
      {ErrorCode::bad_modification, "2 1 modop$"},
      {ErrorCode::no_key_values, "2 1 klen$"},
      {ErrorCode::too_many_values, "2 1 fldnum$"},
      {ErrorCode::too_many_key_parts, "2 1 kpnum$"},
      {ErrorCode::no_such_index, "2 1 idxnum$"},
      {ErrorCode::no_such_column, "2 1 fld$"},
      {ErrorCode::bad_in_list, "2 1 invalueslen$"},
      {ErrorCode::bad_filter_type, "2 1 filtertype$"},
      {ErrorCode::bad_filter_column, "2 1 filterfld$"},
      {ErrorCode::read_only, "2 1 readonly$"},
      {ErrorCode::syntax, "2 1 syntax$"},
      {ErrorCode::line_too_long, "2 1 toolong$"},
      {ErrorCode::reply_too_large, "2 1 replylen$"},
      {ErrorCode::too_many_rows, "2 1 rowsexamined$"},
      {ErrorCode::took_too_long, "2 1 requesttime$"},
      {ErrorCode::client_gone, "2 1 gone$"},
      {ErrorCode::not_implemented, "2 1 notimpl$"},
      {ErrorCode::not_in_group, "2 1 group$"},
      {ErrorCode::not_authenticated, "3 1 unauth$"},
      {ErrorCode::too_many_connections, "3 1 connections$"},
      {ErrorCode::needs_tls, "3 1 tls$"},
      {ErrorCode::bad_authentication_type, "3 1 authtype$"}};
  for (const auto& [code, told] : all) {
    EXPECT_EQ(error(code), bytes_of(told)) << error_name(code);
  }
  EXPECT_EQ(all.size() + 3, static_cast<size_t>(ErrorCode::count_))
      << "all but none, and two that say a number";
}

TEST_F(ReplyTest, TheDetailIsOneMoreTokenWhereItIsAskedFor) {
  const Error failure(ErrorCode::no_such_index, "no index 'a\tb'\nin t");
  EXPECT_EQ(error(failure), bytes_of("2 1 idxnum$"));
  EXPECT_EQ(error(failure, true), bytes_of("2 1 idxnum no%index%'a^Ib'^Jin%t$"));
  EXPECT_EQ(error(ErrorCode::no_such_index, true), bytes_of("2 1 idxnum$"));
}

TEST_F(ReplyTest, AnErrorWithoutADetailIsExplainedWhereThereIsSomethingToSay) {
  EXPECT_EQ(error(ErrorCode::no_key_values, true), bytes_of("2 1 klen at%least%one%value%is%needed$"));
  EXPECT_EQ(error({ErrorCode::no_key_values, "no value"}, true), bytes_of("2 1 klen no%value$"));
  EXPECT_EQ(error(ErrorCode::no_key_values), bytes_of("2 1 klen$"));
}

TEST_F(ReplyTest, AStreamThatCanNotBeFollowedIsToldWhy) {
  handlersocket_protocol().refuse_stream(out, ErrorCode::line_too_long, Settings{});
  EXPECT_EQ(out.view(), bytes_of("2 1 toolong$"));
  out.clear();
  handlersocket_protocol().refuse_stream(out, {ErrorCode::line_too_long, "too long"}, {.error_detail = true});
  EXPECT_EQ(out.view(), bytes_of("2 1 toolong too%long$"));
}

TEST_F(ReplyTest, EachErrorHasATextOfItsOwn) {
  std::set<std::string> replies;
  for (int code = 1; code < static_cast<int>(ErrorCode::count_); ++code) {
    const auto error_code = static_cast<ErrorCode>(code);
    if (error_code != ErrorCode::engine && error_code != ErrorCode::sql) {
      EXPECT_TRUE(replies.insert(error(error_code)).second) << code;
    }
  }
  EXPECT_EQ(replies.count(bytes_of("1 1 internal$")), 0U) << "the text for a code that is not in the table";
}

// --- Round trips

/// Reads the values of one line back.
std::vector<std::string> read_values(std::string_view line, size_t count) {
  Arena arena;
  TokenReader reader(line, arena);
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(words_of(reader.value()));
  }
  RC_ASSERT(reader.ok());
  RC_ASSERT(!reader.has_token());
  return values;
}

RC_GTEST_PROP(ValueRoundTrip, AnyBytesComeBackUnchanged, (const std::string& bytes)) {
  Buffer out;
  ValueWriter(out, reply_value_format).text(bytes);
  const std::string_view line = out.view().substr(1);
  Arena arena;
  TokenReader reader(line, arena);
  const Value value = reader.value();
  RC_ASSERT(reader.ok());
  RC_ASSERT(!value.is_null());
  RC_ASSERT(value.view() == bytes);
}

RC_GTEST_PROP(ValueRoundTrip, ControlBytesComeBackUnchanged, ()) {
  const auto bytes = *rc::gen::container<std::string>(rc::gen::cast<char>(rc::gen::inRange(0, 0x18)));
  Buffer out;
  ValueWriter(out, reply_value_format).text(bytes);
  RC_ASSERT(out.view().substr(1).find_first_of("\t\n\r") == std::string_view::npos);
  RC_ASSERT(read_values(out.view().substr(1), 1).front() == words_of(Value(bytes)));
}

RC_GTEST_PROP(ValueRoundTrip, RowsOfValuesAndNullsComeBackUnchanged,
              (const std::vector<rc::Maybe<std::string>>& row)) {
  RC_PRE(!row.empty());
  Buffer out;
  ValueWriter writer(out, reply_value_format);
  std::vector<std::string> expected;
  for (const auto& value : row) {
    value ? writer.text(*value) : writer.null();
    expected.push_back(value ? words_of(Value(*value)) : "NULL");
  }
  RC_ASSERT(read_values(out.view().substr(1), row.size()) == expected);
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
