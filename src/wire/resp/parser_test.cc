// SPDX-License-Identifier: GPL-2.0-only
//
// What commands ask of a table, and what is answered to commands that ask none.
#include <gmock/gmock.h>

#include "base/refused_memory.h"
#include "wire/resp/commands.h"
#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

using testing::HasSubstr;

// ---- keys

TEST_F(RespTest, a_key_with_a_database_names_a_row) {
  const Find& find = find_of({"HGET", "shop.user:42", "name"});
  EXPECT_EQ(find.selection.names->database, "shop");
  EXPECT_EQ(find.selection.names->table, "user");
  EXPECT_EQ(find.selection.names->index, "");
  EXPECT_EQ(find.selection.names->columns, "name");
  EXPECT_EQ(find.selection.names->unique_key_parts, 1U);
  EXPECT_EQ(words_of(find.range.key), "42");
}

TEST_F(RespTest, a_key_can_name_an_index_and_have_several_parts) {
  const Find& find = find_of({"HGET", "shop.user@by_name:a:b\\:c:d\\\\", "id"});
  EXPECT_EQ(find.selection.names->table, "user");
  EXPECT_EQ(find.selection.names->index, "by_name");
  EXPECT_EQ(find.selection.names->unique_key_parts, 3U);
  EXPECT_EQ(words_of(find.range.key), "a b:c d\\");
}

TEST_F(RespTest, a_key_has_no_more_parts_than_an_index_has_columns) {
  std::string key = "shop.user";
  for (size_t part = 0; part < limits::resp_key_parts_max; ++part) {
    key += ":1";
  }
  EXPECT_EQ(find_of({"HGET", key, "name"}).range.key.size(), limits::resp_key_parts_max);
  EXPECT_EQ(answer_to({"HGET", key + ":1", "name"}),
            "-ERR the key has more parts than any index has columns\r\n");
}

TEST_F(RespTest, a_table_has_a_database) {
  for (const std::string_view key : {".user:42", "shop.:42"}) {
    EXPECT_EQ(answer_to({"HGET", key, "name"}),
              "-ERR a table is named as database.table, or as table behind SELECT database\r\n")
        << key;
  }
}

