// SPDX-License-Identifier: GPL-2.0-only
//
// The meta commands: what they ask of a table, and how each flag is told.
#include <gmock/gmock.h>

#include "wire/memcached/parser_fixture.h"

namespace rowsocket::wire::memcached::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class MetaTest : public MemcachedTest {
 protected:
  /// What is told of a row with these values, flags, cas and expiry.
  std::string told(std::string_view input) {
    Reply& reply = *find_of(input).reply;
    out.clear();
    reply.begin_rows(4);
    tell_row(reply, {Value("hello"), Value("7"), Value("42"), Value("1800000060")});
    reply.end_rows();
    return std::string(out.view());
  }
  std::string missed(std::string_view input) {
    Reply& reply = *find_of(input).reply;
    out.clear();
    reply.begin_rows(4);
    reply.missed(0);
    reply.end_rows();
    return std::string(out.view());
  }
  std::string changed(std::string_view input, uint64_t found, uint64_t matched) {
    Reply& reply = *find_of(input).reply;
    out.clear();
    reply.changed({.rows_found = found, .rows_matched = matched, .rows_changed = matched});
    return std::string(out.view());
  }
};

TEST_F(MetaTest, a_get_tells_what_it_is_asked_for_in_that_order) {
  EXPECT_EQ(told("mg a\r\n"), "HD\r\n");
  EXPECT_EQ(told("mg a v\r\n"), "VA 5\r\nhello\r\n");
  EXPECT_EQ(told("mg a t f c s v k Oxyz u\r\n"), "VA 5 t60 f7 c42 s5 ka Oxyz\r\nhello\r\n");
  EXPECT_EQ(told("mg a s t q\r\n"), "HD s5 t60\r\n");
  EXPECT_EQ(told("mg YQ== b k v\r\n"), "VA 5 kYQ== b\r\nhello\r\n");
  EXPECT_EQ(words_of(find_of("mg YQ== b\r\n").range.key), "a");
}

TEST_F(MetaTest, a_key_has_at_most_250_bytes) {
  const std::string longest(250, 'k');
  EXPECT_EQ(words_of(find_of("mg " + longest + " v\r\n").range.key), longest);
  EXPECT_EQ(answer_to("mg " + longest + "k v\r\n"), "CLIENT_ERROR bad command line format\r\n");
}

TEST_F(MetaTest, a_miss_is_told_unless_it_is_quiet) {
  EXPECT_EQ(missed("mg a v k O1\r\n"), "EN ka O1\r\n");
  EXPECT_EQ(missed("mg a v q\r\n"), "");
  EXPECT_EQ(missed("ma a q\r\n"), "NF\r\n");
}

TEST_F(MetaTest, a_get_can_change_the_expiry) {
  const Find& find = find_of("mg a T10 t\r\n");
  EXPECT_EQ(words_of(find.change.assignments), "3 = 1800000010");
  EXPECT_EQ(find.tell, Tell::rows_after);
  EXPECT_EQ(find_of("mg @@bare.a T10 v\r\n").change.kind, Change::Kind::none) << "it has none";
}

