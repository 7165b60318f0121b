// SPDX-License-Identifier: GPL-2.0-only
//
// What somebody outside wants of a session, and what they see of it: Interruption, wake, set_activity,
// Engine::interrupt_sessions.
#include <atomic>
#include <chrono>
#include <future>

#include "engine/conformance/contract.h"

namespace rowsocket::engine::conformance {
namespace {

class Interrupting : public Contract {};

TEST_P(Interrupting, a_session_begins_undisturbed) {
  EXPECT_EQ(client().session().interruption(), Interruption::none);
  EXPECT_EQ(client().wakes(), 0);
}

TEST_P(Interrupting, kill_wakes_the_session_and_asks_to_close_connections) {
  client();
  host().kill_sessions();
  EXPECT_GE(client().wakes(), 1);
  EXPECT_EQ(client().session().interruption(), Interruption::close_connections);
}

TEST_P(Interrupting, a_session_that_closed_its_connections_is_usable_again) {
  EXPECT_EQ(client().stock("1"), "20");
  client().commit();
  host().kill_sessions();
  client().session().clear_interruption();
  EXPECT_EQ(client().session().interruption(), Interruption::none);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  client().commit();
  EXPECT_EQ(rows(), "1 cap 21, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(Interrupting, a_time_out_that_comes_late_ends_no_later_request) {
  Selection& index = client().open();
  client().sleep();  // its table is to be opened again
  host().time_out_late();
  EXPECT_EQ(client().tries(index, Intent::write), Begin::ready);
  host().time_out_late();
  EXPECT_EQ(client().stock("1"), "20") << "in the same turn";
  client().commit();
}

TEST_P(Interrupting, an_uncommitted_transaction_of_a_killed_session_can_be_rolled_back) {
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  host().kill_sessions();
  client().session().rollback();
  client().session().clear_interruption();
  EXPECT_TRUE(client().set_stock("2", "11").ok());
  client().commit();
  EXPECT_THAT(rows(), testing::EndsWith(" 2 pen 11, 3 cup 20, 4 box NULL"));
}

TEST_P(Interrupting, the_host_shows_what_a_session_does) {
  std::string activity = "serving 3 connections";
  client().session().set_activity(activity);
  activity = "overwritten afterwards";
  EXPECT_THAT(host().activities(), testing::ElementsAre("serving 3 connections"));
  client().session().set_activity("idle");
  EXPECT_THAT(host().activities(), testing::ElementsAre("idle"));
}

TEST_P(Interrupting, sessions_that_are_told_to_stop_say_so) {
  client();
  host().engine().interrupt_sessions();
  EXPECT_GE(client().wakes(), 1);
  EXPECT_EQ(client().session().interruption(), Interruption::stop);
  client().session().clear_interruption();
  EXPECT_EQ(client().session().interruption(), Interruption::stop);
}

TEST_P(Interrupting, an_engine_that_stops_creates_no_sessions) {
  client();
  host().engine().interrupt_sessions();
  EXPECT_FALSE(Client(host().engine(), Intent::read).has_session());
}

TEST_P(Interrupting, one_that_waits_for_a_table_fails_when_it_is_told_to_stop) {
  host().set_lock_timeouts_s(100'000);
  host().hold_table("d.item");
  {
    Somebody writer(host().engine(), Intent::write);
    std::future<void> done = writer.begins([](Client& other) {
      other.session().set_patient(true);
      std::shared_ptr<Selection> index;
      Error error;
      EXPECT_EQ(other.session().open_selection(item(), index, error), Begin::failed);
    });
    host().await_patient_wait();
    host().engine().interrupt_sessions();
    done.get();
  }
  host().let_go();
}

TEST_P(Interrupting, one_that_waits_for_a_table_fails_when_its_request_is_stopped) {
  host().set_lock_timeouts_s(100'000);
  host().hold_table("d.item");
  Somebody writer(host().engine(), Intent::write);
  std::atomic<Session*> waiting{nullptr};
  std::future<void> done = writer.begins([&waiting](Client& other) {
    other.session().set_patient(true);
    waiting = &other.session();
    std::shared_ptr<Selection> index;
    Error error;
    EXPECT_EQ(other.session().open_selection(item(), index, error), Begin::failed);
  });
  host().await_patient_wait();
  do {  // it may be about to wait, and not hear of it
    waiting.load()->stop(waiting.load()->work());
  } while (done.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready);
  done.get();
  host().let_go();
}

INSTANTIATE_TEST_SUITE_P(, Interrupting, testing::ValuesIn(every_kind()), name_of_kind);

class InterruptingRowWaits : public Contract {};

TEST_P(InterruptingRowWaits, one_that_waits_for_a_row_fails_when_it_is_told_to_stop) {
  host().set_lock_timeouts_s(100'000);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  Somebody writer(host().engine(), Intent::write);
  std::future<void> done = writer.begins([](Client& other) {
    other.session().set_patient(true);
    EXPECT_FALSE(other.set_stock("1", "22").ok());
    other.session().rollback();
  });
  host().await_patient_wait();
  host().engine().interrupt_sessions();
  done.get();
  client().session().rollback();
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 10, 3 cup 20, 4 box NULL");
}

TEST_P(InterruptingRowWaits, a_request_that_is_stopped_while_it_waits_fails_and_the_next_one_does_not) {
  host().set_lock_timeouts_s(100'000);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  Somebody writer(host().engine(), Intent::write);
  std::atomic<Session*> waiting{nullptr};
  std::promise<void> is_free;
  std::future<void> done = writer.begins([&](Client& other) {
    other.session().set_patient(true);
    waiting = &other.session();
    EXPECT_FALSE(other.set_stock("1", "22").ok());
    other.session().rollback();
    is_free.get_future().wait();
    EXPECT_TRUE(other.set_stock("2", "11").ok());
    other.commit();
  });
  host().await_patient_wait();
  waiting.load()->stop(waiting.load()->work());
  client().session().rollback();
  is_free.set_value();
  done.get();
  EXPECT_EQ(rows(), "1 cap 20, 2 pen 11, 3 cup 20, 4 box NULL");
}

TEST_P(InterruptingRowWaits, a_stop_of_what_the_session_did_before_ends_nothing_and_a_later_one_does) {
  host().set_lock_timeouts_s(100'000);
  EXPECT_TRUE(client().set_stock("1", "21").ok());
  Somebody writer(host().engine(), Intent::write);
  std::atomic<Session*> waiting{nullptr};
  Work before;
  std::promise<void> has_committed;
  std::promise<void> is_taken_again;
  std::future<void> done = writer.begins([&](Client& other) {
    other.session().set_patient(true);
    before = other.session().work();
    other.session().work_for(nullptr);
    waiting = &other.session();
    EXPECT_TRUE(other.set_stock("1", "22").ok());
    other.commit();
    other.session().work_for_request();
    has_committed.set_value();
    is_taken_again.get_future().wait();
    EXPECT_FALSE(other.set_stock("1", "23").ok());
    other.session().rollback();
  });
  host().await_patient_wait();
  waiting.load()->stop(before);
  client().session().rollback();
  has_committed.get_future().wait();
  EXPECT_TRUE(client().set_stock("1", "24").ok());
  is_taken_again.set_value();
  do {  // it may be about to wait, and not hear of it
    waiting.load()->stop(waiting.load()->work());
  } while (done.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready);
  done.get();
  client().commit();
  EXPECT_EQ(rows(), "1 cap 24, 2 pen 10, 3 cup 20, 4 box NULL");
}

INSTANTIATE_TEST_SUITE_P(, InterruptingRowWaits, testing::ValuesIn(kinds_with_transactions()), name_of_kind);

}  // namespace
}  // namespace rowsocket::engine::conformance
