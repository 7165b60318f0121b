// SPDX-License-Identifier: GPL-2.0-only
#include "request/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>

namespace rowsocket {
namespace {

TEST(Error, EachCodeHasALowerCaseNameOfItsOwn) {
  std::set<std::string_view> names;
  for (int code = 0; code < static_cast<int>(ErrorCode::count_); ++code) {
    const std::string_view name = error_name(static_cast<ErrorCode>(code));
    EXPECT_FALSE(name.empty()) << code;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(Error, NamesStandWhereTheirCodeStands) {
  EXPECT_EQ(error_name(ErrorCode::none), "none");
  EXPECT_EQ(error_name(ErrorCode::unknown_command), "unknown_command");
  EXPECT_EQ(error_name(ErrorCode::not_authenticated), "not_authenticated");
  EXPECT_EQ(error_name(ErrorCode::shutting_down), "shutting_down");
}

TEST(Error, IsExplainedWhereItsCodeDoesNotSayItAll) {
  EXPECT_EQ(explanation(ErrorCode::no_key_values), "at least one value is needed");
  EXPECT_EQ(explanation(ErrorCode::bad_operator), "");
  EXPECT_EQ(explanation(ErrorCode::none), "");
}

TEST(Error, SaysWhatWasDeniedWithAndWithoutItsObject) {
  const Error error = denied(1142, "SELECT denied to 'ann'@'%'", "table d.a for b");
  EXPECT_EQ(error.reason, Reason::denied);
  EXPECT_EQ(error.detail(), "SELECT denied to 'ann'@'%' for table d.a for b");
  EXPECT_EQ(detail_without_object(error), "SELECT denied to 'ann'@'%'");
  EXPECT_EQ(detail_without_object(denied(1142, "denied to 'x for y'@'%'", "table d.t")), "denied to 'x");
  EXPECT_EQ(detail_without_object({ErrorCode::sql, 1146, "no table for this"}), "no table for this");
}

TEST(Error, KeepsWhatItIsWhenItsReasonIsSaid) {
  const Error error = Error(ErrorCode::engine, 146, "a row").because(Reason::row_locked);
  EXPECT_EQ(error.code, ErrorCode::engine);
  EXPECT_EQ(error.number, 146);
  EXPECT_EQ(error.detail(), "a row");
  EXPECT_EQ(error.reason, Reason::row_locked);
  EXPECT_FALSE(error.ok());
}

TEST(Error, IsCopiedWithAllThatItSays) {
  const Error error = Error(ErrorCode::sql, 1142, "denied").because(Reason::denied);
  Error copy = error;
  EXPECT_EQ(copy.code, ErrorCode::sql);
  EXPECT_EQ(copy.number, 1142);
  EXPECT_EQ(copy.reason, Reason::denied);
  EXPECT_EQ(copy.detail(), "denied");
  copy.set_detail({});
  EXPECT_EQ(copy.detail(), "");
  EXPECT_EQ(error.detail(), "denied");
  copy = error;
  EXPECT_EQ(copy.detail(), "denied");
  EXPECT_EQ(error.detail(), "denied");
}

TEST(Error, MovesItsDetail) {
  Error error(ErrorCode::engine, "a row");
  const Error moved = std::move(error);
  EXPECT_EQ(moved.detail(), "a row");
  Error other(ErrorCode::sql, 1, "another");
  other = Error(ErrorCode::engine, 146);
  EXPECT_EQ(other.detail(), "");
}

}  // namespace
}  // namespace rowsocket
