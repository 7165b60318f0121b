// SPDX-License-Identifier: GPL-2.0-only
//
// A loop that another thread goes on with. These tests play both threads: while a request waits, the stand-in
// takes the loop over and turns; see the end of the file for real threads.
#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <vector>

#include "server/hand_over_fixture.h"
#include "server/server_fixture.h"

namespace rowsocket::server {
namespace {

constexpr std::string_view insert_cup = "0\t+\t2\t10\tcup\n";
constexpr std::string_view insert_into_log = "1\t+\t1\t7\n";

TEST_F(HandOverTest, others_are_served_while_a_request_waits) {
  TestClient stuck = connect_with_items();
  TestClient other = connect_with_items();
  std::string meanwhile;
  take_over_at_next_request([&] {
    other.send(find_ink);
    stand_in_turn();
    meanwhile = other.received();
  });
  stuck.send(find_pen);
  run_adrift();
  EXPECT_EQ(meanwhile, ink);
  EXPECT_EQ(stuck.received(), "") << "the loop has it back, and has not turned";
  stand_in_turn();
  EXPECT_EQ(stuck.received(), pen);
  EXPECT_EQ(count(Counter::hand_overs), 1u);
}

TEST_F(HandOverTest, requests_that_were_executed_before_are_answered_at_once) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  std::string meanwhile;
  engine_.on_next_request([&] {  // of the turn's first request
    take_over_at_next_request([&] { meanwhile = one.received() + other.received(); });
  });
  one.send(find_pen);
  other.send(find_pen);
  run_adrift();
  EXPECT_EQ(meanwhile, pen);
  stand_in_turn();
  EXPECT_EQ(one.received() + other.received(), pen);
}

TEST_F(HandOverTest, requests_that_were_not_reached_are_executed_by_the_stand_in) {
  TestClient one = connect_with_items();
  TestClient other = connect_with_items();
  std::string meanwhile;
  take_over_at_next_request([&] {
    stand_in_turn();
    meanwhile = one.received() + other.received();
  });
  one.send(find_pen);
  other.send(find_pen);
  run_adrift();
  EXPECT_EQ(meanwhile, pen) << "of the one that does not wait";
  stand_in_turn();
  EXPECT_EQ(one.received() + other.received(), pen);
}

TEST_F(HandOverTest, a_client_gets_its_replies_in_its_order) {
  TestClient stuck = connect_with_items();
  take_over_at_next_request([&] {
    stuck.send(find_pen);
    stand_in_turn();
    EXPECT_EQ(stuck.received(), "") << "the first is not answered yet";
  });
  stuck.send(std::string(find_pen).append(find_ink));
  run_adrift();
  stand_in_turn();
  stand_in_turn();
  EXPECT_EQ(stuck.received(), std::string(pen).append(ink).append(pen));
}

TEST_F(HandOverTest, what_waits_for_the_commit_stays_with_the_stuck_turn) {
  use_sessions(engine::Intent::write);
  TestClient writer = connect_with_items();
  TestClient stuck = connect_with_items();
  std::string meanwhile = "nothing";
  engine_.on_next_request([&] {
    take_over_at_next_request([&] {
      stand_in_turn();
      meanwhile = writer.received();
    });
  });
  writer.send(insert_cup);
  stuck.send(find_pen);
  run_adrift();
  EXPECT_EQ(meanwhile, "") << "no reply to a write leaves before its commit";
  EXPECT_EQ(engine_.commits_with_changes(), 1u);
  stand_in_turn();
  EXPECT_EQ(writer.received(), ok);
  EXPECT_EQ(stuck.received(), pen);
}

TEST_F(HandOverTest, what_the_stuck_turn_sends_itself_is_counted_as_sent) {
  TestClient stuck = connect_with_items();
  take_over_at_next_request();
  stuck.send(find_big);
  inbox_.wake();
  ASSERT_EQ(loop_->run(*turn_), TurnLoop::Ended::adrift);
  turn_->commit();
  turn_->send_large_replies();
  const size_t before_bytes = ok.size();  // the reply to `open_items`
  const size_t taken_bytes = stuck.received().size();
  EXPECT_GT(taken_bytes, 0U);
  EXPECT_EQ(count(Counter::bytes_sent), before_bytes + taken_bytes);
  EXPECT_EQ(turn_->members().back()->shown.bytes_sent, before_bytes + taken_bytes);
  turn_->session().release_tables();
  loop_->give_back(turn_->members());
}

TEST_F(HandOverTest, a_turn_knows_whether_somebody_may_wait_for_rows_that_it_has_locked) {
  constexpr std::string_view find_cup = "0\t=\t1\t10\n";
  EXPECT_TRUE(only_reads_in_last_of(find_cup));
  EXPECT_FALSE(only_reads_in_last_of(insert_cup));
  EXPECT_TRUE(only_reads_in_last_of(find_cup)) << "the insert is committed";
  EXPECT_FALSE(only_reads_in_last_of("0\t=\t1\t10\t1\t0\tU\t10\tmug\n"));
  EXPECT_FALSE(only_reads_in_last_of("0\t=\t1\t10\t1\t0\tU\t10\tcup\n0\t=\t1\t10\n"))
      << "the update before the find is not committed";
}

TEST_F(HandOverTest, what_became_final_in_the_middle_of_a_request_does_not_wait_for_it) {
  use_sessions(engine::Intent::write);
  TestClient writer = connect_with_items();
  TestClient stuck = connect_to_log();
  all_wrote_last();
  std::string meanwhile;
  engine_.on_next_request([&] { take_over_at_next_request([&] { meanwhile = writer.received(); }); });
  writer.send(insert_cup);
  stuck.send(insert_into_log);
  run_adrift();
  EXPECT_EQ(meanwhile, ok) << "it was committed before the request that is the first of its transaction";
  stand_in_turn();
  EXPECT_EQ(stuck.received(), ok);
  EXPECT_EQ(writer.received(), "");
}

TEST_F(HandOverTest, what_is_committed_while_the_loop_is_taken_does_not_wait_for_the_request_behind_it) {
  use_sessions(engine::Intent::write);
  TestClient writer = connect_with_items();
  TestClient stuck = connect_to_log();
  all_wrote_last();
  std::string meanwhile;
  size_t left_in_turn = 0;
  engine_.on_next_commit([&] { take_over(); });
  engine_.on_next_request([&] {  // of the writer
    engine_.on_next_request([&] {
      left_in_turn = turn_->members().size();
      stand_in_turn();
      meanwhile = writer.received();
      writer.send(insert_cup);
      writer.send(find_pen);
    });
  });
  writer.send(insert_cup);
  stuck.send(insert_into_log);
  run_adrift();
  EXPECT_EQ(meanwhile, ok);
  EXPECT_EQ(left_in_turn, 1) << "the loop may close and free the writer's connection";
  stand_in_turn();
  EXPECT_EQ(stuck.received(), ok);
  EXPECT_EQ(writer.received(), std::string("1\t1\t121\n").append(pen));
}

TEST_F(HandOverTest, what_one_thread_opened_any_thread_uses) {
  TestClient client = connect_with_items();
  TestClient other = connect_with_items();
  take_over_at_next_request([&] {
    other.send("P\t1\tshop\titem\t\tname\n1\t=\t1\t2\n");
    stand_in_turn();
    EXPECT_EQ(other.received(), std::string(ok).append("0\t1\tink\n"));
  });
  client.send(find_pen);
  run_adrift();
  EXPECT_EQ(ask(other, "1\t=\t1\t1\n"), "0\t1\tpen\n") << "in the first thread's turn";
  EXPECT_EQ(client.received(), pen);
}

TEST_F(HandOverTest, a_client_that_leaves_while_its_request_waits_is_forgotten_afterwards) {
  TestClient stuck = connect_with_items();
  take_over_at_next_request([&] {
    stuck.close();
    stand_in_turn();
    EXPECT_EQ(loop_->connections().size(), 1u) << "the stuck turn uses it";
  });
  stuck.send(find_pen);
  run_adrift();
  stand_in_turn();
  stand_in_turn();
  EXPECT_EQ(loop_->connections().size(), 0u);
}

TEST_F(HandOverTest, a_kill_closes_a_connection_that_is_away_when_it_is_back) {
  TestClient stuck = connect_with_items();
  take_over_at_next_request([&] {
    engine_.interrupt(engine::Interruption::close_connections);
    stand_in_turn();
    EXPECT_FALSE(stuck.sees_end());
  });
  stuck.send(find_pen);
  run_adrift();
  stand_in_turn();
  EXPECT_TRUE(stuck.sees_end());
}

TEST_F(HandOverTest, a_kill_closes_a_connection_that_was_away_and_is_back) {
  TestClient stuck = connect_with_items();
  take_over_at_next_request();
  stuck.send(find_pen);
  run_adrift();
  stand_in_turn();
  EXPECT_EQ(stuck.received(), pen);
  engine_.interrupt(engine::Interruption::close_connections);
  stand_in_turn();
  EXPECT_TRUE(stuck.sees_end());
}

TEST_F(HandOverTest, a_connection_that_is_away_is_not_idle) {
  settings_.idle_timeout_s = 1;
  reconfigure();
  TestClient stuck = connect_with_items();
  take_over_at_next_request([&] {
    clock_.advance_ms(5'000);
    stand_in_turn();
  });
  stuck.send(find_pen);
  run_adrift();
  stand_in_turn();
  EXPECT_EQ(stuck.received(), pen);
}

TEST_F(HandOverTest, others_are_served_while_the_host_does_not_say_who_may_come_in) {
  TestClient stuck = connect();
  TestClient other = connect_with_items();
  std::string meanwhile;
  engine_.admit_by([&](const engine::Entrance&) {
    engine_.admit_by(nullptr);
    const LoopToken::Ticket ticket = loop_->token().seen();
    EXPECT_TRUE(loop_->token().take(ticket));
    static_cast<void>(loop_->take_over(*stand_in_));
    other.send(find_ink);
    stand_in_turn();
    meanwhile = other.received();
    return engine::Admittance::granted;
  });
  stuck.send(std::string(open_items).append(find_pen));
  run_adrift();
  EXPECT_EQ(meanwhile, ink);
  stand_in_turn();
  EXPECT_EQ(stuck.received(), std::string(ok).append(pen));
  EXPECT_EQ(count(Counter::hand_overs), 1u);
}

TEST_F(HandOverTest, what_parks_in_a_turn_that_is_taken_over_is_tried_again) {
  engine_.create_table("shop.busy",
                       {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  constexpr std::string_view open_busy = "P\t1\tshop\tbusy\t\tid\n";
  constexpr std::string_view find_busy = "1\t=\t1\t1\n";
  TestClient stuck = connect_with_items();
  TestClient sooner = connect();
  TestClient later = connect();
  EXPECT_EQ(ask(sooner, open_busy), ok);
  EXPECT_EQ(ask(later, open_busy), ok);
  engine_.set_busy("shop.busy", true);
  ask(sooner, find_busy);
  clock_.advance_ms(1);
  ask(later, find_busy);
  clock_.advance_ms(1);
  take_over_at_next_request();  // of `stuck`; the other one does not begin
  stuck.send(find_pen);
  run_adrift();
  engine_.set_busy("shop.busy", false);
  clock_.advance_ms(10);
  stand_in_turn();
  EXPECT_EQ(sooner.received(), "0\t1\n");
  EXPECT_EQ(later.received(), "0\t1\n");
  EXPECT_EQ(stuck.received(), pen);
}

TEST_F(HandOverTest, the_stuck_thread_can_stand_in_for_its_stand_in) {
  TestClient first = connect_with_items();
  TestClient second = connect_with_items();
  take_over_at_next_request();
  first.send(find_pen);
  run_adrift();
  stand_in_turn();
  EXPECT_EQ(first.received(), pen);
  std::swap(turn_, stand_in_);
  take_over_at_next_request();
  second.send(find_ink);
  run_adrift();
  stand_in_turn();
  EXPECT_EQ(second.received(), ink);
}

// ---- real threads

class StandInTest : public ServerTest {
 protected:
  StandInTest() {
    config_.threads_read = config_.threads_write = 1;
    config_.threads_max = 8;
  }

  /// The next request waits until `let_go`.
  void hold_next_request(bool is_announced) {
    engine_.on_next_request(
        [this] {
          is_held_ = true;
          let_go_.wait(false);
        },
        is_announced);
  }
  void let_go() {
    let_go_ = true;
    let_go_.notify_all();
  }

  std::atomic<bool> is_held_{false};
  std::atomic<bool> let_go_{false};
};

class WhetherAnnounced : public StandInTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, WhetherAnnounced, testing::Bool());

TEST_P(WhetherAnnounced, a_request_that_waits_holds_up_nobody_on_its_worker) {
  start();
  TestClient stuck = with_items(reader());
  TestClient other = with_items(reader());
  hold_next_request(GetParam());
  stuck.send(find_pen);
  ASSERT_TRUE(eventually([this] { return is_held_.load(); }));
  EXPECT_EQ(other.ask(find_ink), ink);
  EXPECT_EQ(other.ask(find_ink), ink);
  let_go();
  EXPECT_EQ(stuck.lines(1), pen);
  EXPECT_EQ(stuck.ask(find_ink), ink);
  EXPECT_GE(server_.counter(Counter::hand_overs), 1u);
  EXPECT_EQ(server_.counter(Counter::requests_stopped), 0U) << "its client waited";
}

TEST_F(StandInTest, a_stand_in_that_nobody_needs_holds_no_table) {
  start();
  TestClient stuck = with_items(reader());
  TestClient other = with_items(reader());
  hold_next_request(true);
  stuck.send(find_pen);
  ASSERT_TRUE(eventually([this] { return is_held_.load(); }));
  EXPECT_EQ(other.ask(find_ink), ink);
  let_go();
  EXPECT_EQ(stuck.lines(1), pen);
  EXPECT_TRUE(eventually([this] { return engine_.sessions_holding_tables() == 0; }));
}

TEST_F(StandInTest, a_server_stops_while_a_request_waits_and_another_thread_has_the_loop) {
  start();
  TestClient stuck = with_items(reader());
  TestClient other = with_items(reader());
  hold_next_request(true);
  stuck.send(find_pen);
  ASSERT_TRUE(eventually([this] { return is_held_.load(); }));
  EXPECT_EQ(other.ask(find_ink), ink);
  std::thread releaser([this] { let_go(); });
  server_.stop();
  releaser.join();
  EXPECT_EQ(engine_.session_count(), 0u);
}

TEST_F(StandInTest, a_host_that_shuts_down_ends_every_stand_in) {
  start();
  std::vector<TestClient> stuck;
  for (int number = 0; number < 4; ++number) {
    stuck.push_back(with_items(reader()));
  }
  for (TestClient& client : stuck) {
    is_held_ = false;
    hold_next_request(true);
    client.send(find_pen);
    ASSERT_TRUE(eventually([this] { return is_held_.load(); }));
  }
  let_go();
  for (TestClient& client : stuck) {
    EXPECT_EQ(client.lines(1), pen);
  }
  EXPECT_GE(engine_.session_count(), 5U) << "two workers, and stand-ins";
  engine_.interrupt(engine::Interruption::stop);
  EXPECT_TRUE(eventually([this] { return engine_.session_count() == 0; }));
}

/// An engine whose sessions wait for something before they serve: for the disk, or for a lock.
class WaitingEngine : public engine::memory::MemoryEngine {
 public:
  std::unique_ptr<engine::Session> create_session(const engine::SessionOptions& options) override {
    for (const engine::Wait what : {engine::Wait::lock, engine::Wait::disk, engine::Wait::over}) {
      if (options.on_wait) {
        options.on_wait(what);
      }
    }
    return MemoryEngine::create_session(options);
  }
};

TEST_F(StandInTest, a_session_may_wait_where_there_is_no_turn) {
  WaitingEngine engine;
  create_items(engine);
  Server server(engine, log_, clock_);
  std::string failure;
  ASSERT_TRUE(server.start(config_, failure)) << failure;
  EXPECT_EQ(with_items(TestClient::over_tcp(server.port("read"))).ask(find_pen), pen);
  server.stop();
}

TEST_F(StandInTest, a_request_that_waits_for_a_lock_waits_on_a_thread_of_its_own) {
  start();
  TestClient waiting = with_items(writer());
  engine_.set_busy("shop.item", true);
  waiting.send(insert_cup);
  engine_.await_patient_wait();
  EXPECT_EQ(server_.counter(Counter::waited_alone), 1U);
  EXPECT_EQ(writer().ask("X\n"), "2\t1\tcmd\n") << "the loop goes on";
  engine_.set_busy("shop.item", false);
  EXPECT_EQ(waiting.lines(1), ok);
  EXPECT_EQ(waiting.ask(find_pen), pen) << "the connection is the loop's again";
}

TEST_F(StandInTest, one_thread_more_than_there_are_workers_is_a_stand_in) {
  config_.threads_read =
      0;  // as many as cores: then some threads are kept for more workers, if there are any
  config_.threads_max = std::max(1U, std::thread::hardware_concurrency()) + 2;
  start();
  TestClient stuck = with_items(reader());
  hold_next_request(true);
  stuck.send(find_pen);
  EXPECT_TRUE(eventually([this] { return server_.counter(Counter::hand_overs) == 1; }));
  let_go();
  EXPECT_EQ(stuck.lines(1), pen);
}

TEST_F(StandInTest, a_client_that_goes_while_its_request_waits_alone_is_waited_for_by_nobody) {
  start();
  TestClient waiting = with_items(writer());
  engine_.set_busy("shop.item", true);
  waiting.send(insert_cup);
  engine_.await_patient_wait();
  waiting.close();
  EXPECT_TRUE(eventually([this] { return server_.connections_write() == 0; }));
  EXPECT_EQ(server_.counter(Counter::requests_stopped), 1U);
  engine_.set_busy("shop.item", false);
  EXPECT_EQ(engine_.rows("shop.item").size(), 3U) << "it was not done";
}

TEST_F(StandInTest, a_client_that_goes_while_its_request_is_tried_again_and_again_is_forgotten) {
  config_.threads_max = 0;
  start();
  TestClient waiting = with_items(writer());
  engine_.set_busy("shop.item", true);
  waiting.send(insert_cup);
  ASSERT_TRUE(eventually([this] { return server_.counter(Counter::parked) == 1; }));
  waiting.close();
  EXPECT_TRUE(eventually([this] { return server_.connections_write() == 0; }));
}

TEST_F(StandInTest, more_requests_than_there_is_room_for_wait_and_all_are_done) {
  start();
  std::vector<TestClient> waiting;
  for (int number = 0; number < 30; ++number) {
    waiting.push_back(with_items(writer()));
  }
  engine_.set_busy("shop.item", true);
  for (TestClient& client : waiting) {
    client.send(find_pen);
  }
  engine_.await_patient_wait();
  ASSERT_TRUE(eventually([this] { return server_.counter(Counter::parked) == 30; }));
  engine_.set_busy("shop.item", false);
  for (TestClient& client : waiting) {
    EXPECT_EQ(client.lines(1), pen);
  }
  EXPECT_LE(server_.threads(), 8U);
}

TEST_F(StandInTest, a_client_that_is_held_back_goes_on_when_the_stuck_one_of_its_account_is_done) {
  config_.settings.account_requests_max = 1;
  start();
  TestClient stuck = with_items(writer());
  TestClient held_back = with_items(writer());
  hold_next_request(true);
  stuck.send(find_pen);
  ASSERT_TRUE(eventually([this] { return is_held_.load(); }));
  held_back.send(find_ink);
  ASSERT_TRUE(eventually([this] { return server_.counter(Counter::requests_held_back) == 1; }));
  let_go();
  EXPECT_EQ(stuck.lines(1), pen);
  EXPECT_EQ(held_back.lines(1), ink);
}

TEST_F(StandInTest, a_server_stops_while_requests_wait_alone) {
  start();
  TestClient waiting = with_items(writer());
  engine_.set_busy("shop.item", true);
  waiting.send(insert_cup);
  engine_.await_patient_wait();
  server_.stop();
  EXPECT_EQ(engine_.session_count(), 0u);
}

TEST_F(StandInTest, a_kill_ends_no_thread_that_waits_alone_for_good) {
  start();
  TestClient waiting = with_items(writer());
  engine_.set_busy("shop.item", true);
  waiting.send(insert_cup);
  engine_.await_patient_wait();
  engine_.interrupt(engine::Interruption::close_connections);
  engine_.set_busy("shop.item", false);
  EXPECT_TRUE(eventually([this] { return server_.connections_write() == 0; }));
  EXPECT_EQ(with_items(writer()).ask(find_pen), pen);
}

TEST_F(StandInTest, stand_ins_that_nobody_needs_end) {
  start();
  std::vector<TestClient> stuck;
  for (int number = 0; number < 4; ++number) {
    stuck.push_back(with_items(reader()));
    is_held_ = false;
    hold_next_request(true);
    stuck.back().send(find_pen);
    ASSERT_TRUE(eventually([this] { return is_held_.load(); }));
  }
  EXPECT_GT(server_.threads(), 3U);
  let_go();
  for (TestClient& client : stuck) {
    EXPECT_EQ(client.lines(1), pen);
  }
  EXPECT_TRUE(eventually([this] { return server_.idle_threads() == 0 && server_.threads() == 2; }));
  EXPECT_EQ(server_.counter(Counter::requests_find), 4U) << "what the threads counted is kept";
}

TEST_F(StandInTest, clients_with_requests_that_wait_now_and_then_get_every_reply_in_order) {
  start();
  constexpr int rounds = 300;
  std::atomic<bool> done{false};
  std::thread disturber([&] {
    while (!done) {
      engine_.on_next_request([] { std::this_thread::yield(); }, true);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> clients;
  for (int number = 0; number < 4; ++number) {
    clients.emplace_back([this] {
      TestClient client = with_items(writer());
      for (int round = 0; round < rounds; ++round) {
        client.send(std::string(find_pen).append(find_ink).append(find_pen));
        ASSERT_EQ(client.lines(3), std::string(pen).append(ink).append(pen));
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  done = true;
  disturber.join();
}

}  // namespace
}  // namespace rowsocket::server
