// SPDX-License-Identifier: GPL-2.0-only
//
// A turn whose commit goes on beside its loop: the tests play both threads, as in hand_over_test.cc.
#include <gmock/gmock.h>

#include "server/hand_over_fixture.h"

namespace rowsocket::server {
namespace {

constexpr std::string_view insert_cup = "0\t+\t2\t10\tcup\n";
constexpr std::string_view insert_mug = "0\t+\t2\t11\tmug\n";
constexpr std::string_view insert_into_log = "1\t+\t1\t7\n";
constexpr std::string_view find_in_log = "1\t=\t1\t7\n";

class CommitAdriftTest : public HandOverTest {
 protected:
  CommitAdriftTest() { use_sessions(engine::Intent::write); }
  /// A reader's find is answered when another thread takes the loop from the commit of the turn that comes.
  void expect_answer_beside_commit(TestClient& reader) {
    std::string meanwhile;
    take_over_at_next_commit([&] { meanwhile = reader.received(); });
    reader.send(find_in_log);
    run_adrift();
    EXPECT_EQ(meanwhile, "0\t1\n");
    stand_in_turn();
  }
  /// The other one's insert waits for the commit of the writer's, and the other one closes meanwhile.
  void let_close_while_its_write_waits(TestClient& other, TestClient& writer) {
    take_over_at_next_commit([&] {
      other.send(insert_mug);
      stand_in_turn();
      other.close();
    });
    writer.send(insert_cup);
    run_adrift();
    stand_in_turn();
  }
  [[nodiscard]] const ClientConnection& connection(size_t number) const {
    return *loop_->connections().all()[number];
  }
};

TEST_F(CommitAdriftTest, others_are_served_while_a_turn_commits) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  std::string meanwhile;
  take_over_at_next_commit([&] {
    other.send(open_items);
    stand_in_turn();
    meanwhile = writer.received() + other.received();
  });
  writer.send(insert_cup);
  run_adrift();
  EXPECT_EQ(meanwhile, ok) << "no reply to a write leaves before its commit";
  EXPECT_EQ(engine_.commits_with_changes(), 1U);
  stand_in_turn();
  EXPECT_EQ(writer.received(), ok);
  EXPECT_EQ(count(Counter::hand_overs), 1U);
}

TEST_F(CommitAdriftTest, of_a_turn_that_commits_what_came_before_the_first_write_is_answered) {
  TestClient writer = connect_with_items();
  TestClient behind = connect_with_items();
  TestClient before = connect_to_log();
  all_wrote_last();
  std::string meanwhile;
  take_over_at_next_commit([&] { meanwhile = before.received() + writer.received() + behind.received(); });
  before.send(find_in_log);
  writer.send(insert_cup);
  behind.send("0\t=\t1\t10\n");
  run_adrift();
  EXPECT_EQ(meanwhile, "0\t1\n");
  stand_in_turn();
  EXPECT_EQ(writer.received(), ok);
  EXPECT_EQ(behind.received(), "0\t2\t10\tcup\n") << "it has seen what might not be committed";
  EXPECT_EQ(before.received(), "");
}

TEST_F(CommitAdriftTest, who_wrote_last_comes_behind_those_that_read) {
  TestClient writer = connect_with_items();
  TestClient reader = connect_to_log();
  EXPECT_EQ(ask(writer, "0\t+\t2\t9\tjug\n"), ok);
  writer.send(insert_cup);
  expect_answer_beside_commit(reader);
  EXPECT_EQ(writer.received(), ok);
}

TEST_F(CommitAdriftTest, who_writes_for_the_first_time_comes_behind_those_that_read) {
  TestClient writer = connect_with_items();
  TestClient reader = connect_to_log();
  ASSERT_FALSE(connection(0).wrote_last);
  writer.send(std::string(find_pen).append(insert_cup));
  expect_answer_beside_commit(reader);
  EXPECT_EQ(writer.received(), std::string(pen).append(ok));
}

TEST_F(CommitAdriftTest, of_those_that_write_for_the_first_time_all_come_behind_those_that_read) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  TestClient reader = connect_to_log();
  writer.send(insert_cup);
  other.send(insert_mug);
  expect_answer_beside_commit(reader);
  EXPECT_EQ(writer.received() + other.received(), std::string(ok).append(ok));
  EXPECT_EQ(engine_.commits_with_changes(), 1U);
}

