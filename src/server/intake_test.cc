// SPDX-License-Identifier: GPL-2.0-only
//
// What a turn receives where some clients send large requests.
#include "server/intake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

constexpr size_t piece_bytes = limits::receive_bytes;
/// Large senders of which a turn receives a piece.
constexpr size_t received_of_max = limits::large_bytes_per_turn / piece_bytes + 1;

class IntakeTest : public TurnLoopTest {
 protected:
  /// Has sent the beginning of a large insert. Its connection is the last one.
  TestClient connect_large_sender() {
    TestClient client = connect_with_items();
    send_without_end(client, "0\t+\t2\t10\t" + std::string(limits::large_request_bytes, 'x') + "\n");
    return client;
  }
  void connect_large_senders(size_t count) {
    for (size_t number = 0; number < count; ++number) {
      senders_.push_back(connect_large_sender());
    }
  }
  void all_send_a_piece() {
    for (TestClient& sender : senders_) {
      sender.send(std::string(piece_bytes, 'x'));
    }
  }
  /// How many bytes a turn receives.
  [[nodiscard]] uint64_t turn_receives() {
    const uint64_t before = count(Counter::bytes_received);
    turn();
    return count(Counter::bytes_received) - before;
  }
  /// Those who wait in line are not listened to.
  [[nodiscard]] size_t heard() {
    inbox_.wakeup().drain();
    return poller_.wait(0).size();
  }
  [[nodiscard]] size_t input_bytes(size_t connection) const {
    return loop_->connections().all()[connection]->stream.input().size();
  }

  std::deque<TestClient> senders_;
};

TEST_F(IntakeTest, large_senders_come_behind_those_who_send_little_and_no_more_than_a_few_in_a_turn) {
  TestClient reader = connect_with_items();
  connect_large_senders(20);
  for (int round = 0; round < 3; ++round) {
    all_send_a_piece();
    reader.send(find_pen);
    EXPECT_LE(turn_receives(), find_pen.size() + limits::large_bytes_per_turn + piece_bytes);
    EXPECT_EQ(reader.received(), pen);
    turn(20);
  }
}

TEST_F(IntakeTest, large_senders_take_turns) {
  connect_large_senders(5);
  const size_t begun_bytes = input_bytes(0);
  all_send_a_piece();
  turn(5);
  for (size_t connection = 0; connection < senders_.size(); ++connection) {
    EXPECT_GE(input_bytes(connection), begun_bytes + piece_bytes / 2) << "connection " << connection;
  }
}

TEST_F(IntakeTest, who_sends_a_large_request_gets_on_in_each_turn_however_many_send_little) {
  std::deque<TestClient> readers;
  for (int number = 0; number < 30; ++number) {
    readers.push_back(connect_with_items());
  }
  connect_large_senders(1);
  for (int piece = 0; piece < 20; ++piece) {
    all_send_a_piece();
    for (TestClient& reader : readers) {
      reader.send(repeat(find_pen, 1000));
    }
    const size_t before = input_bytes(readers.size());
    turn();
    EXPECT_GT(input_bytes(readers.size()), before);
    turn(4);
    for (TestClient& reader : readers) {
      reader.received();
    }
  }
}

TEST_F(IntakeTest, a_large_request_is_answered) {
  TestClient other = connect_large_sender();
  TestClient sender = connect_large_sender();
  for (int piece = 0; piece < 10; ++piece) {
    sender.send(std::string(piece_bytes, 'x'));
    other.send("x");
    turn(2);
  }
  EXPECT_EQ(ask(sender, "\n", 3), ok);
}

TEST_F(IntakeTest, a_turn_receives_of_large_senders_no_more_than_it_may) {
  connect_large_senders(20);
  all_send_a_piece();
  clock_.advance_ms(1'000'000);
  EXPECT_LE(turn_receives(), limits::large_bytes_per_turn + piece_bytes);
}

TEST_F(IntakeTest, who_waits_in_line_wakes_nobody) {
  connect_large_senders(5);
  all_send_a_piece();
  turn();
  EXPECT_LE(heard(), received_of_max) << "those that were received of";
}

TEST_F(IntakeTest, a_large_sender_that_goes_is_forgotten) {
  connect_large_senders(4);
  all_send_a_piece();
  turn();
  senders_.clear();
  turn(20);
  EXPECT_EQ(loop_->connections().size(), 0U);
  EXPECT_EQ(loop_->connections().held_bytes(), 0U);
}

