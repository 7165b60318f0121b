// SPDX-License-Identifier: GPL-2.0-only
//
// Framing and escaping, with a format of which every part differs from every protocol's: nothing may be
// assumed.
#include "request/value_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace rowsocket {
namespace {

constexpr ValueFormat peculiar = {
    .separator = '|', .null_token = "nil", .escape_below = 0x21, .escape_lead = '!', .escape_shift = 0x40};

/// The same, one byte after the other.
std::string escaped(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (static_cast<unsigned char>(byte) < peculiar.escape_below) {
      text += peculiar.escape_lead;
      text += static_cast<char>(byte + peculiar.escape_shift);
    } else {
      text += byte;
    }
  }
  return text;
}

std::string written(std::string_view bytes) {
  Buffer out;
  ValueWriter(out, peculiar).text(bytes);
  return std::string(out.view());
}

TEST(ValueWriter, SeparatorStandsBeforeEachValue) {
  Buffer out;
  ValueWriter values(out, peculiar);
  values.text("a");
  values.null();
  values.plain("b c");
  values.integer(-7);
  values.text("");
  values.plain({});
  EXPECT_EQ(out.view(), "|a|nil|b c|-7||");
}

TEST(ValueWriter, NumbersAreDecimalToTheirEnds) {
  Buffer out;
  ValueWriter values(out, peculiar);
  values.integer(std::numeric_limits<int64_t>::min());
  values.integer(std::numeric_limits<int64_t>::max());
  values.unsigned_integer(std::numeric_limits<uint64_t>::max());
  values.unsigned_integer(0);
  EXPECT_EQ(out.view(), "|-9223372036854775808|9223372036854775807|18446744073709551615|0");
}

TEST(ValueWriter, EscapesTheBytesBelowTheLimitAndNoOther) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(written(bytes), "|" + escaped(bytes)) << byte;
  }
}

TEST(ValueWriter, EscapesAByteAtEveryPlaceOfEveryLength) {
  for (size_t size = 1; size <= 50; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string bytes(size, '\xFF');
      bytes[at] = '\n';
      EXPECT_EQ(written(bytes), "|" + escaped(bytes)) << size << " bytes, the one at " << at;
    }
  }
}

TEST(ValueWriter, AnEmptyTextWithoutAnAddressIsEmpty) { EXPECT_EQ(written({}), "|"); }

TEST(ValueWriter, AValueThatDoesNotFitFailsTheBuffer) {
  Buffer out(8);
  ValueWriter values(out, peculiar);
  values.plain("12345678");
  EXPECT_TRUE(out.failed());
  out.clear();
  values.text("12345678");
  EXPECT_TRUE(out.failed());
  EXPECT_TRUE(out.empty());
}

// --- Lengths in front, and bytes alone

constexpr ValueFormat length_format = {
    .framing = ValueFormat::Framing::length_prefixed, .length_lead = '#', .null_token = "#-1\r\n"};
constexpr ValueFormat bare_format = {.framing = ValueFormat::Framing::bare};

void write_one_of_each(ValueWriter& values) {
  values.text("a\tb");
  values.null();
  values.plain("2024-02-29");
  values.integer(-7);
  values.unsigned_integer(18446744073709551615U);
  values.text({});
}

TEST(ValueWriter, ALengthStandsBeforeEachValueWhereTheFormatHasIt) {
  Buffer out;
  ValueWriter values(out, length_format);
  write_one_of_each(values);
  EXPECT_EQ(
      out.view(),
      "#3\r\na\tb\r\n#-1\r\n#10\r\n2024-02-29\r\n#2\r\n-7\r\n#20\r\n18446744073709551615\r\n#0\r\n\r\n");
}

// --- Names of columns

void write_named_columns(ValueWriter& values) {
  values.begin_row();
  values.name("id");
  values.integer(7);
  values.name("colour");
  values.null();
  values.name("size");
  values.text("XL");
}

