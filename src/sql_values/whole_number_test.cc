// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/whole_number.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace rowsocket::sql_values {
namespace {

using Wide = __int128;

constexpr IntegerColumn tinyint = {1, false};
constexpr IntegerColumn tinyint_unsigned = {1, true};
constexpr IntegerColumn bigint = {8, false};
constexpr IntegerColumn bigint_unsigned = {8, true};

WholeNumber parsed(std::string_view text) {
  WholeNumber number;
  EXPECT_TRUE(parse(text, number)) << text;
  return number;
}

bool is_whole_number(std::string_view text) {
  WholeNumber number;
  return parse(text, number);
}

Wide value_of(const WholeNumber& number) {
  return number.is_negative ? -static_cast<Wide>(number.magnitude) : static_cast<Wide>(number.magnitude);
}

/// The nearest number that the column can hold, and "<" or ">" before it for the side of the searched one.
std::string nearest(IntegerColumn column, std::string_view text) {
  uint64_t bits = 0;
  const Fit side = fit(parsed(text), column, bits);
  const std::string sign = side == Fit::exact ? "" : side == Fit::below ? "<" : ">";
  return sign + (column.is_unsigned ? std::to_string(bits) : std::to_string(static_cast<int64_t>(bits)));
}

TEST(WholeNumber, digits_with_or_without_a_sign_are_one) {
  EXPECT_EQ(value_of(parsed("0")), 0);
  EXPECT_EQ(value_of(parsed("007")), 7);
  EXPECT_EQ(value_of(parsed("+5")), 5);
  EXPECT_EQ(value_of(parsed("-5")), -5);
  EXPECT_EQ(value_of(parsed("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(value_of(parsed("18446744073709551615")), static_cast<Wide>(UINT64_MAX));
  EXPECT_EQ(value_of(parsed(std::string(100, '0') + "42")), 42);
}

TEST(WholeNumber, of_19_digits_and_of_20_are_read_alike) {
  EXPECT_EQ(value_of(parsed("9999999999999999999")), static_cast<Wide>(9'999'999'999'999'999'999U));
  EXPECT_EQ(value_of(parsed("-9999999999999999999")), -static_cast<Wide>(9'999'999'999'999'999'999U));
  EXPECT_EQ(value_of(parsed("10000000000000000000")), static_cast<Wide>(10'000'000'000'000'000'000U));
  EXPECT_EQ(value_of(parsed("09999999999999999999")), static_cast<Wide>(9'999'999'999'999'999'999U));
}

TEST(WholeNumber, other_text_is_none) {
  for (const char* text : {"", "-", "+", "--5", "+-5", " 5", "5 ", "5.0", "1e2", "0x10", "five", "5a",
                           "999999999999999999a", "99999999999999999999a", "5/", "5:"}) {
    EXPECT_FALSE(is_whole_number(text)) << text;
  }
  EXPECT_FALSE(is_whole_number(std::string_view("5\0", 2)));
}

TEST(WholeNumber, minus_0_is_0) {
  EXPECT_FALSE(parsed("-0").is_negative);
  EXPECT_EQ(compare(parsed("-0"), parsed("0")), 0);
  EXPECT_EQ(nearest(tinyint_unsigned, "-000"), "0");
}

TEST(WholeNumber, beyond_64_bits_is_on_its_side_of_all_others) {
  for (const char* text : {"18446744073709551616", "99999999999999999999999999999999999999999999999999"}) {
    EXPECT_TRUE(parsed(text).is_beyond);
    EXPECT_EQ(fit_in_64_bits(parsed(text)), Fit::above);
    EXPECT_EQ(fit_in_64_bits(parsed(std::string("-") + text)), Fit::below);
    EXPECT_EQ(nearest(bigint_unsigned, text), ">18446744073709551615");
    EXPECT_EQ(nearest(bigint, std::string("-") + text), "<-9223372036854775808");
  }
  EXPECT_EQ(fit_in_64_bits(parsed("18446744073709551615")), Fit::exact);
  EXPECT_EQ(fit_in_64_bits(parsed("-18446744073709551615")), Fit::exact);
}

TEST(WholeNumber, what_was_parsed_before_leaves_nothing_behind) {
  WholeNumber number = parsed("-99999999999999999999");
  EXPECT_TRUE(parse("7", number));
  EXPECT_EQ(value_of(number), 7);
  EXPECT_FALSE(number.is_beyond);
}

TEST(WholeNumber, a_column_holds_the_numbers_between_its_ends) {
  EXPECT_EQ(nearest(tinyint, "127"), "127");
  EXPECT_EQ(nearest(tinyint, "128"), ">127");
  EXPECT_EQ(nearest(tinyint, "-128"), "-128");
  EXPECT_EQ(nearest(tinyint, "-129"), "<-128");
  EXPECT_EQ(nearest(tinyint_unsigned, "255"), "255");
  EXPECT_EQ(nearest(tinyint_unsigned, "256"), ">255");
  EXPECT_EQ(nearest(tinyint_unsigned, "-1"), "<0");
  EXPECT_EQ(nearest(bigint, "9223372036854775808"), ">9223372036854775807");
  EXPECT_EQ(nearest(bigint, "-9223372036854775809"), "<-9223372036854775808");
  EXPECT_EQ(nearest(bigint_unsigned, "18446744073709551615"), "18446744073709551615");
}

TEST(WholeNumber, the_value_of_a_column_is_read_by_its_sign) {
  EXPECT_EQ(value_of(WholeNumber::of(-1, false)), -1);
  EXPECT_EQ(value_of(WholeNumber::of(-1, true)), static_cast<Wide>(UINT64_MAX));
  EXPECT_EQ(value_of(WholeNumber::of(INT64_MIN, false)), INT64_MIN);
  EXPECT_FALSE(WholeNumber::of(INT64_MIN, false).is_beyond);
}

/// Bits of any length, so that ends of columns of all sizes are near.
Wide any_number() {
  const auto magnitude = *rc::gen::arbitrary<uint64_t>() >> *rc::gen::inRange(0, 64);
  return *rc::gen::arbitrary<bool>() ? -static_cast<Wide>(magnitude) : static_cast<Wide>(magnitude);
}

std::string text_of(Wide number) {
  const auto magnitude = static_cast<uint64_t>(number < 0 ? -number : number);
  return (number < 0 ? "-" : "") + std::string(*rc::gen::inRange(0U, 40U), '0') + std::to_string(magnitude);
}

RC_GTEST_PROP(WholeNumber, text_is_read_back, ()) {
  const Wide number = any_number();
  RC_ASSERT(value_of(parsed(text_of(number))) == number);
}

RC_GTEST_PROP(WholeNumber, the_order_is_that_of_the_numbers, ()) {
  const Wide left = any_number();
  const Wide right = *rc::gen::arbitrary<bool>() ? any_number() : left;
  const int order = left < right ? -1 : left > right ? 1 : 0;
  RC_ASSERT(compare(parsed(text_of(left)), parsed(text_of(right))) == order);
}

RC_GTEST_PROP(WholeNumber, the_nearest_is_the_number_between_the_ends_of_its_column, ()) {
  const IntegerColumn column = {*rc::gen::element<uint8_t>(1, 2, 3, 4, 8), *rc::gen::arbitrary<bool>()};
  const Wide least = column.is_unsigned ? 0 : -(Wide{1} << (8 * column.bytes - 1));
  const Wide greatest = (Wide{1} << (8 * column.bytes - (column.is_unsigned ? 0 : 1))) - 1;
  const Wide number = any_number();
  const Wide wanted = std::clamp(number, least, greatest);
  uint64_t bits = 0;
  const Fit side = fit(parsed(text_of(number)), column, bits);
  RC_ASSERT(bits == static_cast<uint64_t>(wanted));
  RC_ASSERT(side == side_of(number < wanted ? -1 : number > wanted ? 1 : 0));
}

}  // namespace
}  // namespace rowsocket::sql_values