TEST_F(IntakeTest, a_large_sender_that_is_closed_while_it_waits_is_forgotten) {
  TestClient reader = connect_with_items();
  connect_large_senders(20);
  all_send_a_piece();
  turn();
  settings_.held_bytes_max = size_t{16} * 1024;
  reconfigure();
  turn(2);
  EXPECT_EQ(loop_->connections().size(), 1U);
  settings_.held_bytes_max = limits::held_bytes_default;
  reconfigure();
  EXPECT_EQ(ask(reader, find_pen, 3), pen);
  senders_.clear();
  connect_large_senders(20);
  all_send_a_piece();
  turn();
  EXPECT_LE(heard(), received_of_max) << "nor of those who came then";
}

// ---- where memory is short

class ShortOfMemoryTest : public IntakeTest {
 protected:
  struct Sender {
    TestClient client;
    std::string left;  ///< of its line
  };
  static constexpr size_t line_bytes = size_t{500} * 1024;
  static constexpr size_t sender_count = 20;

  /// Clients that begin lines which are too much together.
  ShortOfMemoryTest() {
    settings_.line_bytes_max = size_t{512} * 1024;
    settings_.held_bytes_max = 4 * settings_.line_bytes_max;
    reconfigure();
    for (size_t number = 0; number < sender_count; ++number) {
      const std::string begin = "0\t+\t2\t" + std::to_string(100 + number) + "\t";
      lines_.push_back({connect_with_items(), begin + std::string(line_bytes - begin.size(), 'x') + "\n"});
    }
  }
  /// Everybody sends what the sockets take, but for the last `kept_bytes` of each line, until nobody gets on.
  void all_send(size_t kept_bytes) {
    uint64_t before = 0;
    do {
      before = received_bytes();
      for (Sender& sender : lines_) {
        send(sender, kept_bytes);
      }
      turn(5);
      EXPECT_LE(loop_->connections().held_bytes(), settings_.held_bytes_max);
    } while (received_bytes() > before);
  }
  static void send(Sender& sender, size_t kept_bytes) {
    const std::string_view left = sender.left;
    if (left.size() > kept_bytes) {
      sender.left.erase(0, sender.client.send_some(left.substr(0, left.size() - kept_bytes)));
    }
  }
  [[nodiscard]] uint64_t received_bytes() const { return counters_.read(Counter::bytes_received); }
  [[nodiscard]] size_t answered_count() {
    return static_cast<size_t>(std::count_if(lines_.begin(), lines_.end(),
                                             [](Sender& sender) { return sender.client.received() == ok; }));
  }

  std::deque<Sender> lines_;
};

TEST_F(ShortOfMemoryTest, large_requests_come_to_their_end_one_after_the_other_and_none_is_closed) {
  all_send(0);
  EXPECT_EQ(answered_count(), sender_count);
  EXPECT_EQ(loop_->connections().size(), sender_count);
}

TEST_F(ShortOfMemoryTest, who_stops_in_the_middle_lets_another_one_go_on_after_a_while) {
  all_send(1);
  const uint64_t before = received_bytes();
  pass_ms(limits::sole_sender_ms - 1);
  EXPECT_EQ(received_bytes(), before);
  pass_ms(1);
  turn(5);
  EXPECT_GT(received_bytes(), before);
}

TEST_F(ShortOfMemoryTest, who_waits_in_line_behind_long_requests_has_not_stopped) {
  std::deque<TestClient> walkers;
  for (int number = 0; number < 3; ++number) {
    walkers.push_back(connect_with_items());
  }
  all_send(1);
  for (int turns = 0; turns < 500; ++turns) {
    for (size_t number = 0; number < walkers.size(); ++number) {
      loop_->connections().all()[sender_count + number]->note_walk(1'000'000);
      if (turns == 0 || !walkers[number].received().empty()) {
        walkers[number].send(find_pen);
      }
    }
    for (Sender& sender : lines_) {
      send(sender, 0);
    }
    engine_.on_next_request([this] { clock_.advance_ms(2 * limits::sole_sender_ms); });
    turn();
    clock_.advance_ms(limits::sole_sender_ms);  // it is the heavy ones' time again
  }
  EXPECT_EQ(answered_count(), sender_count);
}

