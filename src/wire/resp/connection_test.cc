// SPDX-License-Identifier: GPL-2.0-only
//
// What is about the connection and is answered with what the client sent, or with who it is.
#include <gmock/gmock.h>

#include "base/limits.h"
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

TEST_F(RespTest, what_is_written_in_digits_is_no_name_of_a_database) {
  EXPECT_EQ(answer_to({"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(answer_to({"SELECT", "1"}), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(answer_to({"SELECT", "99999999999"}),
            "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n");
  for (const std::string_view number :
       {"", "01", "+1", "-01", "99999999999999999999", "-99999999999999999999"}) {
    EXPECT_EQ(answer_to({"SELECT", number}), "-ERR value is not an integer or out of range\r\n") << number;
  }
}

TEST_F(RespTest, each_name_that_a_hello_sets_is_looked_at) {
  EXPECT_THAT(answer_to({"HELLO", "3", "SETNAME", "a b", "SETNAME", "x"}), testing::StartsWith("-ERR"));
}

TEST_F(RespTest, hello_refuses_a_word_that_is_no_option) {
  EXPECT_EQ(answer_to({"HELLO", "3", "SETINFO", "me"}), "-ERR Syntax error in HELLO option\r\n");
}

TEST_F(RespTest, a_switch_of_a_client_is_on_or_off) {
  EXPECT_EQ(answer_to({"CLIENT", "NO-EVICT", "on"}), "+OK\r\n");
  EXPECT_EQ(answer_to({"CLIENT", "NO-EVICT", "x"}), "-ERR syntax error\r\n");
}

TEST_F(RespTest, an_exec_with_a_word_too_many_says_the_same_without_a_transaction) {
  EXPECT_EQ(answer_to({"EXEC", "x"}),
            "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command\r\n");
}

TEST_F(RespTest, a_transaction_has_no_more_commands_than_a_group_may_have) {
  answer_to({"MULTI"});
  for (uint32_t count = 0; count < limits::group_requests_max; ++count) {
    ASSERT_EQ(answer_to({"GET", "a"}), "+QUEUED\r\n") << count;
  }
  EXPECT_EQ(answer_to({"GET", "a"}), "-ERR too much between MULTI and EXEC\r\n");
}

TEST_F(RespTest, a_command_that_the_server_does_not_take_is_not_left_out_of_its_transaction) {
  answer_to({"MULTI"});
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  const Request& refused = request_of(encoded({"SET", "b", "1"}));
  refused.reply->failed(ErrorCode::out_of_memory);
  EXPECT_EQ(answer_to({"EXEC"}), "-EXECABORT Transaction discarded because of previous errors.\r\n");
}

TEST_F(RespTest, what_ends_a_transaction_is_asked_once_all_before_it_is_final) {
  answer_to({"MULTI"});
  EXPECT_TRUE(request_of(encoded({"SET", "a", "1"})).changes_state);
  EXPECT_TRUE(request_of(encoded({"DISCARD"})).changes_state);
  answer_to({"DISCARD"});
  EXPECT_TRUE(request_of(encoded({"MULTI"})).changes_state);
}

TEST_F(RespTest, a_connection_that_is_reset_has_chosen_no_database) {
  EXPECT_EQ(answer_to({"SELECT", "shop"}), "+OK\r\n");
  EXPECT_EQ(state.database, "shop");
  EXPECT_EQ(answer_to({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(state.database, "");
}

TEST_F(RespTest, hello_says_the_version_that_holds_from_now_on) {
  EXPECT_THAT(answer_to({"HELLO", "3"}), testing::HasSubstr("$5\r\nproto\r\n:3\r\n"));
  EXPECT_THAT(answer_to({"HELLO"}), testing::HasSubstr("$5\r\nproto\r\n:3\r\n"));
  EXPECT_THAT(answer_to({"HELLO", "2"}), testing::HasSubstr("$5\r\nproto\r\n:2\r\n"));
}

TEST_F(RespTest, a_password_alone_is_the_secret_of_either_port) {
  EXPECT_THAT(answer_to({"AUTH", "key"}), testing::HasSubstr("without any password configured"));
  settings.secret_write = "key";
  EXPECT_EQ(request_of(encoded({"AUTH", "key"})).kind, RequestKind::authenticate);
  settings.secret_write = "";
  settings.secret_read = "key";
  EXPECT_EQ(request_of(encoded({"AUTH", "key"})).kind, RequestKind::authenticate);
  EXPECT_EQ(answer_to({"AUTH", "ann", "key", "x"}), "-ERR syntax error\r\n");
}

TEST_F(RespTest, a_request_keeps_the_database_that_was_selected_when_it_came) {
  answer_to({"SELECT", "shop"});
  const Find& find = find_of({"HGET", "user:1", "name"});
  answer_to({"SELECT", "mall"});
  EXPECT_EQ(find.selection.names->database, "shop");
}

TEST_F(RespTest, a_stream_that_can_not_be_followed_is_told_why) {
  resp_protocol().refuse_stream(out, ErrorCode::line_too_long, settings);
  EXPECT_THAT(std::string(out.view()), testing::StartsWith("-ERR "));
  EXPECT_THAT(std::string(out.view()), testing::EndsWith("\r\n"));
}

TEST_F(RespTest, a_name_stays_until_the_connection_is_reset_and_so_does_the_version) {
  answer_to({"HELLO", "3", "SETNAME", "n"});
  answer_to({"HELLO", "3"});
  EXPECT_EQ(state.name, "n");
  EXPECT_THAT(answer_to({"CLIENT", "INFO"}), testing::HasSubstr(" name=n db=0 resp=3\n"));
  answer_to({"RESET"});
  EXPECT_EQ(state.name, "");
  EXPECT_EQ(state.version, 2U);
}

TEST_F(RespTest, a_word_of_hello_stands_in_front_of_all_that_belongs_to_it) {
  for (const Words command : {Words{"HELLO", "3", "USER", "u", "x"},
                              {"HELLO", "3", "AUTH", "u"},
                              {"HELLO", "3", "SETNAME"},
                              {"HELLO", "3", "AUTH", "u", "x", "y"}}) {
    EXPECT_EQ(answer_to(command), "-ERR Syntax error in HELLO option\r\n");
  }
}

TEST_F(RespTest, an_expiry_is_at_most_what_microseconds_of_64_bits_hold) {
  constexpr int64_t seconds_max = INT64_MAX / 1'000'000 / 2;
  const auto is_refused = [this](std::string_view command, int64_t number) {
    return request_of(encoded({command, "a", std::to_string(number)})).kind == RequestKind::refused;
  };
  EXPECT_FALSE(is_refused("EXPIREAT", seconds_max));
  EXPECT_TRUE(is_refused("EXPIREAT", seconds_max + 1));
  EXPECT_FALSE(is_refused("PEXPIREAT", seconds_max * 1000));
  EXPECT_TRUE(is_refused("PEXPIREAT", seconds_max * 1000 + 1));
  EXPECT_FALSE(is_refused("EXPIREAT", -seconds_max));
  EXPECT_TRUE(is_refused("EXPIREAT", -seconds_max - 1));
}

TEST_F(RespTest, words_of_client_have_their_number_of_arguments) {
  for (const Words command : {Words{"CLIENT", "GETNAME", "x"},
                              {"CLIENT", "ID", "x"},
                              {"CLIENT", "INFO", "x"},
                              {"CLIENT", "SETNAME"},
                              {"CLIENT", "SETINFO", "x"}}) {
    EXPECT_THAT(answer_to(command), testing::HasSubstr("-ERR unknown subcommand of CLIENT"));
  }
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
