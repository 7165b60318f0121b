// SPDX-License-Identifier: GPL-2.0-only
//
// Bytes to words: arrays, lines, what is wrong with either, and how much memory a length may ask for.
#include "wire/resp/arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rowsocket::wire::resp {
namespace {

using Status = Reading::Status;

class ArgumentsTest : public testing::Test {
 protected:
  Reading read(std::string_view input, size_t bytes_max = 4096) {
    size_t needed_bytes = 0;
    return read_arguments(input, bytes_max, arena_, needed_bytes);
  }
  std::vector<std::string> words(std::string_view input) {
    const Reading reading = read(input);
    EXPECT_EQ(reading.status, Status::whole) << input;
    EXPECT_EQ(reading.bytes, input.size()) << input;
    return {reading.arguments.begin(), reading.arguments.end()};
  }
  std::string problem(std::string_view input, size_t bytes_max = 4096) {
    const Reading reading = read(input, bytes_max);
    EXPECT_EQ(reading.status, Status::broken) << input;
    return std::string(reading.problem);
  }
  using Words = std::vector<std::string>;

  Arena arena_;
};

TEST_F(ArgumentsTest, AnArrayHoldsAnyBytes) {
  EXPECT_EQ(words("*2\r\n$3\r\nGET\r\n$4\r\n\r\n*1\r\n"), (Words{"GET", "\r\n*1"}));
  EXPECT_EQ(words("*1\r\n$0\r\n\r\n"), (Words{""}));
}

TEST_F(ArgumentsTest, ALineIsWordsOfWhichSomeAreQuoted) {
  EXPECT_EQ(words("GET a\r\n"), (Words{"GET", "a"}));
  EXPECT_EQ(words("  GET\t a  \n"), (Words{"GET", "a"}));
  EXPECT_EQ(words("SET a \"b c\\x41\\n\" 'd \\'e'\r\n"), (Words{"SET", "a", "b cA\n", "d 'e"}));
  EXPECT_EQ(words("SET a \"\\r\\t\\b\\a\\q\"\r\n"), (Words{"SET", "a", "\r\t\b\aq"}));
  EXPECT_EQ(words("ECHO \"\"\r\n"), (Words{"ECHO", ""}));
  EXPECT_EQ(words("ECHO \"\\x4:\\x4/\\xg1\"\r\n"), (Words{"ECHO", "x4:x4/xg1"})) << "no hexadecimal digits";
}

TEST_F(ArgumentsTest, ARequestWithoutWordsIsEmpty) {
  for (const std::string_view input : {"\r\n", "\n", "  \r\n", "*0\r\n", "*-1\r\n"}) {
    const Reading reading = read(input);
    EXPECT_EQ(reading.status, Status::empty) << input;
    EXPECT_EQ(reading.bytes, input.size()) << input;
  }
}

TEST_F(ArgumentsTest, FewerBytesAreNoRequest) {
  for (const std::string_view input :
       {std::string_view("*2\r\n$3\r\nGET\r\n$1\r\na\r\n"), std::string_view("SET a \"b c\"\r\n")}) {
    for (size_t size = 1; size < input.size(); ++size) {
      const std::vector<char> cut(input.begin(),
                                  input.begin() + static_cast<ptrdiff_t>(size));  // a sanitizer sees its end
      EXPECT_EQ(read({cut.data(), cut.size()}).status, Status::need_more) << size << " bytes of " << input;
    }
  }
}

TEST_F(ArgumentsTest, WhatIsWrongIsSaidAsRedisSaysIt) {
  EXPECT_EQ(problem("*x\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(problem("*20000000\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(problem("*" + std::string(40, '1')), "Protocol error: too big mbulk count string");
  EXPECT_EQ(problem("*1\r\nfoo\r\n"), "Protocol error: expected '$', got 'f'");
  EXPECT_EQ(problem("*1\r\n\r\n"), "Protocol error: expected '$', got ' '");
  EXPECT_EQ(problem("*01\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(problem("*1\r\n$04\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$x\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$-1\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(problem("*1\r\n$" + std::string(40, '1')), "Protocol error: too big bulk count string");
  EXPECT_EQ(problem("*1\r\n$1\r\nabc"), "Protocol error: no line end behind a string");
  EXPECT_EQ(problem("SET a \"b\r\n"), "Protocol error: unbalanced quotes in request");
  EXPECT_EQ(problem("SET a \"b\"c\r\n"), "Protocol error: unbalanced quotes in request");
}

TEST_F(ArgumentsTest, ARequestBeyondTheLongestIsRefusedByItsLengths) {
  EXPECT_EQ(problem("*1\r\n$100\r\n", 100), "Protocol error: invalid bulk length");
  EXPECT_EQ(problem("*100\r\n", 100), "Protocol error: invalid multibulk length");
  EXPECT_EQ(problem(std::string(101, 'a'), 100), "Protocol error: too big inline request");
  EXPECT_EQ(read(std::string(100, 'a'), 100).status, Status::need_more);
}

TEST_F(ArgumentsTest, ALengthAloneTakesNoMemory) {
  EXPECT_EQ(read("*1000000\r\n$1\r\n", size_t{64} * 1024 * 1024).status, Status::need_more);
  EXPECT_LT(arena_.held_bytes(), size_t{32} * 1024);
}

TEST_F(ArgumentsTest, ALongRequestIsNotReadAgainBeforeItsBytesCanBeThere) {
  std::string input = "*2\r\n$8000\r\n" + std::string(5000, 'a');
  size_t needed_bytes = 0;
  EXPECT_EQ(read_arguments(input, 1 << 20, arena_, needed_bytes).status, Status::need_more);
  EXPECT_EQ(needed_bytes, 11U + 8000 + 2 + 6);
  input += std::string(3000, 'a') + "\r\n$1\r\nb\r\n";
  EXPECT_EQ(read_arguments(input, 1 << 20, arena_, needed_bytes).status, Status::whole);
}

}  // namespace
}  // namespace rowsocket::wire::resp
