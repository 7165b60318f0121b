// SPDX-License-Identifier: GPL-2.0-only
//
// What a cursor does to the row that it stands on: write it out, remember it, set it, add to it, delete it.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

using enum KeyOperator;

class Changing : public Contract {
 protected:
  /// Set the first columns of `columns` in a row, found by its id; then commit.
  Error set(const std::string& columns, const char* id, const Texts& values) {
    const Error error = client().on_row(client().open({"d", "item", "", columns, ""}), id, Intent::write,
                                        [&](Cursor& cursor) { return set_columns(cursor, values); });
    client().commit();
    return error;
  }
  /// The same, adding. "refused", "error 1264" or "ok".
  std::string add(const std::string& columns, const char* id, const Texts& amounts, bool decrement = false) {
    bool changed = false;
    const Error error =
        client().on_row(client().open({"d", "item", "", columns, ""}), id, Intent::write,
                        [&](Cursor& cursor) { return add_to_columns(cursor, amounts, decrement, changed); });
    client().commit();
    return !error.ok() ? "error " + std::to_string(error.number) : changed ? "ok" : "refused";
  }
  std::string subtract(const std::string& columns, const char* id, const Texts& amounts) {
    return add(columns, id, amounts, true);
  }
  /// Each operation with its value, to stock (0) and name (1). "changed 25 caps", "refused 20 cap", "error
  /// 1264", or "error" and the code's name.
  std::string change(const char* id, const std::vector<Assignment>& assignments, bool keeps_signs = false) {
    bool changed = false;
    std::string row;
    const Error error = client().on_row(
        client().open({"d", "item", "", "stock,name", ""}), id, Intent::write, [&](Cursor& cursor) {
          Error failure = cursor.change_row(assignments, keeps_signs, changed);
          row = row_of(cursor);
          return failure;
        });
    client().commit();
    if (!error.ok()) {
      return "error " +
             (error.number != 0 ? std::to_string(error.number) : std::string(error_name(error.code)));
    }
    return (changed ? "changed " : "refused ") + row;
  }
  static Assignment to_stock(Operation operation, const char* value) {
    return {0, operation, value == nullptr ? Value() : Value(std::string_view(value))};
  }
  static Assignment to_name(Operation operation, const char* value) {
    return {1, operation, value == nullptr ? Value() : Value(std::string_view(value))};
  }
  /// Whether setting these columns moves rows in a walk along an index.
  bool moves(const std::string& index, const std::string& columns, const Texts& values) {
    Cursor& cursor = client().begin(client().open({"d", "item", index, columns, ""}), Intent::write);
    const bool result = setting_moves_rows(cursor, values);
    client().session().abandon_request();
    return result;
  }
};

// ---- writing out

TEST_P(Changing, a_row_is_written_as_a_change_left_it) {
  std::string after;
  EXPECT_TRUE(client()
                  .on_row(client().open({"d", "item", "", "stock,name", ""}), "1", Intent::write,
                          [&](Cursor& cursor) {
                            Error error = set_columns(cursor, Texts{"007", "hat"});
                            after = row_of(cursor);
                            return error;
                          })
                  .ok());
  EXPECT_EQ(after, "7 hat");
}

TEST_P(Changing, a_row_is_written_as_an_addition_left_it) {
  std::string after;
  bool changed = false;
  EXPECT_TRUE(client()
                  .on_row(client().open({"d", "item", "", "stock,name", ""}), "1", Intent::write,
                          [&](Cursor& cursor) {
                            Error error = add_to_columns(cursor, Texts{"5"}, false, changed);
                            after = row_of(cursor);
                            return error;
                          })
                  .ok());
  EXPECT_EQ(after, "25 cap");
}

TEST_P(Changing, a_row_is_read_as_the_transaction_left_it) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  EXPECT_EQ(client().stock("1"), "21");
  EXPECT_TRUE(client().remove("2").ok());
  EXPECT_EQ(client().stock("2"), "none");
}

// ---- positions

