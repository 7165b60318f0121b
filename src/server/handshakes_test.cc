// SPDX-License-Identifier: GPL-2.0-only
//
// Clients inside TLS, on the whole of RowSocket.
#include "server/handshakes.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>

#include <condition_variable>
#include <mutex>

#include "server/server_fixture.h"
#include "tls/test_peer.h"

namespace rowsocket::server {
namespace {

/// A client inside TLS. Waits at most 20 seconds for anything.
class TlsClient {
 public:
  TlsClient(const tls::TestSessions& sessions, TestClient wire)
      : wire_(std::move(wire)), peer_(sessions.make_client()) {}

  /// False if the server closes before it is done.
  bool shake_hands() {
    while (!peer_.shake_hands()) {
      if (!exchange()) {
        return false;
      }
    }
    wire_.send(peer_.take_output());
    return true;
  }
  std::string ask(std::string_view request) {
    peer_.write(request);
    std::string answer;
    while (answer.find('\n') == std::string::npos && exchange()) {
      answer += peer_.read();
    }
    return answer;
  }
  void close() { wire_.close(); }
  /// Of what it has to say next, all but the last byte.
  void answer_but_for_a_byte() {
    EXPECT_TRUE(exchange());
    EXPECT_TRUE(peer_.shake_hands());
    std::string bytes = peer_.take_output();
    bytes.pop_back();
    wire_.send(bytes);
  }
  /// The first bytes. Nothing is waited for.
  void begin() {
    EXPECT_FALSE(peer_.shake_hands());
    wire_.send(peer_.take_output());
  }
  void change_keys() {
    EXPECT_EQ(SSL_key_update(peer_.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    EXPECT_TRUE(peer_.shake_hands());
  }

 private:
  /// Send what is to be sent, and take what comes.
  bool exchange() {
    wire_.send(peer_.take_output());
    char piece[65536];
    pollfd waiting{wire_.fd(), POLLIN, 0};
    const ssize_t count = ::poll(&waiting, 1, 20'000) == 1 ? ::recv(wire_.fd(), piece, sizeof piece, 0) : 0;
    if (count > 0) {
      peer_.give_input({piece, static_cast<size_t>(count)});
    }
    return count > 0;
  }

  TestClient wire_;
  tls::TestPeer peer_;
};

class HandshakesTest : public ServerTest {
 protected:
  void start_with_tls() {
    std::string failure;
    ASSERT_TRUE(secured_.start(config_, failure)) << failure;
  }
  ~HandshakesTest() override { secured_.stop(); }

  [[nodiscard]] TestClient plain() const { return TestClient::over_tcp(secured_.port("read")); }
  [[nodiscard]] TlsClient inside() const { return {sessions_, plain()}; }

  tls::TestSessions sessions_;
  Server secured_{engine_, log_, clock_, &sessions_};
};

TEST_F(HandshakesTest, a_client_inside_tls_is_served_beside_plain_ones) {
  start_with_tls();
  TestClient beside = with_items(plain());
  TlsClient client = inside();
  ASSERT_TRUE(client.shake_hands());
  EXPECT_EQ(client.ask(open_items), ok);
  EXPECT_EQ(client.ask(find_pen), pen);
  EXPECT_EQ(beside.ask(find_ink), ink);
  EXPECT_EQ(secured_.connections_tls(), 1U);
  EXPECT_EQ(secured_.connections_read(), 2U);
  EXPECT_EQ(secured_.counter(Counter::tls_handshakes), 1U);
  EXPECT_EQ(secured_.counter(Counter::connections_closed), 0U);
  client.close();
  EXPECT_TRUE(eventually([this] { return secured_.connections_tls() == 0; }));
  EXPECT_TRUE(eventually([this] { return secured_.counter(Counter::connections_closed) == 1; }));
}

TEST_F(HandshakesTest, a_large_reply_comes_whole) {
  start_with_tls();
  TlsClient client = inside();
  ASSERT_TRUE(client.shake_hands());
  EXPECT_EQ(client.ask(open_items), ok);
  EXPECT_EQ(client.ask(find_big), big());
}

TEST_F(HandshakesTest, a_client_that_changes_keys_again_and_again_is_closed_with_a_note) {
  start_with_tls();
  TlsClient client = inside();
  ASSERT_TRUE(client.shake_hands());
  for (uint32_t count = 0; count < limits::tls_messages_max; ++count) {
    client.change_keys();
  }
  EXPECT_EQ(client.ask(open_items), ok);
  client.change_keys();
  EXPECT_EQ(client.ask(find_pen), "");
  EXPECT_TRUE(eventually([this] { return secured_.connections_tls() == 0; }));
  EXPECT_THAT(log_.lines(), testing::Contains(testing::HasSubstr("changes keys")));
}

TEST_F(HandshakesTest, a_handshake_that_ends_early_leaves_nothing) {
  start_with_tls();
  plain().send("\x16\x03\x01");
  plain().send("\x16 is followed by garbage");
  EXPECT_TRUE(eventually([this] { return secured_.counter(Counter::tls_handshakes_failed) == 2; }));
  EXPECT_TRUE(eventually([this] { return secured_.connections_read() == 0; }));
  EXPECT_EQ(secured_.counter(Counter::connections_closed), 2U);
  EXPECT_EQ(secured_.counter(Counter::connections_accepted), 2U);
  EXPECT_THAT(log_.lines(), testing::Contains(testing::HasSubstr("its TLS handshake failed: ")));
}

TEST_F(HandshakesTest, a_connection_counts_while_it_shakes_hands) {
  config_.settings.max_connections = 1;
  start_with_tls();
  TestClient half = plain();
  half.send("\x16\x03\x01");
  TestClient late = plain();
  EXPECT_EQ(late.rest(), "");
  half.close();
  EXPECT_TRUE(eventually([this] { return secured_.connections_read() == 0; }));
  EXPECT_EQ(plain().ask(open_items), ok);
}

TEST_F(HandshakesTest, one_that_shakes_hands_can_be_killed) {
  start_with_tls();
  const auto shown_count = [this] {
    size_t count = 0;
    Server::ConnectionsRead read;
    for (std::vector<ConnectionFigures> figures; figures.clear(), secured_.read_connections(read, figures);) {
      count += figures.size();
    }
    return count;
  };
  TestClient client = plain();
  EXPECT_TRUE(eventually([&] { return shown_count() == 1; }));
  client.send("\x16\x03\x01");
  EXPECT_TRUE(eventually([&] { return shown_count() == 0; })) << "it has left its worker";
  EXPECT_TRUE(secured_.kill_connection(1));
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(secured_.counter(Counter::connections_killed), 1U);
}

TEST_F(HandshakesTest, the_server_stops_in_the_middle_of_handshakes) {
  start_with_tls();
  std::vector<TestClient> clients;
  for (int number = 0; number < 20; ++number) {
    clients.push_back(plain());
    clients.back().send("\x16\x03\x01");
  }
  EXPECT_TRUE(eventually([this] { return secured_.counter(Counter::connections_accepted) == 20; }));
  secured_.stop();
  EXPECT_EQ(secured_.connections_read(), 0U);
  EXPECT_EQ(clients.front().rest(), "");
}

TEST_F(HandshakesTest, without_a_certificate_who_begins_with_tls_is_closed) {
  start();
  TestClient client = reader();
  client.send("\x16\x03\x01");
  EXPECT_EQ(client.rest(), "");
  EXPECT_THAT(log_.lines(), testing::Contains(testing::HasSubstr("has no certificate (ssl_cert)")));
}

TEST_F(HandshakesTest, plain_clients_over_tcp_are_refused_where_tls_is_required) {
  config_.settings.require_tls = true;
  config_.doors[door_write].socket = path("write");
  start_with_tls();
  TestClient refused = plain();
  EXPECT_EQ(refused.ask(open_items), "3\t1\ttls\n");
  refused.close_output();
  EXPECT_EQ(refused.rest(), "");
  EXPECT_EQ(TestClient::over_unix(path("write")).ask(open_items), ok);
  TlsClient client = inside();
  ASSERT_TRUE(client.shake_hands());
  EXPECT_EQ(client.ask(open_items), ok);
}

TEST_F(HandshakesTest, who_came_over_a_unix_socket_is_known_as_such_inside_tls) {
  config_.doors[door_write].socket = path("write");
  std::atomic<int> over_unix{0};
  engine_.admit_by([&over_unix](const engine::Entrance& entrance) {
    over_unix += entrance.is_unix ? 1 : 0;
    return engine::Admittance::granted;
  });
  start_with_tls();
  TlsClient over_tcp = inside();
  ASSERT_TRUE(over_tcp.shake_hands());
  EXPECT_EQ(over_tcp.ask(open_items), ok);
  EXPECT_EQ(over_unix, 0);
  TlsClient client(sessions_, TestClient::over_unix(path("write")));
  ASSERT_TRUE(client.shake_hands());
  EXPECT_EQ(client.ask(open_items), ok);
  EXPECT_EQ(over_unix, 1);
}

TEST_F(HandshakesTest, many_shake_hands_at_a_time) {
  start_with_tls();
  std::vector<std::thread> threads;
  std::atomic<int> served{0};
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([this, &served] {
      for (int round = 0; round < 10; ++round) {
        TlsClient client = inside();
        served += client.shake_hands() && client.ask(open_items) == ok && client.ask(find_pen) == pen ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(served, 40);
  EXPECT_TRUE(eventually([this] { return secured_.connections_tls() == 0; }));
}

// ---- whose handshake goes on

/// Each handshake begins when the test lets it.
class GatedSessions final : public tls::Sessions {
 public:
  [[nodiscard]] tls::Session make() override {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.wait(lock, [this] { return allowed_ > 0; });
    --allowed_;
    return sessions_.make();
  }
  void allow(int count) {
    const std::lock_guard lock(mutex_);
    allowed_ += count;
    changed_.notify_all();
  }
  [[nodiscard]] int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  [[nodiscard]] const tls::TestSessions& sessions() const { return sessions_; }

 private:
  tls::TestSessions sessions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int asked_ = 0;
  int allowed_ = 0;
};

/// The thread for handshakes alone, with clients of several addresses.
class HandshakeTurnsTest : public testing::Test {
 protected:
  HandshakeTurnsTest() {
    std::string failure;
    EXPECT_TRUE(handshakes_.start(failure)) << failure;
    sockaddr_in address = address_of("127.0.0.1");
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 100), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    place_ = address;
  }
  ~HandshakeTurnsTest() override {
    sessions_.allow(1000);
    handshakes_.stop();
    inbox_.close();
  }

  static sockaddr_in address_of(const char* host) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, host, &address.sin_addr), 1);
    return address;
  }
  /// A client of this address has come and sent its first bytes.
  TlsClient come(const char* host) {
    const sockaddr_in from = address_of(host);
    net::Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&place_), sizeof place_), 0);
    net::Descriptor accepted(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK));
    TlsClient client(sessions_.sessions(), TestClient(std::move(socket)));
    client.begin();
    Arrival arrival{.transport = nullptr,
                    .peer = {.text = host, .party = host},
                    .number = 1,
                    .port_access = {},
                    .protocol = nullptr};
    handshakes_.add({std::move(arrival), std::move(accepted), &inbox_});
    return client;
  }
  [[nodiscard]] bool asked_for(int count) {
    return eventually([this, count] { return sessions_.asked() == count; });
  }
  [[nodiscard]] bool some_are_done(uint64_t count) {
    return eventually([this, count] { return handshakes_.count(Counter::tls_handshakes) == count; });
  }

