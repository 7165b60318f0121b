// SPDX-License-Identifier: GPL-2.0-only
//
// When connections are spread over more workers, and what moves with one of them. Two workers' loops take
// turns on the test's own thread; see the end of the file for real threads.
#include "server/spread.h"

#include <gtest/gtest.h>

#include "server/server_fixture.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

class WishTest : public testing::Test {
 protected:
  WishTest() { EXPECT_EQ(look_after(limits::spread_look_ms), Spread::Wish::stay); }

  Spread::Wish look_after(uint32_t passed_ms, uint32_t waits_per_s = 0) {
    for (uint32_t waits = waits_per_s * passed_ms / 1000; waits > 0; --waits) {
      spread_.note_disk_wait();
    }
    now_ms_ += passed_ms;
    return spread_.look(now_ms_);
  }
  /// The last of so many looks, one after the other.
  Spread::Wish look_often(uint32_t looks, uint32_t waits_per_s) {
    Spread::Wish wish = Spread::Wish::stay;
    for (; looks > 0; --looks) {
      EXPECT_EQ(wish, Spread::Wish::stay);
      wish = look_after(limits::spread_look_ms, waits_per_s);
    }
    return wish;
  }
  void widen() {
    EXPECT_EQ(look_often(limits::spread_cold_looks, limits::spread_waits_per_s), Spread::Wish::widen);
    spread_.set(8, now_ms_);
  }
  /// To the end of a trial in which so many pages are read.
  Spread::Wish try_with(uint32_t waits_per_s) {
    EXPECT_EQ(look_after(limits::spread_settle_ms - 1), Spread::Wish::stay);
    EXPECT_EQ(look_after(limits::spread_trial_ms / 2, waits_per_s), Spread::Wish::stay);
    return look_after(limits::spread_trial_ms / 2 + 1, waits_per_s);
  }

  Spread spread_{2};
  uint64_t now_ms_ = 1'000;
};

TEST_F(WishTest, a_spread_becomes_wide_where_the_disk_is_waited_for_all_the_time) {
  EXPECT_EQ(look_often(limits::spread_cold_looks, limits::spread_waits_per_s), Spread::Wish::widen);
}

TEST_F(WishTest, seldom_waits_change_nothing) {
  EXPECT_EQ(look_often(10 * limits::spread_cold_looks, limits::spread_waits_per_s / 2), Spread::Wish::stay);
}

TEST_F(WishTest, a_burst_of_waits_changes_nothing) {
  EXPECT_EQ(look_often(limits::spread_cold_looks - 1, limits::spread_waits_per_s), Spread::Wish::stay);
  EXPECT_EQ(look_often(1, 0), Spread::Wish::stay);
  EXPECT_EQ(look_often(limits::spread_cold_looks - 1, limits::spread_waits_per_s), Spread::Wish::stay);
}

TEST_F(WishTest, between_two_looks_nothing_is_decided) {
  EXPECT_EQ(look_after(limits::spread_look_ms - 1, 1000 * limits::spread_waits_per_s), Spread::Wish::stay);
}

TEST_F(WishTest, it_is_said_again_until_it_is_done) {
  EXPECT_EQ(look_often(limits::spread_cold_looks, limits::spread_waits_per_s), Spread::Wish::widen);
  EXPECT_EQ(look_after(limits::spread_look_ms, limits::spread_waits_per_s), Spread::Wish::widen);
}

TEST_F(WishTest, a_wide_spread_stays_where_more_pages_are_read_with_it) {
  widen();
  EXPECT_EQ(try_with(2 * limits::spread_waits_per_s), Spread::Wish::stay);
  EXPECT_EQ(look_after(limits::spread_look_ms, limits::spread_waits_per_s), Spread::Wish::stay);
}

TEST_F(WishTest, where_no_more_pages_are_read_it_is_not_tried_again_for_ever_longer) {
  uint32_t pause_ms = limits::spread_pause_ms;
  for (int trial = 0; trial < 3; ++trial) {
    widen();
    EXPECT_EQ(try_with(limits::spread_waits_per_s), Spread::Wish::narrow);
    spread_.set(2, now_ms_);
    const uint32_t last_looks_ms = (limits::spread_cold_looks + 1) * limits::spread_look_ms;
    EXPECT_EQ(look_after(pause_ms - last_looks_ms), Spread::Wish::stay);
    EXPECT_EQ(look_often(limits::spread_cold_looks, limits::spread_waits_per_s), Spread::Wish::stay);
    EXPECT_EQ(look_after(limits::spread_look_ms), Spread::Wish::stay);
    pause_ms *= 2;
  }
}

