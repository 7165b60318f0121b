// SPDX-License-Identifier: GPL-2.0-only
//
// How a value stands in a line: NULL, escapes, control bytes. The notation is that of test_vocabulary.h.
#include <gtest/gtest.h>

#include <string>

#include "wire/handlersocket/parser.h"
#include "wire/handlersocket/parser_fixture.h"

namespace rowsocket::wire::handlersocket {
namespace {

using test::bytes_of;

using ParserValueTest = test::ParserTest;

TEST_F(ParserValueTest, NullIsOneNulByteAndNothingElse) {
  EXPECT_EQ(read("5 = 3 ~  a"), "find 5 = (NULL, '', a) limit 1 offset 0");
  EXPECT_EQ(read("5 = 1 ^@"), "find 5 = (<00>) limit 1 offset 0");
  EXPECT_EQ(read("5 = 1 ~~"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 a~"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 ~^I"), "find 5: syntax");
}

TEST_F(ParserValueTest, EachEscapeStandsForItsByte) {
  for (int byte = 0; byte < 0x10; ++byte) {
    const std::string line = "5\t=\t1\ta\x01" + std::string(1, static_cast<char>(byte + 0x40)) + "z\n";
    const std::string_view hex = "0123456789abcdef";
    EXPECT_EQ(read_bytes(line), std::string("find 5 = (a<0") + hex[byte] + ">z) limit 1 offset 0");
  }
}

TEST_F(ParserValueTest, AnyOtherEscapeIsASyntaxError) {
  for (int byte = 0; byte < 0x100; ++byte) {
    if ((byte < 0x40 || byte > 0x4F) && byte != '\n') {
      const std::string line = "5\t=\t1\ta\x01" + std::string(1, static_cast<char>(byte)) + "z\n";
      EXPECT_EQ(read_bytes(line), "find 5: syntax") << byte;
    }
  }
  EXPECT_EQ(read("5 = 1 a^"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 ^ 1 0"), "find 5: syntax");
  EXPECT_EQ(read("5 = 1 ^I^"), "find 5: syntax");
}

TEST_F(ParserValueTest, OtherControlBytesAreTakenUnescapedToo) {
  for (const int byte : {0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F}) {
    const std::string line = "5\t=\t1\ta" + std::string(1, static_cast<char>(byte)) + "z\n";
    const std::string_view hex = "0123456789abcdef";
    EXPECT_EQ(read_bytes(line), std::string("find 5 = (a<0") + hex[byte] + ">z) limit 1 offset 0");
  }
}

TEST_F(ParserValueTest, ABadEscapeIsNoticedWhereverAValueStands) {
  for (const std::string_view line :
       {"5 = 2 ^ b", "5 = 2 a ^", "5 = 1 a 1 0 @ 0 1 ^", "5 = 1 a 1 0 F = 0 ^", "5 = 1 a 1 0 U ^"}) {
    EXPECT_EQ(read(line), "find 5: syntax") << line;
  }
  EXPECT_EQ(read("5 + 1 ^"), "insert 5: syntax");
}

TEST_F(ParserValueTest, ValuesWithoutEscapesViewTheInput) {
  const std::string line = bytes_of("5 + 2 plain esc^Iaped$");
  const Parsed parsed = parse(line);
  ASSERT_EQ(parsed.status, Parsed::Status::request);
  const auto& insert = static_cast<const Insert&>(*parsed.request);
  EXPECT_EQ(insert.values[0].data, line.data() + 6);
  const char* const unescaped = insert.values[1].data;
  EXPECT_TRUE(unescaped < line.data() || unescaped >= line.data() + line.size())
      << "the input itself is never changed";
}

TEST_F(ParserValueTest, LongValuesAreReadAtEveryLength) {
  for (size_t size = 0; size < 70; ++size) {
    const std::string text(size, 'v');
    const std::string escaped = text + "^Ix " + text + "y";
    const std::string bytes = text + "<09>x, " + text + "y";
    EXPECT_EQ(read("5 + 1 x" + text), "insert 5 (x" + text + ")");
    EXPECT_EQ(read("5 + 2 x" + escaped), "insert 5 (x" + bytes + ")");
  }
}

}  // namespace
}  // namespace rowsocket::wire::handlersocket
