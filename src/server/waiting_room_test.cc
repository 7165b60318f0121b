// SPDX-License-Identifier: GPL-2.0-only
//
// Which requests the loop offers to the waiting room, and what its guests are asked for.
#include "server/waiting_room.h"

#include <deque>
#include <memory>
#include <string>

#include "server/test_support.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

constexpr uint64_t timeout_ms = 3000;

struct Somebody final : engine::Identity {
  explicit Somebody(uint64_t number) : account(number) {}
  [[nodiscard]] uint64_t number() const override { return account; }
  [[nodiscard]] std::string account_name() const override { return std::to_string(account); }

  const uint64_t account;
};

TEST(WaitingRoom, has_so_many_places_and_so_many_of_each_account) {
  WaitingRoom room;
  std::deque<std::unique_ptr<ClientConnection>> guests;
  const auto takes_one_of = [&](uint64_t account) {
    ClientConnection& guest = *guests.emplace_back(make_connection({}));
    Authenticate login;
    login.method = Authenticate::Method::account;
    guest.client.account.set_outcome(std::make_shared<Somebody>(account));
    EXPECT_TRUE(guest.client.account.authenticate(login, {}).ok());
    return room.offer(guest);
  };
  for (uint32_t count = 0; count < limits::waiting_room_places_of_account; ++count) {
    EXPECT_TRUE(takes_one_of(engine::first_account));
  }
  EXPECT_FALSE(takes_one_of(engine::first_account));
  for (uint32_t count = limits::waiting_room_places_of_account; count < limits::waiting_room_places;
       ++count) {
    EXPECT_TRUE(takes_one_of(engine::first_account + 1));
  }
  EXPECT_FALSE(takes_one_of(engine::first_account + 2));
}

TEST(WaitingRoom, who_came_first_and_is_run_by_no_thread_leaves_first) {
  WaitingRoom room;
  engine::memory::MemoryEngine engine;
  const auto selections = std::make_shared<engine::OpenedSelections>();
  const auto session = engine.create_session({.intent = engine::Intent::write, .selections = selections});
  std::deque<std::unique_ptr<ClientConnection>> guests;
  for (int count = 0; count < 3; ++count) {
    EXPECT_TRUE(room.offer(*guests.emplace_back(make_connection({}))));
  }
  EXPECT_EQ(room.enter(*session), guests[0].get());
  EXPECT_EQ(room.withdraw(), guests[1].get());
  EXPECT_EQ(room.waiting_count(), 1U);
  EXPECT_EQ(room.enter(*session), guests[2].get());
  EXPECT_EQ(room.withdraw(), nullptr) << "a thread runs those that are left";
}

TEST(WaitingRoom, guests_that_no_thread_runs_yet_make_no_way) {
  WaitingRoom room;
  const auto guest = make_connection({});
  EXPECT_TRUE(room.offer(*guest));
  room.make_way();
  room.stop_those_gone();
  EXPECT_EQ(room.withdraw(), guest.get());
}

class OffersTest : public TurnLoopTest {
 protected:
  OffersTest() {
    engine_.set_lock_wait_timeout_ms(timeout_ms);
    offer_after(limits::waiting_room_after_ms);
  }

  void offer_after(uint32_t milliseconds) {
    turn_.reset();
    loop_.reset();  // it has the poller
    loop_ = std::make_unique<TurnLoop>(TurnLoop::Surroundings{
        .selections = *selections_,
        .inbox = inbox_,
        .poller = poller_,
        .counters = counters_,
        .settings_board = board_,
        .clock = clock_,
        .log = limited_log_,
        .account_loads = account_loads_,
        .role = "write",
        .wait_elsewhere =
            [this](ClientConnection& connection) {
              ++offers_;
              guest_ = has_room_ ? &connection : nullptr;
              return has_room_;
            },
        .waits_elsewhere_after_ms = milliseconds,
    });
    turn_ = std::make_unique<Turn>(
        Turn::Surroundings{*session_, counters_, clock_, &loop_->token(), numbers_}, board_.current());
  }

