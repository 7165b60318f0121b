// SPDX-License-Identifier: GPL-2.0-only
#include "bench/form.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rowsocket::bench {
namespace {

Field number(size_t at, size_t width) { return {.at = at, .width = width}; }

/// The form filled in for one key.
std::string written(const Form& form, uint32_t key, uint64_t tick = 0, uint64_t connection = 0) {
  const std::vector<uint32_t> keys{key};
  std::string out = "before ";
  form.write({keys, tick, connection}, out);
  return out.substr(7);
}

/// What `take` makes of a reply that arrives in pieces of so many bytes: "right", "wrong" or "not whole".
std::string taken(const Form& form, uint32_t key, const std::string& reply, size_t piece_bytes) {
  const std::vector<uint32_t> keys{key};
  Progress progress;
  for (size_t at = 0; at < reply.size(); at += piece_bytes) {
    const std::string piece = reply.substr(at, piece_bytes);  // so that reading beyond it is seen
    std::string_view received = piece;
    if (!form.take({keys, 0, 0}, received, progress) || !received.empty()) {
      return "wrong";
    }
  }
  return form.is_whole(progress) ? "right" : "not whole";
}

TEST(FormTest, PutsNumbersIntoTheirFields) {
  EXPECT_EQ(written(Form("get user:0000\r\n", {number(9, 4)}), 42), "get user:0042\r\n");
  EXPECT_EQ(written(Form("00:00", {number(0, 2), number(3, 2)}), 7), "07:07");
}

TEST(FormTest, CalculatesBeforeItPuts) {
  Field field = number(0, 3);
  field.multiply = 20;
  field.add = 19;
  EXPECT_EQ(written(Form("000", {field}), 6), "139");
  field.divide = 10;
  EXPECT_EQ(written(Form("000", {field}), 6), "013");
  field.modulo = 10;
  EXPECT_EQ(written(Form("000", {field}), 6), "003");
  field = number(0, 3);
  field.add = static_cast<uint64_t>(-5);
  EXPECT_EQ(written(Form("000", {field}), 6), "001");
}

TEST(FormTest, WritesLittleEndianWhereItIsAskedTo) {
  Field field = number(0, 4);
  field.binary = true;
  EXPECT_EQ(written(Form("0000", {field}), 0x01020304), "\x04\x03\x02\x01");
}

TEST(FormTest, TakesOtherSourcesThanKeys) {
  Field tick = number(0, 2);
  tick.of = Source::tick;
  Field connection = number(2, 2);
  connection.of = Source::connection;
  EXPECT_EQ(written(Form("0000", {tick, connection}), 1, 22, 33), "2233");
}

TEST(FormTest, KnowsTheRightReplyHoweverItIsCut) {
  const Form form("0\t1\tuser0000\n", {number(8, 4)});
  const std::string right = "0\t1\tuser0042\n";
  for (size_t piece_bytes = 1; piece_bytes <= right.size(); ++piece_bytes) {
    EXPECT_EQ(taken(form, 42, right, piece_bytes), "right");
  }
  EXPECT_EQ(taken(form, 42, right.substr(0, 9), 3), "not whole");
}

TEST(FormTest, SeesOneWrongByteWhereverItIs) {
  const Form form("0\t1\tuser0000\n", {number(8, 4)});
  for (size_t at = 0; at < 13; ++at) {
    std::string wrong = "0\t1\tuser0042\n";
    wrong[at] = '!';
    EXPECT_EQ(taken(form, 42, wrong, 13), "wrong") << at;
    EXPECT_EQ(taken(form, 42, wrong, 1), "wrong") << at;
  }
  EXPECT_EQ(taken(form, 42, "2\tstmtnum\n", 13), "wrong");
}

TEST(FormTest, LeavesTheNextReplyAlone) {
  const Form form("+OK\r\n", {});
  const std::vector<uint32_t> keys{1};
  Progress progress;
  std::string_view received = "+OK\r\n+O";
  EXPECT_TRUE(form.take({keys, 0, 0}, received, progress));
  EXPECT_TRUE(form.is_whole(progress));
  EXPECT_EQ(received, "+O");
}

TEST(FormTest, TakesAnyDigitsWhereTheyStand) {
  Field digits = number(1, 0);
  digits.of = Source::digits;
  const Form form(":\r\n", {digits});
  for (const size_t piece_bytes : {1, 2, 9}) {
    EXPECT_EQ(taken(form, 1, ":12345\r\n", piece_bytes), "right");
    EXPECT_EQ(taken(form, 1, ":7\r\n", piece_bytes), "right");
    EXPECT_EQ(taken(form, 1, ":\r\n", piece_bytes), "wrong");
    EXPECT_EQ(taken(form, 1, ":1x\r\n", piece_bytes), "wrong");
  }
}

TEST(FormTest, RefusesFieldsThatDoNotFit) {
  EXPECT_THROW(Form("000", {number(1, 3)}), std::runtime_error);
  EXPECT_THROW(Form("000", {number(1, 1), number(0, 1)}), std::runtime_error);
  EXPECT_THROW(Form(std::string(30, '0'), {number(0, 21)}), std::runtime_error);
}

}  // namespace
}  // namespace rowsocket::bench
