// SPDX-License-Identifier: GPL-2.0-only
#include "bench/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rowsocket::bench {
namespace {

std::string value(std::string_view formula, int64_t n) {
  Buffer out;
  out.append('|');  // the value begins anywhere
  Formula::parse(formula, "n").append(out, n);
  return std::string(out.view().substr(1));
}

std::string complaint(std::string_view formula) {
  try {
    (void)Formula::parse(formula, "n");
  } catch (const std::runtime_error& failure) {
    return failure.what();
  }
  return "";
}

TEST(Expression, IsWorkedOutFromLeftToRight) {
  EXPECT_EQ(Expression::parse("k*20+19", "k").at(2), 59);
  EXPECT_EQ(Expression::parse("k+1*2", "k").at(3), 8);
  EXPECT_EQ(Expression::parse("rows/3%4-1", "rows").at(23), 2);
}

TEST(Formula, PutsNumbersIntoText) {
  EXPECT_EQ(value("user{n}@example.com", 1234), "user1234@example.com");
  EXPECT_EQ(value("{n}", 0), "0");
  EXPECT_EQ(value("", 7), "");
}

TEST(Formula, NumbersGetLeadingZeros) {
  EXPECT_EQ(value("{n/3600%24:2}:{n/60%60:2}:{n%60:2}", 3 * 3600 + 25 * 60 + 7), "03:25:07");
}

TEST(Formula, AValueIsFilledOrCutToItsSize) {
  EXPECT_EQ(value("n{n} {fill 6}", 12), "n12 xx");
  EXPECT_EQ(value("n{n} {fill 2}", 12), "n1");
}

TEST(Formula, SaysTheSameInSql) {
  EXPECT_EQ(Formula::parse("user{n}", "n").sql("seq"), "CONCAT('user', seq)");
  EXPECT_EQ(Formula::parse("{n/20+1:3}", "n").sql("seq"), "LPAD(((seq DIV 20) + 1), 3, '0')");
  EXPECT_EQ(Formula::parse("x{fill 9}", "n").sql("seq"), "RPAD('x', 9, 'x')");
}

TEST(Formula, AMistakeIsNamed) {
  EXPECT_THAT(complaint("{n"), testing::HasSubstr("a { without its }"));
  EXPECT_THAT(complaint("{m}"), testing::HasSubstr("begins with \"n\""));
  EXPECT_THAT(complaint("{n^2}"), testing::HasSubstr("\"^\" is none of"));
  EXPECT_THAT(complaint("{n/0}"), testing::HasSubstr("division by zero"));
  EXPECT_THAT(complaint("it's"), testing::HasSubstr("a quote"));
  EXPECT_THAT(complaint("{fill 3}{n}"), testing::HasSubstr("{fill} is not at the end"));
}

}  // namespace
}  // namespace rowsocket::bench
