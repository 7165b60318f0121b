// SPDX-License-Identifier: GPL-2.0-only
//
// What an account may have at once, seen from its clients. Those of the first tests name no account: they
// are of the anonymous one.
#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "server/server_fixture.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::string_view one_too_many = "3\t1\tconnections\n";

// ---- requests

class AccountRequests : public TurnLoopTest {
 protected:
  void limit_to(uint32_t requests) {
    settings_.account_requests_max = requests;
    reconfigure();
  }
  /// The account may have one request, and it is this client's, which waits for a lock.
  void give_the_only_place_to(TestClient& client) {
    limit_to(1);
    engine_.set_busy("shop.item", true);
    EXPECT_EQ(ask(client, find_pen), "");
  }
};

TEST_F(AccountRequests, a_turn_answers_as_many_as_the_account_may_have) {
  TestClient client = connect_with_items();
  limit_to(2);
  EXPECT_EQ(ask(client, repeat(find_pen, 5)), repeat(pen, 2));
  turn();
  EXPECT_EQ(client.received(), repeat(pen, 2));
  turn();
  EXPECT_EQ(client.received(), pen);
  EXPECT_EQ(count(Counter::requests_held_back), 2u);
}

TEST_F(AccountRequests, the_clients_of_an_account_take_turns) {
  TestClient greedy = connect_with_items();
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  limit_to(2);
  greedy.send(repeat(find_pen, 10));
  first.send(find_ink);
  second.send(find_ink);
  turn(3);
  EXPECT_EQ(first.received(), ink);
  EXPECT_EQ(second.received(), ink);
  const std::string begun = greedy.received();
  EXPECT_LE(begun.size(), 4 * pen.size());
  turn(10);
  EXPECT_EQ(begun + greedy.received(), repeat(pen, 10));
}

TEST_F(AccountRequests, the_loop_does_not_wait_as_long_as_somebody_may_go_on) {
  TestClient client = connect_with_items();
  limit_to(1);
  client.send(repeat(find_pen, 100));
  inbox_.wake();
  std::string replies;
  while (replies.size() < 100 * pen.size()) {
    ASSERT_EQ(loop_->run(*turn_), TurnLoop::Ended::well) << "and nobody wakes it";
    replies += client.received();
  }
  EXPECT_EQ(replies, repeat(pen, 100));
}

TEST_F(AccountRequests, those_that_ask_long_requests_wait_in_line_also_when_they_were_held_back) {
  constexpr uint64_t long_us = 6000;
  const std::function<void()> take = [&] {
    clock_.advance_us(long_us);
    engine_.on_next_request(take);
  };
  std::vector<TestClient> clients;
  for (int number = 0; number < 3; ++number) {
    clients.push_back(connect_with_items());
    loop_->connections().all().back()->note_walk(1'000'000);
  }
  limit_to(1);
  clock_.advance_ms(100);
  engine_.on_next_request(take);
  for (TestClient& client : clients) {
    client.send(find_pen);
  }
  const auto answered = [&clients] {
    return std::count_if(clients.begin(), clients.end(),
                         [](TestClient& client) { return client.received() == pen; });
  };
  turn(3);
  EXPECT_EQ(answered(), 2) << "then the others have the loop for a while";
  clock_.advance_us(limits::long_requests_share * long_us);
  turn(2);
  EXPECT_EQ(answered(), 1);
  engine_.on_next_request(nullptr);
}

TEST_F(AccountRequests, a_request_that_waits_for_a_lock_keeps_its_place) {
  TestClient waiting = connect_with_items();
  TestClient other = connect_with_items();
  give_the_only_place_to(waiting);
  EXPECT_EQ(ask(other, find_ink, 3), "");
  EXPECT_EQ(count(Counter::requests_held_back), 1u);
  engine_.set_busy("shop.item", false);
  pass_ms(100);
  turn(2);
  EXPECT_EQ(waiting.received(), pen);
  EXPECT_EQ(other.received(), ink);
}

TEST_F(AccountRequests, who_is_held_back_goes_on_where_it_is_of_another_account_by_now) {
  TestClient waiting = connect_with_items();
  TestClient other = connect_with_items();
  give_the_only_place_to(waiting);
  EXPECT_EQ(ask(other, find_ink), "");
  settings_.anonymous_account = "app@localhost";
  reconfigure();
  engine_.set_busy("shop.item", false);
  pass_ms(100);
  turn(2);
  EXPECT_EQ(other.received(), ink);
}

