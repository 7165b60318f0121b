// SPDX-License-Identifier: GPL-2.0-only
//
// An administrator ends one client, wherever its connection is. tests/integration/test_kill_client.py does so
// with what only a real server has: logins, handshakes, rows that are locked.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "server/lifelines.h"
#include "server/server_fixture.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- the numbers

TEST(LifelinesTest, a_connection_is_known_by_its_number_until_it_ends) {
  Lifelines all;
  EXPECT_FALSE(all.has(7));
  EXPECT_FALSE(all.kill(7));
  {
    const std::unique_ptr<Lifeline> life = all.begin(7);
    EXPECT_TRUE(all.has(7));
    EXPECT_FALSE(life->is_killed());
  }
  EXPECT_FALSE(all.has(7));
}

TEST(LifelinesTest, only_the_one_that_was_named_is_killed) {
  Lifelines all;
  const std::unique_ptr<Lifeline> one = all.begin(1);
  std::unique_ptr<Lifeline> two = all.begin(2);
  EXPECT_FALSE(all.some_are_killed());
  EXPECT_TRUE(all.kill(2));
  EXPECT_TRUE(all.kill(2)) << "it has not ended yet";
  EXPECT_TRUE(two->is_killed());
  EXPECT_FALSE(one->is_killed());
  EXPECT_THAT(all.killed(), ElementsAre(2));
  two.reset();
  EXPECT_FALSE(all.some_are_killed());
  EXPECT_TRUE(all.killed().empty());
}

// ---- a loop

class KillTest : public TurnLoopTest {
 protected:
  KillTest() {
    TurnLoop::Surroundings surroundings{*selections_, inbox_,       poller_,        counters_, board_,
                                        clock_,       limited_log_, account_loads_, "write"};
    surroundings.lifelines = &lifelines_;
    turn_.reset();
    loop_.reset();
    loop_ = std::make_unique<TurnLoop>(surroundings);
    Turn::Surroundings of_turn{*session_, counters_, clock_, &loop_->token(), numbers_};
    of_turn.lifelines = &lifelines_;
    turn_ = std::make_unique<Turn>(of_turn, board_.current());
  }
  ~KillTest() override {
    turn_.reset();
    loop_.reset();  // its connections have lifelines
  }

  /// With the number `connections_`.
  TestClient come() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    EXPECT_EQ(::fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    const uint64_t number = ++connections_;
    Arrival arrival{.transport = std::make_unique<net::PlainTransport>(net::Descriptor(fds[1])),
                    .peer = {"test"},
                    .number = number,
                    .port_access = exec::Access::write,
                    .protocol = &wire::handlersocket::handlersocket_protocol(),
                    .life = lifelines_.begin(number)};
    EXPECT_TRUE(inbox_.offer(arrival));
    return TestClient(net::Descriptor(fds[0]));
  }
  TestClient come_with_items() {
    TestClient client = come();
    turn();
    EXPECT_EQ(ask(client, open_items), ok);
    return client;
  }
  /// As Server::kill_connection.
  void kill(uint64_t number) {
    EXPECT_TRUE(lifelines_.kill(number));
    loop_->stop_killed();
    inbox_.wake();
  }

  Lifelines lifelines_;
};

TEST_F(KillTest, an_idle_client_is_closed_and_no_other) {
  TestClient killed = come_with_items();
  TestClient other = come_with_items();
  kill(1);
  turn();
  EXPECT_TRUE(killed.sees_end());
  EXPECT_EQ(ask(other, find_pen), pen);
  EXPECT_FALSE(lifelines_.has(1));
  EXPECT_EQ(count(Counter::connections_killed), 1u);
  EXPECT_EQ(count(Counter::connections_closed), 1u);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("connection 1 (test) is closed: killed")));
}

TEST_F(KillTest, one_that_no_loop_has_seen_yet_is_closed_when_it_comes) {
  TestClient killed = come();
  kill(1);
  turn();
  EXPECT_TRUE(killed.sees_end());
  EXPECT_EQ(loop_->connections().size(), 0u);
}

TEST_F(KillTest, a_commit_that_goes_on_is_not_stopped) {
  TestClient killed = come_with_items();
  engine_.on_next_commit([&] { kill(1); });
  killed.send("0\t+\t2\t10\tcup\n");
  turn();
  EXPECT_EQ(engine_.commits_with_changes(), 1U);
  turn();
  EXPECT_TRUE(killed.sees_end());
}

TEST_F(KillTest, half_a_request_and_replies_that_are_not_taken_do_not_matter) {
  TestClient half = come_with_items();
  send_without_end(half, find_pen);
  TestClient greedy = come_with_items();
  EXPECT_TRUE(greedy.send(find_big));
  turn();
  kill(1);
  kill(2);
  turn();
  EXPECT_TRUE(half.sees_end());
  EXPECT_EQ(loop_->connections().size(), 0u);
}

TEST_F(KillTest, a_request_that_waits_counts_as_stopped_once) {
  for (const bool is_gone : {false, true}) {
    const uint64_t before = count(Counter::requests_stopped);
    TestClient client = come_with_items();
    const uint64_t number = connections_;
    engine_.set_busy("shop.item", true);
    EXPECT_EQ(ask(client, "0\t+\t2\t10\tcup\n"), "");
    if (is_gone) {
      client.close_output();
      pass_ms(limits::presence_ms);
    }
    kill(number);
    turn(2);
    EXPECT_TRUE(client.sees_end());
    EXPECT_EQ(count(Counter::requests_stopped) - before, 1U);
    engine_.set_busy("shop.item", false);
  }
}