TEST_F(CommitAdriftTest, who_writes_more_than_a_turn_takes_comes_behind_those_that_read) {
  TestClient writer = connect_with_items();
  TestClient reader = connect_to_log();
  std::string inserts;
  for (uint32_t id = 1000; id < 1400; ++id) {
    inserts += "0\t+\t2\t" + std::to_string(id) + "\tcup\n";
  }
  writer.send(inserts);
  EXPECT_EQ(ask(reader, find_in_log), "0\t1\n");
  ASSERT_EQ(connection(0).state, ClientConnection::State::cut);
  expect_answer_beside_commit(reader);
}

TEST_F(CommitAdriftTest, who_waited_for_a_commit_comes_behind_those_that_read) {
  TestClient writer = connect_with_items();
  TestClient reader = connect_to_log();
  for (uint32_t commits = 0; commits < limits::commits_beside_max; ++commits) {
    commits_under_way_.begin(clock_.now_ms());
  }
  EXPECT_EQ(ask(writer, insert_cup), "");
  ASSERT_EQ(connection(0).state, ClientConnection::State::behind_commit);
  for (uint32_t commits = 0; commits < limits::commits_beside_max; ++commits) {
    commits_under_way_.end(0);
  }
  expect_answer_beside_commit(reader);
  EXPECT_EQ(writer.received(), ok);
}

TEST_F(CommitAdriftTest, half_a_request_makes_nobody_a_reader) {
  TestClient client = connect_with_items();
  EXPECT_EQ(ask(client, insert_cup), ok);
  EXPECT_TRUE(connection(0).wrote_last);
  send_without_end(client, insert_mug);
  EXPECT_TRUE(connection(0).wrote_last);
  EXPECT_EQ(ask(client, "\n"), ok);
  EXPECT_EQ(ask(client, find_pen), pen);
  EXPECT_FALSE(connection(0).wrote_last);
}

TEST_F(CommitAdriftTest, writes_wait_for_a_commit_that_goes_on_and_share_the_next_one) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  TestClient third = connect_with_items();
  take_over_at_next_commit([&] {
    other.send(insert_mug);
    third.send("0\t+\t2\t12\tjug\n");
    stand_in_turn();
    EXPECT_EQ(connection(1).state, ClientConnection::State::behind_commit);
    EXPECT_EQ(connection(1).shown.doing.read(), Doing::waiting);
  });
  writer.send(insert_cup);
  run_adrift();
  EXPECT_EQ(engine_.commits_with_changes(), 1U);
  stand_in_turn();
  EXPECT_EQ(writer.received() + other.received() + third.received(), std::string(ok).append(ok).append(ok));
  EXPECT_EQ(engine_.commits_with_changes(), 2U);
}

TEST_F(CommitAdriftTest, writes_do_not_wait_for_long_for_one_commit) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  take_over_at_next_commit([&] {
    other.send(insert_mug);
    stand_in_turn();
    clock_.advance_ms(limits::behind_commit_ms + 1);
    stand_in_turn();
    EXPECT_EQ(connection(1).state, ClientConnection::State::parked)
        << "it has begun, and this engine lets one transaction write at a time";
  });
  writer.send(insert_cup);
  run_adrift();
  clock_.advance_ms(limits::parked_retry_ms_max);
  stand_in_turn();
  EXPECT_EQ(other.received(), ok);
}

TEST_F(CommitAdriftTest, a_commit_before_one_that_takes_long_goes_on_beside_the_loop_too) {
  TestClient writer = connect_with_items();
  TestClient heavy = connect_with_items();
  TestClient other = connect_with_items();
  loop_->connections().all()[1]->walked_us = limits::slice_us;
  std::string meanwhile;
  take_over_at_next_commit([&] {
    other.send(open_items);
    stand_in_turn();
    meanwhile = other.received();
    EXPECT_FALSE(connection(1).is_away) << "its request has not begun";
  });
  writer.send(insert_cup);
  heavy.send(find_pen);
  run_adrift();
  EXPECT_EQ(meanwhile, ok);
  stand_in_turn();
  clock_.advance_ms(limits::parked_retry_ms_max);
  stand_in_turn();
  EXPECT_EQ(writer.received(), ok);
  EXPECT_EQ(heavy.received(), pen);
}

TEST_F(CommitAdriftTest, a_client_that_goes_stops_no_commit_of_others_before_its_request) {
  TestClient writer = connect_with_items();
  TestClient goes = connect_to_log();
  all_wrote_last();
  const engine::Work request = turn_->session().work();
  engine_.on_next_commit([&] { turn_->session().stop(request); });
  writer.send(insert_cup);
  goes.send(insert_into_log);  // which is to be the first of its transaction
  turn();
  EXPECT_EQ(writer.received(), ok);
  EXPECT_EQ(goes.received(), ok) << "who asks for a stop asks again";
}

