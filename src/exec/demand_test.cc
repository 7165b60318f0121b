// SPDX-License-Identifier: GPL-2.0-only
#include "exec/demand.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace rowsocket::exec {
namespace {

using engine::Demand;

constexpr uint32_t reads_row = Demand::reads_key | Demand::reads_columns;

Demand of_change(std::initializer_list<Assignment> assignments, Tell tell = Tell::count) {
  static std::vector<Assignment> kept;
  kept = assignments;
  Find find;
  find.tell = tell;
  find.change = {.kind = Change::Kind::assign, .assignments = kept};
  return demand_of(find);
}

Insert insert_of(const std::vector<Value>& values, uint32_t row_count = 1) {
  Insert insert;
  insert.values = values;
  insert.row_count = row_count;
  return insert;
}

TEST(DemandTest, a_find_reads_what_it_tells_and_walks) {
  Find find;
  EXPECT_EQ(demand_of(find), (Demand{.kinds = reads_row}));
  find.tell = Tell::count;
  EXPECT_EQ(demand_of(find), (Demand{.kinds = Demand::reads_key}));
  const std::array<Filter, 1> filters{};
  find.filters = filters;
  EXPECT_EQ(demand_of(find), (Demand{.kinds = Demand::reads_key | Demand::reads_filters}));
}

TEST(DemandTest, a_change_names_the_columns_that_it_sets) {
  EXPECT_EQ(of_change({{.column = 1}, {.column = 3}}), (Demand{.kinds = Demand::reads_key | Demand::updates,
                                                               .changed_columns = 0b1010,
                                                               .changed_column_end = 4}));
  EXPECT_EQ(of_change({{.column = 0}}, Tell::rows),
            (Demand{.kinds = reads_row | Demand::updates, .changed_columns = 0b1, .changed_column_end = 1}));
}

TEST(DemandTest, a_sum_reads_what_it_changes) {
  EXPECT_EQ(of_change({{.column = 0, .operation = Operation::add}}),
            (Demand{.kinds = Demand::reads_key | Demand::updates | Demand::reads_changed,
                    .changed_columns = 0b1,
                    .changed_column_end = 1}));
}

TEST(DemandTest, no_column_beyond_the_mask_is_missed_and_none_behind_the_last_is_named) {
  const Demand demand = of_change({{.column = 63}, {.column = 68}});
  EXPECT_FALSE(demand.changes(68 - 64));
  EXPECT_FALSE(demand.changes(62));
  EXPECT_TRUE(demand.changes(63));
  EXPECT_TRUE(demand.changes(64));  // it may be
  EXPECT_TRUE(demand.changes(68));
  EXPECT_FALSE(demand.changes(69));
  EXPECT_FALSE(of_change({{.column = 63}}).changes(64));
  EXPECT_TRUE(of_change({{.column = 70}, {.column = 65}}).changes(70));
  const Demand inserting = demand_of(insert_of(std::vector<Value>(65)));
  EXPECT_TRUE(inserting.inserts_column(64));
  EXPECT_FALSE(inserting.inserts_column(65));
}

TEST(DemandTest, a_removal_deletes) {
  Find find;
  find.tell = Tell::count;
  find.change.kind = Change::Kind::remove;
  EXPECT_EQ(demand_of(find), (Demand{.kinds = Demand::reads_key | Demand::deletes}));
}

TEST(DemandTest, an_insert_names_the_columns_of_one_row) {
  const std::vector<Value> values(6);
  EXPECT_EQ(demand_of(insert_of(values, 3)), (Demand{.kinds = Demand::inserts, .inserted_column_count = 2}));
  EXPECT_EQ(demand_of(insert_of(values, 2)), (Demand{.kinds = Demand::inserts, .inserted_column_count = 3}));
}

TEST(DemandTest, an_insert_that_tells_its_rows_reads_them) {
  const std::vector<Value> values(1);
  Insert insert = insert_of(values);
  insert.tells_rows = true;
  EXPECT_EQ(demand_of(insert).kinds, uint32_t{Demand::inserts | Demand::reads_columns});
}

TEST(DemandTest, an_insert_that_compares_with_the_row_that_is_there_reads_it) {
  const std::vector<Value> values(1);
  const std::array<Filter, 1> filters{};
  Insert insert = insert_of(values);
  insert.on_duplicate = OnDuplicate::change;
  insert.duplicate_filters = filters;
  EXPECT_NE(demand_of(insert).kinds & Demand::reads_filters, 0U);
}

TEST(DemandTest, what_is_done_to_a_row_that_is_there_counts) {
  const std::vector<Value> values(2);
  Insert insert = insert_of(values);
  insert.on_duplicate = OnDuplicate::keep;
  EXPECT_EQ(demand_of(insert).kinds, uint32_t{Demand::inserts | Demand::tells_kept_id});
  insert.on_duplicate = OnDuplicate::replace;
  EXPECT_EQ(demand_of(insert).kinds, uint32_t{Demand::inserts | Demand::deletes});
  insert.on_duplicate = OnDuplicate::change;
  const std::array<DuplicateChange, 1> changes{DuplicateChange{.position = 1}};
  insert.duplicate_changes = changes;
  EXPECT_EQ(demand_of(insert), (Demand{.kinds = Demand::inserts | Demand::updates | Demand::updates_inserted |
                                                Demand::reads_changed,
                                       .changed_columns = 0b10,
                                       .changed_column_end = 2,
                                       .inserted_column_count = 2}));
}

TEST(DemandTest, what_a_find_inserts_where_it_finds_nothing_counts) {
  const std::vector<Value> values(3);
  Insert insert = insert_of(values);
  insert.on_duplicate = OnDuplicate::change;
  const std::array<DuplicateChange, 1> changes{DuplicateChange{.position = 1}};
  insert.duplicate_changes = changes;
  const std::array<Assignment, 1> assignments{Assignment{.column = 2}};
  Find find;
  find.tell = Tell::count;
  find.change = {.kind = Change::Kind::assign, .assignments = assignments};
  find.otherwise = &insert;
  EXPECT_EQ(demand_of(find), (Demand{.kinds = Demand::reads_key | Demand::updates | Demand::inserts,
                                     .changed_columns = 0b110,
                                     .changed_column_end = 3,
                                     .inserted_column_count = 3}));
}

TEST(DemandTest, what_an_insert_of_a_find_changes_counts_however_many_columns_there_are) {
  const std::vector<Value> values(80);
  Insert insert = insert_of(values);
  insert.on_duplicate = OnDuplicate::change;
  const std::array<DuplicateChange, 1> changes{DuplicateChange{.position = 70}};
  insert.duplicate_changes = changes;
  Find find;
  find.otherwise = &insert;
  EXPECT_TRUE(demand_of(find).changes(70));
  EXPECT_FALSE(demand_of(find).changes(71));
}

}  // namespace
}  // namespace rowsocket::exec
