// SPDX-License-Identifier: GPL-2.0-only
//
// Commands that say less than they must, or ask for more than there may be.
#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <vector>

#include "wire/resp/parser_fixture.h"
#include "wire/resp/parts.h"

namespace rowsocket::wire::resp::test {
namespace {

using testing::HasSubstr;

std::string line(std::string_view text) { return std::string(text) + "\r\n"; }

class RefusalsTest : public RespTest {
 protected:
  using List = std::vector<std::string>;

  /// Of a command that is too long for being cut at each of its bytes.
  const Request& request_of_list(const List& arguments) {
    std::string& bytes = inputs_.emplace_back("*" + std::to_string(arguments.size()) + "\r\n");
    for (const std::string& argument : arguments) {
      bytes += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
    }
    const Parsed parsed = parse(bytes);
    EXPECT_EQ(parsed.status, Parsed::Status::request);
    return *parsed.request;
  }
  std::string answer_to_list(const List& arguments) { return answer_of(request_of_list(arguments)); }
  /// The command, and so many times the words behind it.
  static List with(List command, size_t count, const List& words) {
    for (size_t number = 0; number < count; ++number) {
      command.insert(command.end(), words.begin(), words.end());
    }
    return command;
  }

 private:
  std::deque<std::string> inputs_;
};

TEST_F(RefusalsTest, a_range_that_ends_within_a_clause_is_refused) {
  for (const Words arguments : {Words{"ROWS.FIND", "d.t", "a", "=", "1", "7", "TO"},
                                {"ROWS.FIND", "d.t", "a", "=", "1", "7", "LIMIT"},
                                {"ROWS.FIND", "d.t", "a", "=", "1", "7", "WHERE", "c", "="},
                                {"ROWS.FIND", "d.t", "a", "=", "1", "7", "NULLS"},
                                {"ROWS.CHANGE", "d.t", "=", "1", "7", "DELETE", "NOW"},
                                {"ROWS.CHANGE", "d.t", "=", "1", "7", "SET", "a"},
                                {"ROWS.CHANGE", "d.t", "=", "1", "7", "DELETE", "RETURN", "BEFORE"}}) {
    EXPECT_EQ(answer_to(arguments), line(syntax_error)) << *(arguments.end() - 1);
  }
}

TEST_F(RefusalsTest, a_count_is_a_number_from_0_on) {
  for (const std::string_view count : {"x", "-1", "", "1.0"}) {
    EXPECT_EQ(answer_to({"ROWS.FIND", "d.t", "a", "=", count, "7"}), line(not_an_integer)) << count;
    EXPECT_EQ(answer_to({"ROWS.FIND", "d.t", "a", "=", "1", "7", "LIMIT", count}), line(not_an_integer));
  }
}

TEST_F(RefusalsTest, a_condition_compares_with_a_value_or_is_about_null) {
  const auto answer = [this](std::string_view word, std::string_view value) {
    return answer_to({"ROWS.FIND", "d.t", "a", "=", "1", "7", "WHERE", "c", word, value});
  };
  EXPECT_THAT(answer("~", "5"), HasSubstr("-ERR a condition is column = "));
  EXPECT_THAT(answer("IS", "5"), HasSubstr("-ERR a condition is column = "));
  EXPECT_THAT(answer("NOT", "5"), HasSubstr("-ERR a condition is column = "));
}

TEST_F(RefusalsTest, a_range_has_one_list) {
  EXPECT_EQ(answer_to({"ROWS.FIND", "d.t", "a", "=", "1", "7", "IN", "0", "1", "5", "KEYS", "1", "6"}),
            line(syntax_error));
}

TEST_F(RefusalsTest, rows_that_are_deleted_are_told_as_they_were) {
  const std::string refusal =
      line("-ERR RETURN BEFORE columns, or RETURN AFTER columns of rows that are not deleted");
  EXPECT_EQ(answer_to({"ROWS.CHANGE", "d.t", "=", "1", "7", "DELETE", "RETURN", "AFTER", "a"}), refusal);
  EXPECT_EQ(answer_to({"ROWS.CHANGE", "d.t", "=", "1", "7", "DELETE", "RETURN", "BEFORE", ""}), refusal);
}

TEST_F(RefusalsTest, a_range_has_a_bounded_number_of_conditions) {
  const List range = {"ROWS.FIND", "d.t", "a", "=", "1", "7"};
  const List condition = {"WHERE", "c", "=", "1"};
  const Request& most = request_of_list(with(range, limits::filter_count_max, condition));
  EXPECT_EQ(find_in(most).filters.size(), limits::filter_count_max);
  EXPECT_EQ(answer_to_list(with(range, limits::filter_count_max + 1, condition)),
            line("-ERR too many conditions"));
}

TEST_F(RefusalsTest, a_change_sets_no_more_columns_than_a_table_has) {
  const List range = {"ROWS.CHANGE", "d.t", "=", "1", "7"};
  const Request& most = request_of_list(with(range, limits::value_count_max, {"SETNULL", "c"}));
  EXPECT_EQ(find_in(most).change.assignments.size(), limits::value_count_max);
  EXPECT_EQ(answer_to_list(with(range, limits::value_count_max + 1, {"SETNULL", "c"})),
            line("-ERR too many changes"));
}

TEST_F(RefusalsTest, an_insert_has_a_bounded_number_of_rows) {
  const auto rows = [](size_t count) {
    return with({"ROWS.INSERT", "d.t", "a", std::to_string(count)}, count, {"7"});
  };
  EXPECT_EQ(insert_in(request_of_list(rows(limits::insert_rows_max))).row_count, limits::insert_rows_max);
  EXPECT_EQ(answer_to_list(rows(limits::insert_rows_max + 1)), line("-ERR too many rows"));
}

TEST_F(RefusalsTest, an_mset_has_as_many_keys_as_an_insert_has_rows) {
  const auto keys = [](size_t count) { return with({"MSET"}, count, {"a", "1"}); };
  EXPECT_NE(request_of_list(keys(limits::insert_rows_max)).kind, RequestKind::refused);
  EXPECT_EQ(answer_to_list(keys(limits::insert_rows_max + 1)), line("-ERR too many keys"));
}

TEST_F(RefusalsTest, an_mget_has_as_many_keys_as_the_setting_says) {
  settings.in_values_max = 2;
  EXPECT_EQ(find_of({"MGET", "a", "b"}).limit, 2U);
  EXPECT_EQ(answer_to({"MGET", "a", "b", "c"}), line("-ERR too many keys"));
}

TEST_F(RefusalsTest, a_command_is_a_bounded_number_of_requests) {
  const auto runs = [](size_t count) { return with({"MGET"}, count / 2, {"a", "@@bare.b"}); };
  const Request& most = request_of_list(runs(limits::group_requests_max));
  EXPECT_EQ(static_cast<const Group&>(most).members.size(), limits::group_requests_max);
  EXPECT_EQ(most.mistake, ErrorCode::none);
  EXPECT_EQ(request_of_list(runs(limits::group_requests_max + 2)).mistake, ErrorCode::too_many_values);
}

TEST_F(RefusalsTest, a_hash_has_no_more_fields_than_a_table_has_columns) {
  const List set = {"HSET", "d.t:1"};
  const List remove = {"HDEL", "d.t:1"};
  EXPECT_EQ(answer_to_list(with(set, limits::value_count_max + 1, {"c", "1"})), line(too_many_columns));
  EXPECT_EQ(answer_to_list(with(remove, limits::value_count_max + 1, {"c"})), line(too_many_columns));
  const Request& most = request_of_list(with(remove, limits::value_count_max, {"c"}));
  EXPECT_NE(most.kind, RequestKind::refused);
}

TEST_F(RefusalsTest, a_container_is_asked_for_what_it_has) {
  EXPECT_EQ(answer_to({"GETEX", "@@bare.a", "EX", "5"}), line(no_expiry));
  EXPECT_NE(request_of(encoded({"GETEX", "@@bare.a", "PERSIST"})).kind, RequestKind::refused);
  EXPECT_EQ(answer_to({"APPEND", "@@wide.a|b", "x"}),
            line("-ERR APPEND needs a container with one column for values"));
}

TEST_F(RefusalsTest, each_command_of_strings_answers_why_it_can_not_use_a_key) {
  for (const List& behind : std::vector<List>{{"APPEND", "5"},
                                              {"DECRBY", "5"},
                                              {"DEL"},
                                              {"EXISTS"},
                                              {"EXPIRE", "5"},
                                              {"EXPIRETIME"},
                                              {"GET"},
                                              {"GETDEL"},
                                              {"GETEX"},
                                              {"GETSET", "5"},
                                              {"INCR"},
                                              {"MGET"},
                                              {"MSET", "5"},
                                              {"PERSIST"},
                                              {"PSETEX", "5", "5"},
                                              {"SET", "5"},
                                              {"SETEX", "5", "5"},
                                              {"SETNX", "5"},
                                              {"STRLEN"},
                                              {"TTL"},
                                              {"TYPE"}}) {
    List command = behind;
    command.insert(command.begin() + 1, "@@none.a");
    EXPECT_EQ(answer_to_list(command), line("-ERR container 'none': there is no such container"))
        << behind.front();
  }
}

TEST_F(RefusalsTest, each_command_of_hashes_answers_why_it_can_not_use_a_key) {
  for (const List& behind : std::vector<List>{{"HDEL", "x"},
                                              {"HEXISTS", "x"},
                                              {"HGET", "x"},
                                              {"HGETALL"},
                                              {"HINCRBY", "x", "5"},
                                              {"HINCRBYFLOAT", "x", "5"},
                                              {"HKEYS"},
                                              {"HLEN"},
                                              {"HMGET", "x"},
                                              {"HMSET", "x", "5"},
                                              {"HSET", "x", "5"},
                                              {"HSETNX", "x", "5"},
                                              {"HSTRLEN", "x"},
                                              {"HVALS"}}) {
    List command = behind;
    command.insert(command.begin() + 1, "d.:1");
    EXPECT_EQ(answer_to_list(command),
              line("-ERR a table is named as database.table, or as table behind SELECT database"))
        << behind.front();
  }
}

TEST_F(RefusalsTest, a_version_of_the_protocol_is_a_number) {
  EXPECT_EQ(answer_to({"HELLO", "x"}), line("-ERR Protocol version is not an integer or out of range"));
}

TEST_F(RefusalsTest, no_database_has_a_name_that_is_longer_than_names_are) {
  EXPECT_EQ(answer_to({"SELECT", std::string(limits::name_bytes_max, 'd')}), "+OK\r\n");
  EXPECT_EQ(answer_to({"SELECT", std::string(limits::name_bytes_max + 1, 'd')}),
            line("-ERR invalid DB index"));
}

TEST_F(RefusalsTest, command_has_four_subcommands) {
  const std::string all = answer_to({"COMMAND"});
  EXPECT_EQ(all, answer_to({"COMMAND", "INFO"}));
  EXPECT_THAT(all, HasSubstr("$4\r\nmget\r\n"));
  EXPECT_THAT(answer_to({"COMMAND", "GETKEYS"}), HasSubstr("-ERR unknown subcommand of COMMAND"));
}

TEST_F(RefusalsTest, a_float_is_one_that_a_double_can_hold) {
  for (const std::string_view number : {"1e999", "x", "", "1.5x", "nan", "inf"}) {
    EXPECT_EQ(answer_to({"HINCRBYFLOAT", "d.t:1", "a", number}), line("-ERR value is not a valid float"))
        << number;
  }
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