TEST_P(Changing, positions_are_numbered_from_0_in_the_order_of_saving) {
  Cursor& cursor = client().begin(client().open(item("by_stock_name")), Intent::read);
  const Texts key{"20"};
  for (Step step = cursor.seek({.key_operator = at_or_before, .key = key}); step == Step::row;
       step = cursor.next()) {
    EXPECT_TRUE(cursor.save_position());
  }
  std::string fetched;
  for (const size_t number : {0, 3, 1, 2, 0}) {
    EXPECT_EQ(cursor.fetch_position(number), Step::row);
    fetched += row_of(cursor) + ", ";
  }
  EXPECT_EQ(fetched, "3 cup 20, 4 box NULL, 1 cap 20, 2 pen 10, 3 cup 20, ");
  EXPECT_TRUE(client().session().end_request().ok());
}

TEST_P(Changing, a_position_is_a_rows_whatever_its_key_has_become) {
  const Error error = client().request(
      client().open({"d", "item", "by_stock_name", "stock", ""}), Intent::write, [](Cursor& cursor) -> Error {
        const Texts key{"0"};
        size_t count = 0;
        for (Step step = cursor.seek({.key_operator = after, .key = key}); step == Step::row;
             step = cursor.next()) {
          count += cursor.save_position() ? 1 : 0;
        }
        for (size_t number = 0; number < count; ++number) {
          bool changed = false;
          if (cursor.fetch_position(number) != Step::row) {
            return {ErrorCode::nothing_changed};
          }
          if (Error failure = add_to_columns(cursor, Texts{"100"}, false, changed); !failure.ok()) {
            return failure;
          }
        }
        return {};
      });
  EXPECT_TRUE(error.ok()) << error.detail();
  client().commit();
  EXPECT_EQ(rows(), "1 cap 120, 2 pen 110, 3 cup 120, 4 box NULL");
}

TEST_P(Changing, a_saved_row_that_is_gone_is_no_failure) {
  const Error error = client().request(client().open(), Intent::write, [](Cursor& cursor) {
    const Texts key{"3"};
    EXPECT_EQ(cursor.seek({.key_operator = at_or_after, .key = key}), Step::row);
    EXPECT_TRUE(cursor.save_position());
    EXPECT_EQ(cursor.next(), Step::row);
    EXPECT_TRUE(cursor.save_position());
    EXPECT_EQ(cursor.fetch_position(0), Step::row);
    Error failure = delete_row(cursor);
    EXPECT_EQ(cursor.fetch_position(0), Step::end);
    EXPECT_EQ(cursor.fetch_position(1), Step::row);
    EXPECT_EQ(row_of(cursor), "4 box NULL");
    return failure;
  });
  EXPECT_TRUE(error.ok()) << error.detail();
}

TEST_P(Changing, the_next_request_has_no_positions) {
  for (int round = 0; round < 2; ++round) {
    Cursor& cursor = client().begin(client().open(), Intent::read);
    const Texts key{round == 0 ? "2" : "3"};
    EXPECT_EQ(cursor.seek({.key_operator = equal, .key = key}), Step::row);
    EXPECT_TRUE(cursor.save_position());
    EXPECT_EQ(cursor.fetch_position(0), Step::row);
    EXPECT_EQ(row_of(cursor), round == 0 ? "2 pen 10" : "3 cup 20");
    EXPECT_TRUE(client().session().end_request().ok());
  }
}

TEST_P(Changing, setting_a_column_of_the_walked_index_may_bring_a_row_again) {
  EXPECT_TRUE(moves("by_stock_name", "stock,id", {"1"}));
  EXPECT_TRUE(moves("by_stock_name", "name,id", {"a"}));
  EXPECT_TRUE(moves("", "name,id", {"a", "1"}));
  EXPECT_TRUE(moves("by_name", "stock,name", {"1", "a"}));
}

TEST_P(Changing, setting_another_column_does_not) {
  EXPECT_FALSE(moves("", "stock,id", {"1"}));
  EXPECT_FALSE(moves("by_name", "stock,name", {"1"}));
}

