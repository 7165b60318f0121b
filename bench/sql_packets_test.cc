// SPDX-License-Identifier: GPL-2.0-only
#include "bench/sql_packets.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rowsocket::bench::sql {
namespace {

using namespace std::string_literals;

std::string packet(uint8_t sequence, std::string_view payload) {
  Buffer out;
  Packet one(out, sequence);
  out.append(payload);
  one.finish();
  return std::string(out.view());
}

std::string binary(ColumnKind kind, std::string_view text) {
  Buffer out;
  append_binary_value(out, kind, text);
  return std::string(out.view());
}

const std::string end = "\xFE\0\0\2\0"s;
const std::string head = packet(1, "\2") + packet(2, "name") + packet(3, "email") + packet(4, end);

TEST(SqlPackets, APacketHasItsLengthAndNumber) { EXPECT_EQ(packet(7, "abc"), "\3\0\0\7abc"s); }

TEST(SqlPackets, ALongTextHasALongLength) {
  Buffer out;
  append_text(out, std::string(300, 'a'));
  EXPECT_EQ(out.view().substr(0, 4), "\xFC\x2C\1a"s);
}

TEST(SqlPackets, ValuesOfPreparedStatements) {
  EXPECT_EQ(binary(ColumnKind::tiny, "7"), "\7"s);
  EXPECT_EQ(binary(ColumnKind::normal, "258"), "\2\1\0\0"s);
  EXPECT_EQ(binary(ColumnKind::text, "ab"), "\2ab"s);
  EXPECT_EQ(binary(ColumnKind::datetime, "2026-01-31 12:00:59"), "\7\xEA\7\1\x1F\x0C\0\x3B"s);
  EXPECT_EQ(binary(ColumnKind::datetime, "2026-01-31 00:00:00"), "\4\xEA\7\1\x1F"s);
}

TEST(SqlPackets, WhatStandsAroundTheRowsIsLearned) {
  const auto frame = parse_result(head + packet(5, "row") + packet(6, "row") + packet(7, end));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->head, head);
  EXPECT_EQ(frame->first_row, 5);
  EXPECT_EQ(frame->tail_payload, end);
}

TEST(SqlPackets, APreparedStatementMayLeaveOutTheColumns) {
  const std::string short_head = packet(1, "\2\0"s) + packet(2, end);
  const auto frame = parse_result(short_head + packet(3, "\0row"s) + packet(4, end));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->head, short_head);
  EXPECT_EQ(frame->first_row, 3);
}

TEST(SqlPackets, AResultIsTakenOnlyWhole) {
  const std::string result = head + packet(5, "row") + packet(6, end);
  for (size_t length = 0; length < result.size(); ++length) {
    EXPECT_FALSE(parse_result(std::string_view(result).substr(0, length))) << length;
  }
}

TEST(SqlPackets, AnErrorIsShown) { EXPECT_THROW((void)parse_result(packet(1, "\xFF no such table")), std::runtime_error); }

TEST(SqlPackets, AnOkSaysHowManyRowsWereChanged) {
  const std::string ok = packet(1, "\0\1\0\2\0\0\0"s);
  EXPECT_FALSE(parse_ok(ok.substr(0, 6)));
  EXPECT_EQ(parse_ok(ok)->rows_changed, 1u);
  EXPECT_EQ(parse_ok(ok)->size, ok.size());
  EXPECT_EQ(parse_ok(packet(1, "\xFF error"))->size, 0u);
}

}  // namespace
}  // namespace rowsocket::bench::sql