TEST_F(WishTest, a_load_that_ends_while_it_is_tried_proves_nothing) {
  widen();
  EXPECT_EQ(try_with(0), Spread::Wish::narrow);
  spread_.set(2, now_ms_);
  widen();
}

TEST_F(WishTest, a_wide_spread_becomes_narrow_when_the_waits_are_over_for_long) {
  widen();
  EXPECT_EQ(try_with(2 * limits::spread_waits_per_s), Spread::Wish::stay);
  EXPECT_EQ(look_after(limits::spread_rest_ms - 1), Spread::Wish::stay);
  EXPECT_EQ(look_after(limits::spread_look_ms), Spread::Wish::narrow);
}

TEST_F(WishTest, a_wide_spread_stays_while_some_waits_go_on) {
  widen();
  EXPECT_EQ(try_with(2 * limits::spread_waits_per_s), Spread::Wish::stay);
  EXPECT_EQ(look_after(limits::spread_rest_ms - 1), Spread::Wish::stay);
  EXPECT_EQ(look_after(limits::spread_look_ms, limits::spread_waits_per_s / 4 + 20), Spread::Wish::stay);
  EXPECT_EQ(look_after(limits::spread_rest_ms - 1), Spread::Wish::stay);
}

TEST_F(WishTest, a_trial_that_was_worth_it_makes_the_next_one_come_as_soon_as_the_first) {
  widen();
  EXPECT_EQ(try_with(limits::spread_waits_per_s), Spread::Wish::narrow);
  spread_.set(2, now_ms_);
  look_after(2 * limits::spread_pause_ms);
  widen();
  EXPECT_EQ(try_with(2 * limits::spread_waits_per_s), Spread::Wish::stay);
  spread_.set(2, now_ms_);
  widen();
  EXPECT_EQ(try_with(limits::spread_waits_per_s), Spread::Wish::narrow);
  spread_.set(2, now_ms_);
  look_after(limits::spread_pause_ms);
  widen();
}

TEST(Spread, a_connection_moves_to_the_worker_with_the_fewest_where_its_own_has_too_many) {
  std::array<Inbox, 3> inboxes;
  Spread spread(1);
  for (Inbox& inbox : inboxes) {
    spread.add(inbox);
  }
  const auto add = [&inboxes](size_t worker, int count) {
    for (; count > 0; --count) {
      std::unique_ptr<ClientConnection> connection = make_connection(Settings());
      EXPECT_TRUE(inboxes[worker].offer_moved(connection));
    }
  };
  add(0, 3);
  add(1, 1);
  EXPECT_EQ(spread.elsewhere(0), nullptr) << "while it is narrow";
  EXPECT_EQ(spread.elsewhere(2), &inboxes[0]) << "one that does not serve gives them away";
  spread.set(3, 0);
  EXPECT_EQ(spread.elsewhere(0), &inboxes[2]);
  EXPECT_EQ(spread.elsewhere(1), nullptr);
  add(2, 2);
  EXPECT_EQ(spread.elsewhere(0), &inboxes[1]);
  inboxes[1].close();
  EXPECT_EQ(spread.elsewhere(0), nullptr) << "one more is not too many";
}

// ---- two loops

/// A poller that can be told to take nobody new, as where the system has no room for another watch.
class LimitedPoller final : public net::Poller {
 public:
  [[nodiscard]] bool change(int fd, net::Interest current, net::Interest wanted, void* tag) override {
    const bool is_new = current == net::Interest::none && wanted != net::Interest::none;
    return !(is_full && is_new) && poller_.change(fd, current, wanted, tag);
  }
  [[nodiscard]] std::span<const Event> wait(int timeout_ms) override { return poller_.wait(timeout_ms); }

  bool is_full = false;

 private:
  net::Epoll poller_;
};

/// The other worker of the same role, beside the fixture's own, which is the spread's first.
class MovesTest : public TurnLoopTest {
 protected:
  MovesTest() {
    spread_.add(inbox_);
    spread_.add(other_inbox_);
    turn_.reset();
    loop_.reset();  // it has the poller
    loop_ = make_loop(*selections_, inbox_, poller_, 0);
    turn_ = make_turn(*session_, *loop_);
    other_session_ =
        engine_.create_session({.intent = engine::Intent::write, .selections = other_selections_});
    other_loop_ = make_loop(*other_selections_, other_inbox_, other_poller_, 1);
    other_turn_ = make_turn(*other_session_, *other_loop_);
  }

