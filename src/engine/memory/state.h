// SPDX-License-Identifier: GPL-2.0-only
//
// What the sessions of one memory engine share: tables, the big lock, and the armed faults.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/authenticator.h"
#include "engine/memory/table.h"

namespace rowsocket::engine::memory {

class MemorySession;

/// A fault that happens at the nth event from its arming, `times` times.
struct Fault {
  uint32_t events_left = 0;  ///< including the one that fails; 0 = at the next
  uint32_t times_left = 0;   ///< 0 = not armed
  Error error = {};

  /// Count one event; true if it is to fail.
  [[nodiscard]] bool happens() {
    if (times_left == 0) {
      return false;
    }
    if (events_left > 1) {
      --events_left;
      return false;
    }
    --times_left;
    return true;
  }
};

/// A session that holds or wants the big lock.
struct Holder {
  const MemorySession* session;
  std::thread::id thread;
};

struct State {
  Mutex mutex;
  ConditionVariable lock_released;  ///< the big lock, or a table that was busy; or a session is to stop

  std::map<std::string, std::shared_ptr<Table>, std::less<>> tables ROWSOCKET_GUARDED_BY(mutex);
  std::vector<MemorySession*> sessions ROWSOCKET_GUARDED_BY(mutex);
  ConditionVariable session_ended;

  Holder writer ROWSOCKET_GUARDED_BY(mutex) = {};  ///< session == nullptr: none
  std::vector<Holder> readers ROWSOCKET_GUARDED_BY(mutex);
  uint32_t waiting_writers ROWSOCKET_GUARDED_BY(mutex) = 0;  ///< new readers let them pass

  Fault commit_fault ROWSOCKET_GUARDED_BY(mutex);
  Fault group_end_fault ROWSOCKET_GUARDED_BY(mutex);
  Fault write_fault ROWSOCKET_GUARDED_BY(mutex);
  Fault write_deadlock ROWSOCKET_GUARDED_BY(mutex);
  Fault read_fault ROWSOCKET_GUARDED_BY(mutex);
  Fault read_deadlock ROWSOCKET_GUARDED_BY(mutex);
  uint64_t lock_wait_timeout_ms ROWSOCKET_GUARDED_BY(mutex) = 5000;
  uint64_t row_patience_ms ROWSOCKET_GUARDED_BY(mutex) = 1000;
  uint32_t patient_waits ROWSOCKET_GUARDED_BY(mutex) = 0;  ///< sessions that wait in place
  ConditionVariable wait_began;
  std::function<void()> on_next_write ROWSOCKET_GUARDED_BY(mutex);
  std::function<void()> on_next_commit ROWSOCKET_GUARDED_BY(mutex);
  std::function<void()> on_next_interruption_look ROWSOCKET_GUARDED_BY(mutex);
  std::function<void()> on_next_request ROWSOCKET_GUARDED_BY(mutex);
  std::function<Admittance(const Entrance&)> admit ROWSOCKET_GUARDED_BY(mutex);
  std::function<bool(TablePlace&)> find_place ROWSOCKET_GUARDED_BY(mutex);
  bool is_next_announced ROWSOCKET_GUARDED_BY(mutex) = false;
  std::atomic<size_t> kept_bytes_per_selection{0};
  bool is_on_disk ROWSOCKET_GUARDED_BY(mutex) = false;
  bool transactions_are_long ROWSOCKET_GUARDED_BY(mutex) = false;
  uint64_t left_to_commits_us ROWSOCKET_GUARDED_BY(mutex) = 0;
  bool failures_lose_transaction ROWSOCKET_GUARDED_BY(mutex) = false;
  uint32_t commit_first_at_write ROWSOCKET_GUARDED_BY(mutex) = 0;
  std::vector<GeneratedId> generated_ids ROWSOCKET_GUARDED_BY(mutex);
  std::string now ROWSOCKET_GUARDED_BY(mutex) = "2020-01-01 00:00:00";
  bool refuses_sessions ROWSOCKET_GUARDED_BY(mutex) = false;
  std::set<uint64_t> dropped_accounts ROWSOCKET_GUARDED_BY(mutex);
  Trail* trail ROWSOCKET_GUARDED_BY(mutex) = nullptr;
  bool stops ROWSOCKET_GUARDED_BY(mutex) = false;  ///< until the sessions that there are have ended
  uint64_t commits_with_changes ROWSOCKET_GUARDED_BY(mutex) = 0;
  uint64_t snapshots_expired ROWSOCKET_GUARDED_BY(mutex) = 0;
  uint64_t stops_forgotten ROWSOCKET_GUARDED_BY(mutex) = 0;

  [[nodiscard]] bool changes_want_commit() const ROWSOCKET_REQUIRES(mutex) {
    return transactions_are_long || left_to_commits_us > 0;
  }
  /// True if changes of the table stay, but not what its trigger does.
  [[nodiscard]] bool parts_rows_from_trigger(const Table& of) const ROWSOCKET_REQUIRES(mutex) {
    const auto other = of.copies_to().empty() ? nullptr : table(of.copies_to());
    return !of.has_transactions() && other != nullptr && other->has_transactions();
  }
  /// nullptr if there is no such table.
  [[nodiscard]] std::shared_ptr<Table> table(std::string_view name) const ROWSOCKET_REQUIRES(mutex) {
    const auto found = tables.find(name);
    return found == tables.end() ? nullptr : found->second;
  }
};

}  // namespace rowsocket::engine::memory
