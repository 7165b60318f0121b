// SPDX-License-Identifier: GPL-2.0-only
#include "request/parsed_ahead.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "request/settings.h"

namespace rowsocket {
namespace {

/// Requests are lines. One that begins with `s` is stateless, and one with `p` changes the state when it is
/// parsed.
class LineProtocol final : public Protocol {
 public:
  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    const size_t end = input.find('\n', parsing.scanned_bytes);
    if (end == std::string_view::npos) {
      parsing.scanned_bytes = input.size();
      return {.status = Parsed::Status::need_more};
    }
    if (input[0] == 'p' && parsing.is_ahead) {
      return {.status = Parsed::Status::later};
    }
    return {.status = Parsed::Status::request, .consumed_bytes = end + 1, .is_stateless = input[0] == 's'};
  }
  void refuse_stream(Buffer&, const Error&, const Settings&) const override {}
};

class ParsedAheadTest : public testing::Test {
 protected:
  void parse(std::string_view input, size_t count_max = limits::requests_ahead_max) {
    ahead_.parse(protocol_, input,
                 {.settings = settings_,
                  .arena = arena_,
                  .out = out_,
                  .state = nullptr,
                  .scanned_bytes = scanned_bytes_},
                 count_max);
  }
  /// How many bytes each of those that were parsed has.
  std::string sizes() {
    std::string text;
    while (!ahead_.is_empty()) {
      const Parsed& parsed = ahead_.take();
      text +=
          parsed.status == Parsed::Status::need_more ? "more " : std::to_string(parsed.consumed_bytes) + " ";
    }
    return text;
  }

  LineProtocol protocol_;
  Settings settings_;
  Arena arena_;
  Buffer out_;
  size_t scanned_bytes_ = 0;
  ParsedAhead ahead_;
};

TEST_F(ParsedAheadTest, stateless_requests_are_parsed_in_one_go) {
  parse("s\nss\nsss\n");
  EXPECT_EQ(sizes(), "2 3 4 ");
}

TEST_F(ParsedAheadTest, nothing_is_parsed_behind_one_that_changes_what_it_means) {
  parse("s\nx\nss\n");
  EXPECT_EQ(sizes(), "2 2 ");
  parse("x\nss\n");
  EXPECT_EQ(sizes(), "2 ");
}

TEST_F(ParsedAheadTest, one_whose_parse_changes_the_state_waits_until_those_before_it_are_executed) {
  parse("s\nppp\n");
  EXPECT_EQ(sizes(), "2 ");
  parse("ppp\ns\n");
  EXPECT_EQ(sizes(), "4 ");
}

TEST_F(ParsedAheadTest, there_are_no_more_than_are_asked_for) {
  parse("s\ns\ns\n", 2);
  EXPECT_EQ(sizes(), "2 2 ");
}

TEST_F(ParsedAheadTest, there_are_no_more_than_the_limit) {
  std::string input;
  std::string expected;
  for (size_t number = 0; number < limits::requests_ahead_max; ++number) {
    input += "s\n";
    expected += "2 ";
  }
  parse(input + "s\n", 1000);
  EXPECT_EQ(sizes(), expected);
}

TEST_F(ParsedAheadTest, nothing_is_parsed_behind_a_long_one) {
  const std::string longest(limits::bytes_ahead_max - 2, 's');
  parse(longest + "\ns\ns\n");
  EXPECT_EQ(sizes(), std::to_string(longest.size() + 1) + " 2 ");
}

TEST_F(ParsedAheadTest, an_incomplete_one_is_told_behind_those_before_it_and_not_searched_again) {
  parse("s\nss");
  EXPECT_EQ(sizes(), "2 more ");
  ahead_.forget(scanned_bytes_);
  EXPECT_EQ(scanned_bytes_, 2U);
}

TEST_F(ParsedAheadTest, what_is_left_is_parsed_again_from_its_first_byte) {
  parse("s\nss");
  static_cast<void>(ahead_.take());
  ahead_.forget(scanned_bytes_);
  EXPECT_TRUE(ahead_.is_empty());
  EXPECT_EQ(scanned_bytes_, 0U);
}

}  // namespace
}  // namespace rowsocket
