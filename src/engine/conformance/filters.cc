// SPDX-License-Identifier: GPL-2.0-only
//
// Cursor::set_filters and verdict: what the filters say of the current row. What is done about it is exec's
// business.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

class Filters : public Contract {
 protected:
  /// A character for each row: its id where it matches conditions on "stock" (0) and "name" (1), else - for
  /// skip, ! for stop and ? for refuse.
  std::string matching(const std::vector<Filter>& filters) {
    Selection& index = client().open(item("", "stock,name"));
    std::string matches;
    const Error error = client().request(index, Intent::read, [&](Cursor& cursor) {
      Error refused = cursor.set_filters(filters);
      const Texts key{"0"};
      for (Step step = cursor.seek({.key_operator = KeyOperator::after, .key = key});
           step == Step::row && refused.ok(); step = cursor.next()) {
        const Verdict verdict = cursor.verdict();
        if (verdict == Verdict::match) {
          matches += row_of(cursor).substr(0, 1);
        } else {
          matches += verdict == Verdict::stop ? "!" : verdict == Verdict::refuse ? "?" : "-";
        }
      }
      return refused;
    });
    return error.ok() ? matches : "error";
  }
  static Filter stock(Comparison comparison, const char* value) {
    return {Mismatch::skip, comparison, 0, value == nullptr ? Value() : Value(std::string_view(value))};
  }
  static Filter name(Comparison comparison, const char* value) {
    return {Mismatch::skip, comparison, 1, Value(std::string_view(value))};
  }
  static Filter stopping(Filter filter) {
    filter.mismatch = Mismatch::stop;
    return filter;
  }
  static Filter refusing(Filter filter) {
    filter.mismatch = Mismatch::refuse;
    return filter;
  }
};

using enum Comparison;

TEST_P(Filters, without_filters_every_row_matches) { EXPECT_EQ(matching({}), "1234"); }

TEST_P(Filters, every_comparison_of_numbers) {
  EXPECT_EQ(matching({stock(equal, "10")}), "-2--");
  EXPECT_EQ(matching({stock(not_equal, "10")}), "1-34");
  EXPECT_EQ(matching({stock(less, "20")}), "-2-4");
  EXPECT_EQ(matching({stock(less_or_equal, "10")}), "-2-4");
  EXPECT_EQ(matching({stock(greater, "10")}), "1-3-");
  EXPECT_EQ(matching({stock(greater_or_equal, "10")}), "123-");
}

TEST_P(Filters, every_comparison_of_text) {
  EXPECT_EQ(matching({name(equal, "cup")}), "--3-");
  EXPECT_EQ(matching({name(not_equal, "cup")}), "12-4");
  EXPECT_EQ(matching({name(less, "cup")}), "1--4");
  EXPECT_EQ(matching({name(less_or_equal, "cup")}), "1-34");
  EXPECT_EQ(matching({name(greater, "cap")}), "-23-");
  EXPECT_EQ(matching({name(greater_or_equal, "cap")}), "123-");
}

TEST_P(Filters, null_sorts_before_every_value_and_equals_null) {
  EXPECT_EQ(matching({stock(equal, nullptr)}), "---4");
  EXPECT_EQ(matching({stock(not_equal, nullptr)}), "123-");
  EXPECT_EQ(matching({stock(greater, nullptr)}), "123-");
  EXPECT_EQ(matching({stock(greater_or_equal, nullptr)}), "1234");
  EXPECT_EQ(matching({stock(less, nullptr)}), "----");
  EXPECT_EQ(matching({stock(less_or_equal, nullptr)}), "---4");
}

TEST_P(Filters, a_value_that_no_row_can_have_is_compared_all_the_same) {
  EXPECT_EQ(matching({stock(less, "99999999999999999999")}), "1234");
  EXPECT_EQ(matching({stock(greater, "-99999999999999999999")}), "123-");
  EXPECT_EQ(matching({stock(equal, "99999999999999999999")}), "----");
  EXPECT_EQ(matching({name(less, "cupsy")}), "1-34");
}

TEST_P(Filters, a_row_matches_all_of_them) {
  EXPECT_EQ(matching({stock(equal, "20"), name(greater, "cap")}), "--3-");
}

TEST_P(Filters, one_that_stops_at_a_mismatch_says_stop) {
  EXPECT_EQ(matching({stopping(stock(greater, "15"))}), "1!3!");
}

TEST_P(Filters, one_that_refuses_at_a_mismatch_says_refuse) {
  EXPECT_EQ(matching({refusing(stock(greater, "15"))}), "1?3?");
}

TEST_P(Filters, an_expiry_time_that_is_not_over_is_greater_or_0_or_null) {
  host().insert("d.item", {"5", "ink", "0"});
  EXPECT_EQ(matching({stock(greater_or_unset, "15")}), "1-345");
  EXPECT_EQ(matching({stock(greater_or_unset, "20")}), "---45");
}

TEST_P(Filters, of_texts_0_alone_is_an_unset_expiry_time) {
  host().insert("d.item", {"5", "0", "1"});
  host().insert("d.item", {"6", "0x", "1"});
  EXPECT_EQ(matching({name(greater_or_unset, "zzz")}), "----5-");
}

TEST_P(Filters, the_first_mismatch_decides) {
  EXPECT_EQ(matching({stock(equal, "20"), stopping(name(less, "cup"))}), "1-!-");
  EXPECT_EQ(matching({stopping(stock(equal, "20")), name(less, "cup")}), "1!-!");
  EXPECT_EQ(matching({refusing(stock(equal, "20")), stopping(name(less, "cup"))}), "1?!?");
}

TEST_P(Filters, the_next_request_has_none_of_them) {
  EXPECT_EQ(matching({stock(equal, "10")}), "-2--");
  EXPECT_EQ(matching({}), "1234");
}

TEST(NameCount, names_have_commas_between) {
  EXPECT_EQ(name_count(""), 0U);
  EXPECT_EQ(name_count("a"), 1U);
  EXPECT_EQ(name_count("a,b,c"), 3U);
}

INSTANTIATE_TEST_SUITE_P(, Filters, testing::ValuesIn(every_kind()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
