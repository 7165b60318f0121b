// SPDX-License-Identifier: GPL-2.0-only
//
// SelectionDescription, Selection and Session::open_selection: what is named, and that the names are resolved
// again when the table was replaced.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

using enum KeyOperator;

class Opening : public Contract {};

TEST_P(Opening, an_empty_index_is_the_primary_key) {
  EXPECT_EQ(client().rows(client().open(item("")), {equal, {"3"}}), "3 cup 20");
}

TEST_P(Opening, an_index_has_a_name) {
  EXPECT_EQ(client().rows(client().open(item("PRIMARY")), {equal, {"3"}}), "3 cup 20");
  EXPECT_EQ(client().rows(client().open(item("by_name")), {equal, {"pen"}}), "2 pen 10");
}

TEST_P(Opening, an_index_that_begins_with_a_digit_is_an_ordinal) {
  EXPECT_EQ(client().rows(client().open(item("0")), {equal, {"3"}}), "3 cup 20");
  EXPECT_EQ(client().rows(client().open(item("1")), {equal, {"pen"}}), "2 pen 10");
  EXPECT_EQ(client().rows(client().open(item("2")), {equal, {"10"}}), "2 pen 10");
  EXPECT_EQ(client().failure_to_open(item("3")), ErrorCode::no_such_index);
  EXPECT_EQ(client().failure_to_open(item("1by")), ErrorCode::no_such_index);
}

TEST_P(Opening, the_columns_are_read_in_the_order_in_which_they_are_named) {
  Selection& index = client().open({"d", "item", "", "stock,name,stock", ""});
  EXPECT_EQ(client().rows(index, {equal, {"3"}}), "20 cup 20");
}

TEST_P(Opening, an_index_says_how_many_columns_were_named) {
  Selection& index = client().open({"d", "item", "", "stock,name", "id"});
  EXPECT_EQ(index.column_count(), 2U);
  EXPECT_EQ(index.filter_column_count(), 1U);
  EXPECT_EQ(index.description().columns, "stock,name");
}

TEST_P(Opening, no_columns_may_be_named) {
  Selection& index = client().open({"d", "item", "", "", ""});
  EXPECT_EQ(index.column_count(), 0U);
  EXPECT_EQ(index.filter_column_count(), 0U);
}

TEST_P(Opening, what_does_not_exist_is_named_in_the_failure) {
  EXPECT_EQ(client().failure_to_open({"d", "nothing", "", "id", ""}), ErrorCode::cannot_open_table);
  EXPECT_EQ(client().failure_to_open({"nowhere", "item", "", "id", ""}), ErrorCode::cannot_open_table);
  EXPECT_EQ(client().failure_to_open({"d", "item", "by_colour", "id", ""}), ErrorCode::no_such_index);
  EXPECT_EQ(client().failure_to_open({"d", "item", "", "id,colour", ""}), ErrorCode::no_such_column);
  EXPECT_EQ(client().failure_to_open({"d", "item", "", "id", "colour"}), ErrorCode::no_such_column);
}

TEST_P(Opening, an_index_can_be_asked_to_be_unique_over_the_columns_that_are_named) {
  const auto failure = [this](const char* index, const char* unique_columns) {
    SelectionDescription description = item(index);
    description.unique_columns = unique_columns;
    return client().failure_to_open(description);
  };
  EXPECT_EQ(client().rows(client().open({.database = "d",
                                         .table = "item",
                                         .index = "",
                                         .columns = "name",
                                         .filter_columns = "",
                                         .unique_columns = "id"}),
                          {equal, {"3"}}),
            "cup");
  EXPECT_EQ(failure("PRIMARY", "name"), ErrorCode::no_such_index) << "it is over another column";
  EXPECT_EQ(failure("PRIMARY", "id,name"), ErrorCode::no_such_index) << "it has fewer columns";
  EXPECT_EQ(failure("by_stock_name", "stock,name"), ErrorCode::no_such_index) << "it is not unique";
}

