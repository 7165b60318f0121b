// SPDX-License-Identifier: GPL-2.0-only
//
// A TurnLoop that turns only when the test says so, on the test's own thread: a memory engine below, socket
// pairs above, and a clock that the test moves.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>

#include "server/test_support.h"
#include "server/turn_loop.h"
#include "wire/handlersocket/handlersocket.h"

namespace rowsocket::server {

class TurnLoopTest : public testing::Test {
 protected:
  TurnLoopTest() {
    create_items(engine_);
    board_.publish(settings_);
    session_ = engine_.create_session(
        {.intent = engine::Intent::write, .selections = selections_, .counters = &counters_});
    TurnLoop::Surroundings surroundings{*selections_, inbox_,       poller_,        counters_, board_,
                                        clock_,       limited_log_, account_loads_, "write"};
    surroundings.bell = &bell_;
    surroundings.send_ring = &send_ring_;
    surroundings.commits = &commits_under_way_;
    loop_ = std::make_unique<TurnLoop>(surroundings);
    turn_ = std::make_unique<Turn>(Turn::Surroundings{.session = *session_,
                                                      .counters = counters_,
                                                      .clock = clock_,
                                                      .token = &loop_->token(),
                                                      .numbers = numbers_,
                                                      .long_requests = &long_requests_},
                                   board_.current());
  }

  TestClient connect(const Protocol& protocol = wire::handlersocket::handlersocket_protocol()) {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    EXPECT_EQ(::fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    Arrival arrival{std::make_unique<net::PlainTransport>(net::Descriptor(fds[1])),
                    {"test"},
                    ++connections_,
                    exec::Access::write,
                    &protocol};
    EXPECT_TRUE(inbox_.offer(arrival));
    turn();
    return TestClient(net::Descriptor(fds[0]));
  }
  TestClient connect_with_items() {
    TestClient client = connect();
    EXPECT_EQ(ask(client, open_items), ok);
    return client;
  }
  /// It has asked enough for the loop to judge it by itself.
  TestClient connect_known() {
    TestClient client = connect_with_items();
    for (uint32_t turns = 0; turns < limits::own_turns_until_known; ++turns) {
      EXPECT_EQ(ask(client, find_pen), pen);
    }
    return client;
  }

  /// From now on each request takes so long.
  void each_takes(uint64_t us) {
    engine_.on_next_request([this, us] {
      clock_.advance_us(us);
      each_takes(us);
    });
  }
  [[nodiscard]] ClientConnection& connection(size_t number) { return *loop_->connections().all()[number]; }
  /// Turns that never wait.
  bool turn(int times = 1) {
    bool goes_on = true;
    while (times-- > 0) {
      inbox_.wake();
      goes_on = loop_->run(*turn_) == TurnLoop::Ended::well;
    }
    return goes_on;
  }
  std::string ask(TestClient& client, std::string_view requests, int turns = 1) {
    EXPECT_TRUE(client.send(requests));
    turn(turns);
    return client.received();
  }
  /// The worker has received all of a line but its end.
  void send_without_end(TestClient& client, std::string_view line) {
    const uint64_t before = count(Counter::bytes_received);
    EXPECT_TRUE(client.send(line.substr(0, line.size() - 1)));
    while (count(Counter::bytes_received) - before < line.size() - 1) {
      turn();
    }
  }
  void pass_ms(uint64_t milliseconds) {
    clock_.advance_ms(milliseconds);
    turn();
  }
  void reconfigure() { board_.publish(settings_); }
  [[nodiscard]] uint64_t count(Counter counter) const { return counters_.read(counter); }

  Settings settings_;
  engine::memory::MemoryEngine engine_;
  Counters counters_;
  Inbox inbox_;
  net::Epoll poller_;
  net::SendRing send_ring_;
  Bell bell_;
  CommitsUnderWay commits_under_way_;
  SettingsBoard board_;
  ManualClock clock_;
  TestLog log_;
  AccountLoads account_loads_;
  LimitedLog limited_log_{log_, clock_, "rowsocket-w0"};
  std::shared_ptr<engine::OpenedSelections> selections_ = std::make_shared<engine::OpenedSelections>();
  exec::LongRequests long_requests_{1};
  UniqueNumbers numbers_{0};
  std::unique_ptr<engine::Session> session_;
  std::unique_ptr<TurnLoop> loop_;
  std::unique_ptr<Turn> turn_;
  uint64_t connections_ = 0;
};

}  // namespace rowsocket::server
