// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <chrono>
#include <future>
#include <map>
#include <stdexcept>
#include <utility>

#include "mariadb/conformance/server_host.h"
#include "mariadb/conformance/sql.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {
namespace {

using engine::conformance::Host;
using engine::conformance::Row;
using engine::conformance::TableDefinition;
using engine::conformance::TableKind;
using engine::memory::ColumnType;
using engine::memory::IndexDefinition;

// innodb_trx shows what it showed before, as long as it is read more often than every 100 ms.
constexpr std::chrono::milliseconds poll_interval(150);
constexpr uint64_t own_patience_s = 30;  ///< of SQL that should not have to wait

std::string literal(const engine::memory::Cell& cell) {
  return cell.has_value() ? "'" + *cell + "'" : "NULL";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::string column_in_sql(const engine::memory::Column& column) {
  // Text is ordered as the memory engine orders it: by bytes, and a space at the end counts.
  std::string sql = "`" + column.name + "` ";
  sql += column.type == ColumnType::integer ? "BIGINT"
                                            : "VARCHAR(" + std::to_string(column.bytes_max) +
                                                  ") CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
  sql += column.nullable ? " NULL" : " NOT NULL";
  sql += column.auto_increment ? " AUTO_INCREMENT" : "";
  sql += column.default_value.has_value() ? " DEFAULT " + literal(*column.default_value) : "";
  return sql;
}

std::string index_in_sql(const IndexDefinition& index) {
  const std::string columns = "(" + joined(index.columns) + ")";
  return index.name == "PRIMARY" ? "PRIMARY KEY " + columns
                                 : (index.unique ? "UNIQUE KEY `" : "KEY `") + index.name + "` " + columns;
}

class ServerHost final : public Host {
 public:
  ServerHost() {
    const std::string patience = "SET SESSION lock_wait_timeout = " + std::to_string(own_patience_s) +
                                 ", SESSION innodb_lock_wait_timeout = " + std::to_string(own_patience_s);
    static_cast<void>(sql_.run({patience, "CREATE OR REPLACE DATABASE d"}));
    static_cast<void>(somebody_.run({patience}));
  }
  ~ServerHost() override {
    try {
      if (asked_.valid()) {
        asked_.wait();
      }
      static_cast<void>(
          sql_.run({"SET GLOBAL lock_wait_timeout = DEFAULT, GLOBAL innodb_lock_wait_timeout = DEFAULT",
                    "DROP DATABASE d"}));
    } catch (const std::exception& exception) {
      sql_print_error("rowsocket_conformance: %s", exception.what());
    }
  }
  ServerHost(const ServerHost&) = delete;
  ServerHost& operator=(const ServerHost&) = delete;

  [[nodiscard]] engine::Engine& engine() override { return engine_; }

  // ---- tables

  void create_table(std::string_view name, const TableDefinition& definition,
                    const TableKind& kind) override {
    std::vector<std::string> parts;
    for (const auto& column : definition.columns) {
      parts.push_back(column_in_sql(column));
    }
    for (const auto& index : definition.indexes) {
      parts.push_back(index_in_sql(index));
    }
    static_cast<void>(sql_.run(
        {"CREATE OR REPLACE TABLE " + std::string(name) + " (" + joined(parts) + ") ENGINE=" + kind.name}));
    if (!definition.copies_to.empty()) {
      // The connection's own account is none that there is.
      static_cast<void>(
          sql_.run({"CREATE DEFINER = root@localhost TRIGGER " + std::string(name) +
                    "_copies AFTER INSERT ON " + std::string(name) + " FOR EACH ROW INSERT INTO " +
                    definition.copies_to + " VALUES (NEW." + definition.columns.front().name + ")"}));
    }
    orders_[std::string(name)] = joined(definition.indexes.front().columns);
  }
  void drop_table(std::string_view name) override {
    static_cast<void>(sql_.run({"DROP TABLE " + std::string(name)}));
  }
  void insert(std::string_view name, const Row& row) override {
    std::vector<std::string> values;
    for (const auto& cell : row) {
      values.push_back(literal(cell));
    }
    static_cast<void>(sql_.run({"INSERT INTO " + std::string(name) + " VALUES (" + joined(values) + ")"}));
  }
  [[nodiscard]] std::vector<Row> rows(std::string_view name) override {
    return sql_.run({"SELECT * FROM " + std::string(name) + " ORDER BY " + orders_.at(std::string(name))});
  }

  // ---- somebody else

  void hold_table(std::string_view name) override {
    static_cast<void>(somebody_.run({"LOCK TABLES " + std::string(name) + " WRITE"}));
  }
  void let_go() override { static_cast<void>(somebody_.run({"UNLOCK TABLES"})); }
  void ask_for_table(std::string_view name) override {
    asked_ = somebody_.begin({"LOCK TABLES " + std::string(name) + " WRITE", "UNLOCK TABLES"});
  }
  [[nodiscard]] bool table_was_had() override {
    if (asked_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      return false;
    }
    static_cast<void>(asked_.get());
    return true;
  }
  void arrange_deadlock(std::string_view table, std::string_view mine, std::string_view theirs) override {
    const auto locking = [table](std::string_view id) {
      return "SELECT * FROM " + std::string(table) + " WHERE id = " + std::string(id) + " FOR UPDATE";
    };
    // InnoDB rolls back the transaction that has changed less.
    static_cast<void>(
        somebody_.run({"CREATE TABLE d.weight (id INT PRIMARY KEY) ENGINE=InnoDB", "BEGIN",
                       "INSERT INTO d.weight SELECT seq FROM d.seq_1_to_1000", locking(theirs)}));
    asked_ = somebody_.begin({locking(mine), "ROLLBACK"});
    await("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'");
  }
  void fail_commits() override {
    static_cast<void>(somebody_.run({"BACKUP STAGE START", "BACKUP STAGE FLUSH", "BACKUP STAGE BLOCK_DDL",
                                     "BACKUP STAGE BLOCK_COMMIT", "SET GLOBAL lock_wait_timeout = 1"}));
  }
  void let_commits_pass() override {
    static_cast<void>(somebody_.run({"BACKUP STAGE END", "SET GLOBAL lock_wait_timeout = DEFAULT"}));
  }
  void set_lock_timeouts_s(uint64_t seconds) override {
    const std::string text = std::to_string(seconds);
    static_cast<void>(
        sql_.run({"SET GLOBAL lock_wait_timeout = " + text + ", GLOBAL innodb_lock_wait_timeout = " + text}));
  }
  void await_patient_wait() override {
    await(
        "SELECT (SELECT COUNT(*) FROM information_schema.processlist WHERE host = 'rowsocket' AND state LIKE "
        "'Waiting for %lock') + (SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK "
        "WAIT' "
        "AND trx_wait_started < NOW() - INTERVAL 2 SECOND)");
  }
  /// A node of a cluster without a binlog keeps the row events of what was undone.
  bool lose_transactions_by_failures() override { return WSREP_ON && !mysql_bin_log.is_open(); }
  void make_transactions_long() override {}  // they will be soon
  void time_out_late() override { current_thd->awake(KILL_TIMEOUT); }
  void kill_sessions() override {
    for (const Row& row :
         sql_.run({"SELECT id FROM information_schema.processlist WHERE host = 'rowsocket'"})) {
      static_cast<void>(sql_.run({"KILL CONNECTION " + row[0].value()}));
    }
  }
  [[nodiscard]] std::vector<std::string> activities() override {
    std::vector<std::string> activities;
    for (const Row& row :
         sql_.run({"SELECT state FROM information_schema.processlist WHERE host = 'rowsocket'"})) {
      activities.push_back(row[0].value());
    }
    return activities;
  }

 private:
  /// Poll a query until its value is not 0. The first look is not at once: another test may have looked just
  /// before, and innodb_trx would show who waited then.
  void await(const std::string& query) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(own_patience_s);
    do {
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error("this has not come about: " + query);
      }
      std::this_thread::sleep_for(poll_interval);
    } while (sql_.run({query})[0][0] == "0");
  }

  Engine engine_;
  SqlConnection sql_;       ///< never waits for long
  SqlConnection somebody_;  ///< holds locks, and waits for them
  std::future<std::vector<Row>> asked_;
  std::map<std::string, std::string> orders_;  ///< by what a table's rows are ordered
};

}  // namespace

std::vector<TableKind> ServerEngineUnderTest::kinds() const {
  return {{.name = "InnoDB", .is_lenient = true},
          {.name = "Aria", .has_transactions = false, .is_lenient = true},
          {.name = "MyISAM", .has_transactions = false, .is_lenient = true}};
}

std::unique_ptr<Host> ServerEngineUnderTest::create_host() { return std::make_unique<ServerHost>(); }

}  // namespace rowsocket::mariadb
