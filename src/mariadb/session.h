// SPDX-License-Identifier: GPL-2.0-only
//
// A worker's session inside the server. It puts four things together, each of which follows the server's own
// life cycle:
//
//   ServerThread .... a THD, and both ends of a command: a turn
//   the shelf ....... tables that stay open over turns
//   Statement ....... what is done between two statement ends
//   the transaction . of a turn, with its duties on a node of a Galera cluster
//
// Reading sessions run in autocommit mode, as plain SELECTs: a turn is one statement, with one snapshot.
// Writing sessions run a transaction of several statements per turn, each with its own snapshot (READ
// COMMITTED): a change sees what others committed meanwhile, so a read behind it from an older snapshot would
// see one half of what another client committed as one. Only a group of several statements has one snapshot
// for all of them (REPEATABLE READ). Requests share a statement as long as each is one step of the engine or
// a read; a request or a group that may have to be undone as a whole is a statement of its own, and so is one
// in an engine that locks tables.
//
// Requests do not wait for metadata and table locks: the THD's lock_wait_timeout is 0 while they run, and a
// conflict is Begin::wait. Three things do wait, as in SQL: a commit, for who blocks commits (backups), a
// session that was told to be patient, and one that has done lasting work, since its request can not be
// presented again.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "base/mutex.h"
#include "engine/opened_selections.h"
#include "mariadb/cursor.h"
#include "mariadb/galera.h"
#include "mariadb/open_table.h"
#include "mariadb/server_headers.h"
#include "mariadb/server_thread.h"
#include "mariadb/statement.h"

namespace rowsocket::mariadb {

class Engine;

/// What a session resolves the names of a selection to.
struct BoundSelection {
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

  engine::Begin open_selection(const engine::SelectionDescription& description,
                               std::shared_ptr<engine::Selection>& selection, Error& error) override;
  engine::Begin begin_request(engine::Selection& selection, engine::Intent intent, engine::Cursor*& cursor,
                              Error& error) override;
  void begin_inserts(std::vector<engine::GeneratedId>&& earlier) override {
    cursor_.ids().begin(std::move(earlier));
  }
  [[nodiscard]] std::vector<engine::GeneratedId> generated_ids() const override {
    return cursor_.ids().all();
  }
  Error end_request() override;
  void abandon_request() override;
  [[nodiscard]] bool transaction_lost() const override {
    return thd_->transaction_rollback_request || is_lost_ || cursor_.needs_new_transaction() ||
           galera_.has_lost();
  }
  [[nodiscard]] Error loss() const override;
  void lose_transaction() override { is_lost_ = true; }
  [[nodiscard]] bool did_lasting_work() const override { return does_lasting_work_; }
  [[nodiscard]] bool wants_commit() const override;
  [[nodiscard]] bool took_lenience() override { return thread_.take_lenience(); }
  void expire_snapshot() override { snapshot_is_old_ = has_snapshot_; }
  void set_patient(bool patient) override { is_patient_ = patient; }
  engine::Begin begin_group(std::span<const engine::GroupMember> members, size_t& failed_member,
                            Error& error) override;
  Error end_group() override;
  void abandon_group() override;
  Error commit() override;
  [[nodiscard]] std::string_view last_commit_gtid() const override;
  void rollback() override;
  void yield_tables() override;
  void release_tables() override;
  [[nodiscard]] bool holds_tables() const override { return !shelf_.empty(); }
  [[nodiscard]] uint64_t lock_wait_timeout_ms() const override;
  [[nodiscard]] uint64_t row_lock_wait_timeout_ms() const override;
  [[nodiscard]] engine::Interruption interruption() const override;
  void clear_interruption() override;
  void set_activity(std::string_view activity) override;

  /// Called by the server, from any thread, when the THD was killed.
  void wake() const { options_.wake(); }
  /// Called by the server on the session's thread, under latches.
  void announce_wait() const {
    if (options_.about_to_wait) {
      options_.about_to_wait();
    }
  }
  /// End what it is doing, at once if it waits for a lock, and stop. From any thread, while the session
  /// lives.
  void kill() { thread_.kill(); }

 private:
  enum class Group : uint8_t {
    none,
    one_statement,   ///< undone as a statement
    own_transaction  ///< it needs several statements: it is the first of its transaction, and undone as a
                     ///< whole with it
  };