  TestLog log_;
  ManualClock clock_;
  GatedSessions sessions_;
  Inbox inbox_;
  net::Descriptor listener_{::socket(AF_INET, SOCK_STREAM, 0)};
  sockaddr_in place_{};
  Handshakes handshakes_{&sessions_, log_, clock_};
};

TEST_F(HandshakeTurnsTest, a_flood_of_one_address_delays_another_by_one_step_at_a_time) {
  std::vector<TlsClient> flood;
  for (int number = 0; number < 30; ++number) {
    flood.push_back(come("127.0.0.2"));
  }
  ASSERT_TRUE(asked_for(1));
  TlsClient other = come("127.0.0.9");
  sessions_.allow(3);
  ASSERT_TRUE(asked_for(4));
  ASSERT_TRUE(other.shake_hands());
  sessions_.allow(2);
  EXPECT_TRUE(some_are_done(1));
  EXPECT_LE(sessions_.asked(), 6);
}

TEST_F(HandshakeTurnsTest, what_the_thread_takes_for_others_does_not_count_for_the_time_out) {
  TlsClient client = come("127.0.0.9");
  sessions_.allow(1);
  ASSERT_TRUE(asked_for(1));
  const TlsClient other = come("127.0.0.2");
  ASSERT_TRUE(asked_for(2));
  ASSERT_TRUE(client.shake_hands());
  clock_.advance_us((limits::handshake_timeout_ms + 1) * 1000);
  sessions_.allow(1);
  EXPECT_TRUE(some_are_done(1));
  EXPECT_EQ(handshakes_.count(Counter::tls_handshakes_failed), 0U);
}