TEST_F(CommitAdriftTest, writes_wait_also_for_the_commit_of_a_turn_whose_request_has_lost_the_loop) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  take_over_at_next_request([&] {
    engine_.on_next_commit([&] {
      other.send(insert_mug);
      stand_in_turn();
      EXPECT_EQ(connection(1).state, ClientConnection::State::behind_commit);
    });
  });
  writer.send(insert_cup);
  run_adrift();
  stand_in_turn();
  EXPECT_EQ(writer.received() + other.received(), std::string(ok).append(ok));
}

TEST_F(CommitAdriftTest, a_write_whose_client_resets_while_it_waits_for_a_commit_is_not_begun) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  other.send(find_pen);  // it never reads the reply
  turn();
  let_close_while_its_write_waits(other, writer);
  EXPECT_EQ(engine_.commits_with_changes(), 1U);
  EXPECT_EQ(loop_->connections().size(), 1U);
  EXPECT_EQ(count(Counter::requests_stopped), 1U);
}

TEST_F(CommitAdriftTest, a_write_whose_client_closes_in_order_while_it_waits_for_a_commit_is_done) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  let_close_while_its_write_waits(other, writer);
  EXPECT_EQ(engine_.commits_with_changes(), 2U);
  EXPECT_EQ(count(Counter::requests_stopped), 0U);
}

TEST_F(CommitAdriftTest, who_has_ended_his_side_while_his_write_waits_gets_his_reply) {
  TestClient client = connect_with_items();
  for (uint32_t commits = 0; commits < limits::commits_beside_max; ++commits) {
    commits_under_way_.begin(clock_.now_ms());
  }
  EXPECT_EQ(ask(client, insert_mug), "");
  client.close_output();
  pass_ms(limits::presence_ms);
  for (uint32_t commits = 0; commits < limits::commits_beside_max; ++commits) {
    commits_under_way_.end(0);
  }
  turn();
  EXPECT_EQ(client.received(), ok);
}

TEST_F(CommitAdriftTest, a_client_that_resets_while_its_write_waits_is_not_kept_until_the_commit_is_over) {
  TestClient writer = connect_with_items();
  TestClient other = connect_with_items();
  other.send(find_pen);  // it never reads the reply
  turn();
  take_over_at_next_commit([&] {
    for (uint32_t commits = 1; commits < limits::commits_beside_max; ++commits) {
      commits_under_way_.begin(clock_.now_ms());
    }
    other.send(insert_mug);
    stand_in_turn();
    EXPECT_EQ(connection(1).state, ClientConnection::State::behind_commit);
    other.close();
    clock_.advance_ms(limits::presence_ms);
    stand_in_turn();
    EXPECT_EQ(loop_->connections().size(), 1U);
  });
  writer.send(insert_cup);
  run_adrift();
}

TEST_F(CommitAdriftTest, who_takes_no_replies_has_its_time_also_where_its_next_write_waits) {
  settings_.idle_timeout_s = 1;
  reconfigure();
  TestClient client = connect_with_items();
  for (uint32_t commits = 0; commits < limits::commits_beside_max; ++commits) {
    commits_under_way_.begin(clock_.now_ms());
  }
  client.send(std::string(find_big).append(insert_mug));
  turn();
  EXPECT_EQ(connection(0).state, ClientConnection::State::behind_commit);
  EXPECT_TRUE(connection(0).stream.has_output());
  pass_ms(1500);
  EXPECT_EQ(loop_->connections().size(), 0U);
}

TEST_F(CommitAdriftTest, a_commit_that_fails_without_the_loop_is_told_to_those_who_wait_for_it) {
  TestClient writer = connect_with_items();
  engine_.fail_commit(Error(ErrorCode::engine, 28, "the disk is full"));
  take_over_at_next_commit();
  writer.send(insert_cup);
  run_adrift();
  stand_in_turn();
  EXPECT_EQ(writer.received(), "1\t1\t28\n");
  EXPECT_EQ(ask(writer, "0\t=\t1\t10\n"), "0\t2\n");
}

TEST_F(CommitAdriftTest, of_a_commit_no_request_is_under_way) {
  TestClient writer = connect_with_items();
  bool has_request = true;
  engine_.on_next_commit([&] {
    ASSERT_TRUE(loop_->token().take(loop_->token().seen()));
    stand_in_->reserve(loop_->connections().size());
    has_request = loop_->take_over(*stand_in_).client != nullptr;
  });
  writer.send(insert_cup);
  run_adrift();
  EXPECT_FALSE(has_request);
}

}  // namespace
}  // namespace rowsocket::server
