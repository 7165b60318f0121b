// SPDX-License-Identifier: GPL-2.0-only
//
// Session::begin_request, end_request and abandon_request, commit and rollback: what a request may begin
// with, what is kept and what is undone.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

using enum KeyOperator;

// ---- of every kind of table

class Requests : public Contract {};

TEST_P(Requests, a_session_that_reads_refuses_every_write) {
  client_that_reads();
  Selection& index = client().open();
  for (const Intent intent : {Intent::write, Intent::write_one_row}) {
    Error error;
    EXPECT_EQ(client().tries(index, intent, error), Begin::failed);
    EXPECT_EQ(error.code, ErrorCode::read_only);
  }
  EXPECT_EQ(client().rows(index), four_rows);
  client().commit();
}

TEST_P(Requests, what_ended_is_committed) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  EXPECT_TRUE(client().remove("3").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 11, 4 box NULL, 5 ink 1");
}

TEST_P(Requests, one_row_in_one_step_is_kept_as_well) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}, Intent::write_one_row).ok());
  EXPECT_TRUE(client().set_stock("2", "11", Intent::write_one_row).ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 11, 3 cup 20, 4 box NULL, 5 ink 1");
}

TEST_P(Requests, one_row_that_failed_leaves_the_rows_before_it) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}, Intent::write_one_row).ok());
  EXPECT_EQ(client().insert({"2", "pad", "1"}, Intent::write_one_row).number, duplicate_key);
  EXPECT_EQ(client().insert({"6", "pen", "1"}, Intent::write_one_row).number, duplicate_key);
  EXPECT_TRUE(client().insert({"7", "mug", "1"}, Intent::write_one_row).ok());
  EXPECT_FALSE(client().session().transaction_lost());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1, 7 mug 1");
}

