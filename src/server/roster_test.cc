// SPDX-License-Identifier: GPL-2.0-only
//
// What is shown of connections: what each does, and each of them once.
#include "server/roster.h"

#include <gmock/gmock.h>

#include <memory>
#include <set>

#include "server/server_fixture.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

class RosterTest : public TurnLoopTest {
 protected:
  [[nodiscard]] std::vector<ConnectionFigures> all() const {
    std::vector<ConnectionFigures> figures;
    EXPECT_FALSE(loop_->connections().roster().copy_behind(0, 1000, clock_.now_ms(), 7, figures));
    return figures;
  }
  [[nodiscard]] ConnectionFigures only() const {
    std::vector<ConnectionFigures> figures = all();
    EXPECT_EQ(figures.size(), 1U);
    return figures.front();
  }
};

TEST_F(RosterTest, a_connection_is_shown_until_it_is_closed) {
  TestClient client = connect_with_items();
  EXPECT_EQ(only().peer, "test");
  EXPECT_EQ(only().thread, 7U);
  client.close();
  turn();
  EXPECT_TRUE(all().empty());
}

TEST_F(RosterTest, whose_a_connection_is_is_shown_before_its_first_request) {
  TestClient client = connect();
  EXPECT_EQ(only().account, engine::anonymous_account);
}

TEST_F(RosterTest, it_counts_requests_and_bytes) {
  TestClient client = connect_with_items();
  EXPECT_EQ(ask(client, repeat(find_pen, 3)), repeat(pen, 3));
  EXPECT_EQ(only().requests, 4U);
  EXPECT_EQ(only().bytes_received, open_items.size() + 3 * find_pen.size());
  EXPECT_EQ(only().bytes_sent, ok.size() + 3 * pen.size());
}

TEST_F(RosterTest, it_says_for_how_long) {
  TestClient client = connect_with_items();
  clock_.advance_ms(5000);
  EXPECT_EQ(only().connected_ms, 5000U);
  EXPECT_EQ(only().idle_ms, 5000U);
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_EQ(only().connected_ms, 5000U);
  EXPECT_EQ(only().idle_ms, 0U);
}

TEST_F(RosterTest, it_says_what_a_connection_does_between_turns) {
  TestClient client = connect_with_items();
  EXPECT_EQ(only().doing, Doing::idle);
  send_without_end(client, find_pen);
  EXPECT_EQ(only().doing, Doing::reading);
  EXPECT_EQ(ask(client, "\n"), pen);
  EXPECT_EQ(only().doing, Doing::idle);
}

TEST_F(RosterTest, requests_that_found_no_room_are_queued) {
  TestClient client = connect_with_items();
  ask(client, repeat(find_pen, 4 * limits::requests_per_connection_turn), 2);  // the first one takes little
  EXPECT_EQ(only().doing, Doing::queued);
  turn(4);
  EXPECT_EQ(only().doing, Doing::idle);
}

/// What two clients of one turn do while its first request is executed, and while its second is.
class InOneTurn : public RosterTest {
 protected:
  std::vector<std::multiset<Doing>> of(std::string_view first, std::string_view second) {
    std::vector<std::multiset<Doing>> seen;
    const auto note = [&] {
      std::multiset<Doing> now;
      for (const ConnectionFigures& one : all()) {
        now.insert(one.doing);
      }
      seen.push_back(std::move(now));
    };
    engine_.on_next_request([&] {
      note();
      engine_.on_next_request(note);
    });
    TestClient one = connect_with_items();
    TestClient other = connect_with_items();
    EXPECT_TRUE(one.send(first) && other.send(second));
    turn();
    return seen;
  }
};

TEST_F(InOneTurn, requests_wait_for_their_time_and_replies_for_the_turns_end) {
  EXPECT_THAT(of(find_pen, find_ink), testing::ElementsAre(std::multiset{Doing::executing, Doing::queued},
                                                           std::multiset{Doing::executing, Doing::sending}));
}

TEST_F(InOneTurn, what_was_changed_waits_for_the_commit) {
  EXPECT_THAT(of("0\t+\t2\t10\tcup\n", "0\t+\t2\t11\tmug\n"),
              testing::ElementsAre(std::multiset{Doing::executing, Doing::queued},
                                   std::multiset{Doing::executing, Doing::committing}));
}

