// SPDX-License-Identifier: GPL-2.0-only
//
// One worker's view of the memory engine: its transaction (an undo log), its share of the big lock, its
// cursor. What no mutex guards is the worker thread's own.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/cursor.h"
#include "engine/memory/state.h"
#include "engine/opened_selections.h"

namespace rowsocket::engine::memory {

class MemorySession final : public Session {
 public:
  MemorySession(State& state, const SessionOptions& options);
  ~MemorySession() override;

  Begin open_selection(const SelectionDescription& description, std::shared_ptr<Selection>& selection,
                       Error& error) override;
  [[nodiscard]] bool column_types(const Selection& selection, ColumnTypes& types, size_t bytes_max) override {
    return binding_of(selection).column_types(types, bytes_max);
  }
  [[nodiscard]] bool find_place(const Selection& selection, TablePlace& place) override {
    const bool is_known = Session::find_place(selection, place);
    const MutexLock lock(state_.mutex);
    return state_.find_place == nullptr ? is_known : state_.find_place(place);
  }
  Begin begin_request(Selection& selection, const Use& use, Cursor*& cursor, Error& error) override;
  void begin_inserts(std::vector<GeneratedId>&& earlier) override;
  [[nodiscard]] std::vector<GeneratedId> generated_ids() const override;
  Error end_request() override;
  void abandon_request() override;
  [[nodiscard]] bool transaction_lost() const override;
  [[nodiscard]] Error loss() const override;
  void lose_transaction() override;
  [[nodiscard]] bool did_lasting_work() const override;
  [[nodiscard]] bool commits_each_row() const override;
  [[nodiscard]] bool is_lost_by_failure() const override;
  [[nodiscard]] bool wants_commit() const override;
  [[nodiscard]] uint64_t work_in_commits_us() const override { return work_in_commits_us_; }
  /// It has none: whoever reads, reads what is there.
  void expire_snapshot() override {
    const MutexLock lock(state_.mutex);
    ++state_.snapshots_expired;
  }
  void set_patient(bool patient) override;
  void note_waited(uint64_t waited_ms) override;
  Begin begin_group(std::span<const GroupMember> members, size_t& failed_member, Error& error) override;
  Error end_group() override;
  void abandon_group() override;
  Error commit() override;
  Error commit_and_go_on() override;
  [[nodiscard]] std::string_view last_commit_gtid() const override { return gtid_; }
  void rollback() override;
  void release_read_tables() override;
  void yield_tables() override;
  void release_tables() override;
  [[nodiscard]] bool holds_tables() const override;
  [[nodiscard]] size_t kept_bytes() const override { return kept_bytes_.total(); }
  void forget_selections() override { bindings_.forget_others(nullptr); }
  [[nodiscard]] uint64_t lock_wait_timeout_ms() const override;
  void work_for(const Presence* client) override;
  void work_for_request() override;
  [[nodiscard]] Work work() const override {
    const MutexLock lock(state_.mutex);
    return work_;
  }
  void stop(const Work& work) override;
  [[nodiscard]] bool was_stopped() const override;
  void forget_stop() override;
  [[nodiscard]] Interruption interruption() const override;
  void clear_interruption() override;
  void set_activity(std::string_view activity) override;
  [[nodiscard]] Admittance admittance_of(const Entrance& entrance) override;
  [[nodiscard]] bool has_account(uint64_t number) override {
    const MutexLock lock(state_.mutex);
    return !state_.dropped_accounts.contains(number);
  }
  [[nodiscard]] Trail* trail() override {
    const MutexLock lock(state_.mutex);
    return state_.trail;
  }

  // For the cursor; the mutex is held.
  [[nodiscard]] State& state() { return state_; }
  /// Put (or, without `after`, remove) a row as part of the transaction.
  Error change(const std::shared_ptr<Table>& table, RowNumber number, std::optional<Row> after);
  /// A deadlock: roll everything back, and say so.
  Error meet_deadlock();

