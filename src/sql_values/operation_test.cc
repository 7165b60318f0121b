// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/operation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cfloat>
#include <string>

#include "sql_values/whole_number.h"

namespace rowsocket::sql_values {
namespace {

constexpr SumRules adding = {false, false};
constexpr SumRules subtracting = {true, false};
constexpr SumRules adding_on_one_side = {false, true};
constexpr SumRules subtracting_on_one_side = {true, true};

Wide amount(std::string_view text) {
  Wide number = 0;
  EXPECT_TRUE(parse_amount(text, number)) << text;
  return number;
}

/// The sum's last digits, or why there is none.
std::string sum(std::string_view before, SumRules rules, std::string_view added) {
  Wide after = 0;
  switch (add(amount(before), amount(added), rules, after)) {
    case Sum::crosses_zero:
      return "crosses zero";
    case Sum::out_of_range:
      return "out of range";
    case Sum::fits:
      break;
  }
  return after < 0 ? std::to_string(static_cast<int64_t>(after))
                   : std::to_string(static_cast<uint64_t>(after));
}

Sum real_sum(double before, SumRules rules, double added, double after) {
  double sum = 0;
  const Sum outcome = add(before, added, rules, sum);
  EXPECT_TRUE(outcome != Sum::fits || sum == after) << sum;
  return outcome;
}

TEST(Operation, null_changes_nothing_unless_it_is_set) {
  using enum Operation;
  EXPECT_FALSE(changes_nothing(set, true, false));
  for (const Operation operation : {add, subtract, add_wrapping, subtract_to_zero, append, prepend}) {
    EXPECT_TRUE(changes_nothing(operation, true, false));
    EXPECT_FALSE(changes_nothing(operation, false, false));
  }
}

TEST(Operation, no_sum_changes_a_column_that_is_null) {
  using enum Operation;
  EXPECT_TRUE(changes_nothing(add, false, true) && changes_nothing(subtract, false, true));
  for (const Operation operation : {set, add_wrapping, subtract_to_zero, append, prepend}) {
    EXPECT_FALSE(changes_nothing(operation, false, true));
  }
}

TEST(Sums, a_real_number_crosses_0_unless_its_sign_is_kept) {
  EXPECT_EQ(real_sum(1, {.subtracts = true, .keeps_signs = true}, 2.5, 0), Sum::crosses_zero);
  EXPECT_EQ(real_sum(1, {.subtracts = true}, 2.5, -1.5), Sum::fits);
}

TEST(Sums, an_amount_is_a_whole_number_of_at_most_30_digits) {
  Wide number = 7;
  EXPECT_TRUE(parse_amount("12", number));
  EXPECT_TRUE(number == 12);
  EXPECT_EQ(amount("+7"), 7);
  EXPECT_EQ(amount("-007"), -7);
  EXPECT_TRUE(parse_amount("-" + std::string(30, '9'), number));
  EXPECT_FALSE(parse_amount(std::string(31, '0'), number));
  for (const char* text : {"", "-", "+", "+-1", " 1", "1 ", "1.0", "1e3", "one"}) {
    EXPECT_FALSE(parse_amount(text, number)) << text;
  }
}

TEST(Sums, go_to_the_ends_of_64_bits_with_and_without_a_sign) {
  EXPECT_EQ(sum("9223372036854775807", adding, "1"), "9223372036854775808");
  EXPECT_EQ(sum("18446744073709551614", adding, "1"), "18446744073709551615");
  EXPECT_EQ(sum("18446744073709551615", adding, "1"), "out of range");
  EXPECT_EQ(sum("-9223372036854775807", subtracting, "1"), "-9223372036854775808");
  EXPECT_EQ(sum("-9223372036854775808", subtracting, "1"), "out of range");
  EXPECT_EQ(sum("-9223372036854775808", adding, "18446744073709551616"), "9223372036854775808");
  const std::string greatest(30, '9');
  EXPECT_EQ(sum(greatest, adding, greatest), "out of range");
  EXPECT_EQ(sum(greatest, subtracting, greatest), "0");
}

TEST(Sums, that_keep_signs_stop_before_zero_is_crossed) {
  EXPECT_EQ(sum("5", subtracting_on_one_side, "5"), "0");
  EXPECT_EQ(sum("5", subtracting_on_one_side, "6"), "crosses zero");
  EXPECT_EQ(sum("-5", adding_on_one_side, "5"), "0");
  EXPECT_EQ(sum("-5", adding_on_one_side, "6"), "crosses zero");
  EXPECT_EQ(sum("0", subtracting_on_one_side, "6"), "-6");
  EXPECT_EQ(sum("5", subtracting_on_one_side, std::string(30, '9')), "crosses zero")
      << "the row stays, though the sum would not fit either";
}

TEST(Sums, of_reals_are_finite) {
  EXPECT_EQ(real_sum(0.5, adding, 0.25, 0.75), Sum::fits);
  EXPECT_EQ(real_sum(DBL_MAX, adding, DBL_MAX, 0), Sum::out_of_range);
  EXPECT_EQ(real_sum(-DBL_MAX, subtracting, DBL_MAX, 0), Sum::out_of_range);
  EXPECT_EQ(real_sum(0.5, subtracting_on_one_side, 0.5, 0), Sum::fits);
  EXPECT_EQ(real_sum(0.5, subtracting_on_one_side, 0.75, 0), Sum::crosses_zero);
  EXPECT_EQ(real_sum(-0.0, adding_on_one_side, 1, 1), Sum::fits);
}

TEST(Counters, are_numbers_from_0_to_the_largest_of_64_bits) {
  uint64_t number = 0;
  EXPECT_TRUE(parse_counter("18446744073709551615", number));
  EXPECT_EQ(number, UINT64_MAX);
  EXPECT_TRUE(parse_counter("007", number));
  EXPECT_EQ(number, 7U);
  for (const char* text : {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "1.0"}) {
    EXPECT_FALSE(parse_counter(text, number)) << text;
  }
}

TEST(Counters, wrap_upwards_and_stop_at_0_downwards) {
  EXPECT_EQ(count(5, 7, false), 12U);
  EXPECT_EQ(count(UINT64_MAX, 1, false), 0U);
  EXPECT_EQ(count(5, UINT64_MAX, false), 4U);
  EXPECT_EQ(count(5, 2, true), 3U);
  EXPECT_EQ(count(5, 5, true), 0U);
  EXPECT_EQ(count(5, UINT64_MAX, true), 0U);
}

RC_GTEST_PROP(Sums, what_is_added_can_be_subtracted, (int64_t before, int64_t added)) {
  Wide after = 0;
  Wide again = 0;
  RC_PRE(add(before, added, adding, after) == Sum::fits);
  RC_ASSERT(add(after, added, subtracting, again) == Sum::fits);
  RC_ASSERT(again == before);
}

RC_GTEST_PROP(Sums, that_keep_signs_are_those_that_do_not_or_none, (int64_t before, int64_t added)) {
  Wide free = 0;
  Wide kept = 0;
  const Sum outcome = add(before, added, subtracting, free);
  const Sum outcome_kept = add(before, added, subtracting_on_one_side, kept);
  const bool crosses = (before < 0 && free > 0) || (before > 0 && free < 0);
  RC_ASSERT(outcome_kept == (crosses ? Sum::crosses_zero : outcome));
  RC_ASSERT(kept == free);
}

/// Three read digits: what is a counter is an amount, and what is an amount is a whole number.
RC_GTEST_PROP(Sums, all_readers_of_numbers_agree, ()) {
  const auto sign = *rc::gen::element<std::string>("", "+", "-", "--", " ");
  const auto digits = *rc::gen::container<std::string>(rc::gen::element('0', '1', '5', '9'));
  const std::string text = sign + digits;
  Wide wide = 0;
  WholeNumber whole;
  uint64_t counter = 0;
  const bool is_whole = parse(text, whole);
  RC_ASSERT(parse_amount(text, wide) == (is_whole && digits.size() <= 30));
  RC_ASSERT(parse_counter(text, counter) == (is_whole && sign.empty() && !whole.is_beyond));
  if (is_whole && !whole.is_beyond && digits.size() <= 30) {
    const Wide magnitude = whole.magnitude;
    RC_ASSERT(wide == (whole.is_negative ? -magnitude : magnitude));
  }
  RC_ASSERT(counter == 0 || counter == whole.magnitude);
}

}  // namespace
}  // namespace rowsocket::sql_values