  // Tables.
  [[nodiscard]] std::shared_ptr<OpenTable> table_named(const engine::SelectionDescription& description,
                                                       engine::Intent intent);
  [[nodiscard]] BoundSelection::Side& side_of(const engine::Selection& selection, engine::Intent intent);
  [[nodiscard]] engine::Begin make_ready(const engine::Selection& selection, engine::Intent intent,
                                         BoundSelection::Side*& side, Error& error);
  void forget_gone_selections();
  [[nodiscard]] engine::Begin open(const std::shared_ptr<OpenTable>& table, Error& error);
  [[nodiscard]] Opening open_with_new_history(OpenTable& table, Error& error);
  void close(OpenTable& table);
  void close_parent(OpenTable& table);
  void be_patient_with(const OpenTable& table);
  void release_idle_tables(const OpenTable& wanted);

  // Requests.
  [[nodiscard]] Error refuse(engine::Intent intent) const;
  [[nodiscard]] engine::Begin join_statement(const engine::Selection& selection, engine::Intent intent,
                                             BoundSelection::Side*& side, Error& error);
  [[nodiscard]] bool needs_own_statement(const OpenTable& table, engine::Intent intent) const;
  [[nodiscard]] engine::Begin lock(const std::shared_ptr<OpenTable>& table, engine::Intent intent,
                                   Error& error);
  [[nodiscard]] bool parts_two_phases(const OpenTable& table, engine::Intent intent) const;
  [[nodiscard]] engine::Begin protect_from_backup(const OpenTable& table, Error& error);
  void end_shared_statement();
  void renew_snapshot();
  void undo_statement();
  void note_write(const OpenTable& table);
  void end_limits();

  // Groups and the transaction.
  [[nodiscard]] engine::Begin prepare_group(std::span<const engine::GroupMember> members, bool writes,
                                            size_t& number, bool& several, Error& error);
  void begin_transaction();
  void end_transaction();
  [[nodiscard]] Error begin_in_cluster(engine::Intent intent);
  [[nodiscard]] Error end_in_cluster(Error error);
  [[nodiscard]] ulong lock_patience_s() const;

  Engine& engine_;
  engine::SessionOptions options_;
  ServerThread thread_;
  THD* const thd_;
  Cursor cursor_;
  Galera galera_;
  Statement statement_;

  // The shelf.
  std::vector<std::shared_ptr<OpenTable>> shelf_;
  std::unordered_map<std::string, std::weak_ptr<OpenTable>> tables_;
  size_t tables_kept_ = 0;  ///< their number after the last clearing
  const std::shared_ptr<engine::OpenedSelections> selections_;
  engine::SlotTable<BoundSelection> bound_;
  bool must_release_ =
      false;  ///< a lock was not to be had: whoever holds it may be waiting for what is on the shelf

  // The request under way.
  std::shared_ptr<OpenTable>* request_table_ = nullptr;
  bool request_changes_ = false;
  ulonglong rows_changed_before_ = 0;  ///< by the request's table, before the request

  // The transaction under way.
  bool in_transaction_ = false;
  uint64_t transaction_ = 0;     ///< how many there were
  bool has_written_ = false;     ///< a request for writing was begun in it
  bool engines_joined_ = false;  ///< a storage engine was seen to take part in it
  bool does_lasting_work_ = false;
  bool is_lost_ = false;          ///< a part of it can not be ended, or undone, alone
  bool has_snapshot_ = false;     ///< something was read in the shared statement
  bool snapshot_is_old_ = false;  ///< and a request came, or a row was changed, since
  Group group_ = Group::none;
  bool was_group_of_several_ =
      false;  ///< the group of `own_transaction` is done; its snapshot ends with the transaction
  bool has_backup_protection_[2] = {false, false};
  std::chrono::steady_clock::time_point first_write_at_;
  std::chrono::steady_clock::time_point last_write_at_;

  // From transaction to transaction.
  bool is_patient_ = false;
  std::chrono::steady_clock::time_point impatient_until_;
  std::chrono::steady_clock::time_point no_new_history_until_;
  bool replays_in_cluster_ = false;  ///< the cluster aborted a transaction of this turn
  bool commit_has_gtid_ = false;
  mutable char gtid_text_[48] = {};
  char activity_[2][128] = {};
  int activity_shown_ = 0;
};

/// A group, or a request, needs to be undone, and a table can not do that.
[[nodiscard]] Error no_transactions_error();

class Engine final : public engine::Engine {
 public:
  [[nodiscard]] std::unique_ptr<engine::Session> create_session(
      const engine::SessionOptions& options) override;

  void interrupt_sessions() override;

 private:
  friend class Session;  // which enters itself in the list while it lives

  std::atomic<bool> stopped_{false};
  Mutex mutex_;
  ConditionVariable session_ended_;
  std::vector<Session*> sessions_ ROWSOCKET_GUARDED_BY(mutex_);
};

}  // namespace rowsocket::mariadb
