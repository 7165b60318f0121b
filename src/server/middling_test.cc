// SPDX-License-Identifier: GPL-2.0-only
//
// Whose requests take several times what one row takes, and are no walks, gives way where light ones come.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "server/intake.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

class MiddlingTest : public TurnLoopTest {
 protected:
  static constexpr uint64_t middling_us = 40;
  static_assert(middling_us >= 2 * limits::middling_us && middling_us < limits::heavy_us);
  /// More than those in line may take at once, since they have saved so much time.
  static constexpr int many = 2 * limits::heavy_credit_us / (1 + limits::middling_share) / middling_us;
  static constexpr std::string_view change_pen = "0\t=\t1\t1\t1\t0\tU\t1\n";

  TestClient connect_middling() {
    TestClient client = connect_with_items();
    for (int turns = 0; turns < 10; ++turns) {
      connection(loop_->connections().size() - 1).own_time.add(0, middling_us);
    }
    return client;
  }
  std::deque<TestClient> connect_middling(size_t count) {
    std::deque<TestClient> clients;
    while (clients.size() < count) {
      clients.push_back(connect_middling());
    }
    return clients;
  }
  static void all_ask(std::deque<TestClient>& clients) {
    for (TestClient& client : clients) {
      client.send(find_pen);
    }
  }
  static int answered(std::deque<TestClient>& clients) {
    return static_cast<int>(std::count_if(clients.begin(), clients.end(),
                                          [](TestClient& client) { return client.received() == pen; }));
  }
  /// Those that were answered. How many these are.
  static int ask_again(std::deque<TestClient>& clients) {
    int count = 0;
    for (TestClient& client : clients) {
      if (client.received() == pen) {
        client.send(find_pen);
        ++count;
      }
    }
    return count;
  }
  /// A turn in which the light one is answered at once, whoever asks beside.
  void turn_with(TestClient& light) {
    light.send(find_ink);
    each_takes(0);
    engine_.on_next_request([this] { each_takes(middling_us); });
    turn();
    EXPECT_EQ(light.received(), ink);
  }
  /// No light one has come for so long that nobody gives way.
  void let_light_ones_be_forgotten() { clock_.advance_ms(limits::middling_ms_after_light); }
};

TEST_F(MiddlingTest, is_who_asks_what_takes_so_long_turn_for_turn) {
  TestClient client = connect_with_items();
  each_takes(middling_us);
  for (int turns = 0; turns < 4; ++turns) {
    EXPECT_EQ(ask(client, find_pen), pen);
  }
  EXPECT_TRUE(connection(0).is_middling());
  EXPECT_FALSE(connection(0).takes_long());
  each_takes(0);
  for (int turns = 0; turns < 20; ++turns) {
    EXPECT_EQ(ask(client, find_pen, 3), pen);
  }
  EXPECT_FALSE(connection(0).is_middling());
}

TEST_F(MiddlingTest, is_not_whose_one_request_took_longer_than_all_others) {
  TestClient client = connect_known();
  each_takes(5000);
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_FALSE(connection(0).is_middling());
}

TEST_F(MiddlingTest, is_not_who_writes_as_quickly_as_writers_do) {
  TestClient client = connect_with_items();
  each_takes(middling_us);
  for (int turns = 0; turns < 20; ++turns) {
    EXPECT_NE(ask(client, change_pen), "");
  }
  EXPECT_FALSE(connection(0).is_middling());
}

TEST_F(MiddlingTest, have_a_third_of_the_time_where_light_ones_come) {
  std::deque<TestClient> middling = connect_middling(many);
  TestClient light = connect_known();
  clock_.advance_us(limits::heavy_credit_us);
  all_ask(middling);
  constexpr int share = limits::middling_share;
  const uint64_t began_us = clock_.now_us();
  int served = 0;
  for (int turns = 0; turns < 10; ++turns) {
    turn_with(light);
    served += answered(middling);
  }
  EXPECT_LT(served, many) << "they have used up their time";
  for (; served < many; served += answered(middling)) {
    clock_.advance_us(share * middling_us);
    turn_with(light);
  }
  EXPECT_GE(clock_.now_us() - began_us + limits::heavy_credit_us, (many - 1) * (1 + share) * middling_us);
}

TEST_F(MiddlingTest, do_not_wait_while_no_light_one_has_anything_to_execute) {
  std::deque<TestClient> middling = connect_middling(many);
  TestClient light = connect_known();
  all_ask(middling);
  for (int turns = 0; turns < 10; ++turns) {
    turn_with(light);
  }
  int served = answered(middling);
  EXPECT_LT(served, many);
  while (served < many) {
    const uint64_t began_us = clock_.now_us();
    turn();
    EXPECT_LE(clock_.now_us() - began_us, limits::middling_us_meanwhile + 2 * middling_us)
        << "a light one may come; one more, since it may have become their time";
    const int now_served = answered(middling);
    ASSERT_GT(now_served, 0);
    served += now_served;
  }
}

