// SPDX-License-Identifier: GPL-2.0-only
//
// Bytes to requests: each command, cut at every byte.
#include <gmock/gmock.h>
#include <unistd.h>

#include "wire/memcached/parser_fixture.h"
#include "wire/memcached/tally.h"

namespace rowsocket::wire::memcached::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string now = "1800000000";

struct FourWorkers final : ServerFigures {
  [[nodiscard]] uint64_t counter(Counter) const override { return 0; }
  [[nodiscard]] uint64_t connections() const override { return 0; }
  [[nodiscard]] uint32_t workers() const override { return 4; }
  [[nodiscard]] uint64_t uptime_s() const override { return 17; }
};

// ---- get

TEST_F(MemcachedTest, a_get_is_a_find_of_the_row_that_has_not_expired) {
  const Find& find = find_of("get a\r\n");
  EXPECT_EQ(find.selection.names->table, "t");
  EXPECT_EQ(find.selection.names->columns, "v,f");
  EXPECT_EQ(find.selection.names->filter_columns, "e,c,f");
  EXPECT_EQ(find.selection.names->unique_columns, "k");
  EXPECT_EQ(words_of(find.range.key), "a");
  EXPECT_EQ(words_of(find.filters), "skip unless 0 > or unset " + now);
  EXPECT_FALSE(find.list.is_given);
}

TEST_F(MemcachedTest, many_keys_are_one_find) {
  const Find& find = find_of("gets a  b c \n");
  EXPECT_EQ(find.selection.names->columns, "v,f,c,e");
  EXPECT_TRUE(find.list.is_given && find.list.holds_whole_keys);
  EXPECT_EQ(words_of(find.list.values), "a b c");
  EXPECT_EQ(find.limit, 3U);
}

TEST_F(MemcachedTest, a_key_can_name_its_container) {
  const Find& find = find_of("get @@bare.a\r\n");
  EXPECT_EQ(find.selection.names->table, "bare");
  EXPECT_EQ(find.selection.names->index, "by_k");
  EXPECT_EQ(words_of(find.range.key), "a");
  EXPECT_TRUE(find.filters.empty()) << "it has no expiry";
  EXPECT_EQ(words_of(find_of("get @@wide.x|y|z\r\n").range.key), "x y|z") << "the last part takes the rest";
}

TEST_F(MemcachedTest, keys_of_several_containers_are_a_group) {
  const Request& request = request_of("get a @@bare.b @@bare.c d\r\n");
  ASSERT_EQ(request.kind, RequestKind::group);
  EXPECT_EQ(static_cast<const Group&>(request).members.size(), 3U);
}

TEST_F(MemcachedTest, a_container_is_chosen_for_the_connection) {
  const Request& request = request_of("get @@bare\r\n");
  ASSERT_EQ(request.kind, RequestKind::open);
  EXPECT_TRUE(state.container.empty()) << "the parser changes nothing";
  request.reply->opened({});
  EXPECT_EQ(out.view(), "VALUE @@bare 0 6\r\nd/bare\r\nEND\r\n");
  EXPECT_EQ(find_of("get a\r\n").selection.names->table, "bare");
  EXPECT_EQ(find_of("get @@all.a\r\n").selection.names->table, "t");
}

TEST_F(MemcachedTest, gat_changes_the_expiry_of_what_it_finds) {
  EXPECT_EQ(words_of(find_of("gat 10 a b\r\n").change.assignments), "3 = 1800000010");
  EXPECT_EQ(find_of("gats 10 @@bare.a\r\n").change.kind, Change::Kind::none) << "it has no expiry";
  EXPECT_EQ(answer_to("gat a b\r\n"), "CLIENT_ERROR invalid exptime argument\r\n");
}

