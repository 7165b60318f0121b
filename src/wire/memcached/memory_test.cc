// SPDX-License-Identifier: GPL-2.0-only
//
// A command for which memory is refused somewhere on the way is no request: the stream ends.
#include "wire/memcached/parser_fixture.h"

namespace rowsocket::wire::memcached::test {
namespace {

TEST_F(MemcachedTest, memory_may_be_refused_anywhere_in_a_command) {
  for (const std::string_view command :
       {"get a\r\n", "gets a @@wide.1|2 b\r\n", "gat 10 a\r\n", "set a 1 10 1\r\nx\r\n",
        "add @@wide.1|2 0 10 3\r\na|b\r\n", "replace a 0 0 1\r\nx\r\n", "append a 0 0 1\r\nx\r\n",
        "cas a 1 10 1 7\r\nx\r\n", "delete a\r\n", "incr a 1\r\n", "touch a 10\r\n", "delete @@bare.a\r\n",
        "incr @@bare.a 1\r\n", "flush_all\r\n"}) {
    expect_no_request_without_memory(command);
  }
}

TEST_F(MemcachedTest, memory_may_be_refused_anywhere_in_a_meta_command) {
  for (const std::string_view command :
       {"mg a t f c s v k Oxyz\r\n", "mg YQ== b k v\r\n", "mg a N10 v\r\n", "mg a E7 T10 v\r\n",
        "ms a 1 C7 c k\r\nx\r\n", "ms @@wide.1|2 3 c\r\na|b\r\n", "ms a 1 MA N0\r\nx\r\n", "md a I T10\r\n",
        "ma a N0 J5 D2 v\r\n"}) {
    expect_no_request_without_memory(command);
  }
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
