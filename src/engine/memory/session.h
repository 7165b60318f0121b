// SPDX-License-Identifier: GPL-2.0-only
//
// One worker's view of the memory engine: its transaction (an undo log), its share of the big lock, its cursor.
// `mutex` below is the engine's; a comment says which members it guards, the others are the worker thread's own.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/memory/cursor.h"
#include "engine/memory/state.h"

namespace rowsocket::engine::memory {

class MemorySession final : public Session {
 public:
  MemorySession(State& state, const SessionOptions& options);
  ~MemorySession() override;

  Begin open_index(const IndexDescription& description, std::shared_ptr<Index>& index, Error& error) override;
  [[nodiscard]] size_t held_bytes() const override;
  Begin begin_request(Index& index, Intent intent, Cursor*& cursor, Error& error) override;
  Error end_request() override;
  void abandon_request() override;
  [[nodiscard]] bool transaction_lost() const override;
  [[nodiscard]] Error loss() const override;
  void lose_transaction() override;
  [[nodiscard]] bool did_lasting_work() const override;
  [[nodiscard]] bool wants_commit() const override;
  void expire_snapshot() override {}  // it has none: whoever reads, reads what is there
  void set_patient(bool patient) override;
  Begin begin_group(std::span<const GroupMember> members, size_t& failed_member, Error& error) override;
  Error end_group() override;
  void abandon_group() override;
  Error commit() override;
  [[nodiscard]] std::string_view last_commit_gtid() const override { return gtid_; }
  void rollback() override;
  void yield_tables() override;
  void release_tables() override;
  [[nodiscard]] bool holds_tables() const override;
  [[nodiscard]] uint64_t lock_wait_timeout_ms() const override;
  [[nodiscard]] Interruption interruption() const override;
  void clear_interruption() override;
  void set_activity(std::string_view activity) override;

  // For the cursor; the mutex is held.
  [[nodiscard]] State& state() { return state_; }
  /// Put (or, without `after`, remove) a row as part of the transaction.
  Error change(const std::shared_ptr<Table>& table, RowNumber number, std::optional<Row> after);
  /// A deadlock: roll everything back, and say so.
  Error meet_deadlock();

  // For the engine; the mutex is held.
  void interrupt(Interruption interruption) { interruption_ = interruption; }
  void wake() const;
  [[nodiscard]] const std::string& activity() const { return activity_; }
  [[nodiscard]] bool holds_tables_locked() const { return !held_tables_.empty(); }
  [[nodiscard]] bool holds(const std::shared_ptr<Table>& table) const {
    return std::find(held_tables_.begin(), held_tables_.end(), table) != held_tables_.end();
  }
  /// The table's rows as they were before this session's uncommitted changes.
  void undo_in_copy(const Table& table, std::map<RowNumber, Row>& rows) const;

 private:
  struct Undo {
    std::shared_ptr<Table> table;
    RowNumber number;
    std::optional<Row> before;
  };

  [[nodiscard]] Begin refuse(MemoryIndex& index, Intent intent, Error& error);
  [[nodiscard]] Begin await_table(std::unique_lock<std::mutex>& lock, const Table& table, Error& error);
  [[nodiscard]] Begin acquire(std::unique_lock<std::mutex>& lock, Error& error);
  template <typename Condition>
  [[nodiscard]] bool wait_in_place(std::unique_lock<std::mutex>& lock, uint64_t timeout_ms, Condition condition);
  [[nodiscard]] bool must_wait() const;
  [[nodiscard]] bool waits_for_own_thread() const;
  void release();
  void forget_transaction();
  void undo_down_to(size_t undo_count);
  void take_table(const std::shared_ptr<Table>& table);
  void give_back(const std::shared_ptr<Table>& table);

  State& state_;
  const SessionOptions options_;
  MemoryCursor cursor_;
  std::vector<Undo> undo_;                           ///< mutex
  size_t request_mark_ = 0;                          ///< mutex; size of undo_ when the request began
  std::optional<size_t> group_mark_;                 ///< mutex; size of undo_ when the group began
  std::string gtid_;                                 ///< of the last commit
  bool in_request_ = false;                          ///< mutex
  bool locked_ = false;                              ///< mutex; this session holds its share of the big lock
  bool lost_ = false;                                ///< mutex
  bool has_written_ = false;                         ///< mutex; a request for writing was begun in this transaction
  bool did_lasting_work_ = false;                    ///< mutex; one of them in a table without transactions
  bool patient_ = false;                             ///< mutex
  std::vector<std::shared_ptr<Table>> held_tables_;  ///< mutex
  std::vector<std::weak_ptr<MemoryIndex>> indexes_;  ///< that were opened and may be in use
  Interruption interruption_ = Interruption::none;   ///< mutex
  std::string activity_;                             ///< mutex
};

}  // namespace rowsocket::engine::memory
