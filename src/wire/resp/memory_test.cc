// SPDX-License-Identifier: GPL-2.0-only
//
// A command for which memory is refused somewhere on the way is no request: the stream ends.
#include "base/refused_memory.h"
#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

TEST_F(RespTest, memory_may_be_refused_anywhere_in_a_command_of_strings) {
  for (const auto& command : {encoded({"APPEND", "a", "1"}),
                              encoded({"DECRBY", "a", "2"}),
                              encoded({"DEL", "a", "@@wide.1|2"}),
                              encoded({"EXISTS", "a", "b"}),
                              encoded({"EXPIRE", "a", "7", "NX"}),
                              encoded({"GET", "a"}),
                              encoded({"GETDEL", "a"}),
                              encoded({"GETEX", "a", "EX", "7"}),
                              encoded({"GETSET", "a", "1"}),
                              encoded({"INCR", "a"}),
                              encoded({"MGET", "a", "@@wide.1|2", "b"}),
                              encoded({"MSET", "b", "1", "a", "2", "@@wide.1|2", "x|y"}),
                              encoded({"PERSIST", "a"}),
                              encoded({"PSETEX", "a", "1000", "1"}),
                              encoded({"SET", "a", "1", "EX", "7", "XX", "GET"}),
                              encoded({"SETNX", "a", "1"}),
                              encoded({"STRLEN", "@@wide.1|2"}),
                              encoded({"TTL", "a"}),
                              encoded({"TTL", "@@bare.a"}),
                              encoded({"TYPE", "a"}),
                              encoded({"SCAN", "0", "MATCH", "a*", "COUNT", "5"}),
                              std::string("SET 'a b' \"c\"\r\n")}) {
    expect_no_request_without_memory(command);
  }
}

TEST_F(RespTest, memory_may_be_refused_anywhere_in_a_command_of_hashes) {
  for (const auto& command :
       {encoded({"DEL", "d.t:1", "d.t:2"}), encoded({"HDEL", "d.t:1", "a", "b", "A"}),
        encoded({"HEXISTS", "d.t:1", "a"}), encoded({"HGET", "d.t@i:1:b\\:c", "a"}),
        encoded({"HGETALL", "d.t:1"}), encoded({"HINCRBY", "d.t:1", "a", "5"}),
        encoded({"HINCRBYFLOAT", "d.t:1", "a", "1.5"}), encoded({"HLEN", "d.t:1"}),
        encoded({"HMGET", "d.t:1", "a", "b"}), encoded({"HSET", "d.t:1", "a", "1", "b", "2"}),
        encoded({"HSETNX", "d.t:1", "a", "1"}), encoded({"HSTRLEN", "d.t:1", "a"})}) {
    expect_no_request_without_memory(command);
  }
}

TEST_F(RespTest, memory_may_be_refused_anywhere_in_the_end_of_a_transaction) {
  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  expect_no_request_without_memory(encoded({"EXEC"}));
}

TEST_F(RespTest, a_transaction_for_which_memory_ends_leaves_no_command_out) {
  const std::string exec = encoded({"EXEC"});
  for (const Words command : {Words{"DECRBY", "a", "2"},
                              {"HGET", "d.t:1", "a"},
                              {"HGETALL", "d.t:1"},
                              {"HSETNX", "d.t:1", "a", "1"},
                              {"HDEL", "d.t:1", "a"},
                              {"GETEX", "a"},
                              {"MGET", "a", "b"},
                              {"MSET", "a", "1"},
                              {"APPEND", "a", "1"}}) {
    answer_to({"MULTI"});
    answer_to({"SET", "a", "1"});
    EXPECT_EQ(answer_to(command), "+QUEUED\r\n");
    size_t members = 0;
    for (size_t free_bytes = 0; members == 0; free_bytes += 16) {
      ASSERT_LT(free_bytes, limits::arena_bytes_first) << *command.begin();
      Arena small;
      leave_free(small, free_bytes);
      const rowsocket::test::RefusedMemory refused;
      if (const Parsed parsed = parse(exec, small); parsed.status == Parsed::Status::request) {
        members = static_cast<const Group*>(parsed.request)->members.size();
      }
    }
    EXPECT_EQ(members, 2U) << *command.begin();
    state.forget_collected();
  }
}

TEST_F(RespTest, memory_may_be_refused_anywhere_in_a_command_of_rows) {
  for (const auto& command :
       {encoded({"ROWS.FIND", "d.t", "a,b", ">=", "1", "7", "TO", "<", "1", "9", "WHERE", "c", "=", "-",
                 "NULLS", "-", "NAMES"}),
        encoded({"ROWS.FIND", "d.t@i", "*", "=", "1", "7", "KEYS", "2", "8", "9"}),
        encoded({"ROWS.COUNT", "d.t", "<", "1", "7"}),
        encoded({"ROWS.CHANGE", "d.t", "=", "1", "7", "SET", "a", "1", "ADD", "b", "2", "SETNULL", "c"}),
        encoded({"ROWS.INSERT", "d.t", "a,b", "2", "1", "2", "3", "4", "KEEP"})}) {
    expect_no_request_without_memory(command);
  }
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
