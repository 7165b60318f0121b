// SPDX-License-Identifier: GPL-2.0-only
//
// The vocabulary of exec's tests: a small shop in a memory engine, connections, and requests that are built
// in words (`Ask`). Replies are the text of `TextProtocol`.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/limits.h"
#include "engine/memory/memory_engine.h"
#include "exec/ask.h"
#include "exec/executor.h"

namespace rowsocket::exec {

using engine::memory::Row;
inline constexpr std::nullopt_t NULL_VALUE = std::nullopt;

struct Connection {
  explicit Connection(Account account) : client(std::move(account)) {}
  /// From now on not a byte more can be written to it.
  void refuse_memory() {
    out.release();
    out.set_bytes_max(0);
  }

  Client client;
  Buffer out;
  std::vector<Ask> asked;     ///< in this turn
  std::vector<Ask> put_back;  ///< of the last turn: what is to be presented again
};

/// The shop: item(id, shelf, name, stock), and an executor of a write worker on it.
///   1 10 pen 5 | 2 10 ink 0 | 3 20 cap NULL | 4 20 box 7 | 5 30 jar 9
class ExecutorFixture {
 public:
  ExecutorFixture() {
    engine.create_table("shop.item",
                        {.columns = {engine::memory::integer("id"), engine::memory::integer("shelf"),
                                     engine::memory::text("name", 8),
                                     engine::memory::nullable(engine::memory::integer("stock"))},
                         .indexes = {{"PRIMARY", {"id"}, true},
                                     {"by_shelf", {"shelf"}, false},
                                     {"by_shelf_name", {"shelf", "name"}, true},
                                     {"by_stock", {"stock"}, false}}});
    for (const Row& row : std::vector<Row>{{"1", "10", "pen", "5"},
                                           {"2", "10", "ink", "0"},
                                           {"3", "20", "cap", NULL_VALUE},
                                           {"4", "20", "box", "7"},
                                           {"5", "30", "jar", "9"}}) {
      EXPECT_TRUE(engine.insert("shop.item", row));
    }
    use_session(engine::Intent::write);
  }

  [[nodiscard]] std::unique_ptr<engine::Session> new_session(engine::Intent intent) {
    engine::SessionOptions options;
    options.intent = intent;
    options.counters = &counters;
    return engine.create_session(options);
  }
  void use_session(engine::Intent intent) {
    executor.reset();
    session = new_session(intent);
    executor = std::make_unique<Executor>(*session, counters, shared_settings(), clock);
  }
  void use_settings() { executor->use_settings(shared_settings()); }
  [[nodiscard]] std::shared_ptr<const Settings> shared_settings() const {
    return std::make_shared<const Settings>(settings);
  }

  Connection& connect(Access port_access = Access::write) {
    return connections.emplace_back(Account(port_access, settings));
  }
  /// A connection with id 0 = PRIMARY, 1 = by_shelf, 2 = by_shelf_name, 3 = by_stock. Columns: stock, name,
  /// id; filters: stock, name.
  Connection& shopper(Access port_access = Access::write) {
    Connection& connection = connect(port_access);
    for (uint32_t id = 0; id < 4; ++id) {
      EXPECT_EQ(
          ask(connection, Ask::open(id, "shop.item", std::to_string(id), "stock,name,id", "stock,name")),
          "ok");
    }
    return connection;
  }
  /// Opens id 9 for inserts of whole rows.
  void open_for_insert(Connection& connection) {
    EXPECT_EQ(ask(connection, Ask::open(9, "shop.item", "", "id,shelf,name,stock")), "ok");
  }

  void begin() { executor->begin_turn(now_ms); }
  Executed send(Connection& connection, const Ask& ask) { return send(*executor, connection, ask); }
  Executed send(Executor& to, Connection& connection, const Ask& ask) {
    const Ask& kept = asked.emplace_back(ask);
    const size_t position = connection.asked.size();
    connection.asked.push_back(ask);
    return to.execute(connection.client, *kept.bind(arena, connection.out, settings.error_detail), position);
  }
  void end() { end(*executor); }
  void end(Executor& of) {
    of.end_turn();
    asked.clear();
    arena.reset();
    for (Connection& connection : connections) {
      const size_t put_back_at =
          std::exchange(connection.client.put_back_at, {}).value_or(connection.asked.size());
      connection.put_back.assign(connection.asked.begin() + static_cast<ptrdiff_t>(put_back_at),
                                 connection.asked.end());
      connection.asked.clear();
    }
  }
  /// What is in the connection's buffer, and take it away.
  std::vector<std::string> replies(Connection& connection) {
    std::vector<std::string> lines;
    std::string_view text = connection.out.view();
    while (!text.empty()) {
      const size_t line_bytes = std::min(text.find('\n'), text.size() - 1);
      lines.emplace_back(text.substr(0, line_bytes));
      text.remove_prefix(line_bytes + 1);
    }
    connection.out.clear();
    return lines;
  }
  /// One turn of one request.
  std::string ask(Connection& connection, const Ask& ask) {
    begin();
    const Executed executed = send(connection, ask);
    end();
    const std::vector<std::string> lines = replies(connection);
    return executed == Executed::parked ? "parked" : (lines.size() == 1 ? lines[0] : "no reply");
  }
  /// One turn of several requests of one connection.
  std::vector<std::string> turn(Connection& connection, const std::vector<Ask>& asks) {
    begin();
    for (const Ask& ask : asks) {
      EXPECT_EQ(send(connection, ask), Executed::done);
    }
    end();
    return replies(connection);
  }

  /// The committed value of one column of the item with this id; "none" if there is no such item.
  [[nodiscard]] std::string committed(const std::string& id, size_t column) const {
    for (const Row& row : engine.rows("shop.item")) {
      if (row[0] == id) {
        return row[column].value_or("NULL");
      }
    }
    return "none";
  }
  [[nodiscard]] std::string stock(const std::string& id) const { return committed(id, 3); }
  [[nodiscard]] uint64_t count(Counter counter) const { return counters.read(counter); }

  engine::memory::MemoryEngine engine;
  Counters counters;
  Settings settings{.reply_bytes_max = 64 * limits::kibibyte, .id_max = 16};
  uint64_t now_ms = 1000;
  ManualClock clock;
  std::unique_ptr<engine::Session> session;
  std::unique_ptr<Executor> executor;
  std::deque<Connection> connections;
  std::deque<Ask> asked;  ///< in this turn
  Arena arena;            ///< of this turn
};

class ExecutorTest : public ExecutorFixture, public testing::Test {};

}  // namespace rowsocket::exec
