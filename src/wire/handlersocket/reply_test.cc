// SPDX-License-Identifier: GPL-2.0-only
//
// What each outcome is on the wire, and that a value comes back from it unchanged.
#include "wire/handlersocket/reply.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
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
    Buffer reply;
    protocol.reply_error(reply, failure, with_detail);
    return std::string(reply.view());
  }

  const Protocol& protocol = handlersocket_protocol();
  Buffer out;
};

TEST_F(ReplyTest, OkIsZeroAndOneColumnOfNothing) {
  protocol.reply_ok(out);
  EXPECT_EQ(out.view(), bytes_of("0 1$"));
}

TEST_F(ReplyTest, ANumberIsOneColumn) {
  protocol.reply_number(out, 0);
  protocol.reply_number(out, 18446744073709551615U);
  EXPECT_EQ(out.view(), bytes_of("0 1 0$0 1 18446744073709551615$"));
}

TEST_F(ReplyTest, ATextIsOneValue) {
  protocol.reply_text(out, "0-1-42");
  protocol.reply_text(out, "");
  EXPECT_EQ(out.view(), bytes_of("0 1 0-1-42$0 1 $"));
}

TEST_F(ReplyTest, OutcomesAreRowsOfWhatWasDoneAndTheId) {
  protocol.begin_rows(out, 2);
  protocol.append_outcome(out, {.error = {}, .rows_affected = 1, .has_id = true, .id = 18446744073709551615U});
  protocol.append_outcome(out, {.error = {}, .rows_affected = 2, .has_id = false, .id = 0});
  protocol.append_outcome(out, {.error = {}, .rows_affected = 0, .has_id = true, .id = 0});
  protocol.append_outcome(out, {.error = {}, .rows_affected = 0, .has_id = true, .id = ~uint64_t{4}, .id_is_negative = true});
  protocol.end_rows(out);
  EXPECT_EQ(out.view(), bytes_of("0 2 1 18446744073709551615 2 ~ 0 0 0 -5$"));
}

TEST_F(ReplyTest, ARowThatFailedSaysWhyAndHasNoId) {
  const auto failed = [this](Error failure) {
    out.clear();
    protocol.append_outcome(out, {.error = std::move(failure), .rows_affected = 1, .has_id = true, .id = 7});
    return std::string(out.view());
  };
  EXPECT_EQ(failed({ErrorCode::engine, 121}), bytes_of(" !121 ~"));
  EXPECT_EQ(failed({ErrorCode::sql, 1406, "Data too long"}), bytes_of(" !1406 ~"));
  EXPECT_EQ(failed(ErrorCode::cannot_lock_table), bytes_of(" !lock_tables ~"));
}

TEST_F(ReplyTest, RowsStandOneAfterTheOtherInOneLine) {
  protocol.begin_rows(out, 2);
  ValueWriter values(out, protocol.value_format());
  values.integer(-1);
  values.text("a\tb");
  values.null();
  values.text("");
  protocol.end_rows(out);
  EXPECT_EQ(out.view(), bytes_of("0 2 -1 a^Ib ~ $"));
}

TEST_F(ReplyTest, NoRowsAreTheColumnCountAlone) {
  protocol.begin_rows(out, 3);
  protocol.end_rows(out);
  EXPECT_EQ(out.view(), bytes_of("0 3$"));
}

TEST_F(ReplyTest, RepliesAreAppended) {
  protocol.reply_ok(out);
  protocol.reply_error(out, Error(ErrorCode::unknown_command), false);
  protocol.reply_ok(out);
  EXPECT_EQ(out.view(), bytes_of("0 1$2 1 cmd$0 1$"));
}

TEST_F(ReplyTest, AnErrorIsItsCodeAndItsText) {
  EXPECT_EQ(error(ErrorCode::unknown_index_id), bytes_of("2 1 stmtnum$"));
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

TEST_F(ReplyTest, TheDetailIsOneMoreTokenWhereItIsAskedFor) {
  const Error failure(ErrorCode::no_such_column, "no column 'a\tb'\nin t");
  EXPECT_EQ(error(failure), bytes_of("2 1 fld$"));
  EXPECT_EQ(error(failure, true), bytes_of("2 1 fld no%column%'a^Ib'^Jin%t$"));
  EXPECT_EQ(error(ErrorCode::no_such_column, true), bytes_of("2 1 fld$"));
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

TEST_F(ReplyTest, AReplyThatDoesNotFitIsSeenInTheBuffer) {
  out.set_bytes_max(5);
  protocol.reply_error(out, Error(ErrorCode::cannot_open_table), false);
  EXPECT_TRUE(out.failed());
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

RC_GTEST_PROP(ValueRoundTrip, RowsOfValuesAndNullsComeBackUnchanged, (const std::vector<rc::Maybe<std::string>>& row)) {
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
