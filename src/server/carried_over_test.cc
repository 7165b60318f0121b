// SPDX-License-Identifier: GPL-2.0-only
#include "server/carried_over.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

#include "server/test_support.h"

namespace rowsocket::server {
namespace {

using State = ClientConnection::State;

class CarriedOverTest : public testing::Test {
 protected:
  ClientConnection& make(State state, uint64_t retry_at_ms = 0) {
    const uint64_t number = connections_.size() + 1;
    Arrival arrival{std::make_unique<net::PlainTransport>(net::Descriptor()),
                    {"test"},
                    number,
                    exec::Access::write,
                    &wire::handlersocket::handlersocket_protocol()};
    ClientConnection& made = *connections_.emplace_back(std::make_unique<ClientConnection>(
        std::move(arrival), exec::Account(exec::Access::write, Settings()), 0));
    made.state = state;
    made.retry_at_ms = retry_at_ms;
    carried_over_.add(made);
    return made;
  }
  /// Of those that were cut, `cut_max` go on.
  std::string ready(size_t cut_max = SIZE_MAX) {
    std::string numbers;
    carried_over_.take_ready([&](const ClientConnection& one) { numbers += std::to_string(one.number); },
                             [&](const ClientConnection&) {
                               const bool may_go_on = cut_max > 0;
                               cut_max -= may_go_on ? 1 : 0;
                               return may_go_on;
                             });
    return numbers;
  }
  std::string due(uint64_t now_ms) {
    std::string numbers;
    carried_over_.take_due(now_ms,
                           [&](const ClientConnection& one) { numbers += std::to_string(one.number); });
    return numbers;
  }

  std::deque<std::unique_ptr<ClientConnection>> connections_;
  CarriedOver carried_over_;
};

TEST_F(CarriedOverTest, those_that_were_not_reached_or_cut_go_on_once_in_the_next_turn) {
  EXPECT_FALSE(carried_over_.some_go_on());
  make(State::cut);
  EXPECT_TRUE(carried_over_.some_go_on());
  make(State::unreached);
  EXPECT_EQ(ready(), "21");
  EXPECT_FALSE(carried_over_.some_go_on());
  EXPECT_EQ(ready(), "");
  make(State::unreached);
  EXPECT_TRUE(carried_over_.some_go_on());
}

TEST_F(CarriedOverTest, those_that_were_cut_and_may_not_go_on_yet_come_before_those_that_are_cut_later) {
  for (int count = 0; count < 3; ++count) {
    make(State::cut);
  }
  make(State::unreached);
  EXPECT_EQ(ready(1), "41");
  make(State::cut);
  EXPECT_TRUE(carried_over_.some_go_on());
  EXPECT_EQ(ready(2), "23");
  EXPECT_EQ(ready(), "5");
  EXPECT_FALSE(carried_over_.some_go_on());
}

TEST_F(CarriedOverTest, those_that_wait_are_tried_once_in_the_order_in_which_they_are_due) {
  EXPECT_EQ(carried_over_.due_ms(), UINT64_MAX);
  make(State::parked, 30);
  make(State::resting, 10);
  make(State::parked, 20);
  make(State::parked, 10);
  EXPECT_FALSE(carried_over_.some_go_on());
  EXPECT_EQ(carried_over_.due_ms(), 10U);
  EXPECT_EQ(due(9), "");
  EXPECT_EQ(due(20), "243");
  EXPECT_EQ(carried_over_.due_ms(), 30U);
  EXPECT_EQ(due(30), "1");
  EXPECT_EQ(carried_over_.due_ms(), UINT64_MAX);
}

TEST_F(CarriedOverTest, those_that_were_closed_are_forgotten_and_no_others) {
  ClientConnection& cut = make(State::cut);
  make(State::unreached);
  ClientConnection& parked = make(State::parked, 5);
  make(State::parked, 6);
  cut.state = parked.state = State::closed;
  carried_over_.forget_closed();
  EXPECT_EQ(carried_over_.due_ms(), 6U);
  EXPECT_EQ(ready(), "2");
}

TEST_F(CarriedOverTest, one_that_moves_is_forgotten_whichever_it_is) {
  ClientConnection& cut = make(State::cut);
  ClientConnection& unreached = make(State::unreached);
  make(State::cut);
  carried_over_.forget(cut);
  carried_over_.forget(unreached);
  EXPECT_EQ(ready(), "3");
}

}  // namespace
}  // namespace rowsocket::server