TEST_F(RespTest, a_database_can_be_selected_for_keys_without_one) {
  EXPECT_EQ(answer_to({"SELECT", "shop"}), "+OK\r\n");
  EXPECT_EQ(find_of({"HGET", "user:42", "name"}).selection.names->database, "shop");
  EXPECT_EQ(find_of({"EXISTS", "user:42"}).selection.names->table, "user");
  EXPECT_EQ(find_of({"GET", "a"}).selection.names->table, "t");
  EXPECT_EQ(answer_to({"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(find_of({"EXISTS", "user:42"}).selection.names->table, "t");
}

TEST_F(RespTest, a_command_of_one_kind_refuses_keys_of_the_other) {
  EXPECT_THAT(answer_to({"GET", "shop.user:42"}), HasSubstr("-WRONGTYPE "));
  EXPECT_THAT(answer_to({"HGET", "a", "b"}), HasSubstr("-WRONGTYPE "));
  EXPECT_THAT(answer_to({"HGET", "@@all.a:b", "c"}), HasSubstr("-WRONGTYPE "));
}

TEST_F(RespTest, containers_that_can_not_be_used_say_why) {
  EXPECT_EQ(answer_to({"GET", "@@none.a"}), "-ERR container 'none': there is no such container\r\n");
  EXPECT_THAT(answer_to({"GET", "@@broken.a"}), HasSubstr("-ERR container 'broken': it names no schema"));
  EXPECT_THAT(answer_to({"GET", "@@wide.a"}), HasSubstr("fewer parts"));
  settings.containers = nullptr;
  EXPECT_THAT(answer_to({"GET", "a"}), HasSubstr("-ERR rowsocket_containers names no table"));
}

// ---- several commands

TEST_F(RespTest, what_is_about_rows_is_stateless_and_what_is_about_the_connection_is_not) {
  for (const Words arguments : {Words{"GET", "a"}, {"HGET", "shop.user:1", "name"}, {"SET", "a", "b"}}) {
    EXPECT_TRUE(parse(encoded(arguments), true).is_stateless) << *arguments.begin();
  }
  for (const Words arguments :
       {Words{"SELECT", "shop"}, {"HELLO", "3"}, {"MULTI"}, {"RESET"}, {"SCAN", "0"}, {"NONE"}}) {
    EXPECT_FALSE(parse(encoded(arguments)).is_stateless) << *arguments.begin();
  }
  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_FALSE(parse(encoded({"GET", "a"})).is_stateless) << "it is collected";
}

// ---- strings

TEST_F(RespTest, get_asks_for_the_value_alone_where_it_has_not_expired) {
  const Find& find = find_of({"GET", "a"});
  EXPECT_EQ(find.selection.names->columns, "v");
  ASSERT_EQ(find.filters.size(), 1U);
  EXPECT_EQ(find.filters[0].comparison, Comparison::greater_or_unset);
  EXPECT_EQ(reply_to(find, {Value("Ann")}), "$3\r\nAnn\r\n");
  EXPECT_EQ(reply_to(find, {Value()}), "$-1\r\n");
  state.version = 3;
  EXPECT_EQ(reply_to(find_of({"GET", "a"}), {Value()}), "_\r\n");
}

TEST_F(RespTest, values_of_several_columns_are_joined) {
  const Find& find = find_of({"GET", "@@wide.a|b"});
  EXPECT_EQ(words_of(find.range.key), "a b");
  EXPECT_EQ(reply_to(find, {Value("1"), Value("2")}), "$3\r\n1|2\r\n");
}

TEST_F(RespTest, keys_of_one_container_are_one_walk_and_of_several_a_group) {
  const Find& find = find_of({"MGET", "a", "b"});
  EXPECT_EQ(words_of(find.list.values), "a b");
  EXPECT_EQ(find.limit, 2U);
  out.clear();
  find.reply->begin_rows(1);
  find.reply->missed(0);
  tell_row(*find.reply, {Value("x")});
  find.reply->end_rows();
  EXPECT_EQ(out.view(), "*2\r\n$-1\r\n$1\r\nx\r\n");
  const Request& several = request_of(encoded({"MGET", "a", "@@bare.b", "c"}));
  ASSERT_EQ(several.kind, RequestKind::group);
  EXPECT_EQ(static_cast<const Group&>(several).members.size(), 3U);
}

TEST_F(RespTest, set_writes_all_that_a_container_has) {
  const Insert& insert = inserted_by({"SET", "a", "x", "EX", "10"});
  EXPECT_EQ(words_of(insert.values.first(3)), "a x 0");
  EXPECT_EQ(words_of(insert.values.last(1)), std::to_string(now_s + 10));
  EXPECT_EQ(insert.on_duplicate, OnDuplicate::change);
  EXPECT_EQ(insert.duplicate_changes.size(), 4U);
  EXPECT_TRUE(insert.duplicate_filters.empty());
}

TEST_F(RespTest, keepttl_leaves_the_expiry_of_a_row_that_has_not_expired) {
  const Insert& insert = inserted_by({"SET", "a", "x", "KEEPTTL"});
  EXPECT_EQ(find_of({"SET", "a", "x", "KEEPTTL"}).change.assignments.size(), 3U);
  EXPECT_EQ(insert.duplicate_changes.size(), 3U);
  EXPECT_EQ(insert.mismatch_changes.size(), 4U);
  EXPECT_EQ(insert.duplicate_filters.size(), 1U);
}

TEST_F(RespTest, a_time_that_is_no_whole_second_ends_at_the_next) {
  EXPECT_EQ(words_of(inserted_by({"SET", "a", "x", "PX", "1"}).values.last(1)), std::to_string(now_s + 1));
  EXPECT_EQ(words_of(inserted_by({"SET", "a", "x", "PX", "1001"}).values.last(1)), std::to_string(now_s + 2));
}

TEST_F(RespTest, what_is_given_no_time_is_over_at_once) {
  for (const std::string_view command : {"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"}) {
    for (const std::string_view time : {"0", "-1"}) {
      EXPECT_EQ(words_of(find_of({command, "a", time}).change.assignments), "3 = 1") << command;
    }
  }
}

TEST_F(RespTest, a_row_without_an_expiry_has_the_latest_of_all) {
  const auto skips_rows_without_one = [this](std::string_view condition) {
    const auto& filters = find_of({"EXPIRE", "a", "10", condition}).filters;
    return std::any_of(filters.begin(), filters.end(), [](const Filter& filter) {
      return filter.comparison == Comparison::not_equal && filter.value.view() == "0";
    });
  };
  EXPECT_TRUE(skips_rows_without_one("GT"));
  EXPECT_TRUE(skips_rows_without_one("XX"));
  EXPECT_FALSE(skips_rows_without_one("LT"));
  EXPECT_FALSE(skips_rows_without_one("NX"));
}

TEST_F(RespTest, getex_takes_one_new_expiry_and_keeps_none) {
  const std::string_view refusal = "-ERR syntax error\r\n";
  EXPECT_EQ(answer_to({"GETEX", "a", "KEEPTTL"}), refusal);
  EXPECT_EQ(answer_to({"GETEX", "a", "NX"}), refusal);
  EXPECT_EQ(answer_to({"GETEX", "a", "EX"}), refusal);
  EXPECT_EQ(answer_to({"GETEX", "a", "EX", "1", "PX", "1"}), refusal);
}

TEST_F(RespTest, a_container_without_an_expiry_refuses_one) {
  EXPECT_THAT(answer_to({"SET", "@@bare.a", "x", "EX", "10"}), HasSubstr("no column for an expiry time"));
  EXPECT_THAT(answer_to({"EXPIRE", "@@bare.a", "10"}), HasSubstr("no column for an expiry time"));
  EXPECT_THAT(answer_to({"PERSIST", "@@bare.a"}), HasSubstr("no column for an expiry time"));
}

TEST_F(RespTest, set_with_get_tells_the_row_before_or_inserts_one) {
  const Find& find = find_of({"SET", "a", "x", "GET"});
  EXPECT_EQ(find.tell, Tell::rows);
  EXPECT_EQ(find.change.assignments.size(), 4U);
  ASSERT_NE(find.otherwise, nullptr);
  EXPECT_EQ(find.otherwise->reply, find.reply);
  EXPECT_EQ(reply_to(find, {Value("a"), Value("old"), Value("0"), Value("1"), Value("0")}), "$3\r\nold\r\n");
  EXPECT_EQ(find_of({"SET", "a", "x", "XX", "GET"}).otherwise, nullptr);
  EXPECT_TRUE(find_of({"SET", "a", "x", "NX", "GET"}).change.assignments.empty());
}

TEST_F(RespTest, pairs_of_one_container_are_rows_of_one_insert) {
  const Insert& insert = insert_of({"MSET", "a", "1", "b", "2"});
  EXPECT_EQ(insert.row_count, 2U);
  EXPECT_THAT(answer_to({"MSET", "a", "1", "b"}), HasSubstr("wrong number of arguments"));
}

TEST_F(RespTest, an_insert_of_a_container_takes_no_other_row_for_the_one_of_its_key) {
  EXPECT_TRUE(inserted_by({"SET", "a", "x"}).names_row);
  EXPECT_TRUE(insert_of({"SETNX", "a", "x"}).names_row);
  EXPECT_TRUE(insert_of({"MSET", "a", "1", "b", "2"}).names_row);
  EXPECT_TRUE(inserted_by({"HSET", "d.t:1", "a", "x"}).names_row);
}

TEST_F(RespTest, a_sum_is_one_step_whether_or_not_the_row_is_there) {
  const Find& find = find_of({"DECRBY", "a", "5"});
  ASSERT_EQ(find.change.assignments.size(), 2U);
  EXPECT_EQ(find.change.assignments[0].operation, Operation::add_whole);
  EXPECT_EQ(find.change.assignments[0].value.view(), "-5");
  EXPECT_TRUE(find.change.is_increment);
  EXPECT_EQ(find.tell, Tell::rows_after);
  const Insert& insert = inserted_by({"DECRBY", "a", "5"});
  EXPECT_EQ(insert.values[1].view(), "-5");
  EXPECT_EQ(insert.duplicate_changes[0].operation, Operation::add_whole);
  EXPECT_EQ(insert.mismatch_changes.size(), 4U);
  EXPECT_TRUE(insert.tells_rows);
  out.clear();
  tell_row(*insert.reply, {Value("a"), Value("-3"), Value("0"), Value("1"), Value("0")});
  EXPECT_EQ(out.view(), ":-3\r\n");
  out.clear();
  insert.reply->failed(Error(ErrorCode::sql, 1, "").because(Reason::out_of_range));
  EXPECT_EQ(out.view(), "-ERR increment or decrement would overflow\r\n");
}

TEST_F(RespTest, an_amount_is_a_whole_number_and_nothing_else) {
  for (const std::string_view amount :
       {"", "-", "x", "5x", "5 ", " 5", "05", "+5", "5.0", "9223372036854775808"}) {
    EXPECT_EQ(answer_to({"INCRBY", "a", amount}), "-ERR value is not an integer or out of range\r\n")
        << amount;
  }
}

TEST_F(RespTest, a_sum_is_told_as_a_whole_number_however_its_column_shows_it) {
  const auto told = [this](const char* value) {
    return reply_to(find_of({"INCR", "a"}), {Value("a"), Value(value), Value("0"), Value("1"), Value("0")});
  };
  EXPECT_EQ(told("0000000041"), ":41\r\n");
  EXPECT_EQ(told("-12.00"), ":-12\r\n");
  EXPECT_EQ(told("9223372036854775807"), ":9223372036854775807\r\n");
  EXPECT_EQ(told("9223372036854775808"), "$19\r\n9223372036854775808\r\n") << "never a number of RESP";
  EXPECT_EQ(told("00:00:01"), "$8\r\n00:00:01\r\n");
  EXPECT_EQ(told("1.50"), "$4\r\n1.50\r\n");
}

TEST_F(RespTest, a_new_size_is_told_once) {
  const Find& find = find_of({"APPEND", "a", "xy"});
  EXPECT_FALSE(find.reply->tells_misses()) << "the row that is inserted then is told";
  EXPECT_EQ(reply_to(find, {Value("a"), Value("wxy"), Value("0"), Value("1"), Value("0")}), ":3\r\n");
}

// ---- hashes

TEST_F(RespTest, a_row_is_told_with_the_names_of_columns_that_are_not_null) {
  const std::vector<Value> row = {Value("1"), Value(), Value("x")};
  const std::vector<std::string> names = {"id", "a", "b"};
  EXPECT_TRUE(find_of({"HGETALL", "d.t:1"}).selection.names->all_columns);
  EXPECT_EQ(reply_to(find_of({"HGETALL", "d.t:1"}), row, names),
            "*4\r\n$2\r\nid\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\nx\r\n");
  EXPECT_EQ(reply_to(find_of({"HKEYS", "d.t:1"}), row, names), "*2\r\n$2\r\nid\r\n$1\r\nb\r\n");
  EXPECT_EQ(reply_to(find_of({"HVALS", "d.t:1"}), row, names), "*2\r\n$1\r\n1\r\n$1\r\nx\r\n");
  EXPECT_EQ(reply_to(find_of({"HLEN", "d.t:1"}), row, names), ":2\r\n");
  state.version = 3;
  EXPECT_EQ(reply_to(find_of({"HGETALL", "d.t:1"}), row, names),
            "%2\r\n$2\r\nid\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\nx\r\n");
}

TEST_F(RespTest, fields_are_set_in_the_row_that_is_there_or_in_a_new_one) {
  const Find& find = find_of({"HSET", "d.t:1:2", "a", "x", "b", "y"});
  EXPECT_TRUE(find.selection.names->key_columns_first);
  EXPECT_EQ(find.selection.names->columns, "a,b");
  ASSERT_EQ(find.change.assignments.size(), 2U);
  EXPECT_EQ(find.change.assignments[0].column, 2U);
  ASSERT_NE(find.otherwise, nullptr);
  EXPECT_EQ(words_of(find.otherwise->values), "1 2 x y");
  out.clear();
  find.reply->inserted({.error = {}, .rows_affected = 1, .has_id = false, .id = 0});
  EXPECT_EQ(out.view(), ":2\r\n");
}

TEST_F(RespTest, a_field_of_a_new_row_that_is_set_twice_counts_once) {
  const Find& find = find_of({"HSET", "d.t:1", "a", "x", "b", "y", "A", "z"});
  find.reply->inserted({.error = {}, .rows_affected = 1, .has_id = false, .id = 0});
  EXPECT_EQ(out.view(), ":2\r\n");
}

TEST_F(RespTest, a_field_that_is_removed_twice_counts_once) {
  EXPECT_EQ(find_of({"HDEL", "d.t:1", "a", "b", "A", "a"}).selection.names->columns, "a,b");
}

TEST_F(RespTest, a_field_is_a_name) {
  EXPECT_EQ(answer_to({"HGET", "d.t:1", "a,b"}), "-ERR a field is the name of a column\r\n");
  EXPECT_EQ(answer_to({"HGET", "d.t:1", ""}), "-ERR a field is the name of a column\r\n");
}

// ---- the connection

TEST_F(RespTest, hello_chooses_the_version) {
  EXPECT_THAT(answer_to({"HELLO", "3", "SETNAME", "me"}), HasSubstr("%7\r\n$6\r\nserver\r\n$9\r\nrowsocket"));
  EXPECT_EQ(state.version, 3U);
  EXPECT_EQ(answer_to({"CLIENT", "GETNAME"}), "$2\r\nme\r\n");
  EXPECT_THAT(answer_to({"HELLO", "2"}), HasSubstr("*14\r\n"));
  EXPECT_EQ(answer_to({"HELLO", "4"}), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(answer_to({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(answer_to({"CLIENT", "GETNAME"}), "$-1\r\n");
}

constexpr std::string_view no_authentication = "-NOAUTH Authentication required.\r\n";

TEST_F(RespTest, a_stranger_is_told_nothing) {
  is_stranger = true;
  for (const std::string_view command : {"GET a",        "GET @@broken.a", "MGET @@wide.1|2 a",
                                         "GET",          "PING",           "ECHO a",
                                         "INFO",         "NOSUCH",         "XADD a",
                                         "CONFIG GET *", "TIME",           "CLIENT ID",
                                         "SELECT shop",  "MULTI",          "EXEC",
                                         "DISCARD",      "MULTI x",        "SET @@bare.1 x EX 5",
                                         "HGET a.b:1 c", "SCAN 0"}) {
    EXPECT_EQ(answer_of(request_of(std::string(command) + "\r\n")), no_authentication) << command;
  }
  EXPECT_TRUE(state.database.empty());
  EXPECT_THAT(answer_to({"HELLO", "3"}), HasSubstr("-NOAUTH HELLO"));
  EXPECT_EQ(state.version, 2U);
  EXPECT_EQ(answer_to({"HELLO", "4"}), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_THAT(answer_to({"AUTH"}), HasSubstr("-ERR wrong number"));
  EXPECT_EQ(answer_to({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(answer_of(*parse("QUIT\r\n").request), "+OK\r\n");
}

TEST_F(RespTest, what_a_stranger_collected_is_not_done) {
  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  is_stranger = true;
  EXPECT_EQ(answer_to({"SET", "b", "1"}), no_authentication);
  EXPECT_THAT(answer_to({"AUTH", "ann", "lock"}), HasSubstr("-ERR the command is not there"));
  is_stranger = false;
  EXPECT_THAT(answer_to({"EXEC"}), HasSubstr("-EXECABORT"));

  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  is_stranger = true;
  const std::string commands = encoded({"EXEC"}) + encoded({"PING"});
  const Parsed parsed = parse(commands);
  EXPECT_EQ(answer_of(*parsed.request), no_authentication);
  EXPECT_EQ(answer_of(*parse(std::string_view(commands).substr(parsed.consumed_bytes)).request), "")
      << "one reply, and nothing is collected any more";
  EXPECT_FALSE(state.collects);
}

TEST_F(RespTest, a_stranger_ends_what_it_collected) {
  for (const std::string_view end : {"EXEC", "DISCARD"}) {
    is_stranger = false;
    EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
    is_stranger = true;
    EXPECT_EQ(answer_to({end}), no_authentication);
    EXPECT_FALSE(state.collects);
  }
}

TEST_F(RespTest, a_stranger_says_the_secret_first) {
  settings.secret_read = "key";
  const Request& wrong = request_of(encoded({"AUTH", "ann", "lock"}));
  ASSERT_EQ(wrong.kind, RequestKind::authenticate);
  out.clear();
  wrong.reply->failed(ErrorCode::not_authenticated);
  EXPECT_THAT(std::string(out.view()), HasSubstr("-WRONGPASS"));
  const Request& right = request_of(encoded({"HELLO", "3", "AUTH", "ann", "key"}));
  EXPECT_EQ(static_cast<const Authenticate&>(right).user.view(), "ann");
  EXPECT_EQ(static_cast<const Authenticate&>(right).password.view(), "key");
  right.reply->done();
  EXPECT_EQ(find_of({"GET", "a"}).limit, 1U);
}

TEST_F(RespTest, what_can_not_be_followed_is_answered_and_closed) {
  const std::string input = "*1\r\nfoo\r\nGET a\r\n";
  const Parsed parsed = parse(input);
  ASSERT_EQ(parsed.status, Parsed::Status::request);
  EXPECT_EQ(answer_of(*parsed.request), "-ERR Protocol error: expected '$', got 'f'\r\n");
  EXPECT_EQ(parse(std::string_view(input).substr(parsed.consumed_bytes)).status, Parsed::Status::hang_up);
}

TEST_F(RespTest, http_is_closed) {
  EXPECT_EQ(parse("POST / HTTP/1.1\r\n").status, Parsed::Status::hang_up);
  EXPECT_EQ(parse("POST /\r\n").status, Parsed::Status::hang_up) << "as the oldest HTTP says it";
  EXPECT_EQ(parse("GET / HTTP/1.1\r\n").status, Parsed::Status::hang_up);
  EXPECT_EQ(parse("Host: a\r\n").status, Parsed::Status::hang_up);
}

TEST_F(RespTest, every_command_is_found_by_its_name_and_says_how_many_words_it_has) {
  for (const Command& command : all_commands()) {
    EXPECT_EQ(find_command(command.name), &command);
    const auto words = static_cast<size_t>(command.arity < 0 ? -command.arity : command.arity);
    if (command.plan != nullptr && words > 1) {
      EXPECT_THAT(answer_to({command.name}), HasSubstr("wrong number of arguments for '")) << command.name;
    }
  }
}

// ---- transactions

TEST_F(RespTest, exec_makes_one_group_and_leaves_its_last_byte) {
  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  EXPECT_EQ(answer_to({"MGET", "a", "@@bare.b"}), "+QUEUED\r\n");
  const std::string exec = encoded({"EXEC"});
  for (int times = 0; times < 2; ++times) {  // it had to wait for a lock
    const Parsed parsed = parse(exec);
    ASSERT_EQ(parsed.status, Parsed::Status::request);
    EXPECT_EQ(parsed.consumed_bytes, exec.size() - 1);
    ASSERT_EQ(parsed.request->kind, RequestKind::group);
    EXPECT_EQ(static_cast<const Group*>(parsed.request)->members.size(), 3U);
    out.clear();
    parsed.request->reply->group_begins();
    EXPECT_EQ(out.view(), "*2\r\n");
  }
  EXPECT_EQ(parse("\n").status, Parsed::Status::need_more);
  const Parsed end = parse("\nGET a\r\n");
  EXPECT_EQ(end.consumed_bytes, 1U);
  EXPECT_EQ(answer_of(*end.request), "");
  EXPECT_EQ(find_of({"GET", "a"}).limit, 1U);
}

TEST_F(RespTest, a_command_whose_reply_is_told_again_is_done_once) {
  answer_to({"MULTI"});
  const Request& set = request_of(encoded({"SET", "a", "1"}));
  for (int times = 0; times < 2; ++times) {  // what another client did in this turn was lost
    EXPECT_EQ(answer_of(set), "+QUEUED\r\n");
  }
  const Parsed exec = parse(encoded({"EXEC"}));
  ASSERT_EQ(exec.status, Parsed::Status::request);
  EXPECT_EQ(static_cast<const Group*>(exec.request)->members.size(), 1U);
}

TEST_F(RespTest, what_a_client_has_the_state_hold_is_counted) {
  EXPECT_EQ(state.held_bytes(), 0U);
  EXPECT_EQ(answer_to({"CLIENT", "SETNAME", std::string(256, 'n')}), "+OK\r\n");
  EXPECT_GE(state.held_bytes(), 256U);
  answer_to({"MULTI"});
  EXPECT_EQ(answer_to({"SET", "a", std::string(10'000, 'x')}), "+QUEUED\r\n");
  EXPECT_GE(state.held_bytes(), 10'000U);
  EXPECT_EQ(answer_to({"DISCARD"}), "+OK\r\n");
  EXPECT_LT(state.held_bytes(), 10'000U);
  EXPECT_EQ(answer_to({"RESET"}), "+RESET\r\n");
}

TEST_F(RespTest, a_name_of_a_client_is_bounded_and_plain) {
  for (const std::string& name : {std::string(257, 'n'), std::string("a b"), std::string("a\x7F")}) {
    EXPECT_THAT(answer_to({"CLIENT", "SETNAME", name}), HasSubstr("-ERR Client names cannot"));
    EXPECT_THAT(answer_to({"HELLO", "3", "SETNAME", name}), HasSubstr("-ERR Client names cannot"));
  }
}

TEST_F(RespTest, a_reset_forgets_who_the_client_is) {
  const Request& request = request_of("RESET\r\n");
  ASSERT_EQ(request.kind, RequestKind::authenticate);
  EXPECT_EQ(static_cast<const Authenticate&>(request).method, Authenticate::Method::nobody);
}

TEST_F(RespTest, a_reset_ends_a_transaction) {
  answer_to({"MULTI"});
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  EXPECT_EQ(answer_to({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(answer_to({"EXEC"}), "-ERR EXEC without MULTI\r\n");
}

TEST_F(RespTest, the_commands_of_a_transaction_are_together_no_longer_than_one_may_be) {
  settings.line_bytes_max = 1000;
  answer_to({"MULTI"});
  EXPECT_EQ(answer_to({"SET", "a", std::string(500, 'x')}), "+QUEUED\r\n");
  EXPECT_THAT(answer_to({"SET", "a", std::string(500, 'x')}), HasSubstr("too much between MULTI and EXEC"));
  EXPECT_THAT(answer_to({"EXEC"}), HasSubstr("-EXECABORT"));
}

TEST_F(RespTest, a_command_that_is_refused_breaks_the_transaction) {
  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_THAT(answer_to({"SET", "a"}), HasSubstr("wrong number"));
  EXPECT_THAT(answer_to({"EXEC"}), HasSubstr("-EXECABORT"));
  EXPECT_EQ(answer_to({"EXEC"}), "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_THAT(answer_to({"PING"}), HasSubstr("-ERR the command is not there between MULTI and EXEC"));
  EXPECT_EQ(answer_to({"DISCARD"}), "+OK\r\n");
}

TEST_F(RespTest, a_word_too_many_breaks_the_transaction) {
  for (const std::string_view command : {"DISCARD", "MULTI", "RESET"}) {
    EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
    EXPECT_THAT(answer_to({command, "x"}), HasSubstr("wrong number of arguments")) << command;
    EXPECT_THAT(answer_to({"EXEC"}), HasSubstr("-EXECABORT")) << command;
  }
}

TEST_F(RespTest, an_exec_with_a_word_too_many_discards_the_transaction) {
  EXPECT_EQ(answer_to({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  EXPECT_EQ(answer_to({"EXEC", "x"}),
            "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command\r\n");
  EXPECT_EQ(answer_to({"EXEC"}), "-ERR EXEC without MULTI\r\n");
}

TEST_F(RespTest, a_group_that_fails_says_that_nothing_was_done) {
  answer_to({"MULTI"});
  answer_to({"SET", "a", "1"});
  const Parsed parsed = parse(encoded({"EXEC"}));
  out.clear();
  parsed.request->reply->group_failed(0, Error(ErrorCode::no_transactions));
  EXPECT_THAT(std::string(out.view()), HasSubstr("-EXECABORT Transaction discarded, nothing of it was done: "
                                                 "container 'all': no_transactions"));
}

TEST_F(RespTest, a_refusal_names_the_container_of_its_key_and_no_table) {
  const Error refusal = denied(1142, "SELECT denied to 'ann'@'%'", "table d.t");
  const std::string_view named = "-NOPERM container 'wide': sql 1142: SELECT denied to 'ann'@'%'\r\n";
  for (const std::string_view command :
       {"DEL a @@wide.1|2", "EXISTS a @@wide.1|2", "MGET a @@wide.1|2", "MSET a 1 @@wide.1|2 b"}) {
    const Request& request = request_of(std::string(command) + "\r\n");
    ASSERT_EQ(request.kind, RequestKind::group) << command;
    out.clear();
    request.reply->group_failed(1, refusal);
    EXPECT_EQ(out.view(), named) << command;
  }
  answer_to({"MULTI"});
  answer_to({"GET", "a"});
  answer_to({"GET", "@@wide.1|2"});
  const Parsed parsed = parse(encoded({"EXEC"}));
  out.clear();
  parsed.request->reply->group_failed(1, refusal);
  EXPECT_EQ(out.view(), named);
  out.clear();
  parsed.request->reply->group_failed(Reply::every_member, ErrorCode::commit_failed);
  EXPECT_THAT(std::string(out.view()), HasSubstr(": commit_failed"));
}

TEST_F(RespTest, exec_says_why_a_command_can_not_be_done_any_more) {
  answer_to({"MULTI"});
  EXPECT_EQ(answer_to({"SET", "a", "1"}), "+QUEUED\r\n");
  settings.containers = std::make_shared<Containers>("no table of containers is named");
  EXPECT_THAT(answer_to({"EXEC"}),
              testing::MatchesRegex("-EXECABORT Transaction discarded, nothing of it was done: "
                                    ".*no table of containers is named.*\r\n"));
  EXPECT_EQ(answer_to({"EXEC"}), "-ERR EXEC without MULTI\r\n");
}

// ---- ranges

TEST_F(RespTest, a_range_has_all_that_a_find_can_have) {
  const Find& find =
      find_of({"ROWS.FIND", "d.t@i", "a,b", ">=", "2", "1",     "2", "TO",      "<",     "1", "9",
               "IN",        "0",     "2",   "5",  "6", "EACH",  "3", "REVERSE", "LIMIT", "7", "OFFSET",
               "1",         "WHERE", "c",   "!=", "x", "WHILE", "e", "IS",      "NULL"});
  EXPECT_EQ(find.selection.names->index, "i");
  EXPECT_EQ(find.selection.names->filter_columns, "c,e");
  EXPECT_EQ(find.range.key_operator, KeyOperator::at_or_after);
  EXPECT_EQ(words_of(find.range.key), "1 2");
  EXPECT_EQ(find.range.end_operator, KeyOperator::before);
  EXPECT_EQ(words_of(find.range.end_key), "9");
  EXPECT_TRUE(find.range.reverse);
  EXPECT_EQ(words_of(find.list.values), "5 6");
  EXPECT_EQ(find.list.row_limit_per_key, 3U);
  EXPECT_EQ(find.limit, 7U);
  EXPECT_EQ(find.offset, 1U);
  ASSERT_EQ(find.filters.size(), 2U);
  EXPECT_EQ(find.filters[0].comparison, Comparison::not_equal);
  EXPECT_EQ(find.filters[1].mismatch, Mismatch::stop);
  EXPECT_TRUE(find.filters[1].value.is_null());
}

TEST_F(RespTest, a_change_of_a_range_changes_one_row_unless_it_says_more) {
  const Find& find = find_of({"ROWS.CHANGE", "d.t", "=", "1", "7", "ADD", "a", "5", "SETNULL", "b"});
  EXPECT_EQ(find.limit, 1U);
  EXPECT_EQ(find.selection.names->columns, "a,b");
  ASSERT_EQ(find.change.assignments.size(), 2U);
  EXPECT_EQ(find.change.assignments[0].operation, Operation::add);
  EXPECT_TRUE(find.change.assignments[1].value.is_null());
  EXPECT_THAT(answer_to({"ROWS.CHANGE", "d.t", "=", "1", "7", "LIMIT", "3"}), HasSubstr("either DELETE"));
}

TEST_F(RespTest, a_range_that_makes_no_sense_is_refused) {
  EXPECT_THAT(answer_to({"ROWS.FIND", "t", "a", "=", "1", "7"}), HasSubstr("database.table"));
  EXPECT_THAT(answer_to({"ROWS.FIND", "d.t", "a", "=", "2", "7"}), HasSubstr("number of values"));
  EXPECT_THAT(answer_to({"ROWS.FIND", "d.t", "a", "=", "1", "7", "EACH", "3"}), HasSubstr("EACH"));
  EXPECT_THAT(answer_to({"ROWS.FIND", "d.t", "a", "=", "1", "7", "MAYBE"}), HasSubstr("syntax error"));
}

// ---- memory

TEST_F(RespTest, a_request_that_memory_is_refused_for_ends_the_stream) {
  for (const std::string& command :
       {encoded({"GET", "a"}), encoded({"SET", "a", "1"}), encoded({"HSET", "d.t:1", "a", "b"}),
        encoded({"ROWS.FIND", "d.t", "a", "=", "1", "7"}), std::string("GET a\r\n")}) {
    Arena none;
    const rowsocket::test::RefusedMemory refused;
    const Parsed parsed = resp_protocol().parse(
        command,
        {.settings = settings, .arena = none, .out = out, .state = &state, .scanned_bytes = scanned_bytes});
    EXPECT_EQ(parsed.status, Parsed::Status::fatal) << command;
    EXPECT_EQ(parsed.error, ErrorCode::out_of_memory);
  }
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
