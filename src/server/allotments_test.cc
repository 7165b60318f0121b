// SPDX-License-Identifier: GPL-2.0-only
//
// The places of an account's requests in one worker, where another worker gives some back at any moment.
// What clients see of them is in account_limits_test.cc.
#include "server/allotments.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <vector>

#include "net/transport.h"
#include "wire/handlersocket/handlersocket.h"

namespace rowsocket::server {
namespace {

using testing::ElementsAre;

class AllotmentsTest : public testing::Test {
 protected:
  AllotmentsTest() { limit_to(1); }
  ~AllotmentsTest() override {
    for (const auto& connection : connections_) {
      allotments_.close(*connection);
      allotments_.remove(*connection);
    }
  }
  void limit_to(uint32_t requests) {
    settings_.account_requests_max = requests;
    static_cast<void>(allotments_.use_settings(settings_));
  }
  /// A connection of the anonymous account.
  ClientConnection& connect() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    const net::Descriptor client(fds[0]);
    Arrival arrival{std::make_unique<net::PlainTransport>(net::Descriptor(fds[1])), "test", 1,
                    exec::Access::read, &wire::handlersocket::handlersocket_protocol()};
    const exec::Account account(exec::Access::read, settings_);
    auto& connection =
        *connections_.emplace_back(std::make_unique<ClientConnection>(std::move(arrival), account, 0));
    allotments_.place(connection);
    EXPECT_TRUE(connection.membership.allotment->let_in(connection, 0));
    return connection;
  }
  bool asks(ClientConnection& connection) const {
    return connection.membership.allotment->has_place(connection, settings_.account_requests_max);
  }
  /// It has asked, and there was no place.
  void hold_back(ClientConnection& connection) {
    EXPECT_FALSE(asks(connection));
    connection.state = ClientConnection::State::held_back;
    allotments_.end_turn_of(connection);
    allotments_.hold_back(connection);
  }
  std::vector<ClientConnection*> go_on() {
    std::vector<ClientConnection*> found;
    allotments_.take_waiting([&found](ClientConnection& connection) { found.push_back(&connection); });
    return found;
  }

  Settings settings_;
  Counters counters_;
  AccountLoads loads_;
  Inbox inbox_;
  Inbox other_worker_;
  std::shared_ptr<AccountLoad> load_ = loads_.of("");
  Allotments allotments_{loads_, inbox_, counters_};
  std::vector<std::unique_ptr<ClientConnection>> connections_;
};

TEST_F(AllotmentsTest, who_waits_comes_before_who_asks_when_a_place_is_free) {
  ClientConnection& first = connect();
  ClientConnection& later = connect();
  EXPECT_EQ(load_->take_requests(1, other_worker_), 1U);
  hold_back(first);
  allotments_.end_turn();
  load_->give_back_requests(1);  // in the middle of a turn
  hold_back(later);
  allotments_.end_turn();
  EXPECT_TRUE(allotments_.some_may_go_on());
  EXPECT_THAT(go_on(), ElementsAre(&first));
}

}  // namespace
}  // namespace rowsocket::server