  std::unique_ptr<TurnLoop> make_loop(engine::OpenedSelections& selections, Inbox& inbox, net::Poller& poller,
                                      uint32_t number) {
    return std::make_unique<TurnLoop>(TurnLoop::Surroundings{.selections = selections,
                                                             .inbox = inbox,
                                                             .poller = poller,
                                                             .counters = counters_,
                                                             .settings_board = board_,
                                                             .clock = clock_,
                                                             .log = limited_log_,
                                                             .account_loads = account_loads_,
                                                             .role = "write",
                                                             .spread = &spread_,
                                                             .worker_number = number});
  }
  std::unique_ptr<Turn> make_turn(engine::Session& session, TurnLoop& loop) {
    return std::make_unique<Turn>(Turn::Surroundings{session, counters_, clock_, &loop.token(), numbers_},
                                  board_.current());
  }
  void turn_other() {
    other_inbox_.wake();
    EXPECT_EQ(other_loop_->run(*other_turn_), TurnLoop::Ended::well);
  }
  void turn_both() {
    turn();
    turn_other();
  }
  /// From one worker to two; back with 1.
  void spread_over(uint32_t worker_count) {
    spread_.set(worker_count, clock_.now_ms());
    turn_other();
    turn_both();
  }
  /// So many connections of each worker.
  [[nodiscard]] std::pair<size_t, size_t> shares() const {
    EXPECT_EQ(inbox_.connection_count(), loop_->connections().size());
    EXPECT_EQ(other_inbox_.connection_count(), other_loop_->connections().size());
    return {loop_->connections().size(), other_loop_->connections().size()};
  }
  using Shares = std::pair<size_t, size_t>;

  Spread spread_{1};
  Inbox other_inbox_;
  LimitedPoller other_poller_;
  std::shared_ptr<engine::OpenedSelections> other_selections_ = std::make_shared<engine::OpenedSelections>();
  std::unique_ptr<engine::Session> other_session_;
  std::unique_ptr<TurnLoop> other_loop_;
  std::unique_ptr<Turn> other_turn_;
};

TEST_F(MovesTest, a_connection_goes_on_where_it_moved_with_what_it_opened) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  spread_over(2);
  EXPECT_EQ(shares(), Shares(1, 1));
  EXPECT_EQ(count(Counter::connections_moved), 1u);
  one.send(find_pen);
  other.send(std::string(find_ink).append("0\t=\t1\t1\t1\t0\tC\tname\n"));
  turn_both();
  EXPECT_EQ(one.received(), pen);
  EXPECT_EQ(other.received(), std::string(ink).append("0\t1\tpen\n"));
}

TEST_F(MovesTest, many_connections_move_a_few_in_a_turn) {
  const size_t count = 4 * limits::moves_per_turn;
  std::vector<TestClient> clients;
  while (clients.size() < count) {
    clients.push_back(connect());
  }
  spread_.set(2, clock_.now_ms());
  turn_both();
  EXPECT_EQ(shares(), Shares(count - limits::moves_per_turn, limits::moves_per_turn));
  turn_both();
  EXPECT_EQ(shares(), Shares(count / 2, count / 2));
}

TEST_F(MovesTest, connections_come_back_when_the_spread_is_narrow) {
  std::vector<TestClient> clients;
  for (int number = 0; number < 5; ++number) {
    clients.push_back(connect_with_items());
  }
  spread_over(2);
  EXPECT_EQ(shares(), Shares(3, 2));
  spread_over(1);
  EXPECT_EQ(shares(), Shares(5, 0));
  for (TestClient& client : clients) {
    EXPECT_EQ(ask(client, find_pen), pen);
  }
}

TEST_F(MovesTest, half_a_request_moves_with_its_connection) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  send_without_end(first, find_pen);
  send_without_end(second, find_ink);
  spread_over(2);
  EXPECT_EQ(shares(), Shares(1, 1));
  first.send("\n");
  second.send("\n");
  turn_both();
  EXPECT_EQ(first.received(), pen);
  EXPECT_EQ(second.received(), ink);
}