TEST_F(MetaTest, flags_that_a_table_can_not_answer_say_so) {
  for (const char* line : {"mg a h\r\n", "mg a l\r\n", "mg a N1\r\n", "mg a R1\r\n", "mg a E1\r\n",
                           "md a I\r\n", "md a T1\r\n"}) {
    EXPECT_EQ(answer_to(line), "CLIENT_ERROR invalid flag: a table has no answer to it\r\n") << line;
  }
  EXPECT_EQ(answer_to("mg a !\r\n"), "CLIENT_ERROR invalid flag\r\n");
  EXPECT_EQ(answer_to("mg a v v\r\n"), "CLIENT_ERROR duplicate flag\r\n");
  EXPECT_EQ(answer_to("mg a Tx\r\n"), "CLIENT_ERROR bad token in command line format\r\n");
  EXPECT_EQ(answer_to("mg Y b\r\n"), "CLIENT_ERROR error decoding key\r\n");
  for (const std::string_view command : {"mg\r\n", "md\r\n", "ma\r\n", "ms\r\n"}) {
    EXPECT_EQ(answer_to(command), "ERROR\r\n") << command;
  }
  EXPECT_EQ(answer_to("me\r\n"), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(answer_to("me _ b\r\n"), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(answer_to("mx a\r\n"), "ERROR\r\n");
}

TEST_F(MetaTest, a_counter_that_is_missing_is_made_where_n_asks_for_it) {
  const Find& find = find_of("ma a N100 J13 D5 v t c E9\r\n");
  EXPECT_EQ(find.selection.names->columns, "k,v,f,c,e");
  EXPECT_EQ(words_of(find.change.assignments), "1 +wrap 5, 3 = 9");
  ASSERT_NE(find.otherwise, nullptr);
  EXPECT_EQ(words_of(find.otherwise->values), "a 13 0 9 " + std::to_string(now_s + 100));
  EXPECT_TRUE(find.otherwise->tells_rows);
  out.clear();
  find.reply->begin_rows(5);
  find.reply->missed(0);
  find.reply->begin_rows(5);
  tell_row(*find.reply, {Value("a"), Value("13"), Value("0"), Value("9"), Value("1800000100")});
  find.reply->end_rows();
  EXPECT_EQ(out.view(), "VA 2 t100 c9\r\n13\r\n");
}

TEST_F(MetaTest, a_counter_that_is_compared_with_is_not_made) {
  EXPECT_EQ(find_of("ma a N0 C7\r\n").otherwise, nullptr);
}

TEST_F(MetaTest, an_append_to_what_is_missing_makes_it_where_n_asks_for_it) {
  const Find& find = find_of("ms a 1 MA N0\r\nx\r\n");
  EXPECT_THAT(words_of(find.change.assignments), StartsWith("1 append x"));
  ASSERT_NE(find.otherwise, nullptr);
  EXPECT_THAT(words_of(find.otherwise->values), StartsWith("a x 0 "));
  EXPECT_EQ(find_of("ms a 1 MR N0\r\nx\r\n").otherwise, nullptr);
}

TEST_F(MetaTest, a_client_can_give_the_cas) {
  EXPECT_THAT(words_of(insert_of("ms a 1 E77\r\nx\r\n").values), HasSubstr(" 77 "));
  EXPECT_THAT(words_of(find_of("ms a 1 MA E77\r\nx\r\n").change.assignments), HasSubstr("2 = 77"));
  EXPECT_EQ(answer_to("ms @@bare.a 1 E77\r\nx\r\n"),
            "CLIENT_ERROR the container has no cas column that clients write\r\n");
  EXPECT_EQ(answer_to("ms @@wide.a|b 1 E77\r\nx\r\n"),
            "CLIENT_ERROR the container has no cas column that clients write\r\n");
}

TEST_F(MetaTest, a_delete_can_take_the_value_and_leave_the_row) {
  const Find& find = find_of("md a x E5 C4\r\n");
  EXPECT_EQ(find.change.kind, Change::Kind::assign);
  EXPECT_EQ(words_of(find.change.assignments), "0 = , 1 = 0, 2 = 5");
  EXPECT_THAT(words_of(find.filters), HasSubstr("1 = 4"));
}

// ---- flush_all

TEST_F(MetaTest, a_flush_is_refused_unless_it_is_allowed) {
  EXPECT_EQ(answer_to("flush_all\r\n"), "CLIENT_ERROR flush_all not allowed\r\n");
  EXPECT_EQ(answer_to("flush_all noreply\r\n"), "");
  settings.allows_flush = true;
  EXPECT_EQ(answer_to("flush_all 10\r\n"),
            "CLIENT_ERROR flush_all is done at once: a delay is not served\r\n");
  EXPECT_EQ(answer_to("flush_all x\r\n"), "CLIENT_ERROR invalid exptime argument\r\n");
}

TEST_F(MetaTest, a_flush_deletes_rows_in_steps) {
  settings.allows_flush = true;
  constexpr std::string_view line = "flush_all\r\n";
  const auto step = [&]() -> const Find& {
    const Parsed parsed = parse(line);
    EXPECT_TRUE(parsed.is_step);
    EXPECT_EQ(parsed.consumed_bytes, 0U);
    EXPECT_TRUE(parsed.request->changes_state);
    return static_cast<const Find&>(*parsed.request);
  };
  const auto delete_rows = [&](const Find& find, uint32_t count) {
    out.clear();
    find.reply->begin_rows(1);
    for (uint32_t row = 1; row <= count; ++row) {
      tell_row(*find.reply, {Value(std::string_view("abcde").substr(row % 5))});
    }
    find.reply->end_rows();
    return std::string(out.view());
  };
  const Find& first = step();
  EXPECT_EQ(first.change.kind, Change::Kind::remove);
  EXPECT_EQ(first.limit, limits::flush_rows_per_step);
  EXPECT_TRUE(first.range.key.empty() && first.range.may_be_open);
  EXPECT_EQ(delete_rows(first, limits::flush_rows_per_step), "");
  const Find& second = step();
  EXPECT_EQ(second.range.key_operator, KeyOperator::after);
  EXPECT_EQ(words_of(second.range.key), "abcde");
  EXPECT_EQ(delete_rows(second, 3), "OK\r\n");
  const Parsed end = parse(line);
  EXPECT_EQ(end.status, Parsed::Status::nothing);
  EXPECT_EQ(end.consumed_bytes, line.size());
}

TEST_F(MetaTest, a_flush_that_is_refused_between_two_steps_is_over) {
  state.flushed = {"abcde"};  // where the step before ended
  EXPECT_THAT(answer_to("flush_all\r\n"), StartsWith("CLIENT_ERROR "));
  settings.allows_flush = true;
  const Parsed parsed = parse("flush_all\r\n");
  EXPECT_TRUE(static_cast<const Find&>(*parsed.request).range.key.empty());
}

TEST_F(MetaTest, a_step_of_a_flush_that_ends_at_a_null_is_followed_by_one_from_the_front) {
  settings.allows_flush = true;
  const Parsed parsed = parse("flush_all\r\n");
  out.clear();
  parsed.request->reply->begin_rows(1);
  for (uint32_t row = 1; row <= limits::flush_rows_per_step; ++row) {
    tell_row(*parsed.request->reply, {Value()});
  }
  parsed.request->reply->end_rows();
  EXPECT_TRUE(state.flushed.empty());
  EXPECT_TRUE(parse("flush_all\r\n").is_step);
}

TEST_F(MetaTest, a_client_whose_account_is_gone_is_a_stranger_whatever_it_has_asked) {
  settings.allows_flush = true;
  for (const std::string_view line : {"mg a v\r\n", "ma a\r\n", "ms a 1\r\nx\r\n", "get a @@bare.b\r\n",
                                      "get @@bare\r\n", "incr a 1\r\n", "flush_all\r\n"}) {
    state.is_authenticated = true;
    state.skip_bytes = 0;  // of the flush before
    const Parsed parsed = parse(line);
    parsed.request->reply->failed(ErrorCode::not_authenticated);
    EXPECT_FALSE(state.is_authenticated) << line;
  }
}

TEST_F(MetaTest, a_flush_that_fails_is_over) {
  settings.allows_flush = true;
  const Parsed parsed = parse("flush_all\r\n");
  out.clear();
  parsed.request->reply->failed(ErrorCode::commit_failed);
  EXPECT_THAT(std::string(out.view()), StartsWith("SERVER_ERROR "));
  EXPECT_EQ(parse("flush_all\r\n").status, Parsed::Status::nothing);
}

TEST_F(MetaTest, a_set_has_modes) {
  EXPECT_EQ(insert_of("ms a 1\r\nx\r\n").on_duplicate, OnDuplicate::change);
  EXPECT_FALSE(insert_of("ms a 1 ME\r\nx\r\n").duplicate_filters.empty());
  EXPECT_THAT(words_of(find_of("ms a 1 MA\r\nx\r\n").change.assignments), StartsWith("0 append x"));
  EXPECT_THAT(words_of(find_of("ms a 1 MP\r\nx\r\n").change.assignments), StartsWith("0 prepend x"));
  EXPECT_THAT(words_of(find_of("ms a 1 MR F3 T0\r\nx\r\n").change.assignments),
              StartsWith("0 = x, 1 = 3, 3 = 0"));
  EXPECT_THAT(words_of(find_of("ms a 1 C77\r\nx\r\n").filters), HasSubstr("refuse unless 1 = 77"));
  for (const std::string_view mode : {"MX", "ME C77"}) {
    EXPECT_EQ(answer_to("ms a 1 " + std::string(mode) + "\r\nx\r\n"),
              "CLIENT_ERROR invalid mode for ms M token\r\n");
  }
  EXPECT_EQ(answer_to("ms a x\r\n"), "CLIENT_ERROR bad command line format\r\n");
}

TEST_F(MetaTest, a_set_is_answered_by_its_outcome) {
  EXPECT_EQ(changed("ms a 1 C7 k\r\nx\r\n", 1, 1), "HD ka\r\n");
  EXPECT_EQ(changed("ms a 1 C7\r\nx\r\n", 1, 0), "EX\r\n");
  EXPECT_EQ(changed("ms a 1 C7\r\nx\r\n", 0, 0), "NF\r\n");
  EXPECT_EQ(changed("ms a 1 MR q\r\nx\r\n", 1, 1), "");
  EXPECT_EQ(changed("ms a 1 MR q\r\nx\r\n", 0, 0), "NS\r\n");
  EXPECT_EQ(changed("ms a 1 MR C7\r\nx\r\n", 0, 0), "NF\r\n") << "there is nothing to compare with";
  EXPECT_EQ(changed("ms a 1 MA C7\r\nx\r\n", 0, 0), "NS\r\n") << "there is nothing to append to";
}

TEST_F(MetaTest, a_set_tells_the_cas_that_it_wrote) {
  const Insert& insert = insert_of("ms a 5 c\r\nhello\r\n");
  EXPECT_TRUE(insert.tells_rows);
  out.clear();
  insert.reply->begin_rows(5);
  tell_row(*insert.reply, {Value("a"), Value("hello"), Value("0"), Value("42"), Value("0")});
  insert.reply->end_rows();
  EXPECT_EQ(out.view(), "HD c42\r\n");
}

TEST_F(MetaTest, a_set_tells_the_cas_as_it_is_after_the_change) {
  for (const char* mode : {"MA", "MP", "MR", "C7"}) {
    EXPECT_EQ(find_of("ms a 1 c " + std::string(mode) + "\r\nx\r\n").tell, Tell::rows_after) << mode;
  }
}

TEST_F(MetaTest, a_set_tells_the_cas_that_the_table_wrote) {
  const Insert& insert = insert_of("ms @@wide.1|2 3 c\r\na|b\r\n");
  EXPECT_EQ(insert.selection.names->columns, "a,b,x,y,e,c");
  EXPECT_EQ(insert.values.size(), 5U) << "none for the cas";
  out.clear();
  insert.reply->begin_rows(6);
  tell_row(*insert.reply, {Value("1"), Value("2"), Value("a"), Value("b"), Value("0"), Value("42")});
  insert.reply->end_rows();
  EXPECT_EQ(out.view(), "HD c42\r\n");
}

TEST_F(MetaTest, a_row_of_another_version_is_told_where_rows_are) {
  Reply& reply = *find_of("ms a 1 C7 c\r\nx\r\n").reply;
  out.clear();
  reply.begin_rows(4);
  reply.end_rows();
  EXPECT_EQ(out.view(), "EX\r\n");
}

TEST_F(MetaTest, a_delete_can_compare) {
  EXPECT_THAT(words_of(find_of("md a C7\r\n").filters), HasSubstr("refuse unless 1 = 7"));
  EXPECT_EQ(changed("md a O9\r\n", 1, 1), "HD O9\r\n");
  EXPECT_EQ(changed("md a\r\n", 0, 0), "NF\r\n");
  EXPECT_EQ(changed("md a C7\r\n", 1, 0), "EX\r\n");
  EXPECT_EQ(changed("md a q\r\n", 1, 1), "");
  EXPECT_EQ(changed("md a q\r\n", 0, 0), "NF\r\n");
}

TEST_F(MetaTest, a_count_goes_up_or_down) {
  EXPECT_THAT(words_of(find_of("ma a\r\n").change.assignments), StartsWith("0 +wrap 1"));
  EXPECT_THAT(words_of(find_of("ma a D5 MD\r\n").change.assignments), StartsWith("0 -zero 5"));
  EXPECT_THAT(words_of(find_of("ma a T9\r\n").change.assignments), testing::EndsWith("3 = 1800000009"));
  EXPECT_TRUE(find_of("ma a T9\r\n").change.is_increment);
  EXPECT_EQ(told("ma a v c t\r\n"), "VA 5 c42 t60\r\nhello\r\n");
  EXPECT_EQ(told("ma a\r\n"), "HD\r\n");
  EXPECT_EQ(told("ma a q\r\n"), "");
  EXPECT_EQ(answer_to("ma a MX\r\n"), "CLIENT_ERROR invalid mode for ma M token\r\n");
}

TEST_F(MetaTest, ms_takes_no_size_as_a_flag) {
  EXPECT_EQ(answer_to("ms a 1 S5\r\n"), "CLIENT_ERROR invalid flag\r\n");
}

TEST_F(MetaTest, client_flags_are_a_number) {
  EXPECT_EQ(answer_to("ms a 1 Fx\r\n"), "CLIENT_ERROR bad command line format\r\n");
}

TEST_F(MetaTest, md_and_ma_say_of_a_flag_no_more_than_that_it_is_wrong) {
  for (const char* line : {"md a q q\r\n", "md a Cx\r\n", "md a !\r\n", "md _ b\r\n", "ma a Dx\r\n",
                           "ma a Jx\r\n", "ma a Tx\r\n", "ma a Mxx\r\n"}) {
    EXPECT_EQ(answer_to(line), "CLIENT_ERROR invalid or duplicate flag\r\n") << line;
  }
}

TEST_F(MetaTest, flags_for_what_stands_between_are_ignored) {
  EXPECT_EQ(told("mg a Px Ly\r\n"), told("mg a\r\n"));
  EXPECT_EQ(told("ma a Px Ly\r\n"), told("ma a\r\n"));
}

TEST_F(MetaTest, me_tells_what_a_table_knows) {
  EXPECT_EQ(told("me a\r\n"), "ME a exp=60 la=0 cas=42 fetch=no cls=1 size=5\r\n");
  EXPECT_EQ(missed("me a\r\n"), "EN\r\n");
}

TEST_F(MetaTest, a_row_that_can_be_made_is_told_as_it_is_then) {
  Reply& reply = *find_of("ma a N0 J5 v c t\r\n").reply;
  out.clear();
  reply.begin_rows(5);
  tell_row(reply, {Value("a"), Value("5"), Value("7"), Value("42"), Value("1800000060")});
  reply.end_rows();
  EXPECT_EQ(out.view(), "VA 1 c42 t60\r\n5\r\n");
}

TEST_F(MetaTest, a_sum_sets_no_expiry_where_there_is_none) {
  EXPECT_EQ(words_of(find_of("ma @@bare.a T10 v\r\n").change.assignments),
            words_of(find_of("ma @@bare.a v\r\n").change.assignments));
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
