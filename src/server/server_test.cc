// SPDX-License-Identifier: GPL-2.0-only
//
// The whole of RowSocket over the memory engine: real sockets, real threads.
#include "server/server.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "server/server_fixture.h"

namespace rowsocket::server {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(ServerTest, reads_and_writes_on_their_ports) {
  start();
  TestClient read = with_items(reader());
  TestClient write = with_items(writer());
  EXPECT_EQ(read.ask(find_pen), pen);
  EXPECT_EQ(read.ask("0\t+\t2\t10\tcup\n"), "2\t1\treadonly\n");
  EXPECT_EQ(write.ask("0\t+\t2\t10\tcup\n"), ok);
  EXPECT_EQ(read.ask("0\t=\t1\t10\n"), "0\t2\t10\tcup\n");
  EXPECT_EQ(server_.connections_read(), 1u);
  EXPECT_EQ(server_.connections_write(), 1u);
}

TEST_F(ServerTest, one_port_can_serve_both) {
  start();
  const uint32_t port = server_.port("read");
  config_.doors[door_read].port = config_.doors[door_write].port = port;
  server_.stop();
  Server both(engine_, log_, clock_);
  std::string failure;
  ASSERT_TRUE(both.start(config_, failure)) << failure;
  EXPECT_EQ(both.port("read"), port);
  EXPECT_EQ(both.port("write"), port);
  TestClient client = with_items(TestClient::over_tcp(both.port("write")));
  EXPECT_EQ(client.ask("0\t+\t2\t10\tcup\n"), ok);
  EXPECT_EQ(client.ask("0\t=\t1\t10\n"), "0\t2\t10\tcup\n");
}

TEST_F(ServerTest, serves_ipv6_where_there_is_one) {
  start();
  const auto lines = log_.lines();
  if (std::any_of(lines.begin(), lines.end(),
                  [](const std::string& line) { return line.find("no IPv6") != std::string::npos; })) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  TestClient client = with_items(TestClient::over_tcp(server_.port("read"), "::1"));
  EXPECT_EQ(client.ask(find_pen), pen);
}

TEST_F(ServerTest, unix_sockets_serve_beside_or_instead_of_tcp) {
  config_.tcp = false;
  config_.doors[door_read].socket = path("r");
  config_.doors[door_write].socket = path("w");
  start();
  EXPECT_EQ(server_.port("read"), 0u);
  EXPECT_EQ(server_.port("write"), 0u);
  TestClient read = with_items(TestClient::over_unix(path("r")));
  TestClient write = with_items(TestClient::over_unix(path("w")));
  EXPECT_EQ(write.ask("0\t+\t2\t10\tcup\n"), ok);
  EXPECT_EQ(read.ask("0\t+\t2\t11\tmug\n"), "2\t1\treadonly\n");
  server_.stop();
  EXPECT_FALSE(std::filesystem::exists(path("r")));
  EXPECT_FALSE(std::filesystem::exists(path("w")));
}

TEST_F(ServerTest, says_where_it_serves) {
  start();
  EXPECT_THAT(log_.lines(),
              Contains(HasSubstr("serves reads on 127.0.0.1:" + std::to_string(server_.port("read")))));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("serves reads and writes on 127.0.0.1:" +
                                               std::to_string(server_.port("write")))));
}

TEST_F(ServerTest, says_that_it_serves_nobody) {
  config_.tcp = false;
  start();
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("serves nobody")));
}

TEST_F(ServerTest, says_nothing_of_nobody_where_it_serves_a_socket) {
  config_.tcp = false;
  config_.doors[door_read].socket = path("read");
  start();
  EXPECT_THAT(log_.lines(), Not(Contains(HasSubstr("serves nobody"))));
}

// ---- what can not start

