// SPDX-License-Identifier: GPL-2.0-only
//
// For tests of a loop that another thread goes on with: they play both threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {

class HandOverTest : public TurnLoopTest {
 protected:
  /// Reading sessions do not wait for each other in this engine.
  HandOverTest() { use_sessions(engine::Intent::read); }

  void use_sessions(engine::Intent intent) {
    turn_.reset();
    stand_in_.reset();
    session_ = engine_.create_session({.intent = intent, .selections = selections_, .counters = &counters_});
    turn_ = std::make_unique<Turn>(
        Turn::Surroundings{.session = *session_,
                           .counters = counters_,
                           .clock = clock_,
                           .token = &loop_->token(),
                           .numbers = numbers_,
                           .settled_adrift = [this] { loop_->give_back_settled(*turn_); },
                           .commits = {.begins = [this] { commits_under_way_.begin(clock_.now_ms()); },
                                       .ended = [this](uint64_t us) { commits_under_way_.end(us); }}},
        board_.current());
    stand_in_session_ = engine_.create_session(
        {.intent = intent, .selections = selections_, .counters = &stand_in_counters_});
    stand_in_ = std::make_unique<Turn>(
        Turn::Surroundings{*stand_in_session_, stand_in_counters_, clock_, &loop_->token(), numbers_},
        board_.current());
  }

  void take_over() {
    const LoopToken::Ticket ticket = loop_->token().seen();
    ASSERT_TRUE(loop_->token().take(ticket));
    stand_in_->reserve(loop_->connections().size());
    static_cast<void>(loop_->take_over(*stand_in_));
  }
  /// While the next request waits, the stand-in takes over, and then `meanwhile` happens.
  void take_over_at_next_request(std::function<void()> meanwhile = [] {}) {
    engine_.on_next_request([this, meanwhile = std::move(meanwhile)] {
      take_over();
      meanwhile();
    });
  }
  void take_over_at_next_commit(std::function<void()> meanwhile = [] {}) {
    engine_.on_next_commit([this, meanwhile = std::move(meanwhile)] {
      take_over();
      meanwhile();
    });
  }
  /// A client whose insert into `log` must be the first of its transaction. From here on clients come in the
  /// order in which they send.
  TestClient connect_to_log() {
    TestClient client = connect();
    engine_.create_table("shop.log", {.columns = {engine::memory::integer("id")},
                                      .indexes = {{"PRIMARY", {"id"}, true}},
                                      .has_transactions = false});
    EXPECT_EQ(ask(client, "P\t1\tshop\tlog\t\tid\n"), ok);
    turn();
    return client;
  }
  /// Nobody comes before others for reading.
  void all_wrote_last() {
    for (const auto& connection : loop_->connections().all()) {
      connection->wrote_last = true;
    }
  }
  /// The stuck turn, from its execution to its end.
  void run_adrift() {
    inbox_.wake();
    ASSERT_EQ(loop_->run(*turn_), TurnLoop::Ended::adrift);
    turn_->keep_unsettled();
    turn_->commit();
    turn_->session().release_tables();
    loop_->give_back(turn_->members());
  }
  /// What the turn says of itself while the last of these requests is under way.
  bool only_reads_in_last_of(std::string_view requests) {
    use_sessions(engine::Intent::write);
    TestClient client = connect_with_items();
    bool only_reads = false;
    const std::function<void()> look = [&] {
      only_reads = turn_->only_reads();
      engine_.on_next_request(look);
    };
    engine_.on_next_request(look);
    EXPECT_NE(ask(client, requests), "");
    engine_.on_next_request(nullptr);
    return only_reads;
  }
  /// One of the stand-in's.
  void stand_in_turn() {
    inbox_.wake();
    EXPECT_EQ(loop_->run(*stand_in_), TurnLoop::Ended::well);
  }

  Counters stand_in_counters_;
  std::unique_ptr<engine::Session> stand_in_session_;
  std::unique_ptr<Turn> stand_in_;
};

}  // namespace rowsocket::server