TEST_F(ShortOfMemoryTest, who_becomes_another_loops_is_forgotten) {
  connect_large_senders(1);
  ClientConnection& sender = *loop_->connections().all().back();
  net::Epoll poller;
  Connections connections({.inbox = inbox_,
                           .poller = poller,
                           .counters = counters_,
                           .log = limited_log_,
                           .account_loads = account_loads_});
  Intake intake(connections, clock_);
  intake.reserve(1);
  intake.begin_turn(clock_.now_ms());
  intake.share_memory(true);
  EXPECT_FALSE(intake.receive(sender));
  EXPECT_EQ(intake.next_heavy(false), nullptr);
  intake.share_memory(true);
  EXPECT_EQ(intake.sole_sender(), &sender);
  intake.forget(sender);
  EXPECT_EQ(intake.sole_sender(), nullptr);
}

TEST_F(ShortOfMemoryTest, requests_that_have_been_received_need_not_wait) {
  all_send(1);
  TestClient client = connect_with_items();
  constexpr size_t request_count = 2 * limits::large_request_bytes / find_pen.size();
  client.send(repeat(find_pen, request_count));
  std::string replies;
  for (int turns = 0; turns < 200; ++turns) {
    loop_->connections().all().back()->note_walk(1'000'000);  // it is heavy for that as well
    turn();
    replies += client.received();
  }
  EXPECT_EQ(replies, repeat(pen, request_count));
}

TEST_F(ShortOfMemoryTest, who_waits_for_memory_wakes_nobody) {
  all_send(1);
  EXPECT_EQ(heard(), 0U);
}

TEST_F(ShortOfMemoryTest, halves_that_stay_are_closed_and_not_the_request_that_goes_on) {
  Sender whole = std::move(lines_.back());
  lines_.pop_back();
  all_send(line_bytes / 5);
  std::string reply;
  for (int times = 0; times < 200 && reply.empty(); ++times) {
    send(whole, 0);
    pass_ms(limits::sole_sender_ms / 2);
    reply = whole.client.received();
  }
  EXPECT_EQ(reply, ok);
  EXPECT_LT(loop_->connections().size(), sender_count);
}

TEST_F(ShortOfMemoryTest, those_who_are_closed_while_they_wait_are_forgotten) {
  all_send(1);
  settings_.held_bytes_max = 0;
  reconfigure();
  turn(2);
  settings_.held_bytes_max = limits::held_bytes_default;
  reconfigure();
  turn(2);
  EXPECT_LE(loop_->connections().size(), 1U) << "the one that goes on";
  TestClient other = connect_with_items();
  EXPECT_EQ(ask(other, find_pen, 3), pen);
}

TEST_F(ShortOfMemoryTest, those_who_go_while_they_wait_are_forgotten) {
  all_send(1);
  lines_.clear();
  for (size_t number = 0; number < 2 * sender_count; ++number) {
    pass_ms(limits::sole_sender_ms);
    turn(10);
  }
  EXPECT_EQ(loop_->connections().size(), 0U);
  EXPECT_EQ(loop_->connections().held_bytes(), 0U);
}

// ---- those whose requests take long

class HeavyTest : public TurnLoopTest {
 protected:
  static constexpr uint64_t long_us = 1000;
  static_assert(long_us >= limits::heavy_us);

  /// From now on each request takes so long.
  void take(uint64_t us) {
    engine_.on_next_request([this, us] {
      clock_.advance_us(us);
      take(us);
    });
  }
  [[nodiscard]] ClientConnection& connection(size_t number) { return *loop_->connections().all()[number]; }
  TestClient connect_heavy() {
    TestClient client = connect_with_items();
    connection(loop_->connections().size() - 1).note_walk(1'000'000);
    return client;
  }
  /// Requests of few rows that take so long make a connection heavy after so many turns.
  static constexpr uint64_t slow_us = 500;
  static constexpr int slow_turns = 4;