TEST_F(AccountRequests, nothing_is_received_of_a_client_that_is_held_back) {
  TestClient waiting = connect_with_items();
  TestClient other = connect_with_items();
  give_the_only_place_to(waiting);
  EXPECT_EQ(ask(other, find_ink), "");
  const uint64_t received = count(Counter::bytes_received);
  EXPECT_EQ(ask(other, repeat(find_pen, 100), 3), "");
  EXPECT_EQ(count(Counter::bytes_received), received);
  engine_.set_busy("shop.item", false);
  pass_ms(100);
  turn(110);
  EXPECT_EQ(other.received(), std::string(ink) + repeat(pen, 100)) << "nothing is lost";
}

TEST_F(AccountRequests, a_client_that_vanishes_gives_back_what_it_had) {
  TestClient waiting = connect_with_items();
  TestClient gone = connect_with_items();
  TestClient last = connect_with_items();
  gone.send(find_ink);
  turn();
  give_the_only_place_to(waiting);
  gone.send(find_ink);
  turn();
  EXPECT_EQ(ask(last, find_ink), "");
  gone.reset();  // with a reply that it has not read
  pass_ms(limits::presence_ms);
  turn();
  EXPECT_EQ(loop_->connections().size(), 2u) << "the one that was held back";
  waiting.reset();
  engine_.set_busy("shop.item", false);
  pass_ms(100);
  turn(2);
  EXPECT_EQ(last.received(), ink) << "the place of the one that waited for a lock";
  EXPECT_EQ(account_loads_.of("")->request_count(), 0u);
}

TEST_F(AccountRequests, a_client_that_has_ended_its_sending_side_is_answered_when_it_is_its_turn) {
  TestClient waiting = connect_with_items();
  TestClient ended = connect_with_items();
  give_the_only_place_to(waiting);
  EXPECT_EQ(ask(ended, repeat(find_ink, 3)), "");
  ended.close_output();
  pass_ms(limits::presence_ms);
  turn(2);
  engine_.set_busy("shop.item", false);
  pass_ms(100);
  turn(10);
  EXPECT_EQ(ended.received(), repeat(ink, 3));
}

TEST_F(AccountRequests, a_limit_that_goes_up_or_away_lets_them_go_on) {
  TestClient waiting = connect_with_items();
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  give_the_only_place_to(waiting);
  engine_.set_busy("shop.item", false);
  EXPECT_EQ(ask(first, find_ink), "");
  EXPECT_EQ(ask(second, find_ink), "");
  limit_to(2);
  turn();
  EXPECT_EQ(first.received(), ink);
  turn();
  EXPECT_EQ(second.received(), ink);
  EXPECT_EQ(ask(first, repeat(find_pen, 3)), pen);
  limit_to(0);
  turn();
  EXPECT_EQ(first.received(), repeat(pen, 2));
}

TEST_F(AccountRequests, a_limit_that_comes_down_holds_from_the_next_turn) {
  TestClient client = connect_with_items();
  limit_to(1000);
  EXPECT_EQ(ask(client, repeat(find_pen, 5)), repeat(pen, 5));
  limit_to(3);
  EXPECT_EQ(ask(client, repeat(find_pen, 5)), repeat(pen, 3));
}

TEST_F(AccountRequests, who_is_held_back_and_does_not_read_its_replies_times_out) {
  settings_.idle_timeout_s = 60;
  TestClient client = connect_with_items();
  limit_to(1);
  client.send(repeat(find_big, 2));
  turn();
  EXPECT_EQ(loop_->connections().all()[0]->state, ClientConnection::State::held_back);
  pass_ms(59'000);
  EXPECT_EQ(loop_->connections().size(), 1U);
  pass_ms(1'000);
  EXPECT_EQ(loop_->connections().size(), 0U);
}

TEST_F(AccountRequests, a_thousand_clients_are_all_served) {
  limit_to(7);
  std::vector<TestClient> clients;
  for (int number = 0; number < 1000; ++number) {
    clients.push_back(connect());
    clients.back().send(std::string(open_items).append(find_pen));
  }
  turn(500);
  for (TestClient& client : clients) {
    ASSERT_EQ(client.received(), std::string(ok).append(pen));
  }
  EXPECT_EQ(account_loads_.of("")->request_count(), 0u);
}

TEST_F(AccountRequests, writes_of_a_turn_are_committed_as_far_as_they_go) {
  TestClient client = connect_with_items();
  limit_to(2);
  EXPECT_EQ(ask(client, "0\t+\t2\t10\ta\n0\t+\t2\t11\tb\n0\t+\t2\t12\tc\n"), repeat(ok, 2));
  turn();
  EXPECT_EQ(client.received(), ok);
  EXPECT_EQ(engine_.rows("shop.item").size(), 6u);
}

// ---- bytes

class AccountBytes : public TurnLoopTest {
 protected:
  AccountBytes() {
    settings_.account_bytes_max = limits::mebibyte;
    reconfigure();
  }
  void send_in_pieces(TestClient& client, std::string_view bytes) {
    constexpr size_t piece_bytes = 32 * limits::kibibyte;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece_bytes, bytes.size()))) {
      if (!client.send(bytes.substr(0, piece_bytes))) {
        return;
      }
      turn(2);
    }
  }
  static std::string insert_of(size_t bytes) { return "0\t+\t2\t10\t" + std::string(bytes, 'x') + "\n"; }
};

