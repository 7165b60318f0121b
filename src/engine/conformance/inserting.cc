// SPDX-License-Identifier: GPL-2.0-only
//
// Cursor::insert_row: what a row consists of, what is done where a unique key has it already, and what came
// of it.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

using enum KeyOperator;

class Inserting : public Contract {
 protected:
  std::string insert(const Texts& values, const Duplicates& duplicates = {}) {
    const std::string outcome = client().insert_into(client().open(), values, duplicates);
    client().commit();
    return outcome;
  }
  /// Into a table with AUTO_INCREMENT, which is made by the first.
  std::string insert_numbered(const Texts& values, const Duplicates& duplicates = {}) {
    if (numbered_.table.empty()) {
      numbered_ = create_numbered();
    }
    const std::string outcome = client().insert_into(client().open(numbered_), values, duplicates);
    client().commit();
    return outcome;
  }

  static inline const Duplicates keep{OnDuplicate::keep};
  static inline const Duplicates replace{OnDuplicate::replace};

 private:
  SelectionDescription numbered_;
};

// ---- a row

TEST_P(Inserting, values_are_for_the_first_columns_and_the_others_take_their_defaults) {
  create_numbered();
  Selection& index = client().open({"d", "numbered", "", "name,stock,id", ""});
  EXPECT_EQ(client().insert_into(index, {"ink"}), "1#1");
  EXPECT_EQ(client().insert_into(index, {"pad", "3"}), "1#2");
  client().commit();
  EXPECT_EQ(rows("d.numbered"), "1 ink 7, 2 pad 3");
}

TEST_P(Inserting, a_column_that_takes_null_has_that_as_its_default) {
  EXPECT_EQ(insert({"5", "ink"}), "1");
  EXPECT_EQ(rows(), four_rows + ", 5 ink NULL");
}

TEST_P(Inserting, a_column_without_a_default_needs_a_value) {
  EXPECT_EQ(insert({"5"}), "error " + std::to_string(no_default));
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Inserting, a_value_that_does_not_fit_its_column_is_an_error) {
  EXPECT_EQ(insert({"five", "ink"}), "error " + std::to_string(incorrect_value));
  EXPECT_EQ(insert({"9223372036854775808", "ink"}), "error " + std::to_string(out_of_range));
  EXPECT_EQ(insert({"5", "inkwell"}), "error " + std::to_string(data_too_long));
  EXPECT_EQ(insert({nullptr, "ink"}), "error " + std::to_string(column_is_not_null));
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Inserting, a_new_row_is_in_every_index) {
  EXPECT_EQ(insert({"5", "ink", "15"}), "1");
  EXPECT_EQ(client().ids(client().open(item("by_name")), {at_or_after, {""}}), "4 1 3 5 2");
  EXPECT_EQ(client().ids(client().open(item("by_stock_name")), {at_or_after, {nullptr}}), "4 2 5 1 3");
}

TEST_P(Inserting, now_is_the_time_of_the_statement) {
  create_table("d.event", {.columns = {memory::integer("id"), memory::text("at", 40)},
                           .indexes = {{"PRIMARY", {"id"}, true}}});
  const Error error =
      client().request(client().open({"d", "event", "", "id,at", ""}), Intent::write, [](Cursor& cursor) {
        const Value values[] = {Value(std::string_view("1")), Value::now()};
        RowOutcome outcome{};
        return insert_row(cursor, values, {}, outcome);
      });
  EXPECT_TRUE(error.ok()) << error.detail();
  client().commit();
  EXPECT_THAT(rows("d.event"), testing::MatchesRegex("1 [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9:]+"));
}

// ---- what came of it

TEST_P(Inserting, the_outcomes_error_is_not_touched) {
  RowOutcome outcome{};
  outcome.error = Error(ErrorCode::sql, 7);
  EXPECT_TRUE(client()
                  .request(client().open(), Intent::write,
                           [&](Cursor& cursor) { return insert_row(cursor, Texts{"5", "ink"}, {}, outcome); })
                  .ok());
  EXPECT_EQ(outcome.error.number, 7);
  EXPECT_EQ(outcome.rows_affected, 1U);
  EXPECT_FALSE(outcome.has_id);
  EXPECT_EQ(outcome.id, 0U);
}

