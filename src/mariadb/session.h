// SPDX-License-Identifier: GPL-2.0-only
//
// A worker's session inside the server: one THD, its transaction, and the tables that it has open.
//
// Reading sessions run in autocommit mode, as plain SELECTs: their turn's tables are locked in the engine's sense from their
// first use to the end of the turn, so the turn has one snapshot and InnoDB takes its cheap path for read-only transactions.
// Writing sessions run one transaction per turn. A request for writing is a statement in it, with its own table lock and
// statement rollback, or continues the statement of the request before it, where that was about the same table and a failure
// leaves nothing to undo: they share the lock, and the row events that the binlog gets.
//
// No step waits for a metadata or table lock: the THD's lock_wait_timeout is 0 while requests run, and a conflict is Begin::wait.
// A commit does wait, as in SQL, for who blocks commits (backups).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "engine/engine.h"
#include "mariadb/cursor.h"
#include "mariadb/galera.h"
#include "mariadb/open_table.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class Engine;

/// An open_index of this engine: the description with its bindings to the session's tables.
class Index final : public engine::Index {
 public:
  explicit Index(engine::IndexDescription description) : engine::Index(std::move(description)) {}

  struct Side {
    std::shared_ptr<OpenTable> open;
    Binding binding;
  };
  Side read;
  Side write;
};

class Session final : public engine::Session {
 public:
  /// On the thread that will use it. The server has started.
  Session(Engine& engine, const engine::SessionOptions& options);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  engine::Begin open_index(const engine::IndexDescription& description, std::shared_ptr<engine::Index>& index,
                           Error& error) override;
  engine::Begin begin_request(engine::Index& index, engine::Intent intent, engine::Cursor*& cursor, Error& error) override;
  Error end_request() override;
  void abandon_request() override;
  [[nodiscard]] bool transaction_lost() const override {
    return thd_->transaction_rollback_request || statement_is_lost_ || cursor_.snapshot_is_stale() || galera_.has_lost();
  }
  [[nodiscard]] bool transaction_is_long() const override {
    return has_written_ && last_write_at_ - first_write_at_ >= std::chrono::milliseconds(limits::transaction_ms);
  }
  Error begin_group() override;
  void end_group() override;
  void abandon_group() override;
  Error commit() override;
  [[nodiscard]] std::string_view last_commit_gtid() const override;
  void rollback() override;
  void yield_tables() override;
  void release_tables() override;
  [[nodiscard]] bool holds_tables() const override { return !open_tables_.empty(); }
  [[nodiscard]] uint64_t lock_wait_timeout_ms() const override;
  [[nodiscard]] uint64_t row_lock_wait_timeout_ms() const override;
  [[nodiscard]] engine::Interruption interruption() const override;
  void clear_interruption() override;
  void set_activity(std::string_view activity) override;

  /// Called by the server, from any thread, when the THD was killed.
  void wake() const { options_.wake(); }
  /// End what it is doing, at once if it waits for a lock, and stop. From any thread, while the session lives.
  void kill();

 private:
  void create_thd();
  void wait_for_rows(bool wait);
  void note_time();
  void begin_transaction();
  [[nodiscard]] engine::Begin make_ready(Index& index, engine::Intent intent, Index::Side*& side, Error& error);
  [[nodiscard]] engine::Begin open(OpenTable& table, const std::shared_ptr<OpenTable>& owner, Error& error);
  [[nodiscard]] engine::Begin open_statement(OpenTable& table, Error& error);
  [[nodiscard]] engine::Begin protect_from_backup(const OpenTable& table, Error& error);
  [[nodiscard]] std::shared_ptr<OpenTable> table_named(const engine::IndexDescription& description, engine::Intent intent);
  void close(OpenTable& table);
  [[nodiscard]] OpenTable& table_of(Index& index, engine::Intent intent);
  [[nodiscard]] bool can_continue_statement(Index& index, engine::Intent intent);
  void end_statement();
  [[nodiscard]] Error commit_statement(OpenTable& table);
  void unlock_request_tables();
  void end_timer();
  [[nodiscard]] bool flush_row_events();
  void unlock_read_tables();
  void forget_turn();
  [[nodiscard]] Error begin_in_cluster(engine::Intent intent);
  [[nodiscard]] Error end_in_cluster(Error error);
  [[nodiscard]] ulong lock_patience_s() const;

  Engine& engine_;
  engine::SessionOptions options_;
  THD* thd_ = nullptr;
  MEM_ROOT* statement_memory_ = nullptr;  ///< the THD's own, between turns
  MEM_ROOT turn_memory_;
  Cursor cursor_;
  Galera galera_;
  sys_var* row_lock_variable_ = nullptr;  ///< innodb_lock_wait_timeout
  bool waits_for_rows_ = false;           ///< innodb_lock_wait_timeout is 1 second, else 0
  std::chrono::steady_clock::time_point impatient_until_;
  bool has_written_ = false;  ///< in this transaction
  std::chrono::steady_clock::time_point first_write_at_;
  std::chrono::steady_clock::time_point last_write_at_;
  OpenTable* request_table_ = nullptr;  ///< of the request under way
  bool request_changes_ = false;
  ulonglong rows_changed_before_ = 0;     ///< by the request's table, before the request
  OpenTable* statement_table_ = nullptr;  ///< of the statement that the next request may continue
  bool statement_is_lost_ = false;        ///< what several requests did could not be ended, or not undone for one of them
  bool in_transaction_ = false;           ///< something was begun since the last commit
  bool request_is_statement_ = false;     ///< its table was opened by open_statement
  bool had_statement_ = false;            ///< some request of this transaction was
  SAVEPOINT* group_ = nullptr;            ///< where the group under way began
  bool commit_has_gtid_ = false;
  mutable char gtid_text_[48] = {};
  bool replays_in_cluster_ = false;  ///< the cluster aborted a transaction of this turn
  bool must_release_ = false;        ///< somebody could not go on for what we hold
  bool has_backup_protection_[2] = {false, false};
  std::vector<std::shared_ptr<OpenTable>> open_tables_;
  std::unordered_map<std::string, std::weak_ptr<OpenTable>> tables_;
  std::unordered_map<std::string, std::weak_ptr<Index>> indexes_;
  size_t tables_kept_ = 0;  ///< sizes of the maps after their last clearing
  size_t indexes_kept_ = 0;
  char activity_[2][128] = {};
  int activity_shown_ = 0;
};

class Engine final : public engine::Engine {
 public:
  [[nodiscard]] std::unique_ptr<engine::Session> create_session(const engine::SessionOptions& options) override;

  void interrupt_sessions() override;

 private:
  friend class Session;  // which enters itself in the list while it lives

  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable session_ended_;
  std::vector<Session*> sessions_;  ///< guarded by mutex_
};

}  // namespace rowsocket::mariadb