  /// Its find has waited for a lock for so long that it is taken.
  void let_be_guest(TestClient& client) {
    has_room_ = true;
    engine_.set_busy("shop.item", true);
    EXPECT_EQ(ask(client, find_pen), "");
    pass_ms(limits::waiting_room_after_ms + limits::parked_retry_ms_max);
  }

  bool has_room_ = false;
  int offers_ = 0;
  ClientConnection* guest_ = nullptr;
};

TEST_F(OffersTest, a_request_that_waits_for_a_while_is_offered) {
  TestClient client = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(client, find_pen), "");
  pass_ms(limits::waiting_room_after_ms - 1);
  EXPECT_EQ(offers_, 0);
  pass_ms(limits::parked_retry_ms_max);
  EXPECT_EQ(offers_, 1);
}

TEST_F(OffersTest, in_a_drill_a_request_is_offered_when_it_is_tried_again_first) {
  offer_after(0);
  TestClient client = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(client, find_pen), "");
  EXPECT_EQ(offers_, 0);
  pass_ms(limits::parked_retry_us / 1000 + 1);
  EXPECT_EQ(offers_, 1);
}

TEST_F(OffersTest, a_request_whose_time_is_nearly_over_is_not_offered) {
  TestClient client = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(client, find_pen), "");
  pass_ms(timeout_ms - 999);
  EXPECT_EQ(offers_, 0);
  EXPECT_EQ(client.received(), "") << "it still waits";
}

TEST_F(OffersTest, a_guest_whose_client_is_gone_is_stopped_and_told_again) {
  TestClient client = connect_with_items();
  let_be_guest(client);
  ASSERT_NE(guest_, nullptr);
  WaitingRoom room;
  EXPECT_TRUE(room.offer(*guest_));
  EXPECT_EQ(room.enter(*session_), guest_);
  const auto is_stopped = [&] {
    room.stop_those_gone();
    return session_->was_stopped();
  };
  EXPECT_FALSE(is_stopped());
  client.close();
  session_->work_for(nullptr);
  EXPECT_FALSE(is_stopped()) << "it commits: its request is over";
  session_->work_for(guest_);
  EXPECT_TRUE(is_stopped());
  session_->work_for(guest_);
  EXPECT_TRUE(is_stopped()) << "again, since it may not have begun";
  session_->work_for(guest_);
  room.forget(*session_);
  EXPECT_FALSE(is_stopped());
}

TEST_F(OffersTest, a_thread_that_has_run_a_request_alone_runs_whole_turns_again) {
  TestClient client = connect_with_items();
  let_be_guest(client);
  ASSERT_NE(guest_, nullptr);
  engine_.set_busy("shop.item", false);
  turn_->run_patiently(*guest_, clock_.now_ms());
  loop_->give_back(turn_->members());
  turn();
  EXPECT_EQ(client.received(), pen);
  EXPECT_EQ(ask(client, repeat(find_pen, 5)), repeat(pen, 5));
}

/// However long it has waited.
TEST_F(OffersTest, a_guest_whose_request_is_put_back_is_not_idle) {
  has_room_ = true;
  settings_.idle_timeout_s = 1;
  reconfigure();
  TestClient client = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(client, find_pen), "");
  pass_ms(limits::waiting_room_after_ms + limits::parked_retry_ms_max);
  ASSERT_NE(guest_, nullptr);
  const auto session = engine_.create_session({.selections = selections_, .counters = &counters_});
  Turn alone({*session, counters_, clock_, nullptr, numbers_}, board_.current());
  clock_.advance_ms(1'500);
  alone.run_patiently(*guest_, clock_.now_ms());
  EXPECT_EQ(engine_.patient_sessions(), 0U) << "the thread may run the loop next";
  loop_->give_back(alone.members());
  turn();
  EXPECT_FALSE(client.sees_end());
  has_room_ = false;
  engine_.set_busy("shop.item", false);
  pass_ms(limits::parked_retry_ms_max + 1'000 / limits::parked_retry_share);
  EXPECT_EQ(client.received(), pen);
}

}  // namespace
}  // namespace rowsocket::server
