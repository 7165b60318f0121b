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

#include "base/limits.h"
#include "engine/memory/memory_engine.h"
#include "exec/executor.h"
#include "exec/text_protocol.h"

namespace rowsocket::exec {

using engine::memory::Cell;
using engine::memory::Row;
inline constexpr std::nullopt_t NULL_VALUE = std::nullopt;

/// A request in words. It owns what the request views.
class Ask {
 public:
  static Ask open(uint32_t id, std::string table, std::string index, std::string columns,
                  std::string filter_columns = "") {
    Ask ask(RequestKind::open_index, id);
    const std::string& name = ask.keep(std::move(table));
    ask.request_.open = {.database = std::string_view(name).substr(0, name.find('.')),
                         .table = std::string_view(name).substr(name.find('.') + 1),
                         .index = ask.keep(std::move(index)),
                         .columns = ask.keep(std::move(columns)),
                         .filter_columns = ask.keep(std::move(filter_columns))};
    return ask;
  }
  static Ask find(uint32_t id, std::vector<Cell> key, KeyOperator key_operator = KeyOperator::equal) {
    Ask ask(RequestKind::find, id);
    ask.request_.key_operator = key_operator;
    ask.request_.values = ask.keep(std::move(key));
    return ask;
  }
  static Ask insert(uint32_t id, std::vector<Cell> values) {
    Ask ask(RequestKind::insert, id);
    ask.request_.values = ask.keep(std::move(values));
    return ask;
  }
  /// `values` of `row_count` rows, one after the other.
  static Ask insert_rows(uint32_t id, uint32_t row_count, std::vector<Cell> values) {
    Ask ask = insert(id, std::move(values));
    ask.request_.row_count = row_count;
    ask.request_.reply_outcomes = true;
    return ask;
  }
  static Ask group(const std::vector<Ask>& members) {
    Ask ask(RequestKind::group, 0);
    for (const Ask& member : members) {
      ask.kept_->members.push_back(member.request_);
      ask.kept_->of_members.push_back(member.kept_);
    }
    ask.request_.members = ask.kept_->members;
    return ask;
  }
  static Ask authenticate(Cell secret, uint32_t type = 1) {
    Ask ask(RequestKind::authenticate, 0);
    ask.request_.authentication_type = type;
    ask.request_.secret = ask.keep(std::vector<Cell>{std::move(secret)}).front();
    return ask;
  }
  static Ask malformed(RequestKind kind, uint32_t id, ErrorCode parse_error) {
    Ask ask(kind, id);
    ask.request_.parse_error = parse_error;
    return ask;
  }

  Ask limit(uint64_t rows, uint64_t offset = 0) && {
    request_.limit = rows;
    request_.offset = offset;
    return std::move(*this);
  }
  Ask in(uint32_t key_part, std::vector<Cell> values) && {
    request_.has_in_list = true;
    request_.in_key_part = key_part;
    request_.in_values = keep(std::move(values));
    return std::move(*this);
  }
  Ask skip_unless(uint32_t column, Comparison comparison, Cell value) && {
    return std::move(*this).filter(column, comparison, std::move(value), false);
  }
  Ask stop_unless(uint32_t column, Comparison comparison, Cell value) && {
    return std::move(*this).filter(column, comparison, std::move(value), true);
  }
  Ask update(std::vector<Cell> values) && {
    return std::move(*this).modify(Modification::update, std::move(values));
  }
  Ask remove() && { return std::move(*this).modify(Modification::remove, {}); }
  Ask add(std::vector<Cell> amounts) && {
    return std::move(*this).modify(Modification::increment, std::move(amounts));
  }
  Ask subtract(std::vector<Cell> amounts) && {
    return std::move(*this).modify(Modification::decrement, std::move(amounts));
  }
  Ask rows_before() && {
    request_.reply = FindReply::rows;
    return std::move(*this);
  }
  Ask rows_after() && {
    request_.reply = FindReply::rows_after;
    return std::move(*this);
  }
  Ask count() && {
    request_.reply = FindReply::count;
    return std::move(*this);
  }
  Ask to(KeyOperator end_operator, std::vector<Cell> key) && {
    request_.has_end = true;
    request_.end_operator = end_operator;
    request_.end_values = keep(std::move(key));
    return std::move(*this);
  }
  Ask reverse() && {
    request_.reverse = true;
    return std::move(*this);
  }
  Ask limit_per_value(uint64_t rows) && {
    request_.limit_per_value = rows;
    return std::move(*this);
  }
  Ask in_keys(std::vector<Cell> values) && {
    request_.has_in_list = true;
    request_.lists_whole_keys = true;
    request_.in_values = keep(std::move(values));
    return std::move(*this);
  }
  Ask columns(const std::string& names) && {
    request_.has_columns = true;
    request_.columns = keep(names);
    return std::move(*this);
  }