  /// Heavy ones, each of which has sent a request that takes long.
  std::deque<TestClient> many_that_ask(std::string_view request = find_pen) {
    std::deque<TestClient> heavy;
    for (int number = 0; number < 20; ++number) {
      heavy.push_back(connect_heavy());
    }
    take(long_us);
    for (TestClient& one : heavy) {
      one.send(request);
    }
    return heavy;
  }
  /// The next reply. While none is there the loop waits for a while, and goes on with what is there then.
  std::string reply_to(TestClient& client) {
    std::string reply = client.received();
    for (int turns = 0; reply.empty() && turns < 100; ++turns) {
      EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::well);
      reply = client.received();
    }
    return reply;
  }
};

TEST_F(HeavyTest, after_a_long_request_the_others_have_the_loop_for_a_while) {
  TestClient heavy = connect_heavy();
  TestClient light = connect_known();
  clock_.advance_ms(100);
  const auto ask_both = [&] {
    heavy.send(find_pen);
    take(0);
    light.send(find_ink);
    engine_.on_next_request([this] { take(long_us); });  // the light one comes first
    turn();
    EXPECT_EQ(light.received(), ink);
  };
  constexpr uint64_t far_too_often = limits::heavy_credit_us / long_us;
  uint64_t answered = 0;
  do {
    ask_both();
  } while (!heavy.received().empty() && ++answered < far_too_often);
  EXPECT_LT(answered, far_too_often) << "it has used up its time";
  clock_.advance_us(limits::long_requests_share * long_us);
  ask_both();
  EXPECT_NE(heavy.received(), "");
}

TEST_F(HeavyTest, where_no_light_one_comes_they_do_not_wait) {
  TestClient heavy = connect_heavy();
  take(long_us);
  for (int times = 0; times < 10; ++times) {
    heavy.send(find_pen);
    EXPECT_EQ(reply_to(heavy), pen);
  }
}

TEST_F(HeavyTest, a_turn_ends_before_it_has_executed_too_many_of_them) {
  std::deque<TestClient> heavy = many_that_ask();
  for (size_t answered = 0; answered < heavy.size();) {
    const uint64_t began_us = clock_.now_us();
    EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::well);
    EXPECT_LE(clock_.now_us() - began_us, limits::heavy_us_per_turn);
    answered += static_cast<size_t>(
        std::count_if(heavy.begin(), heavy.end(), [](TestClient& one) { return !one.received().empty(); }));
  }
}

TEST_F(HeavyTest, they_take_turns) {
  std::deque<TestClient> heavy = many_that_ask();
  for (TestClient& one : heavy) {
    EXPECT_EQ(reply_to(one), pen);
  }
}

TEST_F(HeavyTest, who_takes_little_does_not_wait_for_all_who_take_much) {
  TestClient little = connect_with_items();
  connection(0).walked_us = limits::heavy_us;
  std::deque<TestClient> much = many_that_ask();
  turn();
  little.send(find_pen);
  turn(4);
  EXPECT_EQ(little.received(), pen);
  for (TestClient& one : much) {
    EXPECT_EQ(reply_to(one), pen);
  }
}

TEST_F(HeavyTest, who_takes_much_has_half_of_the_time_of_those_in_line) {
  std::deque<TestClient> all = many_that_ask();
  const size_t half = all.size() / 2;
  for (size_t number = 0; number < half; ++number) {
    connection(number).walked_us = limits::heavy_us;
  }
  for (size_t served = 0; served < half; ++served) {
    turn();
  }
  const auto answered = [&](size_t from) {
    return std::count_if(all.begin() + static_cast<ptrdiff_t>(from),
                         all.begin() + static_cast<ptrdiff_t>(from + half),
                         [](TestClient& one) { return !one.received().empty(); });
  };
  EXPECT_NEAR(static_cast<double>(answered(0)), static_cast<double>(answered(half)), 2.0);
}

TEST_F(HeavyTest, who_waits_in_line_or_rests_is_not_idle) {
  settings_.idle_timeout_s = 1;
  reconfigure();
  TestClient in_line = connect_with_items();
  TestClient resting = connect_with_items();
  connection(0).is_in_line = true;
  connection(1).rests_until_ms = clock_.now_ms() + 5000;
  EXPECT_EQ(ask(resting, find_pen), pen);
  for (int seconds = 0; seconds < 3; ++seconds) {
    clock_.advance_ms(1000);
    turn();
  }
  EXPECT_EQ(loop_->connections().size(), 2U);
  connection(0).is_in_line = false;
  clock_.advance_ms(1000);
  turn();
  EXPECT_EQ(loop_->connections().size(), 1U);
}

