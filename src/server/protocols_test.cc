// SPDX-License-Identifier: GPL-2.0-only
//
// Two protocols in one server, over real sockets: HandlerSocket and the echo protocol. The echo protocol has
// what HandlerSocket lacks: a state of each connection, bytes that ask for nothing, silent requests, a
// goodbye.
#include "server/protocols.h"

#include <gmock/gmock.h>

#include "server/server_fixture.h"
#include "wire/echo/echo.h"

namespace rowsocket::server {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view echo_open_items = "OPEN 0 shop item id,name\n";
constexpr std::string_view echo_pen = "ROW 1 0000000006\n 1 pen\nEND\n";

/// A door for the echo protocol beside those of HandlerSocket.
class TwoProtocolsTest : public ServerTest {
 protected:
  TwoProtocolsTest() { config_.doors.push_back(echo_door()); }

  static Door echo_door() {
    return {.name = "echo",
            .protocol_name = "echo",
            .protocol = &wire::echo::echo_protocol(),
            .intent = engine::Intent::write,
            .port = 0};
  }
  TestClient echo() const { return TestClient::over_tcp(server_.port("echo")); }
  TestClient echo_with_items() const {
    TestClient client = echo();
    EXPECT_EQ(client.ask(echo_open_items), "OPENED\n");
    return client;
  }
};

TEST(ProtocolsTest, handlersocket_is_served_on_two_doors) {
  const std::vector<Door> doors = registered_doors();
  ASSERT_EQ(doors.size(), door_count);
  EXPECT_EQ(doors[door_read].name, "read");
  EXPECT_EQ(doors[door_read].intent, engine::Intent::read);
  EXPECT_EQ(doors[door_write].name, "write");
  EXPECT_EQ(doors[door_write].intent, engine::Intent::write);
  EXPECT_EQ(doors[door_read].protocol, doors[door_write].protocol);
}

TEST_F(TwoProtocolsTest, each_door_speaks_its_protocol_on_the_same_rows) {
  start();
  TestClient other = echo_with_items();
  TestClient client = with_items(writer());
  EXPECT_EQ(client.ask("0\t+\t2\t10\tcup\n"), ok);
  other.send("GET 0 10 11\n");
  EXPECT_EQ(other.lines(4), "ROW 10 0000000007\n 10 cup\nMISS 11\nEND\n");
  EXPECT_EQ(other.ask("DROP 0 10\n"), "1\n");
  EXPECT_EQ(client.ask("0\t=\t1\t10\n"), "0\t2\n");
}

TEST_F(TwoProtocolsTest, each_answers_what_it_does_not_understand_in_its_own_words) {
  start();
  EXPECT_EQ(echo().ask(open_items), "ERROR unknown_command\n");
  EXPECT_EQ(writer().ask(echo_open_items), "2\t1\tcmd\n");
}

TEST_F(TwoProtocolsTest, a_request_can_be_silent) {
  start();
  TestClient client = echo_with_items();
  client.send("DROP 0 1 noreply\nDROP 0 99 noreply\nDROP 7 1 noreply\nMISSES 0 1 2\n");
  EXPECT_EQ(client.lines(1), "1\n");
}

TEST_F(TwoProtocolsTest, what_a_protocol_remembers_belongs_to_one_connection) {
  start();
  TestClient skipping = echo_with_items();
  TestClient other = echo_with_items();
  EXPECT_EQ(skipping.ask("SKIP 8\nGET 9 1\nMISSES 0 1\n"), "0\n");
  skipping.send("SKIP 16\nGET 9 1\n");
  EXPECT_EQ(other.ask("MISSES 0 1\n"), "0\n") << "it was not told to skip";
  EXPECT_EQ(skipping.ask("GET 9 1\nMISSES 0 1 99\n"), "1\n");
}

TEST_F(TwoProtocolsTest, bytes_that_ask_for_nothing_are_no_requests) {
  start();
  TestClient client = echo_with_items();
  EXPECT_EQ(client.ask("\n\nSKIP 12\nGET 0 1 2 3\n\nMISSES 0 1\n"), "0\n");
  EXPECT_TRUE(eventually([this] { return server_.counter(Counter::turn_requests) >= 2; }));
  EXPECT_EQ(server_.counter(Counter::turn_requests), 2u) << "an open and a find";
}

TEST_F(TwoProtocolsTest, who_says_goodbye_is_answered_what_it_asked_before_and_nobody_need_know) {
  start();
  const size_t lines_before = log_.lines().size();
  TestClient client = echo_with_items();
  client.send("GET 0 1\nQUIT\nGET 0 2\n");
  EXPECT_EQ(client.rest(), echo_pen);
  EXPECT_TRUE(eventually([this] { return server_.connections_write() == 0; }));
  EXPECT_EQ(log_.lines().size(), lines_before);
}

TEST_F(TwoProtocolsTest, a_stream_that_can_not_be_followed_is_refused_in_its_protocols_words) {
  config_.settings.line_bytes_max = limits::line_bytes_min;
  start();
  const std::string too_long(limits::line_bytes_min + 1, 'x');
  TestClient other = echo_with_items();
  other.send("GET 0 1\n" + too_long);
  EXPECT_EQ(other.rest(), std::string(echo_pen) + "ERROR line_too_long\n");
  TestClient client = with_items(writer());
  client.send(std::string(find_pen) + too_long);
  EXPECT_EQ(client.rest(), std::string(pen) + "2\t1\ttoolong\n");
}

TEST_F(TwoProtocolsTest, says_which_protocol_it_serves_where) {
  start();
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("serves reads and writes on 127.0.0.1:" +
                                               std::to_string(server_.port("echo")) + ", protocol echo")));
  EXPECT_THAT(log_.lines(),
              Contains(HasSubstr("serves reads on 127.0.0.1:" + std::to_string(server_.port("read")) +
                                 ", protocol handlersocket")));
  EXPECT_EQ(server_.port("no such door"), 0u);
}

TEST_F(TwoProtocolsTest, two_protocols_can_not_share_a_port) {
  start();
  Config taken = config_;
  taken.doors[door_read].port = taken.doors[door_write].port = 0;
  taken.doors.back().port = server_.port("echo");
  Server second(engine_, log_, clock_);
  std::string failure;
  EXPECT_FALSE(second.start(taken, failure));
  EXPECT_THAT(failure, StartsWith("rowsocket_port_echo: "));
}

TEST_F(TwoProtocolsTest, a_protocol_is_served_on_its_unix_socket_too) {
  config_.tcp = false;
  config_.doors.back().socket = path("e");
  config_.doors[door_write].socket = path("w");
  start();
  EXPECT_EQ(TestClient::over_unix(path("e")).ask(echo_open_items), "OPENED\n");
  with_items(TestClient::over_unix(path("w")));
}

}  // namespace
}  // namespace rowsocket::server
