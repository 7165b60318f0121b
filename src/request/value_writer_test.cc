// SPDX-License-Identifier: GPL-2.0-only
//
// Framing and escaping, with a format of which every part differs from every protocol's: nothing may be assumed.
#include "request/value_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace rowsocket {
namespace {

constexpr ValueFormat format = {
    .separator = '|', .null_token = "nil", .escape_below = 0x21, .escape_lead = '!', .escape_shift = 0x40};

/// The same, one byte after the other.
std::string escaped(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (static_cast<unsigned char>(byte) < format.escape_below) {
      text += format.escape_lead;
      text += static_cast<char>(byte + format.escape_shift);
    } else {
      text += byte;
    }
  }
  return text;
}

std::string text_of(std::string_view bytes) {
  Buffer out;
  ValueWriter(out, format).text(bytes);
  return std::string(out.view());
}

TEST(ValueWriter, SeparatorStandsBeforeEachValue) {
  Buffer out;
  ValueWriter values(out, format);
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
  ValueWriter values(out, format);
  values.integer(std::numeric_limits<int64_t>::min());
  values.integer(std::numeric_limits<int64_t>::max());
  values.unsigned_integer(std::numeric_limits<uint64_t>::max());
  values.unsigned_integer(0);
  EXPECT_EQ(out.view(), "|-9223372036854775808|9223372036854775807|18446744073709551615|0");
}

TEST(ValueWriter, EscapesTheBytesBelowTheLimitAndNoOther) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(text_of(bytes), "|" + escaped(bytes)) << byte;
  }
}

TEST(ValueWriter, EscapesAByteAtEveryPlaceOfEveryLength) {
  for (size_t size = 1; size <= 50; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string bytes(size, '\xFF');
      bytes[at] = '\n';
      EXPECT_EQ(text_of(bytes), "|" + escaped(bytes)) << size << " bytes, the one at " << at;
    }
  }
}

TEST(ValueWriter, AnEmptyTextWithoutAnAddressIsEmpty) { EXPECT_EQ(text_of({}), "|"); }

TEST(ValueWriter, AValueThatDoesNotFitFailsTheBuffer) {
  Buffer out(8);
  ValueWriter values(out, format);
  values.plain("12345678");
  EXPECT_TRUE(out.failed());
  out.clear();
  values.text("12345678");
  EXPECT_TRUE(out.failed());
  EXPECT_TRUE(out.empty());
}

RC_GTEST_PROP(ValueWriterProperty, EscapesAnyText, (const std::string& bytes)) {
  RC_ASSERT(text_of(bytes) == "|" + escaped(bytes));
}

}  // namespace
}  // namespace rowsocket