  // For the engine; the mutex is held.
  void interrupt(Interruption interruption) {
    state_.mutex.assume_held();
    interruption_ = interruption;
  }
  void wake() const;
  [[nodiscard]] std::string activity() const {
    state_.mutex.assume_held();
    return activity_;
  }
  [[nodiscard]] bool holds_tables_locked() const {
    state_.mutex.assume_held();
    return !held_tables_.empty();
  }
  [[nodiscard]] bool is_patient() const {
    state_.mutex.assume_held();
    return patient_ || goes_on_;
  }
  [[nodiscard]] bool is_under_way() const {
    state_.mutex.assume_held();
    return in_request_ || waits_;
  }
  [[nodiscard]] bool holds(const std::shared_ptr<Table>& table) const {
    state_.mutex.assume_held();
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

  [[nodiscard]] MemoryBinding& binding_of(const Selection& selection);
  [[nodiscard]] Begin refuse(const Selection& selection, Intent intent, Error& error)
      ROWSOCKET_REQUIRES(state_.mutex);
  [[nodiscard]] Begin await_table(MutexLock& lock, const Table& table, Error& error)
      ROWSOCKET_REQUIRES(state_.mutex);
  [[nodiscard]] Begin acquire(MutexLock& lock, Error& error) ROWSOCKET_REQUIRES(state_.mutex);
  template <typename Condition>
  [[nodiscard]] bool wait_in_place(MutexLock& lock, uint64_t timeout_ms, Condition condition)
      ROWSOCKET_REQUIRES(state_.mutex);
  void announce(Wait what) const;
  [[nodiscard]] std::function<void()> take_next_wait() ROWSOCKET_REQUIRES(state_.mutex);
  [[nodiscard]] bool must_wait() const ROWSOCKET_REQUIRES(state_.mutex);
  /// How long it waits in place if it is patient.
  [[nodiscard]] uint64_t patience_ms() const ROWSOCKET_REQUIRES(state_.mutex) {
    return state_.lock_wait_timeout_ms - std::min(waited_ms_, state_.lock_wait_timeout_ms);
  }
  [[nodiscard]] bool is_told_to_stop() const ROWSOCKET_REQUIRES(state_.mutex) {
    return is_stopped_ || interruption_ == Interruption::stop;
  }
  [[nodiscard]] Error interruption_error() const ROWSOCKET_REQUIRES(state_.mutex);
  [[nodiscard]] bool waits_for_own_thread() const ROWSOCKET_REQUIRES(state_.mutex);
  void release() ROWSOCKET_REQUIRES(state_.mutex);
  void forget_transaction() ROWSOCKET_REQUIRES(state_.mutex);
  [[nodiscard]] std::function<void()> take_commit_action() {
    const MutexLock lock(state_.mutex);
    commits_ = true;
    return undo_.empty() ? nullptr : std::exchange(state_.on_next_commit, nullptr);
  }
  void undo_down_to(size_t undo_count) ROWSOCKET_REQUIRES(state_.mutex);
  void undo_failure(size_t undo_count) ROWSOCKET_REQUIRES(state_.mutex);
  void take_table(const std::shared_ptr<Table>& table) ROWSOCKET_REQUIRES(state_.mutex);
  void give_back(const std::shared_ptr<Table>& table) ROWSOCKET_REQUIRES(state_.mutex);

  State& state_;
  const SessionOptions options_;
  const std::shared_ptr<OpenedSelections> selections_;
  KeptBytes kept_bytes_{*selections_};  ///< outlives what is counted
  SlotTable<MemoryBinding> bindings_;
  MemoryCursor cursor_;
  std::vector<Undo> undo_ ROWSOCKET_GUARDED_BY(state_.mutex);
  size_t request_mark_ ROWSOCKET_GUARDED_BY(state_.mutex) = 0;  ///< size of undo_ when the request began
  std::optional<size_t> group_mark_
      ROWSOCKET_GUARDED_BY(state_.mutex);  ///< size of undo_ when the group began
  std::string gtid_;                       ///< of the last commit
  uint64_t work_in_commits_us_ = 0;
  bool in_request_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;
  bool locked_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;  ///< this session holds its share of the big lock
  bool lost_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;
  bool lost_by_failure_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;
  bool has_written_ ROWSOCKET_GUARDED_BY(state_.mutex) =
      false;  ///< a request for writing was begun in this transaction
  bool did_lasting_work_ ROWSOCKET_GUARDED_BY(state_.mutex) =
      false;  ///< one of them in a table without transactions
  bool rows_outlive_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;  ///< but not what its trigger did
  bool patient_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;
  bool goes_on_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;  ///< see `commit_and_go_on`
  uint64_t waited_ms_ ROWSOCKET_GUARDED_BY(state_.mutex) = 0;
  std::vector<GeneratedId> earlier_ids_ ROWSOCKET_GUARDED_BY(state_.mutex);
  std::vector<std::shared_ptr<Table>> held_tables_ ROWSOCKET_GUARDED_BY(state_.mutex);
  /// That the requests for writing of this transaction were for; some stand here more than once.
  std::vector<std::shared_ptr<Table>> written_tables_ ROWSOCKET_GUARDED_BY(state_.mutex);
  Interruption interruption_ ROWSOCKET_GUARDED_BY(state_.mutex) = Interruption::none;
  bool waits_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;  ///< in place
  Work work_ ROWSOCKET_GUARDED_BY(state_.mutex);
  bool commits_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;
  bool was_stopped_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;  ///< the work under way
  bool commit_is_stopped_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;
  /// While it waits, or waited last, or behind `commit_and_go_on`.
  bool is_stopped_ ROWSOCKET_GUARDED_BY(state_.mutex) = false;
  std::string activity_ ROWSOCKET_GUARDED_BY(state_.mutex);
};

}  // namespace rowsocket::engine::memory
