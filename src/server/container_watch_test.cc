// SPDX-License-Identifier: GPL-2.0-only
//
// The table of containers is read while the server runs: over the memory engine, with real threads.
#include "server/container_watch.h"

#include <gmock/gmock.h>

#include "server/server_fixture.h"

namespace rowsocket::server {
namespace {

using engine::memory::nullable;
using engine::memory::text;
using testing::HasSubstr;

class ContainerWatchTest : public ServerTest {
 protected:
  ContainerWatchTest() {
    config_.doors[door_memcached].port = 0;
    config_.containers = "admin.containers";
  }

  static engine::memory::TableDefinition shape() {
    engine::memory::TableDefinition definition{.columns = {}, .indexes = {{"PRIMARY", {"name"}, true}}};
    for (const char* column : {"name", "db_schema", "db_table", "key_columns", "value_columns", "flags",
                               "cas_column", "expire_time_column", "unique_idx_name_on_key"}) {
      definition.columns.push_back(nullable(text(column, 100'000)));
    }
    return definition;
  }
  void add(const std::string& name, const std::string& value_column = "name") {
    EXPECT_TRUE(engine_.insert("admin.containers",
                               {name, "shop", "item", "id", value_column, std::nullopt, "0", "", "PRIMARY"}));
  }
  TestClient memcached() const { return TestClient::over_tcp(server_.port("memcached")); }
  /// What it will be answered, sooner or later.
  bool will_answer(std::string_view request, const std::string& reply, size_t lines) {
    TestClient client = memcached();
    return eventually([&] {
      std::string answer = client.ask(request);
      while (answer.starts_with("VALUE") &&
             static_cast<size_t>(std::count(answer.begin(), answer.end(), '\n')) < lines) {
        answer += client.lines(1);
      }
      return answer == reply;
    });
  }
  std::string error() {
    TestClient client = memcached();
    return client.ask("get 1\r\n");
  }
};

TEST_F(ContainerWatchTest, a_container_is_served_as_soon_as_it_is_there) {
  engine_.create_table("admin.containers", shape());
  start();
  add("items");
  EXPECT_TRUE(will_answer("get 1\r\n", "VALUE 1 0 3\r\npen\r\nEND\r\n", 3));
  EXPECT_TRUE(will_answer("get @@items.2\r\n", "VALUE @@items.2 0 3\r\nink\r\nEND\r\n", 3));
}

TEST_F(ContainerWatchTest, processlist_shows_it) {
  start();
  EXPECT_TRUE(eventually([this] {
    const std::vector<std::string> shown = engine_.activities();
    return std::find(shown.begin(), shown.end(), "rowsocket: watches the table of containers") != shown.end();
  }));
}

TEST_F(ContainerWatchTest, the_table_may_come_later_and_go) {
  start();
  EXPECT_TRUE(eventually([this] { return error().find("cannot_open_table") != std::string::npos; }));
  engine_.create_table("admin.containers", shape());
  add("items");
  EXPECT_TRUE(will_answer("get 1\r\n", "VALUE 1 0 3\r\npen\r\nEND\r\n", 3));
  engine_.drop_table("admin.containers");
  EXPECT_TRUE(eventually([this] { return error().starts_with("SERVER_ERROR"); }));
  EXPECT_THAT(
      error(),
      HasSubstr("rowsocket_containers=admin.containers: cannot_open_table: no table admin.containers"));
}

TEST_F(ContainerWatchTest, a_table_of_another_shape_says_which_column_it_lacks) {
  engine::memory::TableDefinition other = shape();
  other.columns[5].name = "colour";
  engine_.create_table("admin.containers", other);
  start();
  EXPECT_TRUE(eventually([this] { return error().find("no column 'flags'") != std::string::npos; }));
}

TEST_F(ContainerWatchTest, a_table_that_is_locked_changes_nothing) {
  engine_.create_table("admin.containers", shape());
  add("items");
  start();
  EXPECT_TRUE(will_answer("get 1\r\n", "VALUE 1 0 3\r\npen\r\nEND\r\n", 3));
  engine_.set_busy("admin.containers", true);
  TestClient client = memcached();
  client.send("get 1\r\n");
  EXPECT_EQ(client.lines(3), "VALUE 1 0 3\r\npen\r\nEND\r\n");
  engine_.set_busy("admin.containers", false);
}

TEST_F(ContainerWatchTest, a_container_that_does_not_fit_its_table_fails_alone) {
  engine_.create_table("admin.containers", shape());
  add("items");
  add("wrong", "colour");
  start();
  EXPECT_TRUE(will_answer("get 1\r\n", "VALUE 1 0 3\r\npen\r\nEND\r\n", 3));
  EXPECT_EQ(memcached().ask("get @@wrong.1\r\n"),
            "SERVER_ERROR container 'wrong': no_such_column: no column 'colour'\r\n");
}

TEST_F(ContainerWatchTest, settings_that_change_leave_the_containers) {
  engine_.create_table("admin.containers", shape());
  add("items");
  start();
  EXPECT_TRUE(will_answer("get 1\r\n", "VALUE 1 0 3\r\npen\r\nEND\r\n", 3));
  config_.settings.secret_read = "key";
  server_.reconfigure(config_.settings);
  EXPECT_TRUE(eventually([this] { return error() == "CLIENT_ERROR unauthenticated\r\n"; }));
  TestClient client = memcached();
  EXPECT_EQ(client.ask("set any 0 0 8\r\nuser key\r\n"), "STORED\r\n");
  client.send("get 1\r\n");
  EXPECT_EQ(client.lines(3), "VALUE 1 0 3\r\npen\r\nEND\r\n");
}

TEST_F(ContainerWatchTest, a_table_without_rows_is_one_without_containers) {
  engine_.create_table("admin.containers", shape());
  start();
  EXPECT_TRUE(eventually([this] {
    return error().find("the table of containers has no row") != std::string::npos;
  })) << error();
}

TEST_F(ContainerWatchTest, a_reading_that_fails_keeps_nobody_waiting) {
  engine_.create_table("admin.containers", shape());
  add("items");
  Counters counters;
  const auto session = engine_.create_session({.intent = engine::Intent::read, .counters = &counters});
  engine_.fail_read(1, Error(ErrorCode::engine, 126));
  ContainerReading reading;
  EXPECT_TRUE(read_containers(*session, "admin.containers", reading));
  EXPECT_THAT(reading.problem, HasSubstr("126"));
  config_.containers.clear();
  start();
  EXPECT_EQ(with_items(writer()).ask("0\t+\t2\t10\tcup\n"), ok);
}

TEST_F(ContainerWatchTest, a_reading_is_bounded) {
  engine_.create_table("admin.containers", shape());
  for (size_t number = 0; number < limits::containers_max + 1; ++number) {
    add("c" + std::to_string(number));
  }
  add("b", std::string(50'000, 'v'));
  Counters counters;
  const auto session = engine_.create_session({.intent = engine::Intent::read, .counters = &counters});
  ContainerReading reading;
  EXPECT_TRUE(read_containers(*session, "admin.containers", reading));
  EXPECT_EQ(reading.rows.size(), limits::containers_max);
  EXPECT_TRUE(reading.has_surplus);
  EXPECT_EQ(reading.rows.front()[0], "c0") << "the row that is too long is left out";
  EXPECT_EQ(engine_.sessions_holding_tables(), 0U);
}

TEST_F(ContainerWatchTest, a_row_that_is_too_long_is_noticed) {
  engine_.create_table("admin.containers", shape());
  add("a");
  add("b", std::string(50'000, 'v'));
  Counters counters;
  const auto session = engine_.create_session({.intent = engine::Intent::read, .counters = &counters});
  ContainerReading reading;
  EXPECT_TRUE(read_containers(*session, "admin.containers", reading));
  EXPECT_EQ(reading.rows.size(), 1U);
  EXPECT_TRUE(reading.has_surplus);
}

TEST_F(ContainerWatchTest, a_table_that_is_kept_from_being_read_is_no_reading) {
  engine_.create_table("admin.containers", shape());
  add("a");
  Counters counters;
  const auto session = engine_.create_session({.intent = engine::Intent::read, .counters = &counters});
  ContainerReading reading;
  engine_.set_busy("admin.containers", true);
  EXPECT_FALSE(read_containers(*session, "admin.containers", reading));
  engine_.set_busy("admin.containers", false);
  engine_.fail_read(1, Error(ErrorCode::engine, 146).because(Reason::row_locked));
  EXPECT_FALSE(read_containers(*session, "admin.containers", reading));
  engine_.fail_read(1, Error(ErrorCode::engine, 126));
  EXPECT_TRUE(read_containers(*session, "admin.containers", reading));
  EXPECT_EQ(reading.problem, "rowsocket_containers=admin.containers: engine 126");
  ContainerReading later;
  EXPECT_TRUE(read_containers(*session, "admin.containers", later));
  EXPECT_EQ(later.problem, "");
  EXPECT_EQ(later.rows.size(), 1U);
}

TEST_F(ContainerWatchTest, a_kill_does_not_end_the_watch) {
  start();
  EXPECT_TRUE(eventually([this] { return error().find("cannot_open_table") != std::string::npos; }));
  engine_.interrupt(engine::Interruption::close_connections);
  engine_.create_table("admin.containers", shape());
  add("items");
  EXPECT_TRUE(eventually([this] { return error().starts_with("VALUE 1 0 3"); }));
}

TEST_F(ContainerWatchTest, the_log_says_what_is_not_served) {
  engine_.create_table("admin.containers", shape());
  add("items");
  add("wrong", "");
  add("long", std::string(50'000, 'v'));
  start();
  EXPECT_TRUE(will_answer("get 1\r\n", "VALUE 1 0 3\r\npen\r\nEND\r\n", 3));
  server_.stop();
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr("container 'wrong' is not served: ")));
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr("serves 2 containers of admin.containers")));
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr("has more rows, or longer ones")));
}

TEST_F(ContainerWatchTest, the_log_says_why_none_is_served) {
  start();
  EXPECT_TRUE(eventually([this] { return error().find("cannot_open_table") != std::string::npos; }));
  server_.stop();
  EXPECT_THAT(log_.lines(), testing::Contains(HasSubstr(
                                "serves no containers: rowsocket_containers=admin.containers: cannot_open")));
}

TEST_F(ContainerWatchTest, nobody_watches_where_there_is_no_table_to_watch) {
  config_.containers.clear();
  start();
  EXPECT_EQ(error(), "SERVER_ERROR rowsocket_containers names no table, or it was not read yet\r\n");
}

TEST_F(ContainerWatchTest, the_door_is_off_unless_it_is_given_a_port) {
  EXPECT_EQ(registered_doors()[door_memcached].port, port_off);
  config_.doors[door_memcached].port = port_off;
  start();
  EXPECT_EQ(server_.port("memcached"), 0U);
}

}  // namespace
}  // namespace rowsocket::server
