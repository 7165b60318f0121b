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

/// Two large senders, and an intake that is told when memory is short.
class SoleSenderTest : public IntakeTest {
 protected:
  SoleSenderTest() {
    connect_large_senders(2);
    senders_[1].send("xx");
    turn();
    intake_.reserve(2);
    intake_.share_memory(true);
    turn_of_intake();
  }
  ClientConnection& less() { return *loop_->connections().all()[0]; }
  ClientConnection& more() { return *loop_->connections().all()[1]; }
  /// Nobody has sent anything.
  void turn_of_intake() {
    intake_.begin_turn(clock_.now_ms());
    for (ClientConnection* sender : {&less(), &more()}) {
      EXPECT_FALSE(intake_.receive(*sender));
    }
    EXPECT_EQ(intake_.next_heavy(false), nullptr);
    intake_.share_memory(true);
  }

  net::Epoll own_poller_;
  Connections connections_{{.inbox = inbox_,
                            .poller = own_poller_,
                            .counters = counters_,
                            .log = limited_log_,
                            .account_loads = account_loads_}};
  Intake intake_{connections_, clock_};
};

TEST_F(SoleSenderTest, is_the_one_that_has_sent_most) {
  EXPECT_GT(more().stream.input().size(), less().stream.input().size());
  EXPECT_EQ(intake_.sole_sender(), &more());
}

TEST_F(SoleSenderTest, has_a_while_for_what_it_sends_next) {
  clock_.advance_ms(limits::sole_sender_ms - 1);
  turn_of_intake();
  EXPECT_EQ(intake_.sole_sender(), &more());
  clock_.advance_ms(1);
  turn_of_intake();
  EXPECT_EQ(intake_.sole_sender(), &less());
}

TEST_F(SoleSenderTest, is_none_where_memory_is_not_short_any_more) {
  intake_.share_memory(false);
  EXPECT_EQ(intake_.sole_sender(), nullptr);
}

TEST_F(SoleSenderTest, who_becomes_another_loops_is_forgotten) {
  intake_.forget(less());
  EXPECT_EQ(intake_.sole_sender(), &more());
  intake_.forget(more());
  EXPECT_EQ(intake_.sole_sender(), nullptr);
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

}  // namespace
}  // namespace rowsocket::server
