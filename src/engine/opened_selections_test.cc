// SPDX-License-Identifier: GPL-2.0-only
//
// What sessions keep of selections, and how it is counted.
#include "engine/opened_selections.h"

#include <gtest/gtest.h>

#include <memory>

namespace rowsocket::engine {
namespace {

struct Kept {
  KeptBytes::Part part;
};

class OpenedSelectionsTest : public testing::Test {
 protected:
  std::shared_ptr<Selection> open(const std::string& table) {
    return opened_->find_or_add({.database = "d", .table = table, .index = "", .columns = "a"});
  }
  void keep(KeptBytes& whole, SlotTable<Kept>& table, const Selection& selection, size_t byte_count) {
    Kept& kept = table.add(selection);
    kept.part.count_in(whole);
    kept.part.set(byte_count);
  }

  std::shared_ptr<OpenedSelections> opened_ = std::make_shared<OpenedSelections>();
  KeptBytes one_kept_{*opened_};
  KeptBytes other_kept_{*opened_};
  SlotTable<Kept> one_;
  SlotTable<Kept> other_;
};

TEST_F(OpenedSelectionsTest, what_each_session_keeps_counts) {
  const auto selection = open("t");
  const size_t alone = opened_->held_bytes();
  keep(one_kept_, one_, *selection, 1000);
  keep(other_kept_, other_, *selection, 500);
  EXPECT_EQ(opened_->held_bytes(), alone + 1500);
  EXPECT_EQ(one_kept_.total(), 1000U);
}

TEST_F(OpenedSelectionsTest, only_what_is_described_alike_is_one_selection) {
  const SelectionDescription usual{.database = "d", .table = "t", .index = "", .columns = "a"};
  const auto selection = opened_->find_or_add(usual);
  EXPECT_EQ(opened_->find_or_add(usual), selection);
  const auto is_another = [&](auto change) {
    SelectionDescription changed = usual;
    change(changed);
    return opened_->find_or_add(changed) != selection;
  };
  using Names = SelectionDescription;
  EXPECT_TRUE(is_another([](Names& names) { names.database = "e"; }));
  EXPECT_TRUE(is_another([](Names& names) { names.table = "u"; }));
  EXPECT_TRUE(is_another([](Names& names) { names.index = "i"; }));
  EXPECT_TRUE(is_another([](Names& names) { names.columns = "b"; }));
  EXPECT_TRUE(is_another([](Names& names) { names.filter_columns = "b"; }));
  EXPECT_TRUE(is_another([](Names& names) { names.raw = true; }));
  EXPECT_TRUE(is_another([](Names& names) { names.account = first_account; }));
  EXPECT_TRUE(is_another([](Names& names) { names.unique_columns = "b"; }));
  EXPECT_TRUE(is_another([](Names& names) { names.unique_key_parts = 1; }));
  EXPECT_TRUE(is_another([](Names& names) { names.key_columns_first = true; }));
  EXPECT_TRUE(is_another([](Names& names) { names.integer_filters = true; }));
  EXPECT_TRUE(is_another([](Names& names) { names.walked_in_steps = true; }));
  EXPECT_TRUE(is_another([](Names& names) { names.all_columns = true; }));
}

TEST_F(OpenedSelectionsTest, names_that_are_one_text_together_are_still_apart) {
  EXPECT_NE(opened_->find_or_add({.database = "ab", .table = "c"}),
            opened_->find_or_add({.database = "a", .table = "bc"}));
}

TEST_F(OpenedSelectionsTest, its_table_and_its_names_are_known_by_numbers_of_their_own) {
  const auto selection = open("t");
  const auto other = open("u");
  EXPECT_NE(selection->table_hash(), other->table_hash());
  EXPECT_NE(selection->names_hash(), other->names_hash());
  const auto same_table = opened_->find_or_add({.database = "d", .table = "t", .columns = "b"});
  EXPECT_EQ(selection->table_hash(), same_table->table_hash());
  EXPECT_NE(selection->names_hash(), same_table->names_hash());
}

TEST_F(OpenedSelectionsTest, it_holds_at_least_its_names) {
  const std::string name(1000, 'n');
  EXPECT_GE(open(name)->held_bytes(), open("t")->held_bytes() + name.size() - 1);
}

TEST_F(OpenedSelectionsTest, the_columns_of_a_unique_key_that_come_first_count) {
  SelectionDescription names{.database = "d", .table = "t", .columns = "a,b", .unique_key_parts = 2};
  EXPECT_EQ(opened_->find_or_add(names)->column_count(), 2U);
  names.key_columns_first = true;
  EXPECT_EQ(opened_->find_or_add(names)->column_count(), 4U);
}

TEST_F(OpenedSelectionsTest, each_has_a_slot_of_its_own_for_as_long_as_it_is_open) {
  const auto first = open("first");
  auto second = open("second");
  EXPECT_EQ(first->slot(), 0U);
  EXPECT_EQ(second->slot(), 1U);
  second.reset();
  EXPECT_EQ(open("third")->slot(), 1U);
  EXPECT_EQ(opened_->serials().size(), 2U);
}

TEST_F(OpenedSelectionsTest, nothing_is_remembered_of_another_that_had_the_same_slot) {
  auto gone = open("gone");
  const auto other = open("other");
  keep(one_kept_, one_, *other, 100);
  keep(one_kept_, one_, *gone, 1000);
  gone.reset();
  const auto next = open("next");
  ASSERT_EQ(next->slot(), 0U);
  EXPECT_EQ(one_.find(*next), nullptr);
  EXPECT_NE(one_.find(*other), nullptr);
}

TEST_F(OpenedSelectionsTest, a_session_shares_the_list_that_it_is_given) {
  SessionOptions options;
  EXPECT_NE(selections_for(options), nullptr);
  options.selections = opened_;
  EXPECT_EQ(selections_for(options), opened_);
}

TEST_F(OpenedSelectionsTest, what_becomes_smaller_counts_less) {
  const auto selection = open("t");
  keep(one_kept_, one_, *selection, 1000);
  const size_t before = opened_->held_bytes();
  one_.find(*selection)->part.set(100);
  EXPECT_EQ(opened_->held_bytes(), before - 900);
}

TEST_F(OpenedSelectionsTest, what_is_kept_of_a_selection_that_is_gone_counts_until_it_is_forgotten) {
  auto selection = open("t");
  keep(one_kept_, one_, *selection, 1000);
  selection.reset();
  EXPECT_EQ(opened_->held_bytes(), 1000U);
  one_.forget_gone(*opened_);
  EXPECT_EQ(opened_->held_bytes(), 0U);
}

TEST_F(OpenedSelectionsTest, a_session_can_forget_all_but_one) {
  const auto first = open("first");
  const auto second = open("second");
  keep(one_kept_, one_, *first, 1000);
  keep(one_kept_, one_, *second, 100);
  one_.forget_others(second.get());
  EXPECT_EQ(one_.find(*first), nullptr);
  EXPECT_NE(one_.find(*second), nullptr);
  EXPECT_EQ(one_kept_.total(), 100U);
  one_.forget_others(nullptr);
  EXPECT_EQ(one_kept_.total(), 0U);
}

TEST_F(OpenedSelectionsTest, too_much_is_what_is_more_than_the_bound) {
  const auto selection = open("t");
  opened_->set_held_bytes_max(opened_->held_bytes() + 1000);
  keep(one_kept_, one_, *selection, 1000);
  EXPECT_FALSE(opened_->hold_too_much());
  one_.find(*selection)->part.set(1001);
  EXPECT_TRUE(opened_->hold_too_much());
}

}  // namespace
}  // namespace rowsocket::engine
