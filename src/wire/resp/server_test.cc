// SPDX-License-Identifier: GPL-2.0-only
//
// What clients ask of the server as a whole.
#include <gmock/gmock.h>
#include <unistd.h>

#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ServerTest : public RespTest {};

TEST_F(ServerTest, info_tells_the_sections_that_are_named) {
  const std::string some = answer_to({"INFO", "server", "REPLICATION"});
  EXPECT_THAT(some, HasSubstr("redis_version:"));
  EXPECT_THAT(some, HasSubstr("role:master"));
  EXPECT_THAT(some, Not(HasSubstr("# Clients")));
  EXPECT_THAT(answer_to({"INFO"}), HasSubstr("# Clients"));
  EXPECT_EQ(answer_to({"INFO", "nothing"}), "$0\r\n\r\n");
}

TEST_F(ServerTest, a_section_of_info_has_a_heading) {
  EXPECT_EQ(answer_to({"INFO", "persistence"}), "$26\r\n# Persistence\r\nloading:0\r\n\r\n");
  EXPECT_THAT(answer_to({"INFO", "rowsocket"}), HasSubstr("# RowSocket\r\ncontainers:"));
}

TEST_F(ServerTest, a_command_is_told_with_its_number_of_words_and_the_places_of_its_keys) {
  EXPECT_EQ(answer_to({"COMMAND", "INFO", "mset"}),
            "*1\r\n*6\r\n$4\r\nmset\r\n:-3\r\n*1\r\n+write\r\n:1\r\n:-1\r\n:2\r\n");
}

TEST_F(ServerTest, what_documents_a_command_is_a_map) {
  const std::string_view group = "$5\r\ngroup\r\n$6\r\nstring\r\n";
  EXPECT_EQ(answer_to({"COMMAND", "DOCS", "get"}), "*2\r\n$3\r\nget\r\n*2\r\n" + std::string(group));
  state.version = 3;
  EXPECT_EQ(answer_to({"COMMAND", "DOCS", "get"}), "%1\r\n$3\r\nget\r\n%1\r\n" + std::string(group));
}

TEST_F(ServerTest, a_command_that_is_not_there_is_null_among_those_that_are_asked_for) {
  EXPECT_EQ(answer_to({"COMMAND", "INFO", "nosuch"}), "*1\r\n*-1\r\n");
  EXPECT_EQ(answer_to({"COMMAND", "DOCS", "nosuch"}), "*0\r\n");
  state.version = 3;
  EXPECT_EQ(answer_to({"COMMAND", "INFO", "nosuch"}), "*1\r\n_\r\n");
}

TEST_F(ServerTest, all_commands_are_listed) {
  const std::string names = answer_to({"COMMAND", "LIST"});
  EXPECT_EQ("*" + answer_to({"COMMAND", "COUNT"}).substr(1), names.substr(0, names.find('\n') + 1));
  EXPECT_THAT(names, HasSubstr("$4\r\nhget\r\n"));
}

TEST_F(ServerTest, the_time_is_seconds_and_microseconds) {
  EXPECT_THAT(answer_to({"TIME"}),
              testing::MatchesRegex("\\*2\r\n\\$[0-9]+\r\n[0-9]+\r\n\\$[0-9]\r\n[0-9]+\r\n"));
}

TEST_F(ServerTest, settings_are_found_by_patterns_without_regard_to_case) {
  const std::string_view policy = "*2\r\n$16\r\nmaxmemory-policy\r\n$10\r\nnoeviction\r\n";
  for (const std::string_view pattern : {"maxmemory-policy", "MAXMEMORY-POLICY", "max*POLICY", "m?xmemory-*",
                                         "[a-m]axmemory-policy", "*-policy"}) {
    EXPECT_EQ(answer_to({"CONFIG", "GET", pattern}), policy) << pattern;
  }
  EXPECT_EQ(answer_to({"CONFIG", "GET", "nosuch*", ""}), "*0\r\n");
  state.version = 3;
  EXPECT_EQ(answer_to({"CONFIG", "GET", "maxmemory-policy"}), "%1" + std::string(policy).substr(2));
  state.version = 2;
  EXPECT_THAT(answer_to({"CONFIG", "GET", "save", "maxmemory"}), HasSubstr("*4\r\n"));
  EXPECT_THAT(answer_to({"CONFIG", "SET", "save", ""}), HasSubstr("-ERR of CONFIG only GET is there"));
}

struct BusyServer final : ServerFigures {
  [[nodiscard]] uint64_t counter(Counter counter) const override {
    return counter == Counter::requests_find ? 5 : 0;
  }
  [[nodiscard]] uint64_t connections() const override { return 7; }
  [[nodiscard]] uint32_t workers() const override { return 2; }
  [[nodiscard]] uint64_t uptime_s() const override { return 60; }
};

TEST_F(ServerTest, info_tells_the_figures_of_the_server) {
  const BusyServer server;
  figures = &server;
  settings.max_connections = 100;
  const std::string all = answer_to({"INFO"});
  for (const std::string_view told :
       {"# Server", "redis_mode:standalone", "server_name:rowsocket", "uptime_in_seconds:60", "# Replication",
        "# Clients", "connected_clients:7", "maxclients:100", "# Cluster", "cluster_enabled:0", "# Keyspace",
        "workers:2", "requests_find:5"}) {
    EXPECT_THAT(all, HasSubstr(std::string(told) + "\r\n"));
  }
  EXPECT_THAT(all, HasSubstr("process_id:" + std::to_string(::getpid()) + "\r\n"));
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
