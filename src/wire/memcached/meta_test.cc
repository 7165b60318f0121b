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

TEST_F(MetaTest, a_miss_is_told_unless_it_is_quiet) {
  EXPECT_EQ(missed("mg a v k O1\r\n"), "EN ka O1\r\n");
  EXPECT_EQ(missed("mg a v q\r\n"), "");
  EXPECT_EQ(missed("ma a q\r\n"), "NF\r\n");
}

TEST_F(MetaTest, a_get_can_change_the_expiry) {
  const Find& find = find_of("mg a T10 t\r\n");
  EXPECT_EQ(words_of(find.change.assignments), "3 = 1800000010");
  EXPECT_EQ(find.tell, Tell::rows_after);
}

TEST_F(MetaTest, flags_that_a_table_can_not_answer_say_so) {
  for (const char* line :
       {"mg a h\r\n", "mg a l\r\n", "mg a N1\r\n", "mg a R1\r\n", "md a I\r\n", "md a x\r\n"}) {
    EXPECT_EQ(answer_to(line), "CLIENT_ERROR invalid flag: a table has no answer to it\r\n") << line;
  }
  EXPECT_EQ(answer_to("mg a !\r\n"), "CLIENT_ERROR invalid flag\r\n");
  EXPECT_EQ(answer_to("mg a v v\r\n"), "CLIENT_ERROR duplicate flag\r\n");
  EXPECT_EQ(answer_to("mg a Tx\r\n"), "CLIENT_ERROR bad token in command line format\r\n");
  EXPECT_EQ(answer_to("mg Y b\r\n"), "CLIENT_ERROR error decoding key\r\n");
  EXPECT_EQ(answer_to("mg\r\n"), "CLIENT_ERROR bad command line format\r\n");
  EXPECT_EQ(answer_to("mx a\r\n"), "ERROR\r\n");
}

TEST_F(MetaTest, a_set_has_modes) {
  EXPECT_EQ(insert_of("ms a 1\r\nx\r\n").on_duplicate, OnDuplicate::change);
  EXPECT_FALSE(insert_of("ms a 1 ME\r\nx\r\n").duplicate_filters.empty());
  EXPECT_THAT(words_of(find_of("ms a 1 MA\r\nx\r\n").change.assignments), StartsWith("0 append x"));
  EXPECT_THAT(words_of(find_of("ms a 1 MP\r\nx\r\n").change.assignments), StartsWith("0 prepend x"));
  EXPECT_THAT(words_of(find_of("ms a 1 MR F3 T0\r\nx\r\n").change.assignments),
              StartsWith("0 = x, 1 = 3, 3 = 0"));
  EXPECT_THAT(words_of(find_of("ms a 1 C77\r\nx\r\n").filters), HasSubstr("refuse unless 1 = 77"));
  EXPECT_EQ(answer_to("ms a 1 MX\r\nx\r\n"), "CLIENT_ERROR invalid mode for ms M token\r\n");
  EXPECT_EQ(answer_to("ms a x\r\n"), "CLIENT_ERROR bad command line format\r\n");
}

TEST_F(MetaTest, a_set_is_answered_by_its_outcome) {
  EXPECT_EQ(changed("ms a 1 C7 k\r\nx\r\n", 1, 1), "HD ka\r\n");
  EXPECT_EQ(changed("ms a 1 C7\r\nx\r\n", 1, 0), "EX\r\n");
  EXPECT_EQ(changed("ms a 1 C7\r\nx\r\n", 0, 0), "NF\r\n");
  EXPECT_EQ(changed("ms a 1 MR q\r\nx\r\n", 1, 1), "");
  EXPECT_EQ(changed("ms a 1 MR q\r\nx\r\n", 0, 0), "NS\r\n");
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
  EXPECT_EQ(changed("md a q\r\n", 0, 0), "");
}

TEST_F(MetaTest, a_count_goes_up_or_down) {
  EXPECT_THAT(words_of(find_of("ma a\r\n").change.assignments), StartsWith("0 +wrap 1"));
  EXPECT_THAT(words_of(find_of("ma a D5 MD\r\n").change.assignments), StartsWith("0 -zero 5"));
  EXPECT_THAT(words_of(find_of("ma a T9\r\n").change.assignments), testing::EndsWith("3 = 1800000009"));
  EXPECT_EQ(told("ma a v c t\r\n"), "VA 5 c42 t60\r\nhello\r\n");
  EXPECT_EQ(told("ma a\r\n"), "HD\r\n");
  EXPECT_EQ(told("ma a q\r\n"), "");
  EXPECT_EQ(answer_to("ma a Dx\r\n"), "CLIENT_ERROR invalid numeric delta value\r\n");
  EXPECT_EQ(answer_to("ma a MX\r\n"), "CLIENT_ERROR invalid mode for ma M token\r\n");
}

TEST_F(MetaTest, me_tells_what_a_table_knows) {
  EXPECT_EQ(told("me a\r\n"), "ME a exp=60 la=0 cas=42 fetch=no cls=1 size=5\r\n");
  EXPECT_EQ(missed("me a\r\n"), "EN\r\n");
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