TEST_F(ServerTest, a_taken_port_is_a_clear_failure_that_leaves_nothing_open) {
  start();
  Config taken = config_;
  taken.doors[door_read].socket = path("r");
  taken.doors[door_write].port = server_.port("write");
  Server second(engine_, log_, clock_);
  std::string failure;
  EXPECT_FALSE(second.start(taken, failure));
  EXPECT_THAT(failure, StartsWith("rowsocket_port_write: 127.0.0.1:" +
                                  std::to_string(taken.doors[door_write].port) + " is in use"));
  EXPECT_EQ(second.port("read"), 0u);
  EXPECT_FALSE(std::filesystem::exists(path("r")));
}

TEST_F(ServerTest, a_bad_address_or_socket_path_names_its_variable) {
  std::string failure;
  config_.address = "localhost";
  EXPECT_FALSE(server_.start(config_, failure));
  EXPECT_THAT(failure, StartsWith("rowsocket_address: 'localhost' is not a numeric"));

  Server second(engine_, log_, clock_);
  config_.address = "127.0.0.1";
  config_.doors[door_write].socket = path("nowhere/w");
  EXPECT_FALSE(second.start(config_, failure));
  EXPECT_THAT(failure, StartsWith("rowsocket_socket_write: "));
}

// ---- many clients

TEST_F(ServerTest, a_thousand_connections_are_spread_evenly_and_all_answered) {
  start();
  std::vector<TestClient> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(reader());
  }
  for (TestClient& client : clients) {
    client.send(std::string(open_items).append(find_pen));
  }
  for (TestClient& client : clients) {
    ASSERT_EQ(client.lines(2), std::string(ok).append(pen));
  }
  EXPECT_EQ(server_.connections_read(), 1000u);
  EXPECT_TRUE(eventually([this] {
    const auto texts = engine_.activities();
    return std::count(texts.begin(), texts.end(), "rowsocket: read worker, 500 connections") == 2;
  }));
  clients.clear();
  EXPECT_TRUE(eventually([this] { return server_.connections_read() == 0; }));
  EXPECT_EQ(server_.counter(Counter::connections_accepted), 1000u);
  EXPECT_EQ(server_.counter(Counter::connections_closed), 1000u);
}

TEST_F(ServerTest, who_is_too_many_is_closed_at_once_and_counted) {
  config_.settings.max_connections = 2;
  start();
  TestClient first = with_items(reader());
  TestClient second = with_items(writer());
  TestClient third = reader();
  EXPECT_EQ(third.rest(), "");
  EXPECT_EQ(server_.counter(Counter::connections_refused), 1u);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("rowsocket_max_connections")));
  first.close();
  EXPECT_TRUE(eventually([this] { return server_.connections_read() == 0; }));
  with_items(reader());
}