TEST_F(AccountBytes, the_client_that_holds_most_is_closed) {
  TestClient little = connect_with_items();
  TestClient much = connect_with_items();
  send_without_end(little, insert_of(200 * limits::kibibyte));
  EXPECT_FALSE(little.sees_end() || much.sees_end());
  send_in_pieces(much, insert_of(1100 * limits::kibibyte));
  EXPECT_TRUE(much.sees_end());
  EXPECT_EQ(ask(little, "\n", 3), ok) << "half a request is still half a request";
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("rowsocket_max_account_bytes")));
}

TEST_F(AccountBytes, replies_that_are_not_read_count) {
  TestClient client = connect_with_items();
  client.send(find_big);
  turn(3);
  EXPECT_EQ(count(Counter::account_connections_closed), 1u);
}

TEST_F(AccountBytes, what_strangers_hold_is_not_the_anonymous_accounts) {
  TestClient member = connect_with_items();
  send_without_end(member, insert_of(200 * limits::kibibyte));
  TestClient first = connect();
  TestClient second = connect();
  send_in_pieces(first, insert_of(400 * limits::kibibyte).substr(0, 300 * limits::kibibyte));
  send_in_pieces(second, insert_of(400 * limits::kibibyte).substr(0, 300 * limits::kibibyte));
  EXPECT_EQ(count(Counter::account_connections_closed), 0u);
  send_in_pieces(member, std::string(1100 * limits::kibibyte, 'x'));
  EXPECT_TRUE(member.sees_end());
  EXPECT_EQ(count(Counter::account_connections_closed), 1u);
}

TEST_F(AccountBytes, the_limit_may_change_while_it_is_in_use) {
  settings_.account_bytes_max = 0;
  reconfigure();
  TestClient client = connect_with_items();
  TestClient other = connect_with_items();
  send_in_pieces(client, insert_of(1500 * limits::kibibyte).substr(0, 1400 * limits::kibibyte));
  EXPECT_EQ(count(Counter::account_connections_closed), 0u);
  settings_.account_bytes_max = limits::mebibyte;
  reconfigure();
  turn();
  EXPECT_TRUE(client.sees_end());
  EXPECT_EQ(ask(other, find_pen), pen);
}

TEST_F(AccountBytes, a_limit_that_comes_down_closes_those_that_hold_too_much) {
  settings_.account_bytes_max = 8 * limits::mebibyte;
  reconfigure();
  TestClient client = connect_with_items();
  send_in_pieces(client, insert_of(1500 * limits::kibibyte).substr(0, 1400 * limits::kibibyte));
  EXPECT_EQ(count(Counter::account_connections_closed), 0u);
  settings_.account_bytes_max = limits::mebibyte;
  reconfigure();
  turn();
  EXPECT_TRUE(client.sees_end());
}

// ---- connections

class AccountConnections : public TurnLoopTest {
 protected:
  AccountConnections() {
    settings_.account_connections_max = 1;
    reconfigure();
  }
};

TEST_F(AccountConnections, a_client_without_an_account_is_refused_with_its_first_request) {
  TestClient first = connect_with_items();
  TestClient second = connect();
  turn();
  EXPECT_FALSE(second.sees_end()) << "it may still log in";
  EXPECT_EQ(ask(second, open_items), one_too_many);
  EXPECT_TRUE(second.sees_end());
  EXPECT_EQ(ask(first, find_pen), pen);
  EXPECT_EQ(count(Counter::account_connections_refused), 1u);
  first.close();
  turn(2);
  TestClient third = connect_with_items();
  EXPECT_EQ(ask(third, find_pen), pen);
}