TEST_P(Requests, a_request_that_failed_before_it_changed_anything_harms_nothing) {
  EXPECT_FALSE(client().insert({"five", "ink"}).ok());
  EXPECT_FALSE(client().session().transaction_lost());
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(Requests, a_read_that_is_abandoned_harms_nothing) {
  Selection& index = client().open();
  EXPECT_EQ(client().tries(index, Intent::read), Begin::ready);
  EXPECT_EQ(client().rows(index), four_rows);
  client().commit();
}

TEST_P(Requests, a_commit_or_a_rollback_of_nothing_is_a_success) {
  client().commit();
  client().session().rollback();
  client().commit();
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Requests, a_snapshot_that_was_not_taken_does_not_expire) {
  Selection& index = client().open();
  client().session().expire_snapshot();
  EXPECT_EQ(client().tries(index, Intent::read), Begin::ready);
}

TEST_P(Requests, an_expired_snapshot_is_nothing_to_a_write) {
  Selection& index = client().open();
  EXPECT_EQ(client().rows(index), four_rows);
  client().session().expire_snapshot();
  EXPECT_EQ(client().tries(index, Intent::write_one_row), Begin::ready);
  EXPECT_EQ(client().tries(index, Intent::write), Begin::ready);
}

TEST_P(Requests, a_turn_reads_what_others_committed_before_it) {
  Selection& index = client().open();
  EXPECT_EQ(client().rows(index, {equal, {"5"}}), "");
  client().commit();
  host().insert("d.item", {"5", "ink", "1"});
  EXPECT_EQ(client().rows(index, {equal, {"5"}}), "5 ink 1");
  client().commit();
}

INSTANTIATE_TEST_SUITE_P(, Requests, testing::ValuesIn(every_kind()), name_of_kind);

// ---- of tables with transactions

class Undoing : public Contract {
 protected:
  /// A request that replaces row 3 by one of another name, and then fails.
  Error replace_and_fail() {
    return client().request(client().open(), Intent::write, [](Cursor& cursor) {
      RowOutcome outcome{};
      Error error = insert_row(cursor, Texts{"3", "pot", "1"}, {OnDuplicate::replace}, outcome);
      return error.ok() ? insert_row(cursor, Texts{"2", "cup", "1"}, {}, outcome) : error;
    });
  }
  /// A request that inserts two rows and fails.
  Error insert_two_and_fail(const Texts& one, const Texts& two) {
    return client().request(client().open(), Intent::write, [&](Cursor& cursor) {
      RowOutcome outcome{};
      Error error = insert_row(cursor, one, {}, outcome);
      return error.ok() ? insert_row(cursor, two, {}, outcome) : error;
    });
  }
};

TEST_P(Undoing, a_failed_request_is_undone_and_only_it) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_EQ(insert_two_and_fail({"6", "mug", "1"}, {"7", "pen", "1"}).number, duplicate_key);
  EXPECT_FALSE(client().session().transaction_lost());
  EXPECT_EQ(client().stock("5"), "1");
  EXPECT_EQ(client().stock("6"), "none");
  EXPECT_TRUE(client().insert({"8", "hat", "1"}).ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1, 8 hat 1");
}

TEST_P(Undoing, every_kind_of_change_is_undone) {
  Selection& index = client().open({"d", "item", "", "stock,name,id", ""});
  bool changed = false;
  const Client::Action changes[] = {
      [](Cursor& cursor) { return set_columns(cursor, Texts{"99", "hat"}); },
      [&changed](Cursor& cursor) { return add_to_columns(cursor, Texts{"99"}, false, changed); },
      [](Cursor& cursor) { return delete_row(cursor); },
      [](Cursor& cursor) {
        RowOutcome outcome{};
        return insert_row(cursor, Texts{"2", "cup", "1"}, {OnDuplicate::replace}, outcome);
      },
      [](Cursor& cursor) {
        RowOutcome outcome{};
        return insert_row(cursor, Texts{"2", "ink", "1"}, {OnDuplicate::change, {1}}, outcome);
      }};
  for (const Client::Action& change : changes) {
    const Error error = client().on_row(index, "1", Intent::write, [&change](Cursor& cursor) {
      Error failure = change(cursor);
      EXPECT_TRUE(failure.ok()) << failure.detail();
      return Error(ErrorCode::nothing_changed);
    });
    EXPECT_EQ(error.code, ErrorCode::nothing_changed);
    EXPECT_EQ(client().rows(client().open()), four_rows);
  }
  client().commit();
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Undoing, a_rollback_undoes_everything_since_the_last_commit) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  client().commit();
  EXPECT_TRUE(client().insert({"6", "mug", "1"}).ok());
  EXPECT_TRUE(client().set_stock("5", "2", Intent::write_one_row).ok());
  EXPECT_TRUE(client().remove("1").ok());
  client().session().rollback();
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(Undoing, a_rollback_ends_a_request_that_is_under_way) {
  Cursor& cursor = client().begin(client().open(), Intent::write);
  RowOutcome outcome{};
  EXPECT_TRUE(insert_row(cursor, Texts{"5", "ink", "1"}, {}, outcome).ok());
  client().session().rollback();
  EXPECT_TRUE(client().insert({"6", "mug", "1"}).ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 6 mug 1");
}

TEST_P(Undoing, a_session_that_ends_leaves_nothing_uncommitted) {
  {
    Client leaver(host().engine(), Intent::write);
    EXPECT_TRUE(leaver.insert({"5", "ink", "1"}).ok());
  }
  EXPECT_EQ(rows(), four_rows);
  EXPECT_TRUE(client().insert({"5", "mug", "2"}).ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 mug 2");
}

TEST_P(Undoing, a_request_that_can_not_be_undone_alone_loses_the_transaction_and_the_others_do_without_it) {
  const bool is_lost = host().lose_transactions_by_failures();
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_EQ(client().insert({"2", "mug", "1"}).number, duplicate_key);
  EXPECT_FALSE(client().session().transaction_lost()) << "it has changed nothing";
  EXPECT_EQ(replace_and_fail().number, duplicate_key);
  EXPECT_EQ(client().session().transaction_lost(), is_lost);
  EXPECT_EQ(client().session().is_lost_by_failure(), is_lost);
  if (is_lost) {
    client().session().rollback();
    EXPECT_FALSE(client().session().is_lost_by_failure());
    EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  }
  EXPECT_TRUE(client().insert({"6", "hat", "1"}).ok());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1, 6 hat 1");
}

TEST_P(Undoing, a_group_that_can_not_be_undone_alone_loses_the_transaction_too) {
  const bool is_lost = host().lose_transactions_by_failures();
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  client().begin_group({{&client().open(), Intent::write, false}});
  EXPECT_TRUE(client().insert({"6", "mug", "1"}).ok());
  client().session().abandon_group();
  EXPECT_EQ(client().session().is_lost_by_failure(), is_lost);
  client().session().rollback();
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Undoing, a_transaction_that_is_lost_otherwise_is_lost_by_no_failure) {
  EXPECT_FALSE(client().session().is_lost_by_failure());
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  client().session().lose_transaction();
  EXPECT_FALSE(client().session().is_lost_by_failure());
  client().session().rollback();
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  host().arrange_deadlock("d.item", "2", "1");
  EXPECT_FALSE(client().set_stock("1", "21").ok());
  EXPECT_TRUE(client().session().transaction_lost());
  EXPECT_FALSE(client().session().is_lost_by_failure());
  client().session().rollback();
}

TEST_P(Undoing, rows_that_can_be_undone_do_not_outlive_their_transaction) {
  create_copied("d.item_too", GetParam());
  EXPECT_TRUE(insert_copied("1").ok());
  EXPECT_FALSE(client().session().did_lasting_work());
  EXPECT_FALSE(client().session().commits_each_row());
  client().session().rollback();
  EXPECT_EQ(rows("d.copied") + rows("d.item_too"), "");
}

INSTANTIATE_TEST_SUITE_P(, Undoing, testing::ValuesIn(kinds_with_transactions()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
