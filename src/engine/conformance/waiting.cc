// SPDX-License-Identifier: GPL-2.0-only
//
// Locks: Begin::wait, patience, rows that another transaction has locked, and tables that are given back.
#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

constexpr uint64_t for_ever_s = 100'000;

// ---- tables

class TableLocks : public Contract {
 protected:
  /// Whether the table that was asked for is given back between turns.
  bool is_had_while_yielding() {
    return repeat_until([this] { return host().table_was_had(); },
                        [this] { client().session().yield_tables(); });
  }
};

TEST_P(TableLocks, a_request_on_a_table_that_somebody_holds_is_to_wait) {
  Selection& index = client().open();
  client().sleep();
  host().hold_table("d.item");
  EXPECT_EQ(client().tries(index, Intent::read), Begin::wait);
  EXPECT_EQ(client().tries(index, Intent::write), Begin::wait);
  EXPECT_EQ(client().tries(index, Intent::write_one_row), Begin::wait);
  host().let_go();
  EXPECT_EQ(client().tries(index, Intent::write), Begin::ready);
}

TEST_P(TableLocks, who_waits_for_one_table_uses_others) {
  Selection& numbered = client().open(create_numbered());
  client().sleep();
  host().hold_table("d.numbered");
  EXPECT_EQ(client().tries(numbered, Intent::write), Begin::wait);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL");
  host().let_go();
}

