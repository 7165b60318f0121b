// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>

#include "wire/resp/glob.h"
#include "wire/resp/parser_fixture.h"
#include "wire/resp/scan_places.h"

namespace rowsocket::wire::resp::test {
namespace {

using testing::HasSubstr;

class ScanTest : public RespTest {
 protected:
  /// The reply to a scan that found these keys.
  std::string reply_of_keys(const Find& find, const std::vector<std::vector<Value>>& keys,
                            uint64_t key_shape = 1) {
    out.clear();
    find.reply->begin_rows(keys.empty() ? 1 : keys.front().size());
    find.reply->key_shape(key_shape);
    for (const std::vector<Value>& key : keys) {
      tell_row(*find.reply, key);
    }
    find.reply->end_rows();
    return std::string(out.view());
  }
  /// The cursor that a reply tells: `*2`, its size, itself.
  static std::string cursor_of(const std::string& reply) {
    const size_t begin = reply.find("\r\n", 4) + 2;
    return reply.substr(begin, reply.find("\r\n", begin) - begin);
  }
};

TEST_F(ScanTest, a_step_of_a_container_walks_its_key) {
  const Find& find = find_of({"SCAN", "0"});
  EXPECT_EQ(find.selection.names->table, "t");
  EXPECT_EQ(find.selection.names->columns, "k");
  EXPECT_EQ(find.range.key_operator, KeyOperator::at_or_after);
  EXPECT_TRUE(find.range.key.empty());
  EXPECT_TRUE(find.range.may_be_open);
  EXPECT_EQ(find.limit, 10U);
  EXPECT_EQ(find.filters.size(), 1U) << "what has expired is not there";
  EXPECT_EQ(reply_of_keys(find, {{Value("a")}, {Value("b")}}),
            "*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n");
}

TEST_F(ScanTest, the_next_step_begins_behind_the_last_row) {
  const std::string reply = reply_of_keys(find_of({"SCAN", "0", "COUNT", "2"}), {{Value("a")}, {Value("b")}});
  const Find& next = find_of({"SCAN", cursor_of(reply), "COUNT", "2"});
  EXPECT_EQ(next.range.key_operator, KeyOperator::after);
  EXPECT_EQ(words_of(next.range.key), "b");
  EXPECT_EQ(words_of(find_of({"SCAN", cursor_of(reply)}).range.key), "b") << "a cursor stays good";
}

TEST_F(ScanTest, a_step_over_another_key_than_the_one_before_tells_nothing) {
  const std::string reply = reply_of_keys(find_of({"SCAN", "0", "COUNT", "1"}), {{Value("a")}}, 7);
  const std::string next = cursor_of(reply);
  EXPECT_EQ(reply_of_keys(find_of({"SCAN", next}), {{Value("b")}}, 8),
            "-ERR the cursor is not, or no longer, one of this scan: begin again with 0\r\n");
  EXPECT_THAT(reply_of_keys(find_of({"SCAN", next}), {{Value("b")}}, 7), HasSubstr("$1\r\nb\r\n"));
}

TEST_F(ScanTest, a_pattern_leaves_out_keys_and_the_scan_goes_on_behind_them) {
  const std::string reply = reply_of_keys(find_of({"SCAN", "0", "MATCH", "session:*", "COUNT", "2"}),
                                          {{Value("session:1")}, {Value("token:1")}});
  EXPECT_THAT(reply, HasSubstr("*1\r\n$9\r\nsession:1\r\n"));
  EXPECT_EQ(words_of(find_of({"SCAN", cursor_of(reply), "MATCH", "session:*"}).range.key), "token:1");
}

TEST_F(ScanTest, a_key_that_is_left_out_leaves_nothing_in_the_reply) {
  EXPECT_EQ(
      reply_of_keys(find_of({"SCAN", "0", "MATCH", "a*"}), {{Value("a1")}, {Value("b1")}, {Value("a2")}}),
      "*2\r\n$1\r\n0\r\n*2\r\n$2\r\na1\r\n$2\r\na2\r\n");
  EXPECT_EQ(reply_of_keys(find_of({"SCAN", "0", "MATCH", "@@wide.*"}), {{Value("7"), Value()}}),
            "*2\r\n$1\r\n0\r\n*0\r\n");
}

TEST_F(ScanTest, an_empty_pattern_is_that_of_no_key) {
  EXPECT_EQ(reply_of_keys(find_of({"SCAN", "0", "MATCH", ""}), {{Value("a")}}), "*2\r\n$1\r\n0\r\n*0\r\n");
}

TEST_F(ScanTest, a_container_is_named_by_the_pattern_and_its_first_key_parts_are_a_range) {
  const Find& find = find_of({"SCAN", "0", "MATCH", "@@wide.7|*", "COUNT", "1"});
  EXPECT_EQ(find.selection.names->table, "wide");
  EXPECT_EQ(words_of(find.range.key), "7");
  EXPECT_EQ(find.range.end_operator, KeyOperator::at_or_before);
  EXPECT_EQ(words_of(find.range.end_key), "7");
  const std::string reply = reply_of_keys(find, {{Value("7"), Value("b")}});
  EXPECT_THAT(reply, HasSubstr("*1\r\n$10\r\n@@wide.7|b\r\n"));
  const Find& next = find_of({"SCAN", cursor_of(reply), "MATCH", "@@wide.7|*"});
  EXPECT_EQ(words_of(next.range.key), "7 b");
  EXPECT_EQ(words_of(next.range.end_key), "7");
}

TEST_F(ScanTest, each_key_part_that_stands_whole_in_the_pattern_is_of_the_range) {
  const Find& find = find_of({"SCAN", "0", "MATCH", "d.t:1:2:3*"});
  EXPECT_EQ(words_of(find.range.key), "1 2");
  EXPECT_EQ(words_of(find.range.end_key), "1 2");
  EXPECT_TRUE(find.range.exact_values) << "a value that its column can not have is that of no row";
}

TEST_F(ScanTest, the_last_key_part_of_a_container_takes_the_rest_of_the_pattern) {
  EXPECT_EQ(words_of(find_of({"SCAN", "0", "MATCH", "@@wide.7|8|*"}).range.key), "7");
  EXPECT_TRUE(find_of({"SCAN", "0", "MATCH", "a|*"}).range.key.empty());
}

TEST_F(ScanTest, what_stands_between_key_parts_may_stand_in_the_last_one) {
  EXPECT_THAT(reply_of_keys(find_of({"SCAN", "0", "MATCH", "@@wide.*"}),
                            {{Value("7"), Value("b|c")}, {Value("7|b"), Value("c")}}),
              HasSubstr("*1\r\n$12\r\n@@wide.7|b|c\r\n"))
      << "the other one would be taken for it";
  EXPECT_THAT(reply_of_keys(find_of({"SCAN", "0", "MATCH", "d.t:*"}), {{Value("a|b"), Value("c")}}),
              HasSubstr("*1\r\n$9\r\nd.t:a|b:c\r\n"));
}

TEST_F(ScanTest, a_scan_that_can_not_go_on_behind_its_last_row_says_so) {
  const std::string too_long(limits::scan_place_bytes_max + 1, 'a');
  const Find& find = find_of({"SCAN", "0", "COUNT", "1"});
  EXPECT_EQ(reply_of_keys(find, {{Value(std::string_view(too_long))}}),
            "-ERR the scan can not go on: there is no memory for its place, or its key is too long\r\n");
  EXPECT_EQ(reply_of_keys(find, {}), "*2\r\n$1\r\n0\r\n*0\r\n") << "as it is when it runs again";
}

TEST_F(ScanTest, a_key_that_means_another_one_alone_names_its_container) {
  const auto told = [this](const char* key) {
    return reply_of_keys(find_of({"SCAN", "0"}), {{Value(std::string_view(key))}});
  };
  EXPECT_THAT(told("a.b:c"), HasSubstr("\r\n$11\r\n@@all.a.b:c\r\n")) << "a row of a.b";
  EXPECT_THAT(told("@@x"), HasSubstr("\r\n$9\r\n@@all.@@x\r\n")) << "a container x";
  EXPECT_THAT(told("x:y"), HasSubstr("\r\n$3\r\nx:y\r\n"));
  EXPECT_EQ(answer_to({"SELECT", "shop"}), "+OK\r\n");
  EXPECT_THAT(told("x:y"), HasSubstr("\r\n$9\r\n@@all.x:y\r\n")) << "a row of shop.x";
}

TEST_F(ScanTest, a_pattern_is_about_the_key_without_the_name_of_its_container) {
  const Find& find = find_of({"SCAN", "0", "MATCH", "*b:c"});
  EXPECT_THAT(reply_of_keys(find, {{Value("a.b:c")}, {Value("@@x")}}),
              HasSubstr("*1\r\n$11\r\n@@all.a.b:c\r\n"));
}

TEST_F(ScanTest, a_table_is_walked_by_its_primary_key_and_keys_are_told_as_hgetall_takes_them) {
  const Find& find = find_of({"SCAN", "0", "MATCH", "d.t:*"});
  EXPECT_EQ(find.selection.names->database, "d");
  EXPECT_EQ(find.selection.names->table, "t");
  EXPECT_TRUE(find.selection.names->key_columns_first);
  EXPECT_EQ(find.selection.names->index, "");
  EXPECT_EQ(reply_of_keys(find, {{Value("1"), Value("a:\\b")}}),
            "*2\r\n$1\r\n0\r\n*1\r\n$12\r\nd.t:1:a\\:\\\\b\r\n");
}

TEST_F(ScanTest, a_key_with_null_is_not_told) {
  EXPECT_EQ(reply_of_keys(find_of({"SCAN", "0"}), {{Value()}, {Value("b")}}),
            "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nb\r\n");
}

TEST_F(ScanTest, the_next_step_begins_behind_a_key_with_null) {
  const std::string reply = reply_of_keys(find_of({"SCAN", "0", "MATCH", "@@wide.*", "COUNT", "2"}),
                                          {{Value(), Value("5")}, {Value("a"), Value()}});
  EXPECT_THAT(reply, HasSubstr("*0\r\n"));
  EXPECT_EQ(words_of(find_of({"SCAN", cursor_of(reply), "MATCH", "@@wide.*"}).range.key), "a NULL");
  const std::string empty = reply_of_keys(find_of({"SCAN", "0", "COUNT", "1"}), {{Value("")}});
  EXPECT_EQ(words_of(find_of({"SCAN", cursor_of(empty)}).range.key), "") << "empty text is no NULL";
}

TEST_F(ScanTest, a_type_that_is_not_scanned_has_no_keys) {
  EXPECT_EQ(answer_to({"SCAN", "0", "TYPE", "list"}), "*2\r\n$1\r\n0\r\n*0\r\n");
  EXPECT_EQ(answer_to({"SCAN", "0", "TYPE", "hash"}), "*2\r\n$1\r\n0\r\n*0\r\n");
  EXPECT_EQ(find_of({"SCAN", "0", "TYPE", "string"}).limit, 10U);
  EXPECT_EQ(find_of({"SCAN", "0", "TYPE", "hash", "MATCH", "d.t:*"}).limit, 10U);
}

TEST_F(ScanTest, what_makes_no_sense_is_refused) {
  EXPECT_EQ(answer_to({"SCAN", "x"}), "-ERR invalid cursor\r\n");
  for (const std::string_view cursor : {"+-0", "+", "-", "18446744073709551616"}) {
    EXPECT_EQ(answer_to({"SCAN", cursor}), "-ERR invalid cursor\r\n") << cursor;
  }
  for (const std::string_view beginning : {"+0", ""}) {
    EXPECT_EQ(request_of(encoded({"SCAN", beginning})).mistake, ErrorCode::none) << beginning;
  }
  EXPECT_THAT(answer_to({"SCAN", "17"}), HasSubstr("begin again with 0"));
  EXPECT_EQ(answer_to({"SCAN", "0", "COUNT", "0"}), "-ERR syntax error\r\n");
  EXPECT_EQ(answer_to({"SCAN", "0", "COUNT"}), "-ERR syntax error\r\n");
  for (const std::string_view option : {"MATCH", "COUNT", "TYPE"}) {
    find_of({"SCAN", "0", "COUNT", "7"});  // whose last argument is not taken for that of the next command
    EXPECT_EQ(answer_to({"SCAN", "0", option}), "-ERR syntax error\r\n") << option;
  }
  EXPECT_EQ(answer_to({"SCAN", "0", "COUNT", "x"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_THAT(answer_to({"SCAN", "0", "MATCH", "@@all*"}), HasSubstr("@@name.*"));
  EXPECT_THAT(answer_to({"SCAN", "0", "MATCH", "@@none.*"}), HasSubstr("no such container"));
  EXPECT_THAT(answer_to({"SCAN", "0", "MATCH", "d.t@i:*"}), HasSubstr("primary key"));
}

TEST_F(ScanTest, a_cursor_is_of_the_rows_that_it_was_given_for) {
  const std::string reply = reply_of_keys(find_of({"SCAN", "0", "COUNT", "1"}), {{Value("a")}});
  EXPECT_THAT(answer_to({"SCAN", cursor_of(reply), "MATCH", "@@bare.*"}), HasSubstr("begin again with 0"));
}

TEST_F(ScanTest, a_pattern_is_bounded) {
  const std::string longest = "*[" + std::string(limits::scan_pattern_bytes_max - 2, 'x');
  EXPECT_EQ(find_of({"SCAN", "0", "MATCH", longest}).limit, limits::scan_rows_default);
  EXPECT_EQ(answer_to({"SCAN", "0", "MATCH", longest + "x"}), "-ERR the pattern is too long\r\n");
}

TEST_F(ScanTest, a_count_is_bounded) {
  EXPECT_EQ(find_of({"SCAN", "0", "COUNT", "1000000000"}).limit, limits::scan_rows_max);
}

TEST(ScanPlacesTest, the_oldest_places_are_forgotten) {
  auto places = std::make_unique<ScanPlaces>();
  constexpr Value key[] = {Value("a")};
  ScanPlaces::Own first_own;
  const uint64_t first = places->remember("rows", key, 0, 1000, first_own);
  EXPECT_GT(first, 1000U);
  EXPECT_EQ(places->find(first)->key.front(), std::optional<std::string>("a"));
  uint64_t last = 0;
  for (uint32_t step = 0; step < limits::scan_places_max; ++step) {
    ScanPlaces::Own own;
    last = places->remember("rows", key, 0, 1000, own);
  }
  EXPECT_FALSE(places->find(first).has_value());
  EXPECT_TRUE(places->find(last).has_value());
}

TEST(ScanPlacesTest, so_many_places_are_kept) {
  auto places = std::make_unique<ScanPlaces>();
  constexpr Value key[] = {Value("a")};
  ScanPlaces::Own first_own;
  const uint64_t first = places->remember("rows", key, 0, 1000, first_own);
  for (uint32_t step = 1; step < limits::scan_places_max; ++step) {
    ScanPlaces::Own own;
    static_cast<void>(places->remember("rows", key, 0, 1000, own));
  }
  EXPECT_TRUE(places->find(first).has_value());
}

TEST(ScanPlacesTest, a_connection_that_ends_no_scan_ends_its_own_only) {
  auto places = std::make_unique<ScanPlaces>();
  constexpr Value key[] = {Value("a")};
  ScanPlaces::Own own;
  ScanPlaces::Own of_another;
  const uint64_t others = places->remember("rows", key, 0, 1000, of_another);
  const uint64_t first = places->remember("rows", key, 0, 1000, own);
  for (uint32_t step = 1; step < limits::scan_places_per_connection; ++step) {
    static_cast<void>(places->remember("rows", key, 0, 1000, own));
  }
  EXPECT_TRUE(places->find(first).has_value());
  for (uint32_t step = 0; step < limits::scan_places_max; ++step) {
    static_cast<void>(places->remember("rows", key, 0, 1000, own));
  }
  EXPECT_FALSE(places->find(first).has_value());
  EXPECT_TRUE(places->find(others).has_value());
}

TEST(ScanPlacesTest, a_key_that_is_too_long_has_no_place) {
  auto places = std::make_unique<ScanPlaces>();
  const std::string text(limits::scan_place_bytes_max + 1, 'a');
  const Value key[] = {Value(text)};
  ScanPlaces::Own own;
  EXPECT_EQ(places->remember("", key, 0, 1000, own), 0U);
}

TEST(GlobTest, patterns_are_those_of_redis) {
  const auto matches = [](std::string_view pattern, std::string_view text) {
    return matches_glob(text, pattern);
  };
  EXPECT_TRUE(matches("", "") && matches("*", "") && matches("*", "abc") && matches("a*c", "abbc"));
  EXPECT_TRUE(matches("a?c", "abc") && matches("*b*", "abc") && matches("**c", "abc"));
  EXPECT_FALSE(matches("", "a") || matches("a", "") || matches("a*c", "ab") || matches("a?c", "ac"));
  EXPECT_TRUE(matches("[a-c]", "b") && matches("[c-a]", "b") && matches("[abc]x", "bx"));
  EXPECT_TRUE(matches("[^a-c]", "d") && matches("[\\]]", "]") && matches("[a", "a"));
  EXPECT_TRUE(matches("[\\", "\\"));
  EXPECT_FALSE(matches("[a-c]", "d") || matches("[^a-c]", "b") || matches("[]", "a"));
  EXPECT_TRUE(matches("a\\*", "a*") && matches("\\", "\\"));
  EXPECT_FALSE(matches("a\\*", "ab"));
  EXPECT_TRUE(matches("[^", "a") && matches("[^b]x", "ax") && matches("[a-]", "^") && matches("[a-c]", "c"));
  EXPECT_FALSE(matches("[^", "") || matches("[^^]", "^") || matches("[b-]", "c") || matches("[b-c]", "a"));
  EXPECT_FALSE(matches("[a-c]", "-") || matches("[acz]", "b") || matches("a", "ab") || matches("a\\", "a"));
  EXPECT_FALSE(matches(std::string_view("[a-z]").substr(0, 3), "b")) << "nothing ends this range";
  EXPECT_TRUE(matches("*ab", "aab") && matches("a*b*c", "axbxbc") && matches("a*?c", "abbc"));
}

TEST(GlobTest, many_stars_take_no_long_time) {
  const std::string text(2000, 'a');
  std::string pattern;
  for (int times = 0; times < 200; ++times) {
    pattern += "a*";
  }
  EXPECT_FALSE(matches_glob(text, pattern + "b"));
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