std::string named(ValueFormat::Named what, bool leaves_out_null, uint32_t& told) {
  ValueFormat named_format = length_format;
  named_format.named = what;
  named_format.leaves_out_null = leaves_out_null;
  Buffer out;
  told = 0;
  ValueWriter values(out, named_format, {.told_count = &told});
  write_named_columns(values);
  return std::string(out.view());
}

TEST(ValueWriter, NamesStandBeforeValuesWhereTheFormatHasThem) {
  using Named = ValueFormat::Named;
  uint32_t told = 0;
  EXPECT_EQ(named(Named::names_and_values, false, told),
            "#2\r\nid\r\n#1\r\n7\r\n#6\r\ncolour\r\n#-1\r\n#4\r\nsize\r\n#2\r\nXL\r\n");
  EXPECT_EQ(told, 3U);
  EXPECT_EQ(named(Named::values, false, told), "#1\r\n7\r\n#-1\r\n#2\r\nXL\r\n");
}

TEST(ValueWriter, WhatIsNullIsLeftOutAndNotCountedWhereTheFormatSaysSo) {
  using Named = ValueFormat::Named;
  uint32_t told = 0;
  EXPECT_EQ(named(Named::names, true, told), "#2\r\nid\r\n#4\r\nsize\r\n");
  EXPECT_EQ(told, 2U);
  EXPECT_EQ(named(Named::values, true, told), "#1\r\n7\r\n#2\r\nXL\r\n");
  EXPECT_EQ(told, 2U);
}

TEST(ValueWriter, BareValuesAreTheirBytes) {
  Buffer out;
  ValueWriter values(out, bare_format);
  write_one_of_each(values);
  EXPECT_EQ(out.view(), "a\tb2024-02-29-718446744073709551615");
}

TEST(ValueWriter, AValueOfALengthThatDoesNotFitFailsTheBuffer) {
  Buffer out(40);
  ValueWriter values(out, length_format);
  values.text(std::string(40, 'x'));
  EXPECT_TRUE(out.failed());
  EXPECT_TRUE(out.empty());
}

// --- What a reply has with each column

TEST(ValueWriter, APrefixStandsBeforeTheValueOfItsColumnInEachRow) {
  constexpr std::string_view prefixes[] = {"<k>", "<v>"};
  const auto rows_in = [&prefixes](const ValueFormat& of) {
    Buffer out;
    ValueWriter values(out, of, {.prefixes = prefixes});
    for (const std::string_view key : {"1", "2"}) {
      values.begin_row();
      values.plain(key);
      values.null();
    }
    return std::string(out.view());
  };
  EXPECT_EQ(rows_in(peculiar), "<k>|1<v>|nil<k>|2<v>|nil");
  EXPECT_EQ(rows_in(length_format), "<k>#1\r\n1\r\n<v>#-1\r\n<k>#1\r\n2\r\n<v>#-1\r\n");
}

TEST(ValueWriter, AReplyLearnsWhereEachValueOfARowEnds) {
  Buffer out;
  out.append("head ");
  ColumnEnd ends[3] = {};
  ValueWriter values(out, bare_format, {.ends = ends});
  for (const std::string_view text : {"longer than the next", "a\n"}) {
    values.begin_row();
    values.text(text);
    values.null();
    values.integer(10);
  }
  const size_t second_row = std::string_view("head longer than the next10").size();
  EXPECT_EQ(ends[0].bytes, second_row + 2);
  EXPECT_FALSE(ends[0].is_null);
  EXPECT_EQ(ends[1].bytes, second_row + 2);
  EXPECT_TRUE(ends[1].is_null);
  EXPECT_EQ(ends[2].bytes, second_row + 4);
  EXPECT_FALSE(ends[2].is_null);
}

// --- Any text

RC_GTEST_PROP(ValueWriterProperty, EscapesAnyText, (const std::string& bytes)) {
  RC_ASSERT(written(bytes) == "|" + escaped(bytes));
}

}  // namespace
}  // namespace rowsocket