TEST_P(Opening, an_index_can_be_asked_to_be_unique_over_so_many_columns) {
  const auto failure = [this](const char* index, uint32_t parts) {
    SelectionDescription description = item(index);
    description.unique_key_parts = parts;
    return client().failure_to_open(description);
  };
  SelectionDescription unique = item("by_name");
  unique.unique_key_parts = 1;
  EXPECT_EQ(client().rows(client().open(unique), {equal, {"cup"}}), "3 cup 20");
  EXPECT_EQ(failure("PRIMARY", 2), ErrorCode::no_such_index) << "it has fewer columns";
  EXPECT_EQ(failure("by_stock_name", 2), ErrorCode::no_such_index) << "it is not unique";
}

TEST_P(Opening, filter_columns_can_be_asked_to_hold_integers) {
  SelectionDescription description = item("", "stock,name");
  client().open(description);
  description.integer_filters = true;
  EXPECT_EQ(client().failure_to_open(description), ErrorCode::no_such_column) << "name is text";
  description.filter_columns = "stock";
  client().open(description);
}

TEST_P(Opening, the_columns_of_the_index_can_stand_before_others) {
  Selection& index = client().open({.database = "d",
                                    .table = "item",
                                    .index = "by_name",
                                    .columns = "stock",
                                    .filter_columns = "",
                                    .unique_key_parts = 1,
                                    .key_columns_first = true});
  EXPECT_EQ(index.column_count(), 2U);
  EXPECT_EQ(client().rows(index, {equal, {"cup"}}), "cup 20");
}

TEST_P(Opening, all_columns_are_told_with_their_names_as_they_are_now) {
  Selection& index = client().open({.database = "d",
                                    .table = "item",
                                    .index = "",
                                    .columns = "",
                                    .filter_columns = "",
                                    .all_columns = true});
  const auto row = [&] {
    Buffer out;
    const ValueFormat format = {.framing = ValueFormat::Framing::length_prefixed,
                                .null_token = "-",
                                .named = ValueFormat::Named::names_and_values};
    const Error error = client().request(index, Intent::read, [&](Cursor& cursor) {
      EXPECT_EQ(cursor.seek({.key = Texts{"4"}}), Step::row);
      ValueWriter writer(out, format);
      cursor.write_row(writer);
      return Error();
    });
    EXPECT_TRUE(error.ok());
    return std::string(out.view());
  };
  EXPECT_EQ(row(), "$2\r\nid\r\n$1\r\n4\r\n$4\r\nname\r\n$3\r\nbox\r\n$5\r\nstock\r\n-");
  client().sleep();
  create_table("d.item", {.columns = {memory::integer("id"), memory::text("colour", 40)},
                          .indexes = {{"PRIMARY", {"id"}, true}}});
  host().insert("d.item", {"4", "red"});
  EXPECT_EQ(row(), "$2\r\nid\r\n$1\r\n4\r\n$6\r\ncolour\r\n$3\r\nred\r\n");
}

TEST_P(Opening, two_equal_descriptions_are_one_index) {
  Selection& index = client().open(item());
  EXPECT_EQ(&client().open(item()), &index);
}

TEST_P(Opening, descriptions_that_differ_in_anything_are_two_indexes) {
  Selection& index = client().open(item());
  SelectionDescription raw = item();
  raw.raw = true;
  EXPECT_NE(&client().open(raw), &index);
  SelectionDescription unique = item();
  unique.unique_columns = "id";
  EXPECT_NE(&client().open(unique), &index);
  SelectionDescription of_one_part = item();
  of_one_part.unique_key_parts = 1;
  EXPECT_NE(&client().open(of_one_part), &index);
  SelectionDescription with_key = of_one_part;
  with_key.key_columns_first = true;
  EXPECT_NE(&client().open(with_key), &client().open(of_one_part));
  SelectionDescription of_integers = item();
  of_integers.integer_filters = true;
  EXPECT_NE(&client().open(of_integers), &index);
  SelectionDescription in_steps = item();
  in_steps.walked_in_steps = true;
  EXPECT_NE(&client().open(in_steps), &index);
  SelectionDescription of_all = item();
  of_all.all_columns = true;
  EXPECT_NE(&client().open(of_all), &index);
  EXPECT_NE(&client().open(item("", "id")), &index);
  EXPECT_NE(&client().open(item("by_name")), &index);
  EXPECT_NE(&client().open({"d", "item", "", "id", ""}), &index);
}