TEST_F(MovesTest, requests_that_found_no_room_in_a_turn_move_with_their_connection) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  const size_t count = 3 * limits::requests_beside_others_min;
  spread_.set(2, clock_.now_ms());
  turn_other();
  first.send(repeat(find_pen, count));
  second.send(repeat(find_ink, count));
  turn_both();
  EXPECT_EQ(shares(), Shares(1, 1));
  for (int turns = 0; turns < 8; ++turns) {
    turn_both();
  }
  EXPECT_EQ(first.received(), repeat(pen, count));
  EXPECT_EQ(second.received(), repeat(ink, count));
}

TEST_F(MovesTest, what_a_connection_has_asked_that_moved_is_its_new_worker_s) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  const size_t count = 8 * limits::requests_beside_others_min;
  first.send(repeat(find_pen, count));
  second.send(repeat(find_ink, count));
  turn();  // each has had its share, and has asked more
  spread_.set(2, clock_.now_ms());
  turn_other();
  turn();
  EXPECT_EQ(loop_->connections().size(), 1U);
  const std::string begun = second.received();
  turn(4);
  EXPECT_EQ(second.received(), "");
  for (int turns = 0; turns < 20; ++turns) {
    turn_other();
  }
  EXPECT_EQ(begun + second.received(), repeat(ink, count));
}

TEST_F(MovesTest, one_that_is_idle_where_it_moved_is_closed_there) {
  settings_.idle_timeout_s = 1;
  reconfigure();
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  turn_other();
  spread_over(2);
  EXPECT_EQ(shares(), Shares(1, 1));
  clock_.advance_ms(1'000);
  turn_both();
  EXPECT_EQ(shares(), Shares(0, 0));
}

TEST_F(MovesTest, a_large_sender_stays) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  for (TestClient* client : {&first, &second}) {
    send_without_end(*client, "0\t+\t2\t10\t" + std::string(2 * limits::large_request_bytes, 'x') + "\n");
  }
  spread_over(2);
  EXPECT_EQ(shares(), Shares(2, 0));
}

TEST_F(MovesTest, one_that_holds_much_stays) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  for (TestClient* client : {&first, &second}) {
    for (int id = 1; id < 400; ++id) {
      const std::string columns = "id" + repeat(",id", 100 + static_cast<size_t>(id));
      ask(*client, "P\t" + std::to_string(id) + "\tshop\titem\t\t" + columns + "\n");
    }
  }
  spread_over(2);
  EXPECT_EQ(shares(), Shares(2, 0));
}

TEST_F(MovesTest, what_it_holds_counts_where_it_moved) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  spread_over(2);
  EXPECT_EQ(shares(), Shares(1, 1));
  EXPECT_GT(other_loop_->connections().all()[0]->shown.held_bytes.read(), 0U);
}

TEST_F(MovesTest, one_that_waits_for_a_lock_stays_until_it_is_answered) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  engine_.set_busy("shop.item", true);
  first.send(find_pen);
  second.send(find_pen);
  turn();
  spread_over(2);
  EXPECT_EQ(shares(), Shares(2, 0));
  engine_.set_busy("shop.item", false);
  clock_.advance_ms(1'000);
  turn_both();
  EXPECT_EQ(first.received() + second.received(), repeat(pen, 2));
  turn_both();
  EXPECT_EQ(shares(), Shares(1, 1));
}

TEST_F(MovesTest, one_that_does_not_read_its_replies_stays) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  first.send(repeat(find_big, 4));
  second.send(repeat(find_big, 4));
  turn(4);
  spread_over(2);
  EXPECT_EQ(shares(), Shares(2, 0));
}

TEST_F(MovesTest, one_that_is_on_its_way_when_the_spread_becomes_narrow_comes_back) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  turn_both();
  spread_.set(2, clock_.now_ms());
  turn();
  EXPECT_EQ(loop_->connections().size(), 1U);
  spread_.set(1, clock_.now_ms());
  turn_other();
  turn_both();
  turn_both();
  EXPECT_EQ(shares(), Shares(2, 0));
}

TEST_F(MovesTest, nothing_moves_to_a_worker_that_has_ended) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  other_inbox_.close();
  spread_.set(2, clock_.now_ms());
  turn(2);
  EXPECT_EQ(shares(), Shares(2, 0));
  EXPECT_EQ(ask(one, find_pen) + ask(other, find_pen), repeat(pen, 2));
}

TEST_F(MovesTest, one_that_is_on_its_way_when_its_worker_ends_is_closed) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  spread_.set(2, clock_.now_ms());
  turn();
  other_inbox_.close();
  other_loop_->end();
  EXPECT_EQ(shares(), Shares(1, 0));
  EXPECT_EQ(count(Counter::connections_closed), 1u);
  EXPECT_NE(one.sees_end(), other.sees_end());
}

