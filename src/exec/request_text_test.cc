// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_text.h"

#include "exec/executor_fixture.h"
#include "exec/readable.h"

namespace rowsocket::exec {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RequestTextTest : public ExecutorTest {
 protected:
  std::string text(const Ask& ask, size_t value_bytes_max = 64) {
    const Ask& kept = asked.emplace_back(ask);
    return text_of(*kept.bind(arena, client.out), client.client, {}, value_bytes_max);
  }

  Connection& client = connect();
};

Ask find(std::vector<Cell> key, KeyOperator key_operator = KeyOperator::equal) {
  return Ask::find(0, std::move(key), key_operator).of("d.t", "", "a,b", "f");
}

std::string value_text(std::string_view bytes, size_t value_bytes_max = 64) {
  Readable readable(value_bytes_max);
  readable.add_value(Value(bytes));
  return readable.take();
}

std::string name_text(std::string_view name) {
  Readable readable(64);
  readable.add_name(name);
  return readable.take();
}

TEST_F(RequestTextTest, finds) {
  EXPECT_EQ(text(find({"42"})), "ROWSOCKET FIND d.t PRIMARY = 42 LIMIT 1 COLUMNS a, b");
  EXPECT_EQ(text(find({"1", "x"}).limit(5, 2)),
            "ROWSOCKET FIND d.t PRIMARY = (1, 'x') LIMIT 5 OFFSET 2 COLUMNS a, b");
  EXPECT_EQ(text(find({"1"}, KeyOperator::at_or_after).to(KeyOperator::before, {"9"}).reverse()),
            "ROWSOCKET FIND d.t PRIMARY >= 1 AND < 9 REVERSE LIMIT 1 COLUMNS a, b");
  EXPECT_EQ(text(find({"jo"}, KeyOperator::starts_with).count()),
            "ROWSOCKET COUNT d.t PRIMARY STARTS WITH 'jo' LIMIT 1");
  EXPECT_EQ(text(find({"1"}).in(0, {"1", NULL_VALUE, "3"})),
            "ROWSOCKET FIND d.t PRIMARY = ANY OF (1, NULL, 3) LIMIT 1 COLUMNS a, b");
  EXPECT_EQ(text(find({"1", "2"}).in(1, {"5", "6"})),
            "ROWSOCKET FIND d.t PRIMARY = (1, ?) FOR ? IN (5, 6) LIMIT 1 COLUMNS a, b");
  EXPECT_EQ(text(Ask::find(0, {"1"}).of("d.t", "3", "a")),
            "ROWSOCKET FIND d.t [index 3] = 1 LIMIT 1 COLUMNS a");
  EXPECT_EQ(text(find({"1", "2"}).in_keys({"1", "2", "3", "4"})),
            "ROWSOCKET FIND d.t PRIMARY = ANY OF ((1, 2), (3, 4)) LIMIT 1 COLUMNS a, b");
  EXPECT_EQ(text(find({"1"})
                     .skip_unless(0, Comparison::less, "5")
                     .stop_unless(1, Comparison::not_equal, NULL_VALUE)),
            "ROWSOCKET FIND d.t PRIMARY = 1 WHERE f < 5 AND [column 1] <> NULL OR STOP LIMIT 1 COLUMNS a, b");
}

TEST_F(RequestTextTest, changes) {
  EXPECT_EQ(text(find({"1"}).update({"5", "x"})),
            "ROWSOCKET UPDATE d.t PRIMARY = 1 SET a = 5, b = 'x' LIMIT 1");
  EXPECT_EQ(text(find({"1"}).add({"5"}).rows_after()),
            "ROWSOCKET UPDATE d.t PRIMARY = 1 SET a += 5 LIMIT 1 RETURNING NEW COLUMNS a, b");
  EXPECT_EQ(text(find({"1"}).subtract({"5"}).rows_before()),
            "ROWSOCKET UPDATE d.t PRIMARY = 1 SET a -= 5 LIMIT 1 RETURNING OLD COLUMNS a, b");
  EXPECT_EQ(text(find({"1"}).change(1, Operation::append, "x")),
            "ROWSOCKET UPDATE d.t PRIMARY = 1 SET b APPEND 'x' LIMIT 1");
  EXPECT_EQ(text(find({"1"}).change(1, Operation::prepend, "x")),
            "ROWSOCKET UPDATE d.t PRIMARY = 1 SET b PREPEND 'x' LIMIT 1");
  EXPECT_EQ(text(find({"1"}).update({"5", "6", "7"})),
            "ROWSOCKET UPDATE d.t PRIMARY = 1 SET a = 5, b = 6, [column 2] = 7 LIMIT 1");
  EXPECT_EQ(text(find({"1"}).remove()), "ROWSOCKET DELETE d.t PRIMARY = 1 LIMIT 1");
  EXPECT_EQ(text(find({"1"}).update({"5"}).otherwise(Ask::insert(0, {"1", "5"}))),
            "ROWSOCKET UPDATE d.t PRIMARY = 1 SET a = 5 LIMIT 1 OR ELSE INSERT (a, b) VALUES (1, 5)");
}

TEST_F(RequestTextTest, inserts) {
  const auto insert = [](std::vector<Cell> values) {
    return Ask::insert(0, std::move(values)).of("d.t", "", "a,b", "f");
  };
  EXPECT_EQ(text(insert({"1", "x"})), "ROWSOCKET INSERT d.t (a, b) VALUES (1, 'x')");
  EXPECT_EQ(text(Ask::insert_rows(0, 2, {"1", "2", "3", "4"}).of("d.t", "", "a,b")),
            "ROWSOCKET INSERT d.t (a, b) VALUES (1, 2), (3, 4)");
  EXPECT_EQ(text(insert({"1"}).on_duplicate(OnDuplicate::keep)),
            "ROWSOCKET INSERT IGNORE d.t (a) VALUES (1)");
  EXPECT_EQ(text(insert({"1"}).on_duplicate(OnDuplicate::replace)), "ROWSOCKET REPLACE d.t (a) VALUES (1)");
  EXPECT_EQ(text(insert({"1", "2"})
                     .on_duplicate(OnDuplicate::change, {0}, {1})
                     .skip_unless(0, Comparison::greater, "7")),
            "ROWSOCKET UPSERT d.t (a, b) VALUES (1, 2) IF f > 7 SET a = NEW, b += NEW");
}

TEST_F(RequestTextTest, others) {
  EXPECT_EQ(text(Ask::open(3, "d.t", "i", "a,b", "f")),
            "ROWSOCKET OPEN 3 d.t i COLUMNS a, b FILTER COLUMNS f");
  EXPECT_EQ(text(Ask::nothing()), "ROWSOCKET NOTHING");
  EXPECT_EQ(text(Ask::refused(ErrorCode::syntax)), "ROWSOCKET REFUSED [syntax]");
  EXPECT_EQ(text(Ask::find(3, {"1"}).malformed(ErrorCode::bad_operator)),
            "ROWSOCKET FIND [id 3] = 1 LIMIT 1 [bad_operator]");
  EXPECT_EQ(text(Ask::group({find({"1"}), find({"2"}).remove()})),
            "ROWSOCKET GROUP 2: FIND d.t PRIMARY = 1 LIMIT 1 COLUMNS a, b; DELETE d.t PRIMARY = 2 LIMIT 1");
  EXPECT_EQ(text(Ask::group({})), "ROWSOCKET GROUP 0");
}

TEST_F(RequestTextTest, the_database_is_a_name_that_can_be) {
  const auto database = [this](const std::string& name) {
    const Ask& kept = asked.emplace_back(Ask::open(0, name + ".t", "", "a"));
    return std::string(database_of(*kept.bind(arena, client.out), client.client, {}));
  };
  EXPECT_EQ(database("d"), "d");
  const Ask& kept = asked.emplace_back(find({"1"}));
  EXPECT_EQ(database_of(*kept.bind(arena, client.out), client.client, {}), "d");
  EXPECT_EQ(database("grün"), "grün");
  EXPECT_EQ(database("a\nb"), "");
  EXPECT_EQ(database("\xFF"), "");
  EXPECT_EQ(database(std::string(limits::name_bytes_max + 1, 'd')), "");
  EXPECT_EQ(database(""), "");
}

TEST_F(RequestTextTest, a_secret_is_not_in_it) {
  EXPECT_EQ(text(Ask::authenticate("sesame")), "ROWSOCKET LOGIN");
}

TEST_F(RequestTextTest, values_can_be_left_out) {
  EXPECT_EQ(text(find({"1", "x"}).update({"5", NULL_VALUE}).skip_unless(0, Comparison::less, "5"), 0),
            "ROWSOCKET UPDATE d.t PRIMARY = (?, ?) WHERE f < ? SET a = ?, b = ? LIMIT 1");
}

TEST_F(RequestTextTest, a_list_is_cut_where_there_is_no_room) {
  std::vector<Cell> many(100'000, "123456789");
  const std::string all = text(find({"1"}).in(0, many));
  EXPECT_LT(all.size(), limits::logged_text_bytes + 200);
  EXPECT_THAT(all, testing::ContainsRegex(", 123456789 \\.\\.\\. [0-9]+ more\\) LIMIT 1"));
  Ask filtered = find({"1"});
  for (int filters = 0; filters < 1000; ++filters) {
    filtered = std::move(filtered).skip_unless(0, Comparison::less, "123456789");
  }
  EXPECT_THAT(text(filtered), HasSubstr(" AND f < 123456789 ... LIMIT 1"));
  const std::string rows = text(Ask::insert_rows(0, 50'000, many).of("d.t", "", "a,b"));
  EXPECT_LT(rows.size(), limits::logged_text_bytes + 200);
  // Each member of a group has room of its own: none can be hidden behind another one.
  const std::string group = text(Ask::group({find({"1"}).in(0, many), find({"2"}).remove()}));
  EXPECT_THAT(group, HasSubstr("; DELETE d.t PRIMARY = 2 LIMIT 1"));
}

TEST(ReadableTest, values) {
  EXPECT_EQ(value_text("42"), "42");
  EXPECT_EQ(value_text("-1.50"), "-1.50");
  EXPECT_EQ(value_text("1."), "'1.'");
  EXPECT_EQ(value_text("-"), "'-'");
  EXPECT_EQ(value_text("1.2.3"), "'1.2.3'");
  EXPECT_EQ(value_text("1x2.3"), "'1x2.3'");
  EXPECT_EQ(value_text(std::string(40, '7')), std::string(40, '7'));
  EXPECT_EQ(value_text(std::string(41, '7')), "'" + std::string(41, '7') + "'");
  EXPECT_EQ(value_text(""), "''");
  EXPECT_EQ(value_text("it's"), R"('it\'s')");
  EXPECT_EQ(value_text(R"(a\b)"), R"('a\\b')");
  EXPECT_EQ(value_text("a\nb\r\t"), R"('a\nb\r\t')");
  EXPECT_EQ(value_text(std::string_view("\0\x1F\x7F", 3)), R"('\x00\x1F\x7F')");
  Readable readable(9);
  readable.add_value(Value());
  readable.add_value(Value::now());
  EXPECT_EQ(readable.take(), "NULLNOW");
}

TEST(ReadableTest, bytes_that_are_no_text_are_escaped) {
  EXPECT_EQ(value_text("gr\xC3\xBC\xC3\x9F"
                       "e \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "'grüße € 😀'");
  EXPECT_EQ(value_text("\xFF\xC3"), R"('\xFF\xC3')");
  EXPECT_EQ(value_text("\xC0\x80"), R"('\xC0\x80')");                  // overlong
  EXPECT_EQ(value_text("\xD0\x80\x80"), "'\xD0\x80\\x80'");            // it has two bytes, not three
  EXPECT_EQ(value_text("\xE0\x80\x80"), R"('\xE0\x80\x80')");          // the same
  EXPECT_EQ(value_text("\xF0\x80\x80\x80"), R"('\xF0\x80\x80\x80')");  // the same
  EXPECT_EQ(value_text("\xED\xA0\x80"), R"('\xED\xA0\x80')");          // half of a pair
  EXPECT_EQ(value_text("\xF4\x90\x80\x80"), R"('\xF4\x90\x80\x80')");  // beyond the last character
  EXPECT_EQ(value_text("\xC2\x85"), R"('\xC2\x85')");                  // these two end lines
  EXPECT_EQ(value_text("\xE2\x80\xA8"), R"('\xE2\x80\xA8')");
  EXPECT_EQ(value_text("\xE2\x80\xA9"), R"('\xE2\x80\xA9')");
  EXPECT_EQ(value_text("\xE2\x82"), R"('\xE2\x82')");
  EXPECT_EQ(value_text("\xF5\x80\x80\x80"), R"('\xF5\x80\x80\x80')");
}

/// The characters beside those above.
TEST(ReadableTest, text_of_any_script_stays_as_it_is) {
  for (const std::string_view character :
       {"\xC2\xA0", "\xDF\xBF", "\xE0\xA0\x80", "\xE1\x80\x80", "\xE2\x80\xA7", "\xE2\x80\xAA",
        "\xE2\x81\xA8", "\xE3\x80\xA8", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80",
        "\xF1\x80\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(value_text(character), "'" + std::string(character) + "'");
  }
}

TEST(ReadableTest, a_long_value_is_cut) {
  EXPECT_EQ(value_text("abcdef", 6), "'abcdef'");
  EXPECT_EQ(value_text("123456", 6), "123456");
  EXPECT_EQ(value_text("abcdefg", 6), "'abcdef'...(7 bytes)");
  EXPECT_EQ(value_text("1234567", 6), "'123456'...(7 bytes)");
  EXPECT_EQ(value_text("abcd\xE2\x82\xAC", 6), "'abcd'...(7 bytes)");
  EXPECT_EQ(value_text("\x80\x80\x80\x80\x80\x80", 5), R"('\x80\x80\x80\x80\x80'...(6 bytes))");
  const std::string large(16 * limits::mebibyte, 'x');
  EXPECT_EQ(value_text(large, 3), "'xxx'...(16777216 bytes)");
}

TEST(ReadableTest, names) {
  EXPECT_EQ(name_text("a_1$"), "a_1$");
  EXPECT_EQ(name_text("order"), "order");
  EXPECT_EQ(name_text("azAZ09"), "azAZ09");
  EXPECT_EQ(name_text("two words"), "`two words`");
  EXPECT_EQ(name_text("a`b"), R"(`a\`b`)");
  EXPECT_EQ(name_text(""), "``");
  EXPECT_EQ(name_text("b\n"), R"(`b\n`)");
  EXPECT_THAT(name_text(std::string(1000, 'x')), StartsWith("`xxx"));
  EXPECT_THAT(name_text(std::string(1000, 'x')), testing::EndsWith("`..."));
  EXPECT_LT(name_text(std::string(1000, 'x')).size(), 300);
}

}  // namespace
}  // namespace rowsocket::exec
