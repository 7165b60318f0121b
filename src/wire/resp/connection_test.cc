// SPDX-License-Identifier: GPL-2.0-only
//
// What is about the connection and is answered with what the client sent, or with who it is.
#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

TEST_F(RespTest, a_ping_is_answered_with_its_text) {
  EXPECT_EQ(answer_to({"PING"}), "+PONG\r\n");
  EXPECT_EQ(answer_to({"PING", "are you there"}), "$13\r\nare you there\r\n");
  EXPECT_EQ(answer_to({"PING", "a", "b"}), "-ERR wrong number of arguments for 'ping' command\r\n");
}

TEST_F(RespTest, a_client_is_told_its_number_wherever_it_asks_for_it) {
  state.id = 77;
  EXPECT_EQ(answer_to({"CLIENT", "ID"}), ":77\r\n");
  EXPECT_EQ(answer_to({"CLIENT", "INFO"}), "$24\r\nid=77 name= db=0 resp=2\n\r\n");
  EXPECT_NE(answer_to({"HELLO"}).find("$2\r\nid\r\n:77\r\n"), std::string::npos);
}

TEST_F(RespTest, a_connection_that_is_reset_has_chosen_no_database) {
  EXPECT_EQ(answer_to({"SELECT", "shop"}), "+OK\r\n");
  EXPECT_EQ(state.database, "shop");
  EXPECT_EQ(answer_to({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(state.database, "");
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
