// SPDX-License-Identifier: GPL-2.0-only
#include "request/error_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"

namespace rowsocket {
namespace {

std::string text_of(const Error& error, const Container* container = nullptr) {
  Buffer out;
  append_error_text(out, error, container);
  return std::string(out.view());
}

std::string problem_text(std::string_view name, std::string_view problem) {
  Buffer out;
  append_problem_text(out, name, problem);
  return std::string(out.view());
}

TEST(ErrorText, HasTheNumberAndTheDetailWhereThereAreSome) {
  EXPECT_EQ(text_of(ErrorCode::bad_operator), "bad_operator");
  EXPECT_EQ(text_of(ErrorCode::no_key_values), "no_key_values: at least one value is needed");
  EXPECT_EQ(text_of({ErrorCode::sql, 1406, "too long"}), "sql 1406: too long");
  EXPECT_EQ(text_of({ErrorCode::engine, -7}), "engine -7");
}

TEST(ErrorText, NamesTheContainerAndThenNotWhatWasDenied) {
  const Container container(ContainerFields{"shop", "d", "t", "k", "v", "", "", "", "PRIMARY"});
  const Error error = denied(1142, "SELECT denied to 'ann'@'%'", "table d.t");
  EXPECT_EQ(text_of(error, &container), "container 'shop': sql 1142: SELECT denied to 'ann'@'%'");
  EXPECT_EQ(text_of(error), "sql 1142: SELECT denied to 'ann'@'%' for table d.t");
}

TEST(ErrorText, IsOneLineAndBounded) {
  EXPECT_EQ(text_of({ErrorCode::no_such_column, "no column 'v\r\n'"}), "no_such_column: no column 'v  '");
  EXPECT_EQ(text_of({ErrorCode::no_such_column, "no column 'grün'"}), "no_such_column: no column 'grün'");
  const std::string longest(limits::error_text_bytes_max, 'x');
  EXPECT_EQ(problem_text("", longest + "y"), longest);
}

TEST(ErrorText, TellsTheProblemOfOneContainerOrOfAll) {
  EXPECT_EQ(problem_text("shop", "no\ttable"), "container 'shop': no table");
  EXPECT_EQ(problem_text("", "there is no table of containers"), "there is no table of containers");
}

}  // namespace
}  // namespace rowsocket