TEST_P(Opening, a_selection_tells_the_sql_types_of_its_columns) {
  ColumnTypes types;
  EXPECT_TRUE(client().session().column_types(client().open(item()), types, 100));
  EXPECT_THAT(types, testing::ElementsAre("bigint(20)", "varchar(4)", "bigint(20)"));
}

TEST_P(Opening, types_that_take_more_bytes_than_wanted_are_not_told) {
  ColumnTypes types;
  EXPECT_FALSE(client().session().column_types(client().open(item()), types, 29));
}

TEST_P(Opening, a_table_that_somebody_holds_is_waited_for) {
  client();
  host().hold_table("d.item");
  std::shared_ptr<Selection> index;
  Error error;
  EXPECT_EQ(client().session().open_selection(item(), index, error), Begin::wait);
  EXPECT_EQ(index, nullptr);
  host().let_go();
  EXPECT_EQ(client().session().open_selection(item(), index, error), Begin::ready);
}

TEST_P(Opening, an_opened_index_is_resolved_again_when_its_table_was_replaced) {
  Selection& index = client().open();
  EXPECT_EQ(client().rows(index, {equal, {"3"}}), "3 cup 20");
  client().sleep();
  create_table("d.item", {.columns = {memory::text("colour", 40), memory::integer("stock"),
                                      memory::text("name", 40), memory::integer("id")},
                          .indexes = {{"PRIMARY", {"id"}, true}}});
  host().insert("d.item", {"red", "5", "hat", "3"});
  EXPECT_EQ(client().rows(index, {equal, {"3"}}), "3 hat 5");
}

TEST_P(Opening, an_opened_index_that_fits_no_more_fails_until_it_fits_again) {
  Selection& index = client().open(item("by_name"));
  Error error;
  client().sleep();
  create_table("d.item", {.columns = {memory::integer("id"), memory::text("name", 40)},
                          .indexes = {{"PRIMARY", {"id"}, true}, {"by_name", {"name"}, true}}});
  EXPECT_EQ(client().tries(index, Intent::read, error), Begin::failed);
  EXPECT_EQ(error.code, ErrorCode::no_such_column);
  client().sleep();
  create_table("d.item",
               {.columns = {memory::integer("id"), memory::text("name", 40), memory::integer("stock")},
                .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_EQ(client().tries(index, Intent::read, error), Begin::failed);
  EXPECT_EQ(error.code, ErrorCode::no_such_index);
  client().sleep();
  host().drop_table("d.item");
  EXPECT_EQ(client().tries(index, Intent::read, error), Begin::failed);
  EXPECT_EQ(error.code, ErrorCode::cannot_open_table);
  client().sleep();
  create_table("d.item",
               {.columns = {memory::integer("id"), memory::text("name", 40), memory::integer("stock")},
                .indexes = {{"by_name", {"name"}, true}}});
  EXPECT_EQ(client().tries(index, Intent::read, error), Begin::ready);
}

TEST_P(Opening, a_table_without_a_primary_key_has_none_to_open) {
  create_table("d.item", {.columns = {memory::integer("id")}, .indexes = {{"by_id", {"id"}}}});
  EXPECT_EQ(client().failure_to_open({"d", "item", "", "id", ""}), ErrorCode::no_such_index);
  EXPECT_EQ(client().rows(client().open({"d", "item", "0", "id", ""})), "");
}

INSTANTIATE_TEST_SUITE_P(, Opening, testing::ValuesIn(every_kind()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