TEST_P(Inserting, null_and_0_and_no_value_take_the_next_id) {
  EXPECT_EQ(insert_numbered({nullptr, "ink"}), "1#1");
  EXPECT_EQ(insert_numbered({"0", "pad"}), "1#2");
  Selection& index = client().open({"d", "numbered", "", "name", ""});
  EXPECT_EQ(client().insert_into(index, {"cap"}), "1#3");
}

TEST_P(Inserting, an_id_that_was_given_is_not_said_and_the_next_follows_it) {
  EXPECT_EQ(insert_numbered({"40", "ink"}), "1#0");
  EXPECT_EQ(insert_numbered({nullptr, "pad"}), "1#41");
  EXPECT_EQ(insert_numbered({"-3", "cap"}), "1#0");
  EXPECT_EQ(insert_numbered({nullptr, "cup"}), "1#42");
  EXPECT_EQ(rows("d.numbered"), "-3 cap 7, 40 ink 7, 41 pad 7, 42 cup 7");
}

TEST_P(Inserting, the_id_of_a_row_that_was_there_has_its_sign) {
  EXPECT_EQ(insert_numbered({"-3", "cap"}), "1#0");
  EXPECT_EQ(insert_numbered({"-3", "ink"}, keep), "0#-3");
}

TEST_P(Inserting, ids_that_are_used_up_are_an_error) {
  EXPECT_EQ(insert_numbered({"9223372036854775807", "ink"}), "1#0");
  EXPECT_EQ(insert_numbered({nullptr, "pad"}), "error " + std::to_string(ids_used_up));
  EXPECT_EQ(rows("d.numbered"), "9223372036854775807 ink 7");
}

TEST_P(Inserting, rows_of_one_request_have_outcomes_of_their_own) {
  Selection& index = client().open(create_numbered());
  std::string outcomes;
  const Error error = client().request(index, Intent::write, [&](Cursor& cursor) {
    Error failure;
    for (const char* const name : {"ink", "pad", "cap"}) {
      RowOutcome outcome{};
      if (failure.ok()) {
        failure = insert_row(cursor, Texts{nullptr, name}, {}, outcome);
      }
      outcomes += std::to_string(outcome.rows_affected) + "#" + std::to_string(outcome.id) + " ";
    }
    return failure;
  });
  EXPECT_TRUE(error.ok()) << error.detail();
  EXPECT_EQ(outcomes, "1#1 1#2 1#3 ");
}

// ---- fail

TEST_P(Inserting, fail_is_an_error_where_a_unique_key_has_the_row) {
  EXPECT_EQ(insert({"2", "ink", "1"}), "error " + std::to_string(duplicate_key));
  EXPECT_EQ(insert({"5", "pen", "1"}), "error " + std::to_string(duplicate_key));
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Inserting, null_in_a_unique_key_is_no_duplicate) {
  create_table("d.item", {.columns = {memory::integer("id"), memory::text("name", 40),
                                      memory::nullable(memory::integer("stock"))},
                          .indexes = {{"PRIMARY", {"id"}, true}, {"by_stock", {"stock"}, true}}});
  EXPECT_EQ(insert({"1", "cap", nullptr}), "1");
  EXPECT_EQ(insert({"2", "pen", nullptr}), "1");
  EXPECT_EQ(insert({"3", "cup", "5"}), "1");
  EXPECT_EQ(insert({"4", "box", "5"}), "error " + std::to_string(duplicate_key));
}

// ---- keep