TEST_F(MemcachedTest, a_key_has_at_most_250_bytes) {
  const std::string longest(250, 'k');
  EXPECT_EQ(words_of(find_of("get " + longest + "\r\n").range.key), longest);
  EXPECT_EQ(answer_to("get " + longest + "k\r\n"), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(words_of(find_of("delete " + longest + "\r\n").range.key), longest);
  EXPECT_EQ(answer_to("delete " + longest + "k\r\n"), "CLIENT_ERROR bad command line format\r\n");
}

TEST_F(MemcachedTest, no_key_is_an_error) {
  for (const char* line : {"get\r\n", "gets\r\n", "gat\r\n", "delete\r\n", "incr a\r\n", "touch a\r\n"}) {
    EXPECT_EQ(answer_to(line), "ERROR\r\n") << line;
  }
  EXPECT_EQ(answer_to("gat 1\r\n"), "END\r\n");
  EXPECT_EQ(answer_to("gat x\r\n"), "CLIENT_ERROR invalid exptime argument\r\n");
}

TEST_F(MemcachedTest, a_plus_before_a_number_is_taken_and_a_minus_before_nothing_but_zeros) {
  EXPECT_THAT(words_of(find_of("incr a +5\r\n").change.assignments), testing::StartsWith("0 +wrap 5"));
  EXPECT_THAT(words_of(find_of("incr a -0\r\n").change.assignments), testing::StartsWith("0 +wrap 0"));
  for (const char* number : {"-5", "+-0", "+-1", "+", "-", "5x", "++5"}) {
    EXPECT_EQ(answer_to("incr a " + std::string(number) + "\r\n"),
              "CLIENT_ERROR invalid numeric delta argument\r\n");
  }
}

TEST_F(MemcachedTest, two_signs_are_no_number_where_one_may_be_negative) {
  for (const char* exptime : {"+-5", "-+5", "+", "-"}) {
    EXPECT_EQ(answer_to("touch a " + std::string(exptime) + "\r\n"),
              "CLIENT_ERROR invalid exptime argument\r\n");
  }
}

TEST_F(MemcachedTest, nothing_is_deleted_by_a_line_that_has_another_word_than_0_or_noreply) {
  for (const char* words : {"0 x", "1 noreply", "x", "0 0"}) {
    EXPECT_EQ(request_of("delete a " + std::string(words) + "\r\n").kind, RequestKind::refused) << words;
  }
}

TEST_F(MemcachedTest, a_client_wants_no_reply_where_the_last_word_says_so_and_nowhere_else) {
  for (const char* line : {"incr a noreply\r\n", "touch a noreply\r\n", "set a 0 0 noreply\r\n",
                           "delete a 1 noreply\r\n", "verbosity noreply\r\n"}) {
    EXPECT_EQ(answer_to(line), "") << line;
  }
  EXPECT_EQ(answer_to("delete a noreply x\r\n"),
            "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n");
  EXPECT_EQ(answer_to("verbosity noreply 0\r\n"), "CLIENT_ERROR bad command line format\r\n");
  settings.allows_flush = true;
  EXPECT_EQ(answer_to("flush_all noreply 0\r\n"), "CLIENT_ERROR invalid exptime argument\r\n");
}

TEST_F(MemcachedTest, more_words_than_a_command_has_are_an_error) {
  for (const char* line : {"delete a 0 noreply x\r\n", "verbosity 1 2 3\r\n", "flush_all 0 0 0\r\n"}) {
    EXPECT_EQ(answer_to(line), "ERROR\r\n") << line;
  }
}

// ---- containers that can not be used

TEST_F(MemcachedTest, a_container_that_can_not_be_used_says_why_and_the_others_work) {
  EXPECT_EQ(answer_to("get @@broken.a\r\n"),
            "SERVER_ERROR container 'broken': it names no schema, no table, no key column or no value"
            " column\r\n");
  EXPECT_EQ(answer_to("get @@none.a\r\n"), "SERVER_ERROR container 'none': there is no such container\r\n");
  EXPECT_EQ(answer_to("get @@wide.a\r\n"),
            "CLIENT_ERROR the key has fewer parts than its container has key columns\r\n");
  EXPECT_EQ(answer_to("set @@none.a 0 0 1 noreply\r\nx\r\n"), "");
  settings.containers = std::make_shared<const Containers>("no table d.c");
  EXPECT_EQ(answer_to("get a\r\n"), "SERVER_ERROR no table d.c\r\n");
  settings.containers = nullptr;
  EXPECT_THAT(answer_to("get a\r\n"), StartsWith("SERVER_ERROR rowsocket_containers names no table"));
}

// ---- storage

TEST_F(MemcachedTest, set_inserts_the_row_or_changes_the_one_that_is_there) {
  const Insert& insert = insert_of("set a 7 10 5\r\nhello\r\n");
  EXPECT_EQ(insert.selection.names->columns, "k,v,f,c,e");
  const std::string cas = std::to_string(now_s * 1'000'000 * 1024 + 3);
  EXPECT_THAT(words_of(insert.values), StartsWith("a hello 7 "));
  EXPECT_THAT(words_of(insert.values), testing::EndsWith(" 1800000010"));
  EXPECT_EQ(insert.values[3].size, cas.size()) << "microseconds and the worker's number";
  EXPECT_EQ(insert.on_duplicate, OnDuplicate::change);
  EXPECT_EQ(insert.duplicate_changes.size(), 4U);
  EXPECT_EQ(insert.duplicate_changes[0].position, 1U);
  EXPECT_TRUE(insert.duplicate_filters.empty());
}

TEST_F(MemcachedTest, an_insert_takes_no_other_row_for_the_one_of_its_key) {
  EXPECT_TRUE(insert_of("set a 0 0 1\r\nx\r\n").names_row);
  EXPECT_TRUE(insert_of("add @@bare.a 0 0 1\r\nx\r\n").names_row);
}

TEST_F(MemcachedTest, no_two_writes_have_the_same_cas) {
  const std::string first(insert_of("set a 0 0 1\r\nx\r\n").values[3].view());
  EXPECT_NE(insert_of("set a 0 0 1\r\nx\r\n").values[3].view(), first);
}

TEST_F(MemcachedTest, add_takes_the_place_of_an_expired_row_only) {
  const Insert& insert = insert_of("add a 0 0 1\r\nx\r\n");
  EXPECT_EQ(insert.on_duplicate, OnDuplicate::change);
  EXPECT_EQ(words_of(insert.duplicate_filters),
            "skip unless 0 <= " + now + ", skip unless 0 != 0, skip unless 0 != NULL");
  EXPECT_EQ(insert_of("add @@bare.a 0 0 1\r\nx\r\n").on_duplicate, OnDuplicate::keep);
}

TEST_F(MemcachedTest, the_others_change_the_row_that_is_there) {
  EXPECT_THAT(words_of(find_of("replace a 1 0 1\r\nx\r\n").change.assignments),
              StartsWith("0 = x, 1 = 1, 3 = 0, 2 = "));
  EXPECT_THAT(words_of(find_of("append a 1 0 1\r\nx\r\n").change.assignments),
              StartsWith("0 append x, 2 = "));
  EXPECT_THAT(words_of(find_of("prepend a 1 0 1\r\nx\r\n").change.assignments),
              StartsWith("0 prepend x, 2 = "));
  EXPECT_EQ(words_of(find_of("cas a 1 0 1 77\r\nx\r\n").filters),
            "skip unless 0 > or unset " + now + ", refuse unless 1 = 77");
}

TEST_F(MemcachedTest, what_has_no_cas_is_not_compared_with) {
  for (const char* command :
       {"cas @@bare.a 0 0 1 0\r\nx\r\n", "ms @@bare.a 1 C0\r\nx\r\n", "md @@bare.a C0\r\n"}) {
    EXPECT_EQ(answer_to(command), "CLIENT_ERROR the container has no cas column to compare with\r\n");
  }
}

TEST_F(MemcachedTest, a_value_is_split_into_the_value_columns) {
  EXPECT_EQ(words_of(insert_of("set @@wide.1|2 0 0 5\r\na|b|c\r\n").values), "1 2 a b|c 0");
  EXPECT_EQ(words_of(insert_of("set @@wide.1|2 0 0 1\r\na\r\n").values), "1 2 a NULL 0");
  EXPECT_EQ(words_of(insert_of("set @@wide.1|2 0 0 2\r\na|\r\n").values), "1 2 a  0");
}

TEST_F(MemcachedTest, an_expiry_has_three_forms) {
  const auto expiry = [this](const char* exptime) {
    const Insert& insert = insert_of(std::string("set a 0 ") + exptime + " 1\r\nx\r\n");
    return std::string(insert.values.back().view());
  };
  EXPECT_EQ(expiry("0"), "0") << "never";
  EXPECT_EQ(expiry("2592000"), std::to_string(now_s + 2'592'000)) << "seconds from now";
  EXPECT_EQ(expiry("2592001"), "2592001") << "seconds since 1970";
  EXPECT_EQ(expiry("-1"), "1") << "at once";
}

TEST_F(MemcachedTest, a_value_may_hold_anything) {
  const std::string bytes("\0\r\nget a\r\n\x80", 11);
  EXPECT_EQ(insert_of("set a 0 0 11\r\n" + bytes + "\r\n").values[1].view(), bytes);
  EXPECT_EQ(insert_of("set a 0 0 0\r\n\r\n").values[1].view(), "");
}

TEST_F(MemcachedTest, a_value_that_does_not_end_where_it_should_is_refused) {
  EXPECT_EQ(answer_to("set a 0 0 1\r\nxyz"), "CLIENT_ERROR bad data chunk\r\n");
}

TEST_F(MemcachedTest, a_value_beyond_the_limit_is_swallowed_exactly) {
  settings.line_bytes_max = 100;
  const std::string line = "set a 0 0 100\r\n";
  EXPECT_EQ(answer_to(line), "SERVER_ERROR object too large for cache\r\n");
  EXPECT_EQ(state.skip_bytes, 102U);
  const std::string value = std::string(100, 'x') + "\r\n";
  Parsed parsed = parse(value.substr(0, 40));
  EXPECT_EQ(parsed.status, Parsed::Status::nothing);
  EXPECT_EQ(parsed.consumed_bytes, 40U);
  parsed = parse(value.substr(40) + "get a\r\n");
  EXPECT_EQ(parsed.status, Parsed::Status::nothing);
  EXPECT_EQ(parsed.consumed_bytes, 62U);
  EXPECT_EQ(words_of(find_of("get a\r\n").range.key), "a");
}

TEST_F(MemcachedTest, a_command_may_be_as_long_as_the_limit_with_its_value) {
  settings.line_bytes_max = 100;
  const std::string line = "set a 0 0 84\r\n";
  EXPECT_EQ(request_of(line + std::string(84, 'x') + "\r\n").kind, RequestKind::insert);
  EXPECT_EQ(answer_to("set a 0 0 85\r\n"), "SERVER_ERROR object too large for cache\r\n");
}

TEST_F(MemcachedTest, a_value_is_not_swallowed_before_what_came_before_is_final) {
  settings.line_bytes_max = 100;
  EXPECT_TRUE(request_of("set a 0 0 100\r\n").changes_state);
  EXPECT_EQ(state.skip_bytes, 0U) << "the reply says so, not the parser";
}

TEST_F(MemcachedTest, what_was_sent_as_a_value_is_never_taken_for_commands) {
  EXPECT_EQ(answer_to("set " + std::string(251, 'k') + " 0 0 5\r\n"),
            "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(std::exchange(state.skip_bytes, 0), 7U);
  EXPECT_EQ(answer_to("set a b 0 5\r\n"), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(std::exchange(state.skip_bytes, 0), 7U);
}

/// A line is read again with each piece of its value.
TEST_F(MemcachedTest, the_line_of_a_value_is_bounded) {
  const std::string spaces(2048, ' ');
  for (const std::string& line : {"set" + spaces + "a 0 0 5\r\n", "ms a 5" + spaces + "T0\r\n"}) {
    EXPECT_EQ(answer_to(line), "CLIENT_ERROR bad command line format\r\n");
    EXPECT_EQ(std::exchange(state.skip_bytes, 0), 7U);
  }
  EXPECT_EQ(answer_to("set" + spaces + "a 0 0 5 noreply\r\n"), "");
  EXPECT_EQ(std::exchange(state.skip_bytes, 0), 7U);
  EXPECT_EQ(words_of(find_of("get" + spaces + "a\r\n").range.key), "a");
}

TEST_F(MemcachedTest, sizes_that_are_none_are_refused) {
  for (const char* size : {"-1", "x", "2147483646", "99999999999999999999"}) {
    EXPECT_EQ(answer_to("set a 0 0 " + std::string(size) + "\r\n"),
              "CLIENT_ERROR bad command line format\r\n");
    EXPECT_EQ(state.skip_bytes, 0U);
  }
  EXPECT_EQ(answer_to("set a 0 0\r\n"), "ERROR\r\n");
  EXPECT_EQ(answer_to("cas a 0 0 1\r\n"), "ERROR\r\n");
}

// ---- delete, touch, incr, decr

TEST_F(MemcachedTest, the_others_are_finds_that_change_one_row) {
  EXPECT_EQ(find_of("delete a\r\n").change.kind, Change::Kind::remove);
  EXPECT_EQ(find_of("delete a 0 noreply\r\n").change.kind, Change::Kind::remove);
  EXPECT_THAT(answer_to("delete a 1\r\n"), StartsWith("CLIENT_ERROR bad command line format.  Usage"));
  EXPECT_EQ(words_of(find_of("touch a 10\r\n").change.assignments), "3 = 1800000010");
  EXPECT_EQ(find_of("touch @@bare.a 10\r\n").tell, Tell::count);
  EXPECT_THAT(words_of(find_of("incr a 18446744073709551615\r\n").change.assignments),
              StartsWith("0 +wrap 18446744073709551615, 2 = "));
  EXPECT_THAT(words_of(find_of("decr a 1\r\n").change.assignments), StartsWith("0 -zero 1, 2 = "));
  EXPECT_EQ(answer_to("incr a -1\r\n"), "CLIENT_ERROR invalid numeric delta argument\r\n");
}

// ---- commands without a table

TEST_F(MemcachedTest, commands_about_the_server) {
  EXPECT_EQ(answer_to("version\r\n"), "VERSION 1.6.18-rowsocket\r\n");
  EXPECT_EQ(answer_to("verbosity 1\r\n"), "OK\r\n");
  EXPECT_EQ(answer_to("verbosity 1 noreply\r\n"), "");
  EXPECT_EQ(answer_to("mn\r\n"), "MN\r\n");
  EXPECT_EQ(answer_to("flush_all\r\n"), "CLIENT_ERROR flush_all not allowed\r\n");
  EXPECT_EQ(answer_to("flush_all 0 noreply\r\n"), "");
  EXPECT_THAT(answer_to("stats\r\n"), HasSubstr("STAT rowsocket_containers 4\r\n"));
  for (const char* part : {"slabs", "items", "sizes", "settings", "conns"}) {
    EXPECT_EQ(answer_to("stats " + std::string(part) + "\r\n"), "END\r\n") << part;
  }
  EXPECT_EQ(answer_to("stats what\r\n"), "ERROR\r\n");
  EXPECT_THAT(answer_to("stats reset\r\n"), StartsWith("CLIENT_ERROR stats are not reset"));
  EXPECT_EQ(answer_to("boo\r\n"), "ERROR\r\n");
  EXPECT_EQ(answer_to("\r\n"), "ERROR\r\n");
}

TEST_F(MemcachedTest, a_flush_goes_on_behind_the_last_row_of_a_step_and_counts_at_its_end) {
  settings.allows_flush = true;
  const auto flush = [this]() -> const Find& {
    const Parsed parsed = parse("flush_all\r\n");
    EXPECT_EQ(parsed.consumed_bytes, 0U) << "it is parsed again for each step";
    return find_in(*parsed.request);
  };
  const auto step = [&](uint32_t row_count) {
    const Find& find = flush();
    out.clear();
    find.reply->begin_rows(1);
    for (uint32_t number = 0; number < row_count; ++number) {
      tell_row(*find.reply, {Value(number + 1 == row_count ? "last" : "k")});
    }
    find.reply->end_rows();
    const uint64_t before = Tally::sum(Count::cmd_flush);
    find.reply->count();
    return std::string(out.view()) + (Tally::sum(Count::cmd_flush) == before ? "" : "counted");
  };
  EXPECT_EQ(rowsocket::test::whole_request(flush()),
            "find d.t@PRIMARY[k] by[e,c] unique[k] integers steps >=() open limit " +
                std::to_string(limits::flush_rows_per_step) + " delete tell changes-state rows counts");
  EXPECT_EQ(step(limits::flush_rows_per_step), "");
  EXPECT_EQ(state.skip_bytes, 0U);
  EXPECT_EQ(words_of(flush().range.key), "last");
  EXPECT_EQ(flush().range.key_operator, KeyOperator::after);
  EXPECT_EQ(step(limits::flush_rows_per_step - 1), "OK\r\ncounted");
  EXPECT_EQ(state.skip_bytes, std::string_view("flush_all\r\n").size());
  EXPECT_TRUE(state.flushed.empty());
}

TEST_F(MemcachedTest, stats_tell_all_that_memcached_tells_of_what_there_is) {
  const FourWorkers workers;
  figures = &workers;
  const std::string stats = answer_to("stats\r\n");
  EXPECT_THAT(stats, StartsWith("STAT pid " + std::to_string(::getpid()) + "\r\nSTAT uptime 17\r\n"));
  for (const char* const told :
       {"time 1800000000\r\n", "version ", "pointer_size 64\r\n", "curr_connections 0\r\n",
        "total_connections 0\r\n", "rejected_connections 0\r\n", "bytes_read 0\r\n", "bytes_written 0\r\n",
        "cmd_get ", "cmd_touch ", "get_hits ", "cas_badval ", "item_size_max ",
        "rowsocket_requests_find 0\r\n"}) {
    EXPECT_THAT(stats, HasSubstr("\r\nSTAT " + std::string(told)));
  }
  const auto last = static_cast<Counter>(static_cast<size_t>(Counter::count_) - 1);
  EXPECT_TRUE(stats.ends_with("rowsocket_" + std::string(counter_name(last)) + " 0\r\nEND\r\n"));
}

TEST_F(MemcachedTest, stats_tell_how_many_clients_there_may_be) {
  settings.max_connections = 77;
  EXPECT_THAT(answer_to("stats\r\n"), HasSubstr("STAT max_connections 77\r\n"));
}

TEST_F(MemcachedTest, stats_tell_how_many_threads_serve) {
  const FourWorkers four_workers;
  figures = &four_workers;
  EXPECT_THAT(answer_to("stats\r\n"), HasSubstr("STAT threads 4\r\n"));
}

TEST_F(MemcachedTest, quit_ends_the_stream) {
  EXPECT_EQ(parse("quit\r\nget a\r\n").status, Parsed::Status::hang_up);
}

TEST_F(MemcachedTest, other_protocols_are_sent_away) {
  for (const char* input : {"\x80\x01", "GET / HTTP/1.1\r\n", "POST /get HTTP/1.1\r\n"}) {
    const Parsed parsed = parse(input);
    EXPECT_EQ(parsed.status, Parsed::Status::hang_up) << input;
    EXPECT_FALSE(parsed.why.empty());
  }
}

TEST_F(MemcachedTest, a_line_has_an_end) {
  settings.line_bytes_max = 100;
  const std::string line(200, 'x');
  EXPECT_EQ(parse(line.substr(0, 100)).status, Parsed::Status::need_more);
  const Parsed parsed = parse(line.substr(0, 101));
  EXPECT_EQ(parsed.status, Parsed::Status::fatal);
  memcached_protocol().refuse_stream(out, parsed.error, settings);
  EXPECT_EQ(out.view(), "CLIENT_ERROR line too long\r\n");
}

// ---- secrets

TEST_F(MemcachedTest, a_client_says_the_secret_with_a_set) {
  settings.secret_read = "key";
  const Request& request = request_of("set any 0 0 8\r\nuser key\r\n");
  ASSERT_EQ(request.kind, RequestKind::authenticate);
  EXPECT_EQ(static_cast<const Authenticate&>(request).password.view(), "key");
  out.clear();
  request.reply->failed(ErrorCode::not_authenticated);
  EXPECT_EQ(out.view(), "CLIENT_ERROR authentication failure\r\n");
  EXPECT_FALSE(state.is_authenticated);
  out.clear();
  request.reply->done();
  EXPECT_EQ(out.view(), "STORED\r\n");
  EXPECT_TRUE(state.is_authenticated);
  EXPECT_EQ(insert_of("set any 0 0 8\r\nuser key\r\n").values[1].view(), "user key");
}

TEST_F(MemcachedTest, a_stranger_is_told_nothing) {
  is_stranger = true;
  for (const std::string_view line : {"get a",       "get @@broken.a", "get @@wide",     "gets a @@wide.1|2",
                                      "gat 1 a",     "stats",          "stats settings", "stats none",
                                      "stats reset", "delete a",       "incr a 1",       "incr a x",
                                      "touch a 1",   "flush_all",      "flush_all 10",   "mg a v",
                                      "mg a !",      "md a",           "ma a",           "ma @@bare.a E1",
                                      "me a"}) {
    EXPECT_EQ(answer_to(std::string(line) + "\r\n"), "CLIENT_ERROR unauthenticated\r\n") << line;
  }
  EXPECT_EQ(answer_to("add a 0 0 1\r\nx\r\n"), "CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(answer_to("delete a noreply\r\n"), "");
  EXPECT_EQ(answer_to("version\r\n"), "VERSION 1.6.18-rowsocket\r\n");
  EXPECT_EQ(answer_to("verbosity 1\r\n"), "OK\r\n");
  EXPECT_EQ(answer_to("verbosity x\r\n"), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(answer_to("mn\r\n"), "MN\r\n");
  EXPECT_EQ(answer_to("nosuch\r\n"), "ERROR\r\n");
}

TEST_F(MemcachedTest, only_gets_are_parsed_before_what_is_in_front_of_them_is_done) {
  for (const std::string_view input : {"get a\r\n", "gets a b\r\n", "mg a v\r\n"}) {
    EXPECT_TRUE(parse(input, true).is_stateless) << input;
  }
  for (const std::string_view input :
       {"set a 0 0 1\r\nx\r\n", "delete a\r\n", "flush_all\r\n", "ms a 1\r\nx\r\n"}) {
    EXPECT_EQ(parse(input, true).status, Parsed::Status::later) << input;
    EXPECT_FALSE(parse(input).is_stateless) << input;
  }
  EXPECT_FALSE(parse("get @@bare\r\n").is_stateless) << "it chooses the container of what follows";
}

TEST_F(MemcachedTest, who_is_refused_the_statistics_can_log_in_anew) {
  settings.needs_account = true;
  state.is_authenticated = true;
  is_stranger = true;
  EXPECT_EQ(answer_to("stats\r\n"), "CLIENT_ERROR unauthenticated\r\n");
  EXPECT_EQ(request_of("set any 0 0 8\r\nuser key\r\n").kind, RequestKind::authenticate);
}

TEST_F(MemcachedTest, a_client_whose_account_is_gone_can_log_in_anew) {
  settings.needs_account = true;
  state.is_authenticated = true;
  const Insert& insert = insert_of("set a 0 0 1\r\nx\r\n");
  insert.reply->failed(ErrorCode::not_authenticated);
  EXPECT_EQ(request_of("set any 0 0 8\r\nuser key\r\n").kind, RequestKind::authenticate);
}

TEST_F(MemcachedTest, a_secret_for_writing_is_said_before_the_first_set) {
  settings.secret_write = "key";
  EXPECT_EQ(words_of(find_of("get a\r\n").range.key), "a");
  EXPECT_EQ(request_of("set any 0 0 8\r\nuser key\r\n").kind, RequestKind::authenticate);
  EXPECT_EQ(answer_to("set any 0 0 3\r\nkey\r\n"), "CLIENT_ERROR bad authentication token format\r\n");
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
