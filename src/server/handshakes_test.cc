// SPDX-License-Identifier: GPL-2.0-only
//
// Clients inside TLS, on the whole of RowSocket.
#include "server/handshakes.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace rowsocket::server
