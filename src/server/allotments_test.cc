// SPDX-License-Identifier: GPL-2.0-only
//
// The places of an account's requests in one worker, where another worker gives some back at any moment.
// What clients see of them is in account_limits_test.cc.
#include "server/allotments.h"

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <vector>

#include "server/test_support.h"

namespace rowsocket::server {
namespace {

using testing::ElementsAre;

class AllotmentsTest : public testing::Test {
 protected:
  AllotmentsTest() { limit_to(1); }
  ~AllotmentsTest() override {
    while (!connections_.empty()) {
      remove(*connections_.back());
    }
  }
  void limit_to(uint32_t requests) {
    settings_.account_requests_max = requests;
    static_cast<void>(allotments_.use_settings(settings_));
  }
  /// A connection of the anonymous account.
  ClientConnection& connect() {
    ClientConnection& connection = *connections_.emplace_back(make_connection(settings_));
    allotments_.place(connection);
    EXPECT_TRUE(connection.membership.allotment->let_in(connection, 0));
    return connection;
  }
  void remove(ClientConnection& connection) {
    allotments_.close(connection);
    allotments_.remove(connection);
    std::erase_if(connections_, [&connection](const auto& one) { return one.get() == &connection; });
  }
  bool asks(ClientConnection& connection) const {
    return connection.membership.allotment->has_place(connection, settings_.account_requests_max);
  }
  /// It has asked, and there was no place.
  void hold_back(ClientConnection& connection) {
    EXPECT_FALSE(asks(connection));
    connection.state = ClientConnection::State::held_back;
    allotments_.end_turn_of(connection);
    allotments_.hold_back(connection);
  }
  std::vector<ClientConnection*> go_on() {
    std::vector<ClientConnection*> found;
    allotments_.take_waiting([&found](ClientConnection& connection) { found.push_back(&connection); });
    return found;
  }

