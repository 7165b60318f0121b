// SPDX-License-Identifier: GPL-2.0-only
//
// Changes of tables without transactions, which no rollback takes back: what a session says of them, and how
// a request with such changes goes on behind a commit.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

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
  /// A request in its middle: row 5 is there and committed.
  static void insert_and_go_on(Client& client) {
    EXPECT_TRUE(client.insert({"5", "ink", "1"}).ok());
    EXPECT_TRUE(client.session().commit_and_go_on().ok());
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
    insert_and_go_on(other);
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
  writer.does(insert_and_go_on);
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
    insert_and_go_on(other);
    other.session().stop(other.session().work());
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

TEST_P(LastingWork, rows_outlive_a_transaction_that_undoes_what_their_triggers_did) {
  create_copied("d.account", kinds_with_transactions().front());
  EXPECT_FALSE(client().session().commits_each_row());
  EXPECT_TRUE(insert_copied("1").ok());
  EXPECT_TRUE(client().session().did_lasting_work());
  EXPECT_TRUE(client().session().commits_each_row());
  client().session().rollback();
  EXPECT_FALSE(client().session().commits_each_row());
  EXPECT_EQ(rows("d.copied"), "1");
  EXPECT_EQ(rows("d.account"), "");
  EXPECT_TRUE(insert_copied("2").ok());
  client().commit();
  EXPECT_FALSE(client().session().commits_each_row());
  EXPECT_EQ(rows("d.copied"), "1, 2");
  EXPECT_EQ(rows("d.account"), "2");
}

TEST_P(LastingWork, rows_that_stay_with_what_their_triggers_did_need_no_commit_of_their_own) {
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_FALSE(client().session().commits_each_row()) << "there is no trigger";
  client().commit();
  create_copied("d.item_too", GetParam());
  EXPECT_TRUE(insert_copied("1").ok());
  EXPECT_FALSE(client().session().commits_each_row());
  client().session().rollback();
  EXPECT_EQ(rows("d.copied"), "1");
  EXPECT_EQ(rows("d.item_too"), "1");
}

TEST_P(LastingWork, it_may_follow_reads) {
  EXPECT_EQ(client().rows(account(client())), "");
  EXPECT_EQ(client().tries(client().open(), Intent::write), Begin::ready);
}

INSTANTIATE_TEST_SUITE_P(, LastingWork, testing::ValuesIn(kinds_without_transactions()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