TEST_F(KillTest, a_request_that_waits_for_a_lock_is_not_tried_again) {
  TestClient killed = come_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(killed, "0\t+\t2\t10\tcup\n"), "");
  kill(1);
  turn();
  engine_.set_busy("shop.item", false);
  pass_ms(limits::parked_retry_ms_max);
  EXPECT_TRUE(killed.sees_end());
  TestClient other = come_with_items();
  EXPECT_EQ(ask(other, "0\t=\t1\t10\n"), "0\t2\n");
}

TEST_F(KillTest, what_it_has_asked_behind_the_request_under_way_is_not_executed) {
  TestClient killed = come_with_items();
  engine_.on_next_request([this] { kill(1); });
  ask(killed, "0\t+\t2\t10\tcup\n0\t+\t2\t11\tmug\n", 2);
  EXPECT_TRUE(killed.sees_end());
  TestClient other = come_with_items();
  EXPECT_EQ(ask(other, "0\t=\t1\t11\n"), "0\t2\n");
}

TEST_F(KillTest, those_that_wait_behind_it_in_the_turn_are_served) {
  TestClient killed = come_with_items();
  TestClient other = come_with_items();
  turn();  // the one that is ready first comes first
  engine_.on_next_request([this] { kill(1); });
  killed.send(repeat(find_pen, 2));
  EXPECT_EQ(ask(other, find_ink), ink);
  turn();
  killed.received();
  EXPECT_TRUE(killed.sees_end());
}

TEST_F(KillTest, one_that_is_in_the_turn_and_not_reached_is_not_executed) {
  TestClient other = come_with_items();
  TestClient killed = come_with_items();
  turn();  // the one that is ready first comes first
  engine_.on_next_request([this] { kill(2); });
  other.send(find_pen);
  killed.send("0\t+\t2\t10\tcup\n");
  turn(2);
  EXPECT_EQ(other.received(), pen);
  EXPECT_TRUE(killed.sees_end());
  EXPECT_EQ(ask(other, "0\t=\t1\t10\n"), "0\t2\n");
}

// ---- real threads

class KillServerTest : public ServerTest {
 protected:
  [[nodiscard]] std::vector<uint64_t> numbers() {
    std::vector<uint64_t> numbers;
    Server::ConnectionsRead read;
    for (std::vector<ConnectionFigures> figures; figures.clear(), server_.read_connections(read, figures);) {
      for (const ConnectionFigures& one : figures) {
        numbers.push_back(one.number);
      }
    }
    return numbers;
  }
};

TEST_F(KillServerTest, clients_are_killed_by_the_numbers_that_are_shown) {
  start();
  TestClient killed = with_items(reader());
  const std::vector<uint64_t> before = numbers();
  TestClient other = with_items(reader());
  ASSERT_EQ(before.size(), 1U);
  EXPECT_TRUE(server_.has_connection(before.front()));
  EXPECT_TRUE(server_.kill_connection(before.front()));
  EXPECT_EQ(killed.rest(), "");
  EXPECT_TRUE(eventually([&] { return !server_.has_connection(before.front()); }));
  EXPECT_FALSE(server_.kill_connection(before.front()));
  EXPECT_EQ(server_.counter(Counter::connections_killed), 1u);
  EXPECT_EQ(other.ask(find_pen), pen);
}

TEST_F(KillServerTest, a_request_that_waits_is_stopped_without_stand_ins) {
  config_.threads_max = 0;
  config_.threads_write = 1;
  start();
  TestClient killed = with_items(writer());
  const uint64_t number = numbers().front();
  std::atomic<bool> is_under_way{false};
  std::atomic<bool> goes_on{false};
  engine_.on_next_request([&] {
    is_under_way.store(true);
    EXPECT_TRUE(eventually([&] { return goes_on.load(); }));
  });
  killed.send("0\t+\t2\t10\tcup\n0\t+\t2\t11\tmug\n");
  EXPECT_TRUE(eventually([&] { return is_under_way.load(); }));
  EXPECT_TRUE(server_.kill_connection(number));
  goes_on.store(true);
  killed.rest();
  TestClient other = with_items(writer());
  EXPECT_EQ(other.ask("0\t=\t1\t11\n"), "0\t2\n");
}

/// Connections that come, go, ask and are killed at any moment: what was killed is closed, and none is lost.
TEST_F(KillServerTest, clients_are_killed_at_any_moment) {
  config_.threads_max = 16;
  start();
  std::atomic<bool> stops{false};
  std::thread killer([&] {
    for (uint64_t number = 1; !stops.load(); ++number) {
      if (!server_.kill_connection(number)) {
        --number;  // it has not come yet
        std::this_thread::yield();
      }
    }
  });
  for (int round = 0; round < 300; ++round) {
    TestClient client = round % 2 == 0 ? reader() : writer();
    client.send(open_items);
    client.send(repeat(find_pen, 8));
    client.rest();
  }
  stops.store(true);
  killer.join();
  EXPECT_TRUE(eventually([&] { return server_.connections_read() + server_.connections_write() == 0; }));
  EXPECT_GE(server_.counter(Counter::connections_killed), 300u);
}

}  // namespace
}  // namespace rowsocket::server