TEST_F(AccountConnections, a_limit_that_comes_down_leaves_those_that_are_there) {
  settings_.account_connections_max = 0;
  reconfigure();
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  settings_.account_connections_max = 1;
  reconfigure();
  EXPECT_EQ(ask(first, find_pen), pen);
  EXPECT_EQ(ask(second, find_pen), pen);
  TestClient third = connect();
  EXPECT_EQ(ask(third, open_items), one_too_many);
}

TEST_F(AccountConnections, clients_without_an_account_are_of_whom_the_variable_names) {
  settings_.anonymous_account = "app@localhost";
  reconfigure();
  TestClient first = connect_with_items();
  EXPECT_EQ(account_loads_.of("app@localhost")->seat_count(), 1u);
  settings_.anonymous_account = "other@localhost";
  reconfigure();
  EXPECT_EQ(ask(first, find_pen), pen);
  EXPECT_EQ(account_loads_.of("app@localhost")->seat_count(), 0u);
  EXPECT_EQ(account_loads_.of("other@localhost")->seat_count(), 1u);
}

// ---- who is let in

class Admission : public TurnLoopTest {
 protected:
  void admit_as(engine::Admittance admittance) {
    engine_.admit_by([admittance](const engine::Entrance&) { return admittance; });
  }
  static constexpr std::string_view unauthenticated = "3\t1\tunauth\n";
};

TEST_F(Admission, who_came_while_the_account_was_not_there_is_asked_about_when_it_is) {
  TestClient one = connect();
  TestClient other = connect();
  admit_as(engine::Admittance::unknown);
  EXPECT_EQ(ask(one, open_items), unauthenticated);
  EXPECT_EQ(ask(other, open_items), unauthenticated);
  admit_as(engine::Admittance::refused);
  EXPECT_EQ(ask(one, open_items), unauthenticated);
  admit_as(engine::Admittance::granted);
  EXPECT_EQ(ask(one, open_items), unauthenticated) << "who was refused comes again";
  EXPECT_EQ(ask(other, open_items), ok);
}

TEST_F(Admission, who_was_refused_is_asked_about_where_it_is_of_another_account_by_now) {
  TestClient client = connect();
  admit_as(engine::Admittance::refused);
  EXPECT_EQ(ask(client, open_items), unauthenticated);
  admit_as(engine::Admittance::granted);
  settings_.anonymous_account = "app@localhost";
  reconfigure();
  EXPECT_EQ(ask(client, open_items), ok);
}

// ---- several accounts, several workers

class AccountLimits : public ServerTest {
 protected:
  AccountLimits() {
    config_.settings.needs_account = true;
    engine_.accept_logins(
        [](const engine::Credentials& credentials) { return credentials.password == "right"; });
  }
  TestClient client_of(const std::string& account) const {
    TestClient client = writer();
    EXPECT_EQ(client.ask("A\t2\t" + account + "\tright\n"), ok);
    return client;
  }
  TestClient client_with_items(const std::string& account) const { return with_items(client_of(account)); }
};

TEST_F(AccountLimits, a_connection_too_many_is_refused_when_it_logs_in) {
  config_.settings.account_connections_max = 2;
  start();
  TestClient first = client_of("app");
  TestClient second = client_of("app");
  TestClient third = writer();
  EXPECT_EQ(third.ask("A\t2\tapp\tright\n"), one_too_many);
  EXPECT_EQ(third.ask("A\t2\tapp\twrong\n"), "3\t1\tunauth\n") << "who guesses is told nothing";
  EXPECT_EQ(server_.counter(Counter::account_connections_refused), 1u);
  TestClient other = client_of("another");
  first.close();
  EXPECT_TRUE(eventually([&] { return third.ask("A\t2\tapp\tright\n") == ok; }));
  EXPECT_EQ(second.ask(open_items), ok);
}

TEST_F(AccountLimits, what_is_asked_behind_a_login_is_the_accounts) {
  config_.settings.account_requests_max = 1;
  start();
  TestClient client = writer();
  client.send(std::string("A\t2\tapp\tright\n").append(open_items).append(repeat(find_pen, 5)));
  EXPECT_EQ(client.lines(7), repeat(ok, 2) + repeat(pen, 5));
  EXPECT_EQ(server_.counter(Counter::requests_held_back), 5U);
}