  Ask on_duplicate(OnDuplicate what, std::vector<uint32_t> set = {}, std::vector<uint32_t> add = {}) && {
    request_.on_duplicate = what;
    request_.set_on_duplicate = kept_->positions.emplace_back(std::move(set));
    request_.add_on_duplicate = kept_->positions.emplace_back(std::move(add));
    return std::move(*this);
  }
  Ask rows_alone() && {
    request_.rows_alone = true;
    return std::move(*this);
  }
  Ask must_change() && {
    request_.must_change = true;
    return std::move(*this);
  }
  Ask with_gtid() && {
    request_.wants_gtid = true;
    return std::move(*this);
  }

  [[nodiscard]] const Request& request() const { return request_; }

 private:
  struct Kept {
    std::deque<std::string> texts;
    std::deque<std::vector<Value>> values;
    std::deque<std::vector<uint32_t>> positions;
    std::vector<Filter> filters;
    std::vector<Request> members;
    std::vector<std::shared_ptr<Kept>> of_members;
  };

  Ask(RequestKind kind, uint32_t id) : kept_(std::make_shared<Kept>()) {
    request_.kind = kind;
    request_.index_id = id;
  }
  const std::string& keep(std::string text) { return kept_->texts.emplace_back(std::move(text)); }
  std::span<const Value> keep(std::vector<Cell> cells) {
    std::vector<Value>& values = kept_->values.emplace_back();
    for (Cell& cell : cells) {
      values.push_back(cell.has_value() ? Value(std::string_view(keep(std::move(*cell)))) : Value());
    }
    return values;
  }
  Ask filter(uint32_t column, Comparison comparison, Cell value, bool stop) && {
    kept_->filters.push_back({stop, comparison, column, keep(std::vector<Cell>{std::move(value)}).front()});
    request_.filters = kept_->filters;
    return std::move(*this);
  }
  Ask modify(Modification modification, std::vector<Cell> values) && {
    request_.modification = modification;
    request_.reply = FindReply::count;
    request_.new_values = keep(std::move(values));
    return std::move(*this);
  }

  std::shared_ptr<Kept> kept_;
  Request request_;
};

struct Connection {
  explicit Connection(Access port_access, Access granted) : client(port_access, granted) {}
  /// From now on not a byte more can be written to it.
  void refuse_memory() {
    out.release();
    out.set_bytes_max(0);
  }

  Client client;
  Buffer out;
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
    executor = std::make_unique<Executor>(*session, counters, policy);
  }
  void set_policy() { executor->set_policy(policy); }

  Connection& connect(Access port_access = Access::write) {
    return connections.emplace_back(port_access, initial_access(port_access, policy));
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
  Executed send(Connection& connection, const Ask& ask) {
    const Ask& kept = asked.emplace_back(ask);
    return executor->execute(connection.client, kept.request(), protocol, connection.out);
  }
  void end() {
    executor->end_turn();
    asked.clear();
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

  TextProtocol protocol;
  engine::memory::MemoryEngine engine;
  Counters counters;
  Policy policy{
      .secret_read = {}, .secret_write = {}, .reply_bytes_max = 64 * limits::kibibyte, .index_id_max = 16};
  uint64_t now_ms = 1000;
  std::unique_ptr<engine::Session> session;
  std::unique_ptr<Executor> executor;
  std::deque<Connection> connections;
  std::deque<Ask> asked;
};

class ExecutorTest : public ExecutorFixture, public testing::Test {};

}  // namespace rowsocket::exec