TEST_F(HandshakeTurnsTest, who_sends_a_little_now_and_then_has_no_more_time) {
  TlsClient slow = come("127.0.0.9");
  sessions_.allow(1);
  ASSERT_TRUE(asked_for(1));
  const TlsClient other = come("127.0.0.2");
  ASSERT_TRUE(asked_for(2));
  clock_.advance_us((limits::handshake_timeout_ms - 1) * 1000);
  slow.answer_but_for_a_byte();
  const TlsClient last = come("127.0.0.3");
  sessions_.allow(1);
  ASSERT_TRUE(asked_for(3));
  clock_.advance_us(2 * 1000);
  sessions_.allow(1);
  EXPECT_TRUE(eventually([this] { return handshakes_.count(Counter::tls_handshakes_failed) == 1; }));
}

TEST_F(HandshakeTurnsTest, who_keeps_the_thread_waiting_is_closed) {
  const TlsClient silent = come("127.0.0.9");
  sessions_.allow(1);
  ASSERT_TRUE(asked_for(1));
  const TlsClient other = come("127.0.0.2");
  ASSERT_TRUE(asked_for(2));
  clock_.advance_us((limits::handshake_timeout_ms + 1) * 1000);
  sessions_.allow(1);
  EXPECT_TRUE(eventually([this] { return handshakes_.count(Counter::tls_handshakes_failed) == 1; }));
  EXPECT_THAT(log_.lines(), testing::Contains(testing::HasSubstr("in time")));
}

}  // namespace
}  // namespace rowsocket::server