TEST_F(MiddlingTest, never_wait_where_no_light_one_comes) {
  std::deque<TestClient> middling = connect_middling(20);
  let_light_ones_be_forgotten();
  each_takes(middling_us);
  for (int turns = 0; turns < 10; ++turns) {
    all_ask(middling);
    turn();
    EXPECT_EQ(answered(middling), 20);
  }
}

TEST_F(MiddlingTest, who_waited_when_the_last_light_one_went_are_all_answered_in_one_turn) {
  std::deque<TestClient> middling = connect_middling(20);
  TestClient light = connect_known();
  for (int turns = 0; turns < 100; ++turns) {
    all_ask(middling);
    turn_with(light);
    answered(middling);
  }
  EXPECT_TRUE(connection(19).is_in_line);
  let_light_ones_be_forgotten();
  turn();
  EXPECT_FALSE(connection(19).is_in_line);
}

TEST_F(MiddlingTest, have_half_of_the_time_in_line_beside_heavy_ones) {
  std::deque<TestClient> clients = connect_middling(100);
  for (size_t number = 0; number < 50; ++number) {
    connection(number).note_walk(1'000'000);
  }
  TestClient light = connect_known();
  turn_with(light);
  all_ask(clients);
  int served = 0;
  for (int turns = 0; turns < 1000 && served < 50; ++turns) {
    clock_.advance_us(limits::long_requests_share * middling_us);
    turn_with(light);
    served += answered(clients);
  }
  const auto in_line = [&](size_t from) {
    int count = 0;
    for (size_t number = from; number < from + 50; ++number) {
      count += connection(number).is_in_line ? 1 : 0;
    }
    return count;
  };
  EXPECT_NEAR(in_line(0), in_line(50), 4);
}

TEST_F(MiddlingTest, who_had_much_time_before_others_came_does_not_wait_until_they_have_had_as_much) {
  TestClient heavy = connect_with_items();
  TestClient light = connect_known();
  const auto turn_of_heavy = [&](uint64_t us) {
    connection(0).note_walk(1'000'000);
    heavy.send(find_pen);
    light.send(find_ink);
    each_takes(0);
    engine_.on_next_request([this, us] { each_takes(us); });
    clock_.advance_us(limits::heavy_credit_us);
    turn();
    EXPECT_EQ(light.received(), ink);
  };
  for (int times = 0; times < 100; ++times) {
    turn_of_heavy(5000);
    EXPECT_EQ(heavy.received(), pen);
  }
  std::deque<TestClient> middling = connect_middling(200);
  all_ask(middling);
  turn_with(light);
  bool is_answered = false;
  for (int turns = 0; turns < 10 && !is_answered; ++turns) {
    turn_of_heavy(middling_us);
    is_answered = !heavy.received().empty();
    all_ask(middling);
  }
  EXPECT_TRUE(is_answered);
}

TEST_F(MiddlingTest, what_they_take_while_no_light_one_wants_it_keeps_no_heavy_one_waiting) {
  TestClient heavy = connect_with_items();
  TestClient light = connect_known();
  std::deque<TestClient> middling = connect_middling(200);
  turn_with(light);
  all_ask(middling);
  connection(0).note_walk(1'000'000);
  heavy.send(find_pen);
  const uint64_t began_us = clock_.now_us();
  for (int turns = 0; turns < 100 && heavy.received().empty(); ++turns) {
    turn();
    ask_again(middling);
  }
  EXPECT_LE(clock_.now_us() - began_us, limits::heavy_us_per_turn);
}

TEST_F(MiddlingTest, for_what_they_took_while_no_light_one_wanted_it_they_need_not_pay) {
  std::deque<TestClient> middling = connect_middling(200);
  TestClient light = connect_known();
  turn_with(light);
  all_ask(middling);
  for (int turns = 0; turns < 1000; ++turns) {
    turn();
    ask_again(middling);
  }
  TestClient heavy = connect_with_items();
  int turns = 0;
  for (int served = 0; served < 3 && turns < 100; ++turns) {
    connection(loop_->connections().size() - 1).note_walk(1'000'000);
    if (turns == 0 || !heavy.received().empty()) {
      heavy.send(find_pen);
    }
    clock_.advance_us(limits::long_requests_share * middling_us);
    turn_with(light);
    served += ask_again(middling);
  }
  EXPECT_LT(turns, 20);
}

}  // namespace
}  // namespace rowsocket::server