TEST_P(Changing, rows_are_changed_while_walking_where_none_can_come_again) {
  Selection& index = client().open({"d", "item", "", "stock", ""});
  const Error error = client().request(index, Intent::write, [](Cursor& cursor) -> Error {
    const Texts key{"1"};
    for (Step step = cursor.seek({.key_operator = after, .key = key}); step == Step::row;
         step = cursor.next()) {
      if (Error failure = set_columns(cursor, Texts{"5"}); !failure.ok()) {
        return failure;
      }
    }
    return {};
  });
  EXPECT_TRUE(error.ok()) << error.detail();
  client().commit();
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 5, 3 cup 5, 4 box 5");
}

// ---- setting

TEST_P(Changing, values_are_for_the_first_columns) {
  EXPECT_TRUE(set("name,stock,id", "2", {"ink", nullptr}).ok());
  EXPECT_EQ(rows(), "1 cap 20, 2 ink NULL, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, a_row_that_has_these_values_already_is_a_success) {
  EXPECT_TRUE(set("name,stock", "2", {"pen", "10"}).ok());
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, a_key_may_be_set) {
  EXPECT_TRUE(set("id", "2", {"9"}).ok());
  EXPECT_EQ(rows(), "1 cap 20, 3 cup 20, 4 box NULL, 9 pen 10");
  EXPECT_EQ(client().rows(client().open(item("by_name")), {equal, {"pen"}}), "9 pen 10");
}

TEST_P(Changing, a_value_that_does_not_fit_its_column_is_an_error) {
  EXPECT_EQ(set("stock", "2", {"9223372036854775808"}).number, out_of_range);
  EXPECT_EQ(set("stock", "2", {"many"}).number, incorrect_value);
  EXPECT_EQ(set("name", "2", {"inkwell"}).number, data_too_long);
  EXPECT_EQ(set("name", "2", {nullptr}).number, column_is_not_null);
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, a_unique_key_that_is_taken_is_an_error) {
  const Error error = set("name", "2", {"cup"});
  EXPECT_EQ(error.code, ErrorCode::engine);
  EXPECT_EQ(error.number, duplicate_key);
  EXPECT_EQ(error.reason, Reason::duplicate);
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

// ---- adding

TEST_P(Changing, adding_and_subtracting) {
  EXPECT_EQ(add("stock", "1", {"5"}), "ok");
  EXPECT_EQ(add("stock", "2", {"-30"}), "ok");
  EXPECT_EQ(subtract("stock", "3", {"20"}), "ok");
  EXPECT_EQ(rows(), "1 cap 25, 2 pen -20, 3 cup 0, 4 box NULL");
}

TEST_P(Changing, null_columns_and_null_amounts_stay) {
  EXPECT_EQ(add("stock", "4", {"5"}), "ok");
  EXPECT_EQ(add("stock", "1", {nullptr}), "ok");
  EXPECT_EQ(subtract("stock", "2", {nullptr}), "ok");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, a_sum_is_exact_to_the_ends_of_the_columns_type) {
  EXPECT_EQ(add("stock", "1", {"9223372036854775787"}), "ok");
  EXPECT_EQ(add("stock", "2", {"-9223372036854775808"}), "ok");
  EXPECT_EQ(rows(), "1 cap 9223372036854775807, 2 pen -9223372036854775798, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, a_sum_out_of_the_columns_range_is_an_error) {
  EXPECT_EQ(add("stock", "1", {"9223372036854775788"}), "error 1264");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, an_amount_that_is_no_number_is_an_error) {
  EXPECT_EQ(add("stock", "1", {"many"}), "error " + std::to_string(incorrect_amount));
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, a_sum_can_begin_where_there_is_nothing) {
  EXPECT_EQ(change("4", {to_stock(Operation::add_from_zero, "5")}), "changed 5 box");
  EXPECT_EQ(change("4", {to_stock(Operation::add_from_zero, "-7")}), "changed -2 box");
  EXPECT_EQ(change("4", {to_stock(Operation::add_from_zero, nullptr)}), "changed -2 box");
}

TEST_P(Changing, a_count_is_of_64_bits_with_a_sign) {
  EXPECT_EQ(change("4", {to_stock(Operation::add_whole, "9223372036854775807")}),
            "changed 9223372036854775807 box");
  EXPECT_EQ(change("4", {to_stock(Operation::add_whole, "1")}), "error 1264");
  EXPECT_EQ(change("4", {to_stock(Operation::add_whole, "-8")}), "changed 9223372036854775799 box");
}

TEST_P(Changing, a_count_begins_with_64_bits_and_a_sign_too) {
  create_table("d.texts", {.columns = {memory::text("name", 8), memory::text("n", 30)},
                           .indexes = {{"PRIMARY", {"name"}, true}}});
  host().insert("d.texts", {"cup", "9223372036854775808"});
  Selection& index =
      client().open({.database = "d", .table = "texts", .index = "", .columns = "n", .filter_columns = ""});
  const Error error = client().on_row(index, "cup", Intent::write, [](Cursor& cursor) {
    const Assignment assignments[] = {{0, Operation::add_whole, Value("-1")}};
    bool changed = false;
    return cursor.change_row(assignments, false, changed);
  });
  EXPECT_EQ(error.number, 1264);
}

TEST_P(Changing, a_row_that_its_key_names_does_not_lose_it) {
  create_table("d.maybe", {.columns = {memory::nullable(memory::text("name", 8)), memory::integer("n")},
                           .indexes = {{"by_name", {"name"}, true}}});
  host().insert("d.maybe", {"cup", "1"});
  Selection& index = client().open({.database = "d",
                                    .table = "maybe",
                                    .index = "by_name",
                                    .columns = "n,name",
                                    .filter_columns = "",
                                    .unique_key_parts = 1,
                                    .key_columns_first = true});
  const Error error = client().on_row(index, "cup", Intent::write, [](Cursor& cursor) {
    const Assignment assignments[] = {{2, Operation::set, Value()}};
    bool changed = false;
    return cursor.change_row(assignments, false, changed);
  });
  EXPECT_EQ(error.number, 1366);
}

TEST_P(Changing, a_row_that_its_key_names_gets_no_other_key) {
  Selection& index = client().open({.database = "d",
                                    .table = "item",
                                    .index = "by_name",
                                    .columns = "stock,name",
                                    .filter_columns = "",
                                    .unique_key_parts = 1,
                                    .key_columns_first = true});
  const auto set = [&](const char* stock, const char* name) {
    const Error error = client().on_row(index, "cup", Intent::write, [&](Cursor& cursor) {
      const Assignment assignments[] = {{1, Operation::set, Value(std::string_view(stock))},
                                        {2, Operation::set, Value(std::string_view(name))}};
      bool changed = false;
      return cursor.change_row(assignments, false, changed);
    });
    client().commit();
    return error.number;
  };
  EXPECT_EQ(set("7", "mug"), 1366);
  EXPECT_EQ(set("8", "cup"), 0);
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 8, 4 box NULL");
}

TEST_P(Changing, a_sum_that_can_not_be_says_why) {
  const auto reason = [this](const char* id, const char* amount) {
    const Texts amounts{amount};
    return client()
        .on_row(client().open({"d", "item", "", "stock", ""}), id, Intent::write,
                [&](Cursor& cursor) {
                  bool changed = false;
                  return add_to_columns(cursor, amounts, false, changed);
                })
        .reason;
  };
  EXPECT_EQ(reason("1", "9223372036854775807"), Reason::out_of_range);
  EXPECT_EQ(reason("1", "ten"), Reason::no_number);
}

TEST_P(Changing, subtracting_refuses_a_change_of_sign) {
  EXPECT_EQ(subtract("stock", "1", {"21"}), "refused");
  EXPECT_EQ(add("stock", "2", {"-30"}), "ok");
  EXPECT_EQ(subtract("stock", "2", {"-21"}), "refused");
  EXPECT_EQ(subtract("stock", "2", {"5"}), "ok");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen -25, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, a_change_of_sign_of_any_column_refuses_the_whole_row) {
  EXPECT_EQ(subtract("stock,id", "1", {"5", "2"}), "refused");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

// ---- other operations

TEST_P(Changing, each_column_has_an_operation_of_its_own) {
  EXPECT_EQ(change("1", {to_stock(Operation::subtract, "3"), to_name(Operation::append, "s")}),
            "changed 17 caps");
  EXPECT_EQ(change("2", {to_stock(Operation::set, "5"), to_name(Operation::prepend, "o")}), "changed 5 open");
  EXPECT_EQ(rows(), "1 caps 17, 2 open 5, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, only_sums_keep_signs) {
  const Assignment set_below_0 = to_stock(Operation::set, "-5");
  EXPECT_EQ(change("1", {to_name(Operation::append, "s"), to_stock(Operation::subtract, "21")}, true),
            "refused 20 cap");
  EXPECT_EQ(change("1", {set_below_0}, true), "changed -5 cap");
  EXPECT_EQ(change("1", {to_stock(Operation::add, "6")}, true), "refused -5 cap");
  EXPECT_EQ(change("1", {to_stock(Operation::add, "5")}, true), "changed 0 cap");
  EXPECT_EQ(rows(), "1 cap 0, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, texts_are_joined_and_nothing_else_is) {
  EXPECT_EQ(change("1", {to_name(Operation::append, nullptr)}), "changed 20 cap");
  EXPECT_EQ(change("1", {to_name(Operation::append, "ss")}), "error " + std::to_string(data_too_long));
  EXPECT_EQ(change("1", {to_stock(Operation::append, "1")}), "error bad_modification");
  EXPECT_EQ(change("1", {to_stock(Operation::prepend, "1")}), "error bad_modification");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Changing, counting_down_ends_at_0) {
  EXPECT_EQ(change("1", {to_stock(Operation::add_wrapping, "5")}), "changed 25 cap");
  EXPECT_EQ(change("1", {to_stock(Operation::subtract_to_zero, "24")}), "changed 1 cap");
  EXPECT_EQ(change("1", {to_stock(Operation::subtract_to_zero, "24")}), "changed 0 cap");
}

TEST_P(Changing, counting_up_wraps_at_64_bits) {
  EXPECT_EQ(change("1", {to_stock(Operation::add_wrapping, "18446744073709551615")}), "changed 19 cap");
}

TEST_P(Changing, only_a_number_is_counted_and_only_by_a_number) {
  EXPECT_EQ(change("4", {to_stock(Operation::add_wrapping, "5")}), "error not_a_number");
  EXPECT_EQ(change("1", {to_name(Operation::subtract_to_zero, "5")}), "error not_a_number");
  EXPECT_EQ(change("1", {to_stock(Operation::add_wrapping, "many")}), "error not_a_number");
  EXPECT_EQ(change("1", {to_stock(Operation::subtract_to_zero, "-5")}), "error not_a_number");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

// ---- deleting

TEST_P(Changing, a_deleted_row_is_in_no_index) {
  EXPECT_TRUE(client().remove("2").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 20, 3 cup 20, 4 box NULL");
  EXPECT_EQ(client().rows(client().open(item("by_name")), {equal, {"pen"}}), "");
  EXPECT_EQ(client().ids(client().open(item("by_stock_name")), {at_or_after, {nullptr}}), "4 1 3");
}

TEST_P(Changing, rows_are_deleted_while_walking) {
  const Error error = client().request(client().open(), Intent::write, [](Cursor& cursor) -> Error {
    const Texts key{"1"};
    for (Step step = cursor.seek({.key_operator = after, .key = key}); step == Step::row;
         step = cursor.next()) {
      if (Error failure = delete_row(cursor); !failure.ok()) {
        return failure;
      }
    }
    return {};
  });
  EXPECT_TRUE(error.ok()) << error.detail();
  client().commit();
  EXPECT_EQ(rows(), "1 cap 20");
}

INSTANTIATE_TEST_SUITE_P(, Changing, testing::ValuesIn(every_kind()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