TEST_F(MovesTest, one_that_can_not_be_polled_where_it_moved_is_closed) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  other_poller_.is_full = true;
  spread_over(2);
  EXPECT_EQ(shares(), Shares(1, 0));
  EXPECT_EQ(count(Counter::connections_closed), 1u);
  EXPECT_NE(one.sees_end(), other.sees_end());
}

TEST_F(MovesTest, a_connection_keeps_its_seat_among_those_of_its_account) {
  settings_.anonymous_account = "shop@%";
  reconfigure();
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  const std::shared_ptr<AccountLoad> load = account_loads_.of("shop@%");
  EXPECT_EQ(load->seat_count(), 2u);
  spread_over(2);
  EXPECT_EQ(shares(), Shares(1, 1));
  EXPECT_EQ(load->seat_count(), 2u);
  one.close();
  other.close();
  turn_both();
  EXPECT_EQ(load->seat_count(), 0u);
}

TEST_F(MovesTest, those_who_look_from_outside_see_each_connection_once) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  spread_over(2);
  std::vector<ConnectionFigures> figures;
  EXPECT_FALSE(loop_->connections().roster().copy_behind(0, 10, 0, 1, figures));
  EXPECT_FALSE(other_loop_->connections().roster().copy_behind(0, 10, 0, 2, figures));
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_NE(figures[0].number, figures[1].number);
}

// ---- real threads

class SpreadServerTest : public ServerTest {
 protected:
  SpreadServerTest() {
    config_.threads_read = 0;
    config_.threads_write = 1;
    config_.threads_max = 8 * limits::spread_workers;
  }

  /// Clients that ask until the test is over, and compare each reply.
  void ask_all_the_time(size_t client_count) {
    for (size_t number = 0; number < client_count; ++number) {
      clients_.emplace_back([this] {
        TestClient client = with_items(reader());
        ++asking_;
        while (!is_over_) {
          client.send(std::string(find_pen).append(find_ink));
          const std::string expected = std::string(pen).append(ink);
          const std::string replies = client.lines(2);
          if (server_stops_ && replies.size() < expected.size()) {
            ASSERT_EQ(replies, expected.substr(0, replies.size()));
            return;  // it was closed before its reply
          }
          ASSERT_EQ(replies, expected);
        }
      });
    }
  }
  void end_clients() {
    is_over_ = true;
    for (std::thread& client : clients_) {
      client.join();
    }
    clients_.clear();
  }

  std::atomic<bool> is_over_{false};
  std::atomic<bool> server_stops_{false};
  std::atomic<size_t> asking_{0};
  std::vector<std::thread> clients_;
};

TEST_F(SpreadServerTest, connections_are_spread_while_requests_wait_for_the_disk) {
  start();
  engine_.lie_on_disk(true);
  ask_all_the_time(2 * limits::spread_workers);
  EXPECT_TRUE(
      eventually([this] { return server_.counter(Counter::connections_moved) >= limits::spread_workers; }));
  EXPECT_GE(server_.threads(), limits::spread_workers);
  end_clients();
  EXPECT_EQ(server_.counter(Counter::connections_refused), 0u);
}

TEST_F(SpreadServerTest, with_everything_in_memory_no_connection_moves) {
  start();
  ask_all_the_time(4);
  EXPECT_TRUE(eventually([this] { return server_.counter(Counter::requests_find) > 10'000; }));
  end_clients();
  EXPECT_EQ(server_.counter(Counter::connections_moved), 0u);
}

TEST_F(SpreadServerTest, a_number_of_workers_that_was_set_stays) {
  config_.threads_read = 2;
  start();
  engine_.lie_on_disk(true);
  ask_all_the_time(4);
  EXPECT_TRUE(eventually([this] { return server_.counter(Counter::requests_find) > 10'000; }));
  end_clients();
  EXPECT_EQ(server_.counter(Counter::connections_moved), 0u);
}

TEST_F(SpreadServerTest, a_server_stops_while_connections_move) {
  start();
  engine_.lie_on_disk(true);
  ask_all_the_time(4);
  EXPECT_TRUE(eventually([this] { return asking_ == 4 && server_.counter(Counter::connections_moved) > 0; }));
  server_stops_ = true;
  server_.stop();
  end_clients();
  EXPECT_EQ(engine_.session_count(), 0u);
}

}  // namespace
}  // namespace rowsocket::server
