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

TEST_F(IntakeTest, beside_those_who_send_little_a_turn_receives_of_one_large_sender) {
  TestClient reader = connect_with_items();
  connect_large_senders(20);
  for (int round = 0; round < 3; ++round) {
    all_send_a_piece();
    reader.send(find_pen);
    EXPECT_LE(turn_receives(), find_pen.size() + piece_bytes);
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

TEST_F(IntakeTest, the_more_time_all_else_takes_the_more_is_received_of_large_senders) {
  connect_large_senders(8);
  all_send_a_piece();
  EXPECT_LE(turn_receives(), piece_bytes);
  clock_.advance_ms(30);
  EXPECT_GT(turn_receives(), piece_bytes);
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
  EXPECT_LE(heard(), 1U) << "the one that was received of";
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
  connect_large_senders(4);
  all_send_a_piece();
  turn();
  settings_.held_bytes_max = size_t{64} * 1024;
  reconfigure();
  turn(2);
  EXPECT_EQ(loop_->connections().size(), 1U);
  settings_.held_bytes_max = limits::held_bytes_default;
  reconfigure();
  EXPECT_EQ(ask(reader, find_pen, 3), pen);
  senders_.clear();
  connect_large_senders(4);
  all_send_a_piece();
  turn();
  EXPECT_LE(heard(), 1U) << "nor of those who came then";
}

}  // namespace
}  // namespace rowsocket::server
