// SPDX-License-Identifier: GPL-2.0-only
//
// What the connections of a worker refuse while a turn has their requests, and how their replies leave.
#include "server/connections.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "engine/memory/memory_engine.h"
#include "net/failing_call.h"
#include "server/test_support.h"
#include "server/turn.h"
#include "wire/handlersocket/handlersocket.h"

namespace rowsocket::server {
namespace {

class ConnectionsTest : public testing::Test {
 protected:
  ConnectionsTest() { client_ = connect<net::PlainTransport>(connection_); }
  template <typename Transport>
  std::unique_ptr<TestClient> connect(ClientConnection*& connection) {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    EXPECT_EQ(::fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    Arrival arrival{std::make_unique<Transport>(net::Descriptor(fds[1])),
                    {"test"},
                    1,
                    exec::Access::read,
                    &wire::handlersocket::handlersocket_protocol()};
    EXPECT_TRUE(inbox_.offer(arrival));
    std::vector<Arrival> arrivals;
    inbox_.take(arrivals);
    const exec::Account account(exec::Access::read, settings_);
    connection = &connections_.add(
        std::make_unique<ClientConnection>(std::move(arrivals.front()), account, clock_.now_ms()));
    return std::make_unique<TestClient>(net::Descriptor(fds[0]));
  }
  [[nodiscard]] uint64_t newly_broken() const { return broken_invariants() - broken_before_; }

  Settings settings_;
  engine::memory::MemoryEngine engine_;
  Counters counters_;
  Inbox inbox_;
  net::Epoll poller_;
  ManualClock clock_;
  TestLog log_;
  LimitedLog limited_log_{log_, clock_, "rowsocket-w0"};
  AccountLoads account_loads_;
  net::SendRing send_ring_;
  Connections connections_{Connections::Surroundings{inbox_, poller_, counters_, limited_log_, account_loads_,
                                                     nullptr, &send_ring_}};
  std::unique_ptr<TestClient> client_;
  ClientConnection* connection_ = nullptr;

 private:
  uint64_t broken_before_ = broken_invariants();
};

TEST_F(ConnectionsTest, no_reply_leaves_before_the_turn_that_made_it_is_committed) {
  connection_->stream.output().append("0\t1\n");
  connection_->is_in_turn = true;
  connections_.send(*connection_, clock_.now_ms());
  EXPECT_EQ(client_->received(), "");
  EXPECT_TRUE(connection_->is_closed());
  EXPECT_EQ(newly_broken(), 1U);
}

/// Like that of TLS, which has to do more than to send.
class SendsItsOwnWay final : public net::Transport {
 public:
  explicit SendsItsOwnWay(net::Descriptor socket) : plain_(std::move(socket)) {}

  [[nodiscard]] int fd() const override { return plain_.fd(); }
  [[nodiscard]] net::Transfer receive(char* place, size_t byte_count_max) override {
    return plain_.receive(place, byte_count_max);
  }
  [[nodiscard]] net::Transfer send(const char* bytes, size_t byte_count) override {
    const std::string sealed = "sealed " + std::string(bytes, byte_count);
    EXPECT_EQ(plain_.send(sealed.data(), sealed.size()).byte_count, sealed.size());
    return {net::Transfer::Status::moved, byte_count};
  }
  void shut_down_output() override { plain_.shut_down_output(); }
  [[nodiscard]] bool is_gone() const override { return plain_.is_gone(); }
  [[nodiscard]] bool is_broken() const override { return plain_.is_broken(); }

 private:
  net::PlainTransport plain_;
};

class SendTest : public ConnectionsTest {
 protected:
  void connect_another() {
    clients_.push_back(connect<net::PlainTransport>(all_.emplace_back()));
    reply_to(*all_.back());
  }
  void reply_to(ClientConnection& connection) { connection.stream.output().append(reply); }
  void send_all() { connections_.send_all(all_, clock_.now_ms()); }
  void expect_replies() {
    for (size_t number = 0; number < all_.size(); ++number) {
      EXPECT_EQ(clients_[number]->received(), reply) << number;
      EXPECT_FALSE(all_[number]->stream.has_output());
      EXPECT_EQ(all_[number]->shown.bytes_sent, reply.size());
    }
    EXPECT_EQ(counters_.read(Counter::bytes_sent), all_.size() * reply.size());
  }

