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
      EXPECT_TRUE(failure.ok()) << failure.detail;
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

INSTANTIATE_TEST_SUITE_P(, Undoing, testing::ValuesIn(kinds_with_transactions()), name_of_kind);

// ---- of tables without

class LastingWork : public Contract {
 protected:
  LastingWork() {
    host().create_table("d.account",
                        {.columns = {memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}},
                        kinds_with_transactions().front());
  }
  static Selection& account(Client& client) { return client.open({"d", "account", "", "id", ""}); }
  static Error insert_account(Client& client, const char* id) {
    return client.request(account(client), Intent::write, [id](Cursor& cursor) {
      RowOutcome outcome{};
      return insert_row(cursor, Texts{id}, {}, outcome);
    });
  }
};

TEST_P(LastingWork, what_no_rollback_takes_back_is_said) {
  EXPECT_FALSE(client().session().did_lasting_work());
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_TRUE(client().session().did_lasting_work());
  client().commit();
  EXPECT_FALSE(client().session().did_lasting_work());
}

TEST_P(LastingWork, a_transaction_with_it_wants_to_be_committed) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_TRUE(client().session().wants_commit());
  client().commit();
  EXPECT_FALSE(client().session().wants_commit());
}

TEST_P(LastingWork, reading_is_none) {
  EXPECT_EQ(client().stock("1"), "20");
  EXPECT_FALSE(client().session().did_lasting_work());
  client().commit();
}

TEST_P(LastingWork, an_abandoned_request_leaves_it) {
  const Error error = client().request(client().open(), Intent::write, [](Cursor& cursor) {
    RowOutcome outcome{};
    EXPECT_TRUE(insert_row(cursor, Texts{"5", "ink", "1"}, {}, outcome).ok());
    return insert_row(cursor, Texts{"2", "mug", "1"}, {}, outcome);
  });
  EXPECT_EQ(error.number, duplicate_key);
  EXPECT_TRUE(client().session().did_lasting_work());
  client().commit();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(LastingWork, a_rollback_leaves_it) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  client().session().rollback();
  EXPECT_FALSE(client().session().did_lasting_work());
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(LastingWork, it_goes_on_behind_a_commit_and_waits_in_place_for_who_came_between) {
  host().set_lock_timeouts_s(100'000);
  client();
  Somebody writer(host().engine(), Intent::write);
  writer.does([](Client& other) {
    EXPECT_TRUE(other.insert({"5", "ink", "1"}).ok());
    EXPECT_TRUE(other.session().commit_and_go_on().ok());
    EXPECT_TRUE(other.session().did_lasting_work());
    EXPECT_TRUE(other.session().wants_commit());
    EXPECT_FALSE(other.session().holds_tables());
  });
  host().hold_table("d.item");
  std::future<void> done = writer.begins([](Client& other) {
    EXPECT_TRUE(other.insert({"6", "mug", "1"}).ok());
    other.commit();
    EXPECT_FALSE(other.session().did_lasting_work());
  });
  host().await_patient_wait();
  host().let_go();
  done.get();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1, 6 mug 1");
}

TEST_P(LastingWork, behind_a_commit_in_its_middle_it_waits_for_a_row_as_long_as_it_may) {
  host().set_lock_timeouts_s(100'000);
  client();
  Somebody writer(host().engine(), Intent::write);
  writer.does([](Client& other) {
    EXPECT_TRUE(other.insert({"5", "ink", "1"}).ok());
    EXPECT_TRUE(other.session().commit_and_go_on().ok());
  });
  EXPECT_TRUE(insert_account(client(), "1").ok());
  std::future<void> done = writer.begins([](Client& other) {
    EXPECT_TRUE(insert_account(other, "1").ok());
    other.commit();
  });
  host().await_patient_wait();
  client().session().rollback();
  done.get();
  EXPECT_EQ(rows("d.account"), "1");
}

TEST_P(LastingWork, behind_a_commit_in_its_middle_it_can_be_stopped) {
  client();
  Somebody writer(host().engine(), Intent::write);
  Selection* index = nullptr;
  writer.does([&index](Client& other) {
    index = &other.open();
    EXPECT_TRUE(other.insert({"5", "ink", "1"}).ok());
    EXPECT_TRUE(other.session().commit_and_go_on().ok());
    other.session().stop_request();
  });
  host().hold_table("d.item");
  writer.does([&index](Client& other) {
    EXPECT_EQ(other.tries(*index, Intent::write), Begin::failed) << "it does not wait";
    other.session().rollback();
  });
  host().let_go();
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(LastingWork, it_is_the_first_of_its_transaction) {
  EXPECT_TRUE(insert_account(client(), "1").ok());
  EXPECT_FALSE(client().session().did_lasting_work());
  EXPECT_EQ(client().tries(client().open(), Intent::write), Begin::commit_first);
  EXPECT_EQ(client().tries(client().open(), Intent::write_one_row), Begin::commit_first);
  EXPECT_FALSE(client().session().did_lasting_work());
  client().commit();
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  client().commit();
  EXPECT_EQ(rows("d.account"), "1");
  EXPECT_EQ(rows(), four_rows + ", 5 ink 1");
}

TEST_P(LastingWork, it_may_follow_reads) {
  EXPECT_EQ(client().rows(account(client())), "");
  EXPECT_EQ(client().tries(client().open(), Intent::write), Begin::ready);
}

INSTANTIATE_TEST_SUITE_P(, LastingWork, testing::ValuesIn(kinds_without_transactions()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
