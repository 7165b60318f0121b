// SPDX-License-Identifier: GPL-2.0-only
//
// Transactions: what others see of them, how they are lost, how a commit fails, and what it is called in the
// binlog.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

using enum KeyOperator;

class Transactions : public Contract {
 protected:
  /// Somebody inserts row 5 and commits. False where the writer is to wait until the turn is over.
  static bool inserts_ink(Somebody& writer) {
    bool was_inserted = false;
    writer.does([&was_inserted](Client& other) {
      was_inserted = other.insert({"5", "ink", "1"}).ok();
      other.commit();
    });
    return was_inserted;
  }

  /// Have row 2 changed, and find a deadlock at row 1.
  Error lose_transaction() {
    EXPECT_TRUE(client().set_stock("2", "11").ok());
    host().arrange_deadlock("d.item", "2", "1");
    return client().set_stock("1", "21");
  }
};

// ---- isolation

TEST_P(Transactions, nobody_else_sees_what_is_not_committed) {
  Somebody reader(host().engine(), Intent::read);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  EXPECT_TRUE(client().insert({"5", "ink", "1"}).ok());
  EXPECT_EQ(rows(), four_rows);
  reader.does([](Client& other) { EXPECT_THAT(other.stock("1"), testing::AnyOf("20", "later")); });
  reader.does([](Client& other) { other.commit(); });
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL, 5 ink 1");
  reader.does([](Client& other) {
    EXPECT_EQ(other.stock("1"), "21");
    other.commit();
  });
}

TEST_P(Transactions, reads_of_a_turn_share_one_snapshot) {
  client_that_reads();
  Somebody writer(host().engine(), Intent::write);
  EXPECT_EQ(client().stock("1"), "20");
  const bool was_inserted = inserts_ink(writer);
  EXPECT_EQ(client().stock("5"), "none");
  client().commit();
  EXPECT_EQ(client().stock("5"), was_inserted ? "1" : "none");
  client().commit();
}

TEST_P(Transactions, who_came_later_reads_what_was_committed_meanwhile) {
  client_that_reads();
  Somebody writer(host().engine(), Intent::write);
  EXPECT_EQ(client().stock("5"), "none");
  const bool was_inserted = inserts_ink(writer);
  client().session().expire_snapshot();
  EXPECT_EQ(client().stock("5"), was_inserted ? "1" : "none");
  client().commit();
}

TEST_P(Transactions, a_read_behind_a_change_sees_what_was_committed_before_the_change) {
  Somebody writer(host().engine(), Intent::write);
  EXPECT_EQ(client().stock("5"), "none");
  const bool was_inserted = inserts_ink(writer);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  EXPECT_EQ(client().stock("5"), was_inserted ? "1" : "none");
  client().commit();
}

TEST_P(Transactions, a_change_starts_from_what_is_committed) {
  Somebody writer(host().engine(), Intent::write);
  Selection& index = client().open({"d", "item", "", "stock", ""});
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  writer.does([](Client& other) {
    EXPECT_TRUE(other.set_stock("1", "31").ok());
    other.commit();
  });
  bool changed = false;
  EXPECT_TRUE(client()
                  .on_row(index, "1", Intent::write,
                          [&](Cursor& cursor) { return add_to_columns(cursor, Texts{"1"}, false, changed); })
                  .ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 32, 2 pen 10, 3 cup 20, 4 box NULL");
}

// ---- loss

TEST_P(Transactions, a_deadlock_loses_the_whole_transaction) {
  const Error error = lose_transaction();
  EXPECT_EQ(error.code, ErrorCode::engine);
  EXPECT_EQ(error.reason, Reason::conflict);
  EXPECT_TRUE(client().session().transaction_lost());
  EXPECT_EQ(client().session().loss().reason, Reason::conflict);
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Transactions, after_a_loss_rollback_is_what_remains_to_be_done) {
  EXPECT_FALSE(lose_transaction().ok());
  client().session().rollback();
  EXPECT_FALSE(client().session().transaction_lost());
  EXPECT_TRUE(client().set_stock("1", "22").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 22, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Transactions, a_lost_transaction_is_not_committed) {
  EXPECT_FALSE(lose_transaction().ok());
  EXPECT_FALSE(client().session().commit().ok());
  client().session().rollback();
  EXPECT_FALSE(client().session().transaction_lost());
  EXPECT_EQ(rows(), four_rows);
}

TEST_P(Transactions, the_caller_may_lose_a_transaction) {
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  EXPECT_FALSE(client().session().transaction_lost());
  client().session().lose_transaction();
  EXPECT_TRUE(client().session().transaction_lost());
  EXPECT_FALSE(client().session().commit().ok());
  client().session().rollback();
  EXPECT_FALSE(client().session().transaction_lost());
  EXPECT_EQ(rows(), four_rows);
}

// ---- commit

TEST_P(Transactions, a_failed_commit_undoes_everything_since_the_last) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  EXPECT_TRUE(client().insert({"5", "ink", "1"}, Intent::write_one_row).ok());
  host().fail_commits();
  EXPECT_FALSE(client().session().commit().ok());
  host().let_commits_pass();
  client().session().rollback();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL");
  EXPECT_TRUE(client().set_stock("3", "22").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 22, 4 box NULL");
}

TEST_P(Transactions, a_commit_that_wrote_to_the_binlog_has_a_gtid) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  const std::string first(client().session().last_commit_gtid());
  EXPECT_THAT(first, testing::MatchesRegex("[0-9]+-[0-9]+-[0-9]+"));
  EXPECT_TRUE(client().set_stock("1", "22").ok());
  EXPECT_EQ(client().session().last_commit_gtid(), first);
  client().commit();
  EXPECT_NE(client().session().last_commit_gtid(), first);
}

TEST_P(Transactions, a_commit_that_wrote_nothing_has_none) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  EXPECT_EQ(client().stock("1"), "21");
  client().commit();
  EXPECT_EQ(client().session().last_commit_gtid(), "");
}

TEST_P(Transactions, a_short_one_has_time) {
  EXPECT_FALSE(client().session().wants_commit());
  EXPECT_EQ(client().stock("1"), "20");
  EXPECT_FALSE(client().session().wants_commit());
  client().commit();
}

TEST_P(Transactions, one_that_lasts_long_wants_to_be_committed) {
  host().make_transactions_long();
  uint64_t stock = 0;
  EXPECT_TRUE(
      repeat_until([this] { return client().session().wants_commit(); },
                   [&] { EXPECT_TRUE(client().set_stock("1", std::to_string(++stock).c_str()).ok()); }));
  EXPECT_GT(stock, 0U);
  client().commit();
  EXPECT_FALSE(client().session().wants_commit());
}

TEST_P(Transactions, what_can_be_rolled_back_is_no_lasting_work) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  EXPECT_FALSE(client().session().did_lasting_work());
  client().commit();
}

INSTANTIATE_TEST_SUITE_P(, Transactions, testing::ValuesIn(kinds_with_transactions()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