  static constexpr std::string_view reply = "0\t1\n";
  std::vector<ClientConnection*> all_;
  std::vector<std::unique_ptr<TestClient>> clients_;
};

TEST_F(SendTest, all_of_a_turn_have_their_replies) {
  for (size_t count = 0; count < 2 * net::SendRing::sends_max + 1; ++count) {
    connect_another();
  }
  send_all();
  expect_replies();
}

TEST_F(SendTest, the_replies_of_several_leave_without_a_call_for_each) {
  if (!send_ring_.open()) {
    GTEST_SKIP() << "this system has no io_uring for us";
  }
  connect_another();
  connect_another();
  ASSERT_TRUE(net::while_call_fails(SYS_sendto, EIO, [&] { send_all(); }));
  expect_replies();
}

TEST_F(SendTest, of_a_ring_that_the_kernel_takes_nothing_of_any_more_nothing_is_lost) {
  connect_another();
  connect_another();
  ASSERT_TRUE(net::while_call_fails(SYS_io_uring_enter, EAGAIN, [&] { send_all(); }));
  send_all();
  expect_replies();
}

TEST_F(SendTest, who_is_closed_or_has_nothing_to_send_is_left_out) {
  connect_another();
  connect_another();
  connect_another();
  connections_.close(*all_[0]);
  all_[1]->stream.output().clear();
  send_all();
  EXPECT_EQ(clients_[0]->received(), "");
  EXPECT_EQ(clients_[1]->received(), "");
  EXPECT_EQ(clients_[2]->received(), reply);
}

TEST_F(SendTest, who_is_gone_is_closed_and_no_other) {
  connect_another();
  connect_another();
  clients_[0].reset();
  send_all();
  EXPECT_TRUE(all_[0]->is_closed());
  EXPECT_EQ(clients_[1]->received(), reply);
}

TEST_F(SendTest, what_has_to_be_sealed_is_not_sent_by_the_ring) {
  connect_another();
  clients_.push_back(connect<SendsItsOwnWay>(all_.emplace_back()));
  reply_to(*all_.back());
  connect_another();
  send_all();
  EXPECT_EQ(clients_[1]->received(), "sealed 0\t1\n");
  EXPECT_EQ(clients_[2]->received(), reply);
}

TEST_F(SendTest, of_an_output_that_was_given_up_nothing_is_sent) {
  connect_another();
  connect_another();
  all_[0]->stream.output().give_up();
  all_[0]->stream.output().append("a reply to something else");
  send_all();
  EXPECT_EQ(clients_[0]->received(), "");
  EXPECT_TRUE(all_[0]->is_closed());
  EXPECT_EQ(clients_[1]->received(), reply);
}

TEST_F(SendTest, no_reply_leaves_before_the_turn_that_made_it_is_committed) {
  connect_another();
  connect_another();
  all_[0]->is_in_turn = true;
  send_all();
  EXPECT_EQ(clients_[0]->received(), "");
  EXPECT_TRUE(all_[0]->is_closed());
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(ConnectionsTest, nothing_is_received_while_requests_view_the_input) {
  client_->send("0\t=\t1\t1\n");
  connection_->is_in_turn = true;
  EXPECT_FALSE(connections_.receive(*connection_).is_new);
  EXPECT_TRUE(connection_->stream.input().empty());
  EXPECT_TRUE(connection_->is_closed());
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(ConnectionsTest, a_connection_with_another_ones_slot_is_not_removed) {
  connection_->slot = 1;
  connections_.close(*connection_);
  connections_.remove_closed();
  EXPECT_EQ(connections_.size(), 1U);
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(ConnectionsTest, nobody_hears_of_a_connection_that_is_gone_though_its_socket_is_open_elsewhere) {
  connections_.await_input(*connection_);
  const net::Descriptor of_a_login(::fcntl(connection_->stream.fd(), F_DUPFD_CLOEXEC, 0));
  const void* const gone = connection_;
  connections_.close(*connection_);
  connections_.remove_closed();
  client_->send("0\t=\t1\t1\n");
  for (const net::Poller::Event& event : poller_.wait(0)) {
    EXPECT_NE(event.tag, gone);
  }
}

/// What a protocol remembers of a client.
struct LargeState final : WireState {
  [[nodiscard]] size_t held_bytes() const override { return 1'000'000; }
};

TEST_F(ConnectionsTest, what_a_protocol_remembers_counts_as_held_memory) {
  const engine::OpenedSelections selections;
  connection_->wire_state = std::make_unique<LargeState>();
  connections_.rest(*connection_);
  connections_.bound_held_bytes(1'000'100, selections);
  EXPECT_FALSE(connection_->is_closed());
  connections_.bound_held_bytes(999'999, selections);
  EXPECT_TRUE(connection_->is_closed());
  EXPECT_EQ(connection_->wire_state, nullptr);
}

TEST_F(ConnectionsTest, what_another_thread_uses_is_not_closed_for_what_it_holds) {
  const engine::OpenedSelections selections;
  connection_->wire_state = std::make_unique<LargeState>();
  connections_.rest(*connection_);
  connection_->is_away = true;
  connections_.bound_held_bytes(1, selections);
  EXPECT_FALSE(connection_->is_closed());
  EXPECT_NE(connection_->wire_state, nullptr);
  connection_->is_away = false;
  connections_.rest(*connection_);
  connections_.bound_held_bytes(1, selections);
  EXPECT_TRUE(connection_->is_closed());
}

class TurnTest : public ConnectionsTest {
 protected:
  std::unique_ptr<engine::Session> session_ = engine_.create_session({});
  LoopToken token_;
  UniqueNumbers numbers_{0};
  Pipelines pipelines_;
  Turn turn_{Turn::Surroundings{*session_, counters_, clock_, &token_, numbers_},
             std::make_shared<const Settings>(settings_)};
};

TEST_F(TurnTest, a_connection_joins_a_turn_once) {
  turn_.begin(clock_.now_ms(), pipelines_);
  turn_.join(*connection_);
  turn_.join(*connection_);
  EXPECT_EQ(turn_.members().size(), 1U);
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(TurnTest, a_turn_that_took_more_than_its_input_holds_costs_the_connection) {
  turn_.begin(clock_.now_ms(), pipelines_);
  turn_.join(*connection_);
  connection_->parsed_bytes = 1;
  turn_.commit();
  EXPECT_EQ(connection_->state, ClientConnection::State::failed);
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(TurnTest, a_request_that_is_put_back_was_presented) {
  turn_.begin(clock_.now_ms(), pipelines_);
  turn_.join(*connection_);
  connection_->client.put_back_at = 1;
  turn_.commit();
  EXPECT_EQ(connection_->state, ClientConnection::State::failed);
  EXPECT_EQ(newly_broken(), 1U);
}

}  // namespace
}  // namespace rowsocket::server
