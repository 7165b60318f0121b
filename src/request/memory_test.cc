// SPDX-License-Identifier: GPL-2.0-only
//
// What ValueWriter does when the machine has no more memory.
#include <gtest/gtest.h>

#include "base/refused_memory.h"
#include "request/value_writer.h"

namespace rowsocket {
namespace {

using test::RefusedMemory;

constexpr ValueFormat separated = {
    .separator = '|', .null_token = "nil", .escape_below = 0x10, .escape_lead = '!', .escape_shift = 0x40};
constexpr ValueFormat length_prefixed = {.framing = ValueFormat::Framing::length_prefixed,
                                         .null_token = "$-1"};
constexpr ValueFormat bare = {.framing = ValueFormat::Framing::bare, .null_token = "nil"};

TEST(Memory, AValueWriterWithoutMemoryWritesNothing) {
  for (const ValueFormat& format : {separated, length_prefixed, bare}) {
    Buffer buffer;
    const RefusedMemory refused;
    ValueWriter values(buffer, format);
    values.null();
    values.integer(1);
    values.plain("1");
    values.text("a");
    EXPECT_TRUE(buffer.failed());
    EXPECT_TRUE(buffer.empty());
  }
}

}  // namespace
}  // namespace rowsocket