  Settings settings_;
  Counters counters_;
  AccountLoads loads_;
  Inbox inbox_;
  Inbox other_worker_;
  std::shared_ptr<AccountLoad> load_ = loads_.of("");
  Allotments allotments_{loads_, inbox_, counters_};
  std::vector<std::unique_ptr<ClientConnection>> connections_;
};

TEST_F(AllotmentsTest, who_waits_comes_before_who_asks_when_a_place_is_free) {
  ClientConnection& first = connect();
  ClientConnection& later = connect();
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
  hold_back(first);
  allotments_.end_turn();
  load_->give_back_requests(1);  // in the middle of a turn
  hold_back(later);
  allotments_.end_turn();
  EXPECT_TRUE(allotments_.some_may_go_on());
  EXPECT_THAT(go_on(), ElementsAre(&first));
}

TEST_F(AllotmentsTest, who_waits_no_more_is_in_no_other_workers_way) {
  ClientConnection& gone = connect();
  connect();
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
  hold_back(gone);
  allotments_.end_turn();
  remove(gone);
  allotments_.end_turn();
  load_->give_back_requests(1);
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
}

TEST_F(AllotmentsTest, the_last_connection_of_an_account_that_waits_leaves_nobody_waiting) {
  ClientConnection& gone = connect();
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
  hold_back(gone);
  allotments_.end_turn();
  remove(gone);
  load_->give_back_requests(1);
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
}

TEST_F(AllotmentsTest, who_goes_from_the_end_of_the_line_leaves_those_before_it_there) {
  ClientConnection& first = connect();
  ClientConnection& second = connect();
  ClientConnection& last = connect();
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
  for (ClientConnection* connection : {&first, &second, &last}) {
    hold_back(*connection);
  }
  remove(last);
  limit_to(0);
  EXPECT_TRUE(allotments_.some_may_go_on()) << "at once";
  EXPECT_THAT(go_on(), ElementsAre(&first, &second));
}

TEST_F(AllotmentsTest, those_who_wait_are_looked_at_one_after_the_other) {
  ClientConnection& first = connect();
  ClientConnection& second = connect();
  ClientConnection& last = connect();
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
  for (ClientConnection* connection : {&first, &second, &last}) {
    hold_back(*connection);
  }
  std::vector<ClientConnection*> seen;
  const auto look = [&] { allotments_.look_at_waiting(1, [&](auto& one) { seen.push_back(&one); }); };
  look();
  remove(last);
  look();
  look();
  EXPECT_THAT(seen, ElementsAre(&first, &second, &first));
}

TEST_F(AllotmentsTest, an_account_that_is_idle_again_and_again_is_looked_at_once) {
  ClientConnection& connection = connect();
  for (int turns = 0; turns < 3; ++turns) {
    EXPECT_TRUE(asks(connection));
    allotments_.end_turn_of(connection);
    allotments_.end_turn();
    EXPECT_EQ(load_->request_count(), 0U) << "what is answered is the other workers'";
    connection.membership.asked_count = 0;  // the next turn has asked nothing yet
  }
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
  hold_back(connection);
  int looks = 0;
  allotments_.look_at_waiting(1, [&looks](ClientConnection&) { ++looks; });
  EXPECT_EQ(looks, 1);
}

TEST_F(AllotmentsTest, who_waits_for_a_lock_keeps_its_place_unless_it_does_not_read_its_replies) {
  ClientConnection& parked = connect();
  ClientConnection& other = connect();
  EXPECT_TRUE(asks(parked));
  parked.state = ClientConnection::State::parked;
  allotments_.end_turn_of(parked);
  EXPECT_FALSE(asks(other));
  parked.stream.output().append("a reply that is not read");
  allotments_.end_turn_of(parked);
  EXPECT_TRUE(asks(other));
}

TEST_F(AllotmentsTest, who_holds_too_much_and_is_away_is_not_closed) {
  settings_.account_bytes_max = 100;
  static_cast<void>(allotments_.use_settings(settings_));
  ClientConnection& away = connect();
  ClientConnection& here = connect();
  allotments_.rank(away, 1000);
  allotments_.rank(here, 500);
  away.is_away = true;
  EXPECT_EQ(allotments_.holder_of_too_much(), &here);
}

TEST_F(AllotmentsTest, what_a_connection_holds_goes_with_it_to_another_account) {
  settings_.account_bytes_max = 100;
  static_cast<void>(allotments_.use_settings(settings_));
  ClientConnection& connection = connect();
  allotments_.rank(connection, 80);
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  settings_.anonymous_account = "app@localhost";
  EXPECT_TRUE(allotments_.use_settings(settings_));
  allotments_.follow_account(connection);
  EXPECT_TRUE(connection.membership.allotment->let_in(connection, 0));
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  EXPECT_TRUE(loads_.of("app@localhost")->holds_more_than(79));
  EXPECT_FALSE(load_->holds_more_than(0));
}

TEST_F(AllotmentsTest, what_a_connection_holds_that_is_passed_over_counts_in_no_worker) {
  settings_.account_bytes_max = 100;
  static_cast<void>(allotments_.use_settings(settings_));
  ClientConnection& away = connect();
  allotments_.rank(away, 80);
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  EXPECT_TRUE(load_->holds_more_than(79));
  allotments_.pass_over(away);
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  EXPECT_FALSE(load_->holds_more_than(0));
}

TEST_F(AllotmentsTest, where_who_holds_most_is_passed_over_it_is_one_of_another_account) {
  ClientConnection& away = connect();
  ClientConnection& outsider = *connections_.emplace_back(make_connection(settings_));
  allotments_.place(outsider);
  allotments_.rank(away, 80);
  allotments_.rank(outsider, 50);
  EXPECT_EQ(allotments_.largest_holder(), &away);
  allotments_.pass_over(away);
  EXPECT_EQ(allotments_.largest_holder(), &outsider);
}

TEST_F(AllotmentsTest, an_account_that_the_last_connection_has_left_is_forgotten) {
  ClientConnection& connection = connect();
  settings_.anonymous_account = "app@localhost";
  EXPECT_TRUE(allotments_.use_settings(settings_));
  allotments_.follow_account(connection);
  EXPECT_EQ(load_.use_count(), 1) << "the test's own";
}

/// Another worker, whose connection that holds most holds so much.
class TwoWorkersTest : public AllotmentsTest {
 protected:
  TwoWorkersTest() {
    settings_.account_bytes_max = 100;
    static_cast<void>(allotments_.use_settings(settings_));
    load_->add_part(other_);
  }
  ~TwoWorkersTest() override {
    load_->add_bytes(0, other_.largest_bytes);
    load_->remove_part(other_);
  }
  void other_holds(size_t bytes) {
    other_.largest_bytes = bytes;
    load_->add_bytes(bytes, 0);
  }

  std::atomic<bool> some_must_ = false;
  AccountLoad::Part other_{other_worker_, some_must_};
};

TEST_F(TwoWorkersTest, where_another_worker_has_who_holds_most_it_is_closed_there) {
  allotments_.rank(connect(), 80);
  other_holds(90);
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  EXPECT_TRUE(other_.must_close);
}

TEST_F(TwoWorkersTest, who_held_most_and_holds_less_now_is_not_taken_for_it) {
  ClientConnection& connection = connect();
  allotments_.rank(connection, 80);
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  allotments_.rank(connection, 40);
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  other_holds(50);
  EXPECT_TRUE(load_->has_largest(other_));
}

TEST_F(AllotmentsTest, who_holds_most_is_closed_when_another_worker_says_so) {
  settings_.account_bytes_max = 100;
  static_cast<void>(allotments_.use_settings(settings_));
  ClientConnection& largest = connect();
  allotments_.rank(largest, 80);
  EXPECT_EQ(allotments_.holder_of_too_much(), nullptr);
  std::atomic<bool> other_must = false;
  AccountLoad::Part other(other_worker_, other_must);
  load_->add_part(other);
  other.largest_bytes = 50;
  load_->add_bytes(50, 0);
  EXPECT_FALSE(load_->has_largest(other));
  EXPECT_EQ(allotments_.holder_of_too_much(), &largest);
  load_->add_bytes(0, 50);
  load_->remove_part(other);
}

TEST_F(AllotmentsTest, the_last_connection_of_an_account_leaves_nothing_of_it_taken) {
  ClientConnection& last = connect();
  EXPECT_TRUE(asks(last));
  EXPECT_EQ(load_->request_count(), 1U);
  remove(last);
  EXPECT_EQ(load_->request_count(), 0U);
}

}  // namespace
}  // namespace rowsocket::server
