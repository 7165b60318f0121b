// SPDX-License-Identifier: GPL-2.0-only
//
// Keys of either kind: which of them are one walk, how many there may be, and when they expire.
#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

TEST_F(RespTest, rows_by_their_names_and_rows_of_a_container_are_never_one_walk) {
  for (const Words keys : {Words{"DEL", "d.t:1", "@@all.a"}, {"DEL", "@@all.a", "d.t:1"}}) {
    const Request& request = request_of(encoded(keys));
    ASSERT_EQ(request.kind, RequestKind::group);
    EXPECT_EQ(static_cast<const Group&>(request).members.size(), 2U);
  }
}

TEST_F(RespTest, the_keys_of_a_command_are_no_more_than_those_of_a_list_may_be) {
  settings.in_values_max = 2;
  EXPECT_EQ(words_of(find_of({"DEL", "a", "b"}).list.values), "a b");
  EXPECT_EQ(answer_to({"DEL", "a", "b", "c"}), "-ERR too many keys\r\n");
  EXPECT_EQ(answer_to({"EXISTS", "a", "b", "c"}), "-ERR too many keys\r\n");
}

TEST_F(RespTest, an_expiry_that_is_not_to_come_is_refused_with_the_name_of_the_command) {
  for (const std::string_view time : {"0", "-1", "9223372036854775807"}) {
    EXPECT_EQ(answer_to({"SET", "a", "x", "EX", time}), "-ERR invalid expire time in 'set' command\r\n");
    EXPECT_EQ(answer_to({"GETEX", "a", "EX", time}), "-ERR invalid expire time in 'getex' command\r\n");
  }
}

TEST_F(RespTest, of_an_option_that_is_said_twice_the_last_one_counts) {
  EXPECT_EQ(request_of(encoded({"SET", "a", "x", "NX", "NX"})).mistake, ErrorCode::none);
  EXPECT_EQ(words_of(find_of({"GETEX", "a", "EX", "100", "EX", "200"}).change.assignments),
            words_of(find_of({"GETEX", "a", "EX", "200"}).change.assignments));
  EXPECT_EQ(words_of(find_of({"GETEX", "a", "PERSIST", "PERSIST"}).change.assignments),
            words_of(find_of({"GETEX", "a", "PERSIST"}).change.assignments));
  EXPECT_EQ(answer_to({"SET", "a", "x", "EX", "1", "PX", "1"}), "-ERR syntax error\r\n");
  EXPECT_EQ(answer_to({"SET", "a", "x", "NX", "XX"}), "-ERR syntax error\r\n");
}

TEST_F(RespTest, set_takes_no_persist) {
  EXPECT_EQ(answer_to({"SET", "a", "x", "PERSIST"}), "-ERR syntax error\r\n");
}

TEST_F(RespTest, hsetnx_keeps_the_value_also_where_another_client_inserts_the_row_meanwhile) {
  EXPECT_EQ(words_of(inserted_by({"HSETNX", "d.t:1", "a", "x"}).duplicate_filters), "refuse unless 0 = NULL");
}

TEST_F(RespTest, all_words_are_read_before_a_number_is) {
  EXPECT_EQ(answer_to({"SET", "a", "x", "EX", "y", "FOO"}), "-ERR syntax error\r\n");
  EXPECT_EQ(answer_to({"GETEX", "a", "EX", "0", "FOO"}), "-ERR syntax error\r\n");
  EXPECT_EQ(answer_to({"EXPIRE", "a", "x", "FOO"}), "-ERR Unsupported option FOO\r\n");
}

TEST_F(RespTest, a_key_that_is_not_there_has_the_time_left_of_none) {
  for (const std::string_view command : {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"}) {
    Reply& reply = *find_of({command, "a"}).reply;
    EXPECT_TRUE(reply.tells_misses()) << command;
    out.clear();
    reply.missed(0);
    EXPECT_EQ(out.view(), ":-2\r\n") << command;
  }
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