TEST_P(Inserting, keep_inserts_where_no_key_has_the_row) {
  EXPECT_EQ(insert({"5", "ink", "1"}, keep), "1");
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(Inserting, keep_leaves_the_row_that_is_there) {
  EXPECT_EQ(insert({"2", "ink", "1"}, keep), "0");
  EXPECT_EQ(insert({"5", "pen", "1"}, keep), "0");
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Inserting, keep_says_the_id_of_the_row_that_is_there) {
  EXPECT_EQ(insert_numbered({"8", "ink"}), "1#0");
  EXPECT_EQ(insert_numbered({nullptr, "ink"}, keep), "0#8");
  EXPECT_EQ(insert_numbered({"8", "pad"}, keep), "0#8");
}

// ---- replace

TEST_P(Inserting, replace_deletes_every_row_that_is_in_the_way) {
  EXPECT_EQ(insert({"2", "ink", "1"}, replace), "2");
  EXPECT_EQ(rows(), "1 cap 20, 2 ink 1, 3 cup 20, 4 box NULL");
  EXPECT_EQ(insert({"1", "cup", "2"}, replace), "2");
  EXPECT_EQ(rows(), "1 cup 2, 2 ink 1, 4 box NULL");
  EXPECT_EQ(insert({"5", "pad", "3"}, replace), "1");
  EXPECT_EQ(rows(), "1 cup 2, 2 ink 1, 4 box NULL, 5 pad 3");
}

TEST_P(Inserting, replace_says_the_id_that_it_generated) {
  EXPECT_EQ(insert_numbered({"8", "ink"}), "1#0");
  EXPECT_EQ(insert_numbered({nullptr, "ink"}, replace), "2#9");
  EXPECT_EQ(insert_numbered({"9", "pad"}, replace), "2#0");
  EXPECT_EQ(rows("d.numbered"), "9 pad 7");
}

TEST_P(Inserting, replace_eats_no_row_whose_id_is_the_last_one) {
  EXPECT_EQ(insert_numbered({"9223372036854775807", "ink"}), "1#0");
  EXPECT_EQ(insert_numbered({nullptr, "pad"}, replace), "error " + std::to_string(ids_used_up));
  EXPECT_EQ(rows("d.numbered"), "9223372036854775807 ink 7");
}

// ---- update

TEST_P(Inserting, update_inserts_where_no_key_has_the_row) {
  EXPECT_EQ(insert({"5", "ink", "1"}, {OnDuplicate::change, {1}, {2}}), "1");
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(Inserting, update_sets_and_adds_to_the_row_that_is_there) {
  EXPECT_EQ(insert({"2", "ink", "5"}, {OnDuplicate::change, {1}, {2}}), "2");
  EXPECT_EQ(rows(), "1 cap 20, 2 ink 15, 3 cup 20, 4 box NULL");
  EXPECT_EQ(insert({"9", "ink", "99"}, {OnDuplicate::change, {2}}), "2");
  EXPECT_EQ(rows(), "1 cap 20, 2 ink 99, 3 cup 20, 4 box NULL");
}

TEST_P(Inserting, update_that_changes_nothing_affects_no_row) {
  EXPECT_EQ(insert({"2", "pen", "99"}, {OnDuplicate::change, {1}}), "0");
  EXPECT_EQ(insert({"2", "ink", "0"}, {OnDuplicate::change, {}, {2}}), "0");
  EXPECT_EQ(insert({"4", "ink", "5"}, {OnDuplicate::change, {}, {2}}), "0");
  EXPECT_EQ(insert({"2", "ink", nullptr}, {OnDuplicate::change, {}, {2}}), "0");
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Inserting, update_says_the_id_of_the_row_that_is_there) {
  EXPECT_EQ(insert_numbered({"8", "ink", "1"}), "1#0");
  EXPECT_EQ(insert_numbered({nullptr, "ink", "5"}, {OnDuplicate::change, {}, {2}}), "2#8");
  EXPECT_EQ(insert_numbered({nullptr, "ink", "6"}, {OnDuplicate::change, {2}}), "0#8");
  EXPECT_EQ(rows("d.numbered"), "8 ink 6");
}

TEST_P(Inserting, update_that_can_not_be_is_an_error) {
  EXPECT_EQ(insert({"2", "cup", "1"}, {OnDuplicate::change, {1}}), "error " + std::to_string(duplicate_key));
  EXPECT_EQ(insert({"1", "ink", "9223372036854775807"}, {OnDuplicate::change, {}, {2}}),
            "error " + std::to_string(out_of_range));
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Inserting, changes_are_done_in_their_order_where_the_filters_match) {
  Selection& index = client().open(item("", "stock"));
  const auto insert_if_stock_is = [&](const char* stock, const Texts& values) {
    RowOutcome outcome{};
    const Filter filter = {Mismatch::skip, Comparison::equal, 0, Value(std::string_view(stock))};
    const Error error = client().request(index, Intent::write, [&](Cursor& cursor) {
      Error refused = cursor.set_filters({&filter, 1});
      const Duplicates duplicates{OnDuplicate::change, {1}, {2}, true};
      return refused.ok() ? insert_row(cursor, values, duplicates, outcome) : std::move(refused);
    });
    client().commit();
    return error.ok() ? std::to_string(outcome.rows_affected) : "error " + std::to_string(error.number);
  };
  EXPECT_EQ(insert_if_stock_is("11", {"2", "ink", "5"}), "0");
  EXPECT_EQ(rows(), four_rows);
  EXPECT_EQ(insert_if_stock_is("10", {"2", "ink", "5"}), "2");
  EXPECT_EQ(insert_if_stock_is("10", {"5", "pad", "1"}), "1") << "no filter is asked of a new row";
  EXPECT_EQ(rows(), "1 cap 20, 2 ink 15, 3 cup 20, 4 box NULL, 5 pad 1");
}

TEST_P(Inserting, a_row_that_the_filters_do_not_match_can_be_changed_otherwise) {
  Selection& index = client().open(item("", "stock"));
  const Filter filter = {Mismatch::skip, Comparison::equal, 0, Value("10")};
  const auto insert_with = [&](const Texts& values) {
    RowOutcome outcome{};
    const Error error = client().request(index, Intent::write, [&](Cursor& cursor) {
      Error refused = cursor.set_filters({&filter, 1});
      const Duplicates duplicates{OnDuplicate::change, {}, {2}, true, false, {1, 2}};
      return refused.ok() ? insert_row(cursor, values, duplicates, outcome) : std::move(refused);
    });
    client().commit();
    return error.ok() ? std::to_string(outcome.rows_affected) : "error " + std::to_string(error.number);
  };
  EXPECT_EQ(insert_with({"2", "ink", "5"}), "2");
  EXPECT_EQ(insert_with({"3", "pad", "5"}), "2");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 15, 3 pad 5, 4 box NULL");
}

// ---- a row that its key names

TEST_P(Inserting, only_a_row_of_its_key_is_the_named_one) {
  const Duplicates named{.action = OnDuplicate::change, .set = {2}, .names_row = true};
  EXPECT_EQ(insert({"2", "ink", "5"}, named), "2") << "the row of the key is there";
  EXPECT_EQ(insert({"5", "cap", "6"}, named), "error " + std::to_string(duplicate_key))
      << "another row has the name";
  EXPECT_EQ(insert({"6", "pad", "7"}, named), "1");
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 5, 3 cup 20, 4 box NULL, 6 pad 7");
  EXPECT_EQ(insert({"7", "cap", "8"}, {.action = OnDuplicate::keep, .names_row = true}),
            "error " + std::to_string(duplicate_key));
  EXPECT_EQ(insert({"6", "cap", "8"}, {.action = OnDuplicate::keep, .names_row = true}), "0");
}

TEST_P(Inserting, a_number_that_is_to_be_made_names_no_row) {
  const Duplicates named{.action = OnDuplicate::change, .set = {1}, .names_row = true};
  EXPECT_EQ(insert_numbered({"0", "ink"}, named), "error 1265");
  EXPECT_EQ(insert_numbered({"3", "ink"}, named), "1#0");
}

TEST_P(Inserting, what_is_counted_is_a_whole_number_in_a_new_row_too) {
  const Duplicates counting{.action = OnDuplicate::change, .count = {2}};
  EXPECT_EQ(insert({"5", "ink", "5"}, counting), "1");
  EXPECT_EQ(insert({"5", "ink", "5"}, counting), "2");
  EXPECT_EQ(insert({"5", "ink", "9223372036854775807"}, counting), "error " + std::to_string(out_of_range));
  EXPECT_EQ(rows(), four_rows + ", 5 ink 10");
}

TEST_P(Inserting, a_count_does_not_begin_with_what_is_none) {
  create_table("d.texts", {.columns = {memory::text("name", 8), memory::text("n", 30)},
                           .indexes = {{"PRIMARY", {"name"}, true}}});
  Selection& index = client().open({"d", "texts", "", "name,n", ""});
  const Duplicates counting{.action = OnDuplicate::change, .count = {1}};
  EXPECT_EQ(client().insert_into(index, {"cup", "9223372036854775808"}, counting), "error 1264");
  EXPECT_EQ(client().insert_into(index, {"cup", "9"}, counting), "1");
  client().commit();
  EXPECT_EQ(rows("d.texts"), "cup 9");
}

// ---- the row that is there afterwards

TEST_P(Inserting, the_row_that_is_there_afterwards_is_the_current_one) {
  Selection& numbered = client().open(create_numbered());
  const auto told_of = [&](Selection& index, const Texts& values, Duplicates duplicates) {
    duplicates.tells_row = true;
    std::string row;
    const Error error = client().request(index, Intent::write, [&](Cursor& cursor) {
      RowOutcome outcome{};
      Error failure = insert_row(cursor, values, duplicates, outcome);
      row = failure.ok() ? row_of(cursor) : "error";
      return failure;
    });
    client().commit();
    return error.ok() ? row : "error " + std::to_string(error.number);
  };
  const auto told = [&](const Texts& values, const Duplicates& duplicates) {
    return told_of(numbered, values, duplicates);
  };
  EXPECT_EQ(told({nullptr, "ink"}, {}), "1 ink 7") << "inserted, with its id and defaults";
  EXPECT_EQ(told({nullptr, "ink", "9"}, {OnDuplicate::keep}), "1 ink 7") << "kept";
  EXPECT_EQ(told({nullptr, "ink", "5"}, {OnDuplicate::change, {}, {2}}), "1 ink 12") << "changed";
  EXPECT_EQ(told({"1", "pad"}, {OnDuplicate::replace}), "1 pad 7") << "replaced";
  Selection& item = client().open({"d", "item", "", "id,name,stock", ""});
  EXPECT_EQ(told_of(item, {"9", "cap", "1"}, {OnDuplicate::keep}), "1 cap 20")
      << "kept, without an id to tell";
}

// ---- the order of their keys

TEST_P(Inserting, rows_stand_in_the_order_of_their_keys) {
  const auto order_of = [&](Selection& index, const Texts& values, size_t value_count) {
    std::vector<uint32_t> order(values.values().size() / value_count);
    const Error error = client().request(index, Intent::write, [&](Cursor& cursor) {
      cursor.order_rows(values, value_count, order);
      return Error();
    });
    EXPECT_TRUE(error.ok());
    std::string text;
    for (const uint32_t number : order) {
      text += std::to_string(number);
    }
    return text;
  };
  Selection& by_id = client().open();
  EXPECT_EQ(order_of(by_id, {"10", "a", "9", "b", "-1", "c"}, 2), "210") << "as numbers";
  EXPECT_EQ(order_of(by_id, {"9", "a", "7", "b", "09", "c", "07", "d"}, 2), "1302") << "equal ones stay";
  EXPECT_THAT(order_of(by_id, {"9", "x", "7"}, 1), testing::SizeIs(3)) << "one is no key";
  EXPECT_EQ(order_of(by_id, {}, 1), "");
  Selection& by_name = client().open({"d", "item", "by_name", "name", ""});
  EXPECT_EQ(order_of(by_name, {"pen", "cap", "p", "pen", "cap"}, 1), "14203");
  Selection& by_stock = client().open({"d", "item", "by_stock_name", "stock,name", ""});
  EXPECT_EQ(order_of(by_stock, {"5", "b", "5", "a", nullptr, "c"}, 2), "210") << "NULL comes first";
  create_table("d.pair", {.columns = {memory::text("name", 8), memory::integer("n")},
                          .indexes = {{"PRIMARY", {"name", "n"}, true}}});
  Selection& by_both = client().open({"d", "pair", "PRIMARY", "name,n", ""});
  EXPECT_EQ(order_of(by_both, {"b", "2", "aa", "9", "b", "1", "a", "5"}, 2), "3120");
}

INSTANTIATE_TEST_SUITE_P(, Inserting, testing::ValuesIn(every_kind()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