TEST_P(TableLocks, one_that_is_patient_waits_in_place) {
  host().set_lock_timeouts_s(for_ever_s);
  client();
  host().hold_table("d.item");
  Somebody writer(host().engine(), Intent::write);
  std::future<void> done = writer.begins([](Client& other) {
    other.session().set_patient(true);
    while (!other.set_stock("1", "21").ok()) {
      other.session().rollback();  // it has waited for a while only
    }
    other.commit();
  });
  host().await_patient_wait();
  host().let_go();
  done.get();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(TableLocks, patience_lasts_as_long_as_the_hosts_settings_say) {
  host().set_lock_timeouts_s(1);
  Selection& index = client().open();
  client().sleep();
  host().hold_table("d.item");
  client().session().set_patient(true);
  EXPECT_EQ(client().tries(index, Intent::write), Begin::wait);
  host().let_go();
}

TEST_P(TableLocks, patience_is_over_when_all_of_the_time_is) {
  host().set_lock_timeouts_s(for_ever_s);
  Selection& index = client().open();
  client().sleep();
  host().hold_table("d.item");
  client().session().set_patient(true);
  client().session().note_waited(for_ever_s * 1000);
  EXPECT_EQ(client().tries(index, Intent::write), Begin::wait);
  host().let_go();
}

TEST_P(TableLocks, patience_ends_when_it_is_taken_back) {
  host().set_lock_timeouts_s(for_ever_s);
  Selection& index = client().open();
  client().sleep();
  host().hold_table("d.item");
  client().session().set_patient(true);
  client().session().set_patient(false);
  EXPECT_EQ(client().tries(index, Intent::write), Begin::wait);
  host().let_go();
}

TEST_P(TableLocks, the_session_says_how_long_a_request_may_wait) {
  host().set_lock_timeouts_s(17);
  EXPECT_EQ(client().session().lock_wait_timeout_ms(), 17'000U);
  EXPECT_EQ(client().session().row_lock_wait_timeout_ms(), 17'000U);
}

TEST_P(TableLocks, tables_stay_open_over_turns) {
  EXPECT_FALSE(client().session().holds_tables());
  EXPECT_EQ(client().stock("1"), "20");
  client().commit();
  EXPECT_TRUE(client().session().holds_tables());
  client().session().yield_tables();
  EXPECT_TRUE(client().session().holds_tables());
}

TEST_P(TableLocks, released_tables_are_somebody_elses_at_once) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  client().session().release_tables();
  EXPECT_FALSE(client().session().holds_tables());
  host().hold_table("d.item");
  host().let_go();
  EXPECT_EQ(client().stock("1"), "21");
}

TEST_P(TableLocks, a_table_that_somebody_waits_for_is_yielded) {
  EXPECT_EQ(client().stock("1"), "20");
  client().commit();
  host().ask_for_table("d.item");
  EXPECT_TRUE(is_had_while_yielding());
  EXPECT_FALSE(client().session().holds_tables());
  EXPECT_EQ(client().stock("1"), "20");
  client().commit();
}

TEST_P(TableLocks, before_its_commit_a_turn_may_give_back_what_it_has_only_read) {
  Selection& numbered = client().open(create_numbered());
  EXPECT_EQ(client().rows(numbered), "");
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().session().release_read_tables();
  host().hold_table("d.numbered");
  host().let_go();
  host().ask_for_table("d.item");
  EXPECT_FALSE(host().table_was_had()) << "what it has changed stays its own";
  client().commit();
  EXPECT_TRUE(is_had_while_yielding());
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(TableLocks, a_table_that_nobody_waits_for_is_kept_beside_one_that_is_yielded) {
  Selection& numbered = client().open(create_numbered());
  EXPECT_EQ(client().rows(numbered), "");
  EXPECT_EQ(client().stock("1"), "20");
  client().commit();
  host().ask_for_table("d.item");
  EXPECT_TRUE(is_had_while_yielding());
  EXPECT_TRUE(client().session().holds_tables());
}

INSTANTIATE_TEST_SUITE_P(, TableLocks, testing::ValuesIn(every_kind()), name_of_kind);

// ---- rows

class RowLocks : public Contract {};

TEST_P(RowLocks, a_row_that_another_transaction_has_is_waited_for_shortly_only) {
  host().set_lock_timeouts_s(for_ever_s);
  Somebody writer(host().engine(), Intent::write);
  writer.does([](Client& other) { EXPECT_TRUE(other.set_stock("1", "21").ok()); });
  const Error error = client().set_stock("1", "22");
  EXPECT_EQ(error.code, ErrorCode::engine);
  EXPECT_EQ(error.number, row_locked);
  EXPECT_EQ(error.reason, Reason::row_locked);
  EXPECT_FALSE(client().session().transaction_lost());
  writer.does([](Client& other) { other.commit(); });
  EXPECT_TRUE(client().set_stock("1", "22").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 22, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(RowLocks, one_that_is_patient_waits_in_place) {
  host().set_lock_timeouts_s(for_ever_s);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  Somebody writer(host().engine(), Intent::write);
  std::future<void> done = writer.begins([](Client& other) {
    other.session().set_patient(true);
    EXPECT_TRUE(other.set_stock("1", "22").ok());
    other.commit();
  });
  host().await_patient_wait();
  client().commit();
  done.get();
  EXPECT_EQ(rows(), "1 cap 22, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(RowLocks, patience_lasts_as_long_as_the_hosts_settings_say) {
  host().set_lock_timeouts_s(2);
  Somebody writer(host().engine(), Intent::write);
  writer.does([](Client& other) { EXPECT_TRUE(other.set_stock("1", "21").ok()); });
  client().session().set_patient(true);
  EXPECT_EQ(client().set_stock("1", "22").number, row_locked);
  writer.does([](Client& other) { other.session().rollback(); });
  EXPECT_TRUE(client().set_stock("1", "22").ok());
  client().commit();
}

TEST_P(RowLocks, patience_is_over_when_all_of_the_time_is) {
  host().set_lock_timeouts_s(for_ever_s);
  Somebody writer(host().engine(), Intent::write);
  writer.does([](Client& other) { EXPECT_TRUE(other.set_stock("1", "21").ok()); });
  client().session().set_patient(true);
  client().session().note_waited(for_ever_s * 1000);
  EXPECT_EQ(client().set_stock("1", "22").number, row_locked);
}

TEST_P(RowLocks, a_commit_lets_them_go) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  Somebody writer(host().engine(), Intent::write);
  writer.does([](Client& other) {
    EXPECT_TRUE(other.set_stock("1", "22").ok());
    other.commit();
  });
}

TEST_P(RowLocks, a_rollback_lets_them_go) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().session().rollback();
  Somebody writer(host().engine(), Intent::write);
  writer.does([](Client& other) {
    EXPECT_TRUE(other.set_stock("1", "22").ok());
    other.commit();
  });
}

INSTANTIATE_TEST_SUITE_P(, RowLocks, testing::ValuesIn(kinds_with_transactions()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
