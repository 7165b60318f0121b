// SPDX-License-Identifier: GPL-2.0-only
//
// Session::begin_group, end_group and abandon_group: requests that are undone together.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

class Groups : public Contract {
 protected:
  GroupMember writes(Selection& index) { return {&index, Intent::write, false}; }
  GroupMember writes_one_row(Selection& index) { return {&index, Intent::write_one_row, false}; }
  GroupMember writes_rows_alone(Selection& index) { return {&index, Intent::write, true}; }
  GroupMember reads(Selection& index) { return {&index, Intent::read, false}; }
  /// A group that is to write to d.item and to read it.
  void begin_group() {
    Selection& index = client().open();
    client().begin_group({writes(index), writes_one_row(index), reads(index)});
  }
};

TEST_P(Groups, what_a_group_did_is_kept_in_the_transaction) {
  begin_group();
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_TRUE(client().set_stock("1", "21", Intent::write_one_row).ok());
  EXPECT_TRUE(client().session().end_group().ok());
  EXPECT_EQ(rows(), four_rows);
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL, 5 ink 1");
}

TEST_P(Groups, an_abandoned_group_is_undone_as_a_whole) {
  begin_group();
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_TRUE(client().set_stock("1", "21", Intent::write_one_row).ok());
  EXPECT_TRUE(client().remove("2").ok());
  client().session().abandon_group();
  EXPECT_FALSE(client().session().transaction_lost());
  client().commit();
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Groups, only_the_group_is_undone) {
  EXPECT_TRUE(client().set_stock("1", "21", Intent::write_one_row).ok());
  begin_group();
  EXPECT_TRUE(client().set_stock("1", "22").ok());
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  client().session().abandon_group();
  EXPECT_TRUE(client().set_stock("3", "23").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 23, 4 box NULL");
}

TEST_P(Groups, one_that_began_with_a_read_is_undone_as_well) {
  begin_group();
  EXPECT_EQ(client().stock("1"), "20");
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  EXPECT_EQ(client().stock("1"), "21");
  client().session().abandon_group();
  EXPECT_EQ(client().stock("1"), "20");
  client().commit();
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Groups, a_member_that_failed_is_undone_with_the_group) {
  begin_group();
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_EQ(client().insert({"2", "mug", "1"}).number, duplicate_key);
  client().session().abandon_group();
  client().commit();
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Groups, one_group_follows_another) {
  begin_group();
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_TRUE(client().session().end_group().ok());
  begin_group();
  EXPECT_TRUE(client().insert({"6", "mug", "1"}).ok());
  client().session().abandon_group();
  begin_group();
  EXPECT_TRUE(client().insert({"7", "hat", "1"}).ok());
  EXPECT_TRUE(client().session().end_group().ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1, 7 hat 1");
}

TEST_P(Groups, rows_that_stand_alone_are_undone_alone) {
  Selection& index = client().open();
  client().begin_group({writes_rows_alone(index)});
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_EQ(client().insert({"2", "mug", "1"}).number, duplicate_key);
  EXPECT_TRUE(client().insert({"6", "hat", "1"}).ok());
  EXPECT_TRUE(client().session().end_group().ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1, 6 hat 1");
}

TEST_P(Groups, rows_that_stand_alone_are_undone_with_their_group_as_well) {
  Selection& index = client().open();
  client().begin_group({writes_rows_alone(index)});
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_EQ(client().insert({"2", "mug", "1"}).number, duplicate_key);
  client().session().abandon_group();
  client().commit();
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Groups, a_group_over_two_tables) {
  Selection& numbered = client().open(create_numbered());
  Selection& index = client().open();
  client().begin_group({writes(index), writes(numbered)});
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_EQ(client().insert_into(numbered, {nullptr, "ink"}), "1#1");
  EXPECT_TRUE(client().set_stock("5", "2").ok());
  client().session().abandon_group();
  client().begin_group({writes(index), writes(numbered)});
  EXPECT_EQ(client().insert_into(numbered, {"7", "pad"}), "1#0");
  EXPECT_TRUE(client().insert({"6", "mug", "1"}).ok());
  EXPECT_TRUE(client().session().end_group().ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 6 mug 1");
  EXPECT_EQ(rows("d.numbered"), "7 pad 7");
}

TEST_P(Groups, a_commit_ends_a_group) {
  begin_group();
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  client().session().abandon_group();
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 11, 3 cup 20, 4 box NULL");
}

TEST_P(Groups, a_rollback_ends_a_group) {
  begin_group();
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().session().rollback();
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  client().session().abandon_group();
  client().commit();
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 11, 3 cup 20, 4 box NULL");
}

TEST_P(Groups, a_group_whose_transaction_was_lost_may_be_abandoned) {
  begin_group();
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  host().arrange_deadlock("d.item", "2", "1");
  EXPECT_FALSE(client().set_stock("1", "21").ok());
  EXPECT_TRUE(client().session().transaction_lost());
  client().session().abandon_group();
  client().session().rollback();
  EXPECT_FALSE(client().session().transaction_lost());
  EXPECT_TRUE(client().set_stock("3", "23").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 23, 4 box NULL");
}

TEST_P(Groups, a_member_that_can_not_be_is_named) {
  Selection& index = client().open();
  Selection& numbered = client().open(create_numbered());
  client().sleep();
  host().drop_table("d.numbered");
  size_t failed_member = 0;
  Error error;
  EXPECT_EQ(client().begin_group({writes(index), writes(numbered)}, failed_member, error), Begin::failed);
  EXPECT_EQ(failed_member, 1U);
  EXPECT_EQ(error.code, ErrorCode::cannot_open_table);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Groups, a_table_that_somebody_holds_is_waited_for_before_anything_is_done) {
  Selection& index = client().open();
  Selection& numbered = client().open(create_numbered());
  client().sleep();
  host().hold_table("d.numbered");
  size_t failed_member = 0;
  Error error;
  EXPECT_EQ(client().begin_group({writes(index), writes(numbered)}, failed_member, error), Begin::wait);
  client().sleep();
  host().let_go();
  EXPECT_EQ(client().begin_group({writes(index), writes(numbered)}, failed_member, error), Begin::ready);
  client().session().abandon_group();
}

TEST_P(Groups, a_session_that_reads_reads_in_groups) {
  client_that_reads();
  Selection& index = client().open();
  client().begin_group({reads(index), reads(index)});
  EXPECT_EQ(client().stock("1"), "20");
  EXPECT_EQ(client().stock("2"), "10");
  EXPECT_TRUE(client().session().end_group().ok());
  client().commit();
}

TEST_P(Groups, a_session_that_reads_writes_in_no_group) {
  client_that_reads();
  Selection& index = client().open();
  size_t failed_member = 0;
  Error error;
  if (client().begin_group({writes(index)}, failed_member, error) == Begin::ready) {
    EXPECT_EQ(client().tries(index, Intent::write, error), Begin::failed);
    client().session().abandon_group();
  }
  EXPECT_EQ(error.code, ErrorCode::read_only);
}

INSTANTIATE_TEST_SUITE_P(, Groups, testing::ValuesIn(kinds_with_transactions()), name_of_kind);

class GroupsWithoutTransactions : public Contract {};

TEST_P(GroupsWithoutTransactions, writing_is_refused_and_the_member_named) {
  host().create_table("d.account",
                      {.columns = {memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}},
                      kinds_with_transactions().front());
  Selection& account = client().open({"d", "account", "", "id", ""});
  Selection& index = client().open();
  size_t failed_member = 0;
  Error error;
  EXPECT_EQ(client().begin_group({{&account, Intent::write, false}, {&index, Intent::write, false}},
                                 failed_member, error),
            Begin::failed);
  EXPECT_EQ(failed_member, 1U);
  EXPECT_EQ(error.code, ErrorCode::no_transactions);
  EXPECT_EQ(client().begin_group({{&index, Intent::write_one_row, true}}, failed_member, error),
            Begin::failed);
  EXPECT_EQ(failed_member, 0U);
  EXPECT_EQ(error.code, ErrorCode::no_transactions);
}

TEST_P(GroupsWithoutTransactions, a_refused_group_is_none) {
  Selection& index = client().open();
  size_t failed_member = 0;
  Error error;
  EXPECT_EQ(client().begin_group({{&index, Intent::write, false}}, failed_member, error), Begin::failed);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(GroupsWithoutTransactions, reading_is_not_refused) {
  Selection& index = client().open();
  client().begin_group({{&index, Intent::read, false}});
  EXPECT_EQ(client().stock("1"), "20");
  EXPECT_TRUE(client().session().end_group().ok());
  client().commit();
}

INSTANTIATE_TEST_SUITE_P(, GroupsWithoutTransactions, testing::ValuesIn(kinds_without_transactions()),
                         name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