TEST_F(ServerTest, out_of_descriptors_clients_wait_until_there_are_some) {
  start();
  with_items(reader());
  EXPECT_TRUE(eventually([this] { return server_.connections_read() == 0; }));
  const net::Descriptor socket_of_client(::socket(AF_INET, SOCK_STREAM, 0));
  net::SocketAddress address;
  ASSERT_TRUE(
      net::SocketAddress::from_numeric("127.0.0.1", static_cast<uint16_t>(server_.port("read")), address));

  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none_left{static_cast<rlim_t>(socket_of_client.get()) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  ASSERT_EQ(::connect(socket_of_client.get(), address.data(), address.size()), 0);
  EXPECT_TRUE(eventually([this] {
    const auto lines = log_.lines();
    return std::any_of(lines.begin(), lines.end(),
                       [](const auto& line) { return line.find("open_files_limit") != line.npos; });
  }));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  TestClient client{net::Descriptor(::dup(socket_of_client.get()))};
  EXPECT_EQ(client.ask(open_items), ok);
}

TEST_F(ServerTest, who_resets_in_the_middle_of_a_request_disturbs_nobody) {
  start();
  TestClient other = with_items(reader());
  for (int i = 0; i < 50; ++i) {
    TestClient rude = with_items(reader());
    rude.send(repeat(find_big, 3).append("0\t="));
    rude.reset();
  }
  EXPECT_EQ(other.ask(find_pen), pen);
  EXPECT_TRUE(eventually([this] { return server_.connections_read() == 1; }));
}

TEST_F(ServerTest, large_replies_reach_a_slow_reader_whole) {
  start();
  TestClient client = with_items(reader());
  client.send(repeat(find_big, 5));
  EXPECT_TRUE(client.lines(5) == repeat(big(), 5));
}

// ---- idle

TEST_F(ServerTest, idle_workers_hold_no_tables_and_take_no_turns) {
  start();
  TestClient read = with_items(reader());
  TestClient write = with_items(writer());
  EXPECT_EQ(write.ask("0\t+\t2\t10\tcup\n"), ok);
  EXPECT_EQ(read.ask(find_pen), pen);
  EXPECT_TRUE(eventually([this] { return engine_.sessions_holding_tables() == 0; }));
  EXPECT_EQ(server_.counter(Counter::turns), 4u);
}

// ---- orders from outside

TEST_F(ServerTest, reconfigured_limits_hold_for_the_next_request) {
  start();
  TestClient client = with_items(reader());
  config_.settings.id_max = 1;
  config_.settings.secret_read = "sesame";
  server_.reconfigure(config_.settings);
  EXPECT_EQ(client.ask("P\t1\tshop\titem\t\tid\n"), "2\t1\tstmtnum\n");
  EXPECT_EQ(client.ask(find_pen), pen);
  EXPECT_EQ(reader().ask(open_items), "3\t1\tunauth\n");
}

TEST_F(ServerTest, a_kill_closes_idle_connections_and_new_ones_are_served) {
  start();
  TestClient client = with_items(reader());
  engine_.interrupt(engine::Interruption::close_connections);
  EXPECT_EQ(client.rest(), "");
  with_items(reader());
}

TEST_F(ServerTest, a_shutdown_of_the_host_closes_connections_and_refuses_new_ones) {
  start();
  TestClient client = with_items(reader());
  EXPECT_TRUE(eventually([this] { return engine_.session_count() == 4; }));
  engine_.interrupt(engine::Interruption::stop);
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(eventually([this] { return engine_.session_count() == 0; }));
  EXPECT_EQ(reader().rest(), "");
  EXPECT_EQ(server_.counter(Counter::table_opens), 1u) << "workers that ended still count";
}

TEST_F(ServerTest, a_host_that_never_serves_gets_its_clients_refused) {
  engine_.refuse_sessions();
  start();
  EXPECT_TRUE(eventually([this] {  // it takes a moment until the workers have ended
    EXPECT_EQ(reader().rest(), "");
    return server_.counter(Counter::connections_refused) > 0;
  }));
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("is refused: no worker serves it")));
}

TEST_F(ServerTest, stops_with_clients_connected) {
  start();
  std::vector<TestClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(with_items(i % 2 == 0 ? reader() : writer()));
  }
  clients[0].send("0\t=");
  clients[1].send(repeat(find_big, 3));
  server_.stop();
  server_.stop();
  for (TestClient& client : clients) {
    client.rest();
  }
  EXPECT_EQ(server_.connections_read() + server_.connections_write(), 0u);
  EXPECT_EQ(server_.counter(Counter::connections_closed), 20u);
  EXPECT_EQ(engine_.session_count(), 0u);
}

TEST_F(ServerTest, stops_under_load_and_keeps_every_write_that_it_acknowledged) {
  start();
  std::atomic<int> connected = 0;
  std::atomic<int> acknowledged = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      TestClient client = with_items(writer());
      ++connected;
      for (int id = 1000 * (number + 1); client.ask("0\t+\t2\t" + std::to_string(id) + "\tx\n") == ok; ++id) {
        ++acknowledged;
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return connected == 4 && acknowledged > 20; }));
  server_.stop();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GE(engine_.rows("shop.item").size(), 3u + static_cast<size_t>(acknowledged));
}

}  // namespace
}  // namespace rowsocket::server