TEST_F(RosterTest, one_that_waits_for_a_lock_is_waiting) {
  TestClient client = connect_with_items();
  engine_.set_busy("shop.item", true);
  EXPECT_EQ(ask(client, find_pen), "");
  EXPECT_EQ(only().doing, Doing::waiting);
  EXPECT_EQ(only().requests, 1U);
  engine_.set_busy("shop.item", false);
  pass_ms(limits::parked_retry_ms_max);
  EXPECT_EQ(client.received(), pen);
  EXPECT_EQ(only().doing, Doing::idle);
  EXPECT_EQ(only().requests, 2U);
}

TEST_F(RosterTest, one_that_takes_no_replies_is_sent_to) {
  TestClient client = connect_with_items();
  EXPECT_TRUE(client.send(find_big));
  turn();
  EXPECT_EQ(only().doing, Doing::sending);
  EXPECT_GE(only().held_bytes, big_name_bytes / 2);
}

TEST_F(RosterTest, one_that_is_cut_off_is_closing) {
  settings_.line_bytes_max = limits::line_bytes_min;
  reconfigure();
  TestClient client = connect_with_items();
  ask(client, std::string(limits::line_bytes_min + 1, 'x'), 3);
  EXPECT_EQ(only().doing, Doing::closing);
}

TEST_F(RosterTest, pieces_hold_each_connection_once_whatever_comes_and_goes_meanwhile) {
  std::vector<TestClient> clients;
  for (int count = 0; count < 10; ++count) {
    clients.push_back(connect());
  }
  const Roster& roster = loop_->connections().roster();
  std::vector<ConnectionFigures> figures;
  EXPECT_TRUE(roster.copy_behind(0, 4, 0, 0, figures));
  clients[1].close();  // was read already
  clients[8].close();  // was not
  clients.push_back(connect());
  EXPECT_TRUE(roster.copy_behind(figures.back().number, 4, 0, 0, figures));
  EXPECT_FALSE(roster.copy_behind(figures.back().number, 4, 0, 0, figures));
  std::vector<uint64_t> numbers;
  for (const ConnectionFigures& one : figures) {
    numbers.push_back(one.number);
  }
  EXPECT_THAT(numbers, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 10, 11));
}

/// It has left for its TLS handshake and come back, and what it was before is still to be removed.
TEST_F(RosterTest, one_that_comes_back_with_its_number_stays_shown) {
  const exec::Access access = exec::Access::read;
  const auto come = [&] {
    return std::make_unique<ClientConnection>(
        Arrival{std::make_unique<net::PlainTransport>(net::Descriptor()),
                {"test"},
                7,
                access,
                &wire::handlersocket::handlersocket_protocol()},
        exec::Account(access, settings_), clock_.now_ms());
  };
  const auto before = come();
  const auto behind = come();
  Roster roster;
  roster.add(*before);
  roster.add(*behind);
  roster.remove(*before);
  EXPECT_EQ(roster.find(7), behind.get());
  roster.remove(*behind);
  EXPECT_EQ(roster.find(7), nullptr);
}

TEST_F(ServerTest, the_connections_of_all_workers_are_read) {
  start();
  std::vector<TestClient> clients;
  for (int count = 0; count < 6; ++count) {
    clients.push_back(with_items(count % 2 == 0 ? reader() : writer()));
  }
  Server::ConnectionsRead read;
  std::vector<ConnectionFigures> figures;
  std::set<uint64_t> numbers;
  while (figures.clear(), server_.read_connections(read, figures)) {
    for (const ConnectionFigures& one : figures) {
      EXPECT_EQ(one.protocol_name, "handlersocket");
      EXPECT_TRUE(numbers.insert(one.number).second);
    }
  }
  EXPECT_EQ(numbers.size(), clients.size());
  server_.stop();
  read = {};
  EXPECT_FALSE(server_.read_connections(read, figures));
}

TEST_F(ServerTest, many_connections_of_one_worker_are_read_some_at_a_time) {
  config_.threads_read = 1;
  start();
  std::vector<TestClient> clients;
  for (size_t count = 0; count < limits::connections_per_look + 3; ++count) {
    clients.push_back(with_items(reader()));
  }
  Server::ConnectionsRead read;
  std::vector<ConnectionFigures> figures;
  std::vector<size_t> looks;
  std::set<uint64_t> numbers;
  while (figures.clear(), server_.read_connections(read, figures)) {
    looks.push_back(figures.size());
    for (const ConnectionFigures& one : figures) {
      EXPECT_TRUE(numbers.insert(one.number).second);
    }
  }
  EXPECT_EQ(looks, (std::vector<size_t>{limits::connections_per_look, 3}));
}

}  // namespace
}  // namespace rowsocket::server
