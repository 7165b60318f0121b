// SPDX-License-Identifier: GPL-2.0-only
//
// Outcomes to bytes: each reply, told what an engine tells it.
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "base/refused_memory.h"
#include "wire/memcached/parser_fixture.h"

namespace rowsocket::wire::memcached::test {
namespace {

TEST_F(MemcachedTest, a_row_is_told_with_its_key_flags_and_length) {
  Reply& reply = *find_of("get a b\r\n").reply;
  reply.begin_rows(2);
  tell_row(reply, {Value("hello"), Value("7")});
  tell_row(reply, {Value(""), Value()}, 1);
  reply.end_rows();
  EXPECT_EQ(out.view(), "VALUE a 7 5\r\nhello\r\nVALUE b 0 0\r\n\r\nEND\r\n");
}

TEST_F(MemcachedTest, gets_tells_the_cas) {
  Reply& reply = *find_of("gets a\r\n").reply;
  reply.begin_rows(4);
  tell_row(reply, {Value("hello"), Value("7"), Value("12345678901234567890"), Value("0")});
  reply.end_rows();
  EXPECT_EQ(out.view(), "VALUE a 7 5 12345678901234567890\r\nhello\r\nEND\r\n");
}

TEST_F(MemcachedTest, several_values_are_joined) {
  Reply& reply = *find_of("get @@wide.1|2\r\n").reply;
  reply.begin_rows(2);
  tell_row(reply, {Value("a"), Value()});
  reply.end_rows();
  EXPECT_EQ(out.view(), "VALUE @@wide.1|2 0 2\r\na|\r\nEND\r\n");
}

TEST_F(MemcachedTest, a_column_of_flags_that_is_no_number_is_0) {
  Reply& reply = *find_of("get a\r\n").reply;
  reply.begin_rows(2);
  tell_row(reply, {Value("x"), Value("red\r\n")});
  reply.end_rows();
  EXPECT_EQ(out.view(), "VALUE a 0 1\r\nx\r\nEND\r\n");
}

TEST_F(MemcachedTest, the_outcome_of_a_change_is_a_word) {
  const auto told = [this](std::string_view input, const Changes& changes) {
    Reply& reply = *find_of(input).reply;
    out.clear();
    reply.changed(changes);
    return std::string(out.view());
  };
  constexpr Changes missed{.rows_found = 0, .rows_matched = 0, .rows_changed = 0};
  constexpr Changes refused{.rows_found = 1, .rows_matched = 0, .rows_changed = 0};
  constexpr Changes changed{.rows_found = 1, .rows_matched = 1, .rows_changed = 1};
  EXPECT_EQ(told("cas a 0 0 1 7\r\nx\r\n", changed), "STORED\r\n");
  EXPECT_EQ(told("cas a 0 0 1 7\r\nx\r\n", refused), "EXISTS\r\n");
  EXPECT_EQ(told("cas a 0 0 1 7\r\nx\r\n", missed), "NOT_FOUND\r\n");
  EXPECT_EQ(told("cas a 0 0 1 7 noreply\r\nx\r\n", missed), "");
  EXPECT_EQ(told("replace a 0 0 1\r\nx\r\n", missed), "NOT_STORED\r\n");
  EXPECT_EQ(told("append a 0 0 1\r\nx\r\n", changed), "STORED\r\n");
  EXPECT_EQ(told("delete a\r\n", changed), "DELETED\r\n");
  EXPECT_EQ(told("delete a\r\n", missed), "NOT_FOUND\r\n");
  EXPECT_EQ(told("touch a 1\r\n", changed), "TOUCHED\r\n");
  EXPECT_EQ(told("incr a 1 noreply\r\n", changed), "");
}

TEST_F(MemcachedTest, add_says_whether_the_row_was_there) {
  const auto told = [this](std::string_view input, uint32_t rows_affected) {
    Reply& reply = *insert_of(input).reply;
    out.clear();
    reply.inserted({.error = {}, .rows_affected = rows_affected, .has_id = false, .id = 0});
    return std::string(out.view());
  };
  EXPECT_EQ(told("add a 0 0 1\r\nx\r\n", 0), "NOT_STORED\r\n");
  EXPECT_EQ(told("add a 0 0 1\r\nx\r\n", 2), "STORED\r\n") << "an expired row made room";
  EXPECT_EQ(told("set @@bare.a 0 0 1\r\nx\r\n", 0), "STORED\r\n") << "it was there with the same value";
  EXPECT_EQ(told("set a 0 0 1 noreply\r\nx\r\n", 1), "");
}

TEST_F(MemcachedTest, a_count_is_told_as_the_new_number) {
  Reply& reply = *find_of("incr a 1\r\n").reply;
  reply.begin_rows(4);
  tell_row(reply, {Value("8"), Value("0"), Value("1"), Value("0")});
  reply.end_rows();
  EXPECT_EQ(out.view(), "8\r\n");
  out.clear();
  reply.begin_rows(4);
  reply.missed(0);
  reply.end_rows();
  EXPECT_EQ(out.view(), "NOT_FOUND\r\n");
  out.clear();
  reply.failed(ErrorCode::not_a_number);
  EXPECT_EQ(out.view(), "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
}

TEST_F(MemcachedTest, what_commands_came_to_is_counted) {
  const auto counted = [](Count count, const auto& act) {
    const uint64_t before = Tally::sum(count);
    act();
    return Tally::sum(count) - before;
  };
  const auto count = [](Reply& reply) {
    ASSERT_TRUE(reply.counts());
    reply.count();
  };
  const auto get = [&] {
    Reply& reply = *find_of("get a b c\r\n").reply;
    reply.begin_rows(2);
    reply.end_rows();
    reply.begin_rows(2);  // it ran again
    tell_row(reply, {Value("hello"), Value("7")}, 1);
    reply.end_rows();
    count(reply);
  };
  EXPECT_EQ(counted(Count::get_hits, get), 1U);
  EXPECT_EQ(counted(Count::get_misses, get), 2U);
  const auto remove = [&] {
    for (const std::string_view command : {"delete a\r\n", "md a\r\n"}) {
      Reply& reply = *find_of(command).reply;
      reply.changed({});
      reply.changed({.rows_found = 1, .rows_matched = 1, .rows_changed = 1});
      count(reply);
    }
  };
  EXPECT_EQ(counted(Count::delete_hits, remove), 2U);
  for (const auto& [hits, misses, command] :
       {std::tuple{Count::incr_hits, Count::incr_misses, "incr a 1 noreply\r\n"},
        std::tuple{Count::decr_hits, Count::decr_misses, "decr a 1 noreply\r\n"}}) {
    const auto change = [&](uint64_t rows) {
      Reply& reply = *find_of(command).reply;
      reply.changed({.rows_found = rows, .rows_matched = rows, .rows_changed = rows});
      count(reply);
    };
    EXPECT_EQ(counted(hits, [&] { change(1); }), 1U) << command;
    EXPECT_EQ(counted(misses, [&] { change(0); }), 1U) << command;
  }
  const auto close = [] {
    State gone;
    gone.tally.add(Count::cas_badval, 5);
  };
  EXPECT_EQ(counted(Count::cas_badval, close), 5U) << "what a closed connection has counted stays";
}

TEST_F(MemcachedTest, a_sum_that_is_told_is_counted_by_its_sign) {
  const auto counted = [this](Count count, const std::string& command) {
    const uint64_t before = Tally::sum(count);
    Reply& reply = *find_of(command).reply;
    reply.begin_rows(4);
    tell_row(reply, {Value("13"), Value("0"), Value("1"), Value("0")});
    reply.end_rows();
    reply.count();
    return Tally::sum(count) - before;
  };
  for (const char* adds : {"incr a 1\r\n", "ma a\r\n"}) {
    EXPECT_EQ(counted(Count::incr_hits, adds), 1U) << adds;
    EXPECT_EQ(counted(Count::decr_hits, adds), 0U) << adds;
  }
  for (const char* subtracts : {"decr a 1\r\n", "ma a MD\r\n"}) {
    EXPECT_EQ(counted(Count::decr_hits, subtracts), 1U) << subtracts;
    EXPECT_EQ(counted(Count::incr_hits, subtracts), 0U) << subtracts;
  }
}

TEST_F(MemcachedTest, a_store_that_finds_no_row_is_counted_by_what_it_compares) {
  const auto counts_missed = [this](const std::string& command) {
    const uint64_t misses = Tally::sum(Count::cas_misses);
    const uint64_t stores = Tally::sum(Count::cmd_set);
    Reply& reply = *find_of(command).reply;
    reply.changed({});
    reply.count();
    return std::pair(Tally::sum(Count::cas_misses) - misses, Tally::sum(Count::cmd_set) - stores);
  };
  for (const char* compares : {"cas a 0 0 1 7\r\nx\r\n", "ms a 1 C7\r\nx\r\n"}) {
    EXPECT_EQ(counts_missed(compares), std::pair(uint64_t{1}, uint64_t{0})) << compares;
  }
  for (const char* stores : {"replace a 0 0 1\r\nx\r\n", "ms a 1 MR\r\nx\r\n"}) {
    EXPECT_EQ(counts_missed(stores), std::pair(uint64_t{0}, uint64_t{1})) << stores;
  }
}

TEST(TallyTest, what_a_connection_counts_is_counted_whoever_closed_before) {
  const uint64_t before = Tally::sum(Count::cas_badval);
  auto older = std::make_unique<Tally>();
  Tally newer;
  older.reset();
  newer.add(Count::cas_badval, 3);
  EXPECT_EQ(Tally::sum(Count::cas_badval), before + 3);
}

TEST_F(MemcachedTest, what_a_command_came_to_first_is_forgotten_where_it_is_refused_when_it_runs_again) {
  const uint64_t before = Tally::sum(Count::delete_hits);
  Reply& reply = *find_of("md a C9\r\n").reply;
  reply.changed({.rows_found = 1, .rows_matched = 1, .rows_changed = 1});
  reply.changed({.rows_found = 1, .rows_matched = 0, .rows_changed = 0});
  reply.count();
  EXPECT_EQ(Tally::sum(Count::delete_hits), before);
}

TEST_F(MemcachedTest, an_error_is_one_line_that_says_where_it_is_from) {
  Reply& reply = *find_of("get a\r\n").reply;
  reply.failed({ErrorCode::no_such_column, "no column 'v\r\n'"});
  reply.failed({ErrorCode::sql, 1406, ""});
  reply.failed(ErrorCode::not_authenticated);
  reply.failed(ErrorCode::read_only);
  EXPECT_EQ(out.view(),
            "SERVER_ERROR container 'all': no_such_column: no column 'v  '\r\n"
            "SERVER_ERROR container 'all': sql 1406\r\n"
            "CLIENT_ERROR unauthenticated\r\n"
            "CLIENT_ERROR container 'all': read_only: this connection may only read: use the write port, with"
            " its secret where it has one\r\n");
}

TEST_F(MemcachedTest, what_is_denied_names_no_table_that_the_client_did_not_name) {
  Reply& reply = *find_of("get a\r\n").reply;
  reply.failed(denied(1142, "SELECT denied to 'ann'@'%'", "table d.t"));
  EXPECT_EQ(out.view(), "SERVER_ERROR container 'all': sql 1142: SELECT denied to 'ann'@'%'\r\n");
  const Request& several = request_of("get a @@wide.1|2\r\n");
  ASSERT_EQ(several.kind, RequestKind::group);
  out.clear();
  several.reply->group_failed(1, denied(1142, "SELECT denied to 'ann'@'%'", "table d.t"));
  EXPECT_EQ(out.view(), "SERVER_ERROR container 'wide': sql 1142: SELECT denied to 'ann'@'%'\r\n");
  out.clear();
  several.reply->group_failed(Reply::group_itself, ErrorCode::not_authenticated);
  EXPECT_EQ(out.view(), "CLIENT_ERROR unauthenticated\r\n");
}

TEST_F(MemcachedTest, a_request_that_memory_is_refused_for_ends_the_stream) {
  for (const char* input : {"get a b c d\r\n", "set a 0 0 1\r\nx\r\n", "incr a 1\r\n", "mg a v\r\n"}) {
    Arena empty;
    const rowsocket::test::RefusedMemory refused;
    const Parsed parsed = memcached_protocol().parse(
        input,
        {.settings = settings, .arena = empty, .out = out, .state = &state, .scanned_bytes = scanned_bytes});
    EXPECT_EQ(parsed.status, Parsed::Status::fatal) << input;
    EXPECT_EQ(parsed.error, ErrorCode::out_of_memory);
  }
}

TEST_F(MemcachedTest, output_that_memory_is_refused_for_is_failed_and_whole) {
  Buffer narrow(20);
  Reply& reply = *find_of("get a\r\n").reply;
  static_cast<void>(reply);
  const Parsed parsed = memcached_protocol().parse(
      "get a\r\n",
      {.settings = settings, .arena = arena, .out = narrow, .state = &state, .scanned_bytes = scanned_bytes});
  Reply& bounded = *parsed.request->reply;
  bounded.begin_rows(2);
  bounded.row_begins(0);
  ValueWriter writer(narrow, bounded.value_format(), bounded.per_column());
  writer.begin_row();
  writer.text(std::string(100, 'x'));
  writer.text("0");
  bounded.row_ends();
  EXPECT_TRUE(narrow.failed());
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