TEST_F(AccountLimits, who_becomes_somebody_else_gives_back_its_place) {
  config_.settings.account_connections_max = 1;
  start();
  TestClient first = client_of("app");
  EXPECT_EQ(first.ask("A\t2\tother\tright\n"), ok);
  TestClient second = client_of("app");
  EXPECT_EQ(second.ask("A\t2\tapp\twrong\n"), "3\t1\tunauth\n");
  TestClient third = client_of("app");
}

TEST_F(AccountLimits, an_account_that_waits_for_locks_leaves_room_for_others_that_do) {
  config_.threads_write = 1;
  start();
  std::vector<TestClient> clients;
  for (uint32_t number = 0; number < 2 * limits::waiting_room_places; ++number) {
    clients.push_back(client_with_items("many"));
  }
  TestClient other = client_with_items("other");
  engine_.set_busy("shop.item", true);
  for (TestClient& client : clients) {
    client.send(find_pen);
  }
  const auto waited_alone = [this](uint64_t count) {
    return eventually([&] { return server_.counter(Counter::waited_alone) == count; });
  };
  ASSERT_TRUE(waited_alone(limits::waiting_room_places_of_account));
  other.send(find_pen);
  EXPECT_TRUE(waited_alone(limits::waiting_room_places_of_account + 1));
  engine_.set_busy("shop.item", false);
  EXPECT_EQ(other.lines(1), pen);
}

TEST_F(AccountLimits, an_account_at_its_limit_keeps_no_other_waiting) {
  config_.settings.account_requests_max = 2;
  config_.threads_write = 2;
  start();
  std::vector<TestClient> flood;
  for (int number = 0; number < 20; ++number) {
    flood.push_back(client_with_items("app"));
  }
  TestClient other = client_with_items("another");
  engine_.create_table("shop.locked",
                       {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  for (TestClient& client : flood) {
    ASSERT_EQ(client.ask("P\t1\tshop\tlocked\t\tid\n"), ok);
  }
  engine_.set_busy("shop.locked", true);
  for (TestClient& client : flood) {
    client.send("1\t=\t1\t1\n");
  }
  ASSERT_TRUE(eventually([this] { return server_.counter(Counter::requests_held_back) >= 18; }));
  EXPECT_EQ(other.ask(find_pen), pen);
  EXPECT_EQ(client_of("another").ask(open_items), ok);
  engine_.set_busy("shop.locked", false);
  for (TestClient& client : flood) {
    EXPECT_EQ(client.lines(1), "0\t1\n");
  }
}

TEST_F(AccountLimits, the_workers_share_what_an_account_may_have) {
  config_.settings.account_requests_max = 1;
  config_.threads_write = 4;
  start();
  std::vector<TestClient> clients;
  for (int number = 0; number < 16; ++number) {
    clients.push_back(client_with_items("app"));
  }
  for (TestClient& client : clients) {
    client.send(repeat(find_pen, 200));
  }
  for (TestClient& client : clients) {
    EXPECT_EQ(client.lines(200), repeat(pen, 200));
  }
}

TEST_F(AccountLimits, the_largest_of_all_workers_is_closed) {
  config_.settings.account_bytes_max = 2 * limits::mebibyte;
  config_.threads_write = 2;
  start();
  TestClient large = client_with_items("app");
  TestClient small = client_with_items("app");
  TestClient other = client_with_items("another");
  large.send("0\t+\t2\t10\t" + std::string(900 * limits::kibibyte, 'x'));
  other.send("0\t+\t2\t12\t" + std::string(900 * limits::kibibyte, 'x'));
  ASSERT_TRUE(
      eventually([this] { return server_.counter(Counter::bytes_received) > 1800 * limits::kibibyte; }));
  EXPECT_EQ(server_.counter(Counter::account_connections_closed), 0u);
  small.send("0\t+\t2\t11\t" + std::string(500 * limits::kibibyte, 'x'));
  large.send(std::string(900 * limits::kibibyte, 'x'));
  EXPECT_TRUE(eventually([&] { return large.sees_end(); }));
  EXPECT_EQ(small.ask("\n"), ok);
  EXPECT_EQ(other.ask("\n"), ok);
  EXPECT_EQ(server_.counter(Counter::account_connections_closed), 1u);
}

}  // namespace
}  // namespace rowsocket::server