TEST_F(HeavyTest, what_others_changed_is_committed_before_a_request_that_may_go_on_without_the_loop) {
  TestClient heavy = connect_heavy();
  TestClient light = connect_with_items();
  for (const bool outlasts : {true, false}) {
    connection(0).walked_us = outlasts ? 2 * limits::slice_us : 2 * limits::heavy_us;
    bool is_settled = false;
    engine_.on_next_request([&] {  // of the light one
      engine_.on_next_request([&] { is_settled = LoopToken::is_settled(loop_->token().seen()); });
    });
    heavy.send(find_pen);
    light.send("0\t=\t1\t1\t1\t0\tU\t1\n");
    turn();
    EXPECT_EQ(is_settled, outlasts);
    EXPECT_NE(light.received(), "");
    EXPECT_EQ(heavy.received(), pen);
  }
}

TEST_F(HeavyTest, who_asks_short_requests_for_some_turns_is_light_again) {
  TestClient client = connect_with_items();
  connection(0).note_walk(limits::heavy_us);
  EXPECT_TRUE(connection(0).takes_long());
  EXPECT_EQ(ask(client, find_pen, 3), pen);
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, who_asks_requests_of_few_rows_that_take_long_is_heavy_after_some_turns) {
  TestClient client = connect_with_items();
  take(slow_us);
  for (int turns = 0; turns < slow_turns; ++turns) {
    EXPECT_FALSE(connection(0).takes_long());
    EXPECT_EQ(ask(client, find_pen), pen);
  }
  EXPECT_TRUE(connection(0).takes_long());
  take(0);
  for (int turns = 0; turns < slow_turns; ++turns) {
    client.send(find_pen);
    EXPECT_EQ(reply_to(client), pen);
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, who_comes_anew_for_each_request_is_heavy_where_what_it_asks_usually_takes_long) {
  TestClient light = connect_with_items();
  const auto newcomer_is_answered_at_once = [&] {
    TestClient newcomer = connect_with_items();
    newcomer.send(find_pen);
    light.send("nothing\n");
    turn();
    light.received();
    const bool is_answered = newcomer.received() == pen;
    EXPECT_TRUE(is_answered || ask(newcomer, "", 3) == pen);
    return is_answered;
  };
  EXPECT_TRUE(newcomer_is_answered_at_once());
  take(slow_us);
  EXPECT_TRUE(newcomer_is_answered_at_once());
  for (int number = 0; number < 10; ++number) {
    newcomer_is_answered_at_once();
  }
  EXPECT_FALSE(newcomer_is_answered_at_once());
  take(0);
  for (int number = 0; number < 20; ++number) {
    newcomer_is_answered_at_once();
  }
  EXPECT_TRUE(newcomer_is_answered_at_once());
}

TEST_F(HeavyTest, what_a_newcomer_asked_before_in_the_same_turn_makes_it_no_lighter) {
  TestClient light = connect_known();
  std::deque<TestClient> newcomers;
  for (int number = 0; number < 5; ++number) {
    take(slow_us);
    newcomers.push_back(connect());
    newcomers.back().send(std::string(open_items) + std::string(find_pen));
    light.send("nothing\n");
    turn();
  }
  EXPECT_EQ(newcomers.back().received(), ok);
  EXPECT_TRUE(connection(loop_->connections().size() - 1).takes_long());
  turn(3);
  EXPECT_EQ(newcomers.back().received(), pen);
}

TEST_F(HeavyTest, a_pipeline_of_short_requests_is_not_heavy) {
  TestClient client = connect_with_items();
  take(limits::own_us_free_per_read);
  for (int turns = 0; turns < 2 * slow_turns; ++turns) {
    EXPECT_EQ(ask(client, repeat(find_pen, 50)), repeat(pen, 50));
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, who_waits_for_others_for_long_is_not_heavy) {
  TestClient client = connect_with_items();
  for (int turns = 0; turns < 2 * slow_turns; ++turns) {
    engine_.on_next_request([this] {
      turn_->note_wait_for_others();
      clock_.advance_ms(10);
      turn_->note_wait_over(false);
    });
    EXPECT_EQ(ask(client, find_pen), pen);
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, a_commit_in_the_middle_is_not_measured) {
  TestClient client = connect_with_items();
  for (int turns = 0; turns < 2 * slow_turns; ++turns) {
    engine_.on_next_commit([this] { clock_.advance_ms(10); });
    // An open behind a write: what was asked before it is committed.
    EXPECT_EQ(ask(client, "0\t=\t1\t1\t1\t0\tU\t1\nP\t7\tshop\titem\t\tid\n", 2), "0\t1\t1\n0\t1\n");
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, what_comes_before_a_commit_in_the_middle_and_behind_it_is_measured) {
  const std::string change = "0\t=\t1\t1\t1\t0\tU\t1\n";
  const std::string open = "P\t7\tshop\titem\t\tid\n";
  std::deque<TestClient> clients;
  for (const bool before : {false, true}) {
    TestClient& client = clients.emplace_back(connect_with_items());
    const std::string finds = repeat(find_pen, 4);
    const std::string pens = repeat(pen, 4);
    for (int turns = 0; turns < slow_turns; ++turns) {
      take(slow_us);
      EXPECT_EQ(ask(client, before ? change + finds + open : change + open + finds, 2),
                before ? "0\t1\t1\n" + pens + "0\t1\n" : "0\t1\t1\n0\t1\n" + pens);
    }
    EXPECT_TRUE(connection(clients.size() - 1).takes_long()) << before;
  }
}

TEST_F(HeavyTest, those_that_are_slow_by_themselves_share_a_commit) {
  TestClient client = connect_with_items();
  for (int turns = 0; turns < slow_turns; ++turns) {
    connection(0).own_time.add(slow_us, 1, 0);
  }
  EXPECT_TRUE(connection(0).takes_long());
  EXPECT_FALSE(connection(0).outlasts_slice());
}

TEST_F(HeavyTest, a_turn_takes_more_of_those_that_share_its_commit) {
  const auto answered_in_a_turn = [this](std::string_view request) {
    std::deque<TestClient> heavy = many_that_ask(request);
    EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::well);
    return std::count_if(heavy.begin(), heavy.end(), [](TestClient& one) { return !one.received().empty(); });
  };
  EXPECT_EQ(answered_in_a_turn(find_pen), limits::heavy_us_per_turn_of_reads / long_us);
  EXPECT_GT(answered_in_a_turn("0\t=\t1\t1\t1\t0\tU\t1\n"), limits::heavy_us_per_turn_of_reads / long_us);
}

TEST_F(HeavyTest, one_that_goes_while_it_waits_in_line_is_forgotten) {
  TestClient light = connect_with_items();
  {
    TestClient heavy = connect_heavy();
    take(long_us);
    for (int times = 0; times < 4; ++times) {
      heavy.send(repeat(find_pen, 2));
      light.send(find_ink);
      turn();
    }
  }
  clock_.advance_ms(100);
  turn(10);
  EXPECT_EQ(loop_->connections().size(), 1U);
}

TEST_F(HeavyTest, a_request_that_was_given_up_is_over_where_its_client_has_gone) {
  TestClient heavy = connect_with_items();
  connection(0).client.given_up.count = 1;
  heavy.send(find_pen);
  heavy.close();
  turn(2);
  EXPECT_EQ(loop_->connections().size(), 0U);
  EXPECT_EQ(count(Counter::requests_stopped), 1U);
  EXPECT_EQ(count(Counter::requests_find), 0U);
}

TEST_F(HeavyTest, who_owes_a_rest_is_answered_when_it_is_over) {
  TestClient client = connect_with_items();
  connection(0).rests_until_ms = clock_.now_ms() + 20;
  EXPECT_EQ(ask(client, find_pen), pen) << "this one was asked before";
  EXPECT_EQ(ask(client, find_pen), "");
  clock_.advance_ms(19);
  turn();
  EXPECT_EQ(client.received(), "");
  clock_.advance_ms(1);
  turn(2);
  EXPECT_EQ(client.received(), pen);
}

TEST_F(HeavyTest, who_owes_a_rest_and_has_asked_nothing_is_answered_later) {
  TestClient client = connect_with_items();
  connection(0).rests_until_ms = clock_.now_ms() + 20;
  EXPECT_EQ(ask(client, find_pen), pen);
  clock_.advance_ms(20);
  turn();
  EXPECT_EQ(ask(client, find_pen), pen);
}

}  // namespace
}  // namespace rowsocket::server
