// SPDX-License-Identifier: GPL-2.0-only
//
// What the sessions of one memory engine share: tables, the big lock, and the armed faults. Everything is guarded by `mutex`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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

/// Who holds or wants the big lock.
struct Holder {
  const MemorySession* session;
  std::thread::id thread;
};

struct State {
  std::mutex mutex;
  std::condition_variable lock_released;  ///< the big lock, or a table that was busy; or a session is to stop

  std::map<std::string, std::shared_ptr<Table>, std::less<>> tables;
  std::vector<MemorySession*> sessions;
  std::condition_variable session_ended;

  Holder writer = {};  ///< session == nullptr: none
  std::vector<Holder> readers;
  uint32_t waiting_writers = 0;  ///< new readers let them pass

  Fault commit_fault;
  Fault group_end_fault;
  Fault write_fault;
  Fault write_deadlock;
  Fault read_fault;
  Fault read_deadlock;
  uint64_t lock_wait_timeout_ms = 5000;
  uint64_t row_patience_ms = 1000;
  uint32_t patient_waits = 0;  ///< sessions that wait in place
  std::condition_variable wait_began;
  std::function<void()> on_next_write;
  std::function<void()> on_next_commit;
  bool transactions_are_long = false;
  uint32_t commit_first_at_write = 0;
  std::string now = "2020-01-01 00:00:00";
  bool refuses_sessions = false;
  bool stops = false;  ///< until the sessions that there are have ended
  uint64_t commits_with_changes = 0;

  /// nullptr if there is no such table.
  [[nodiscard]] std::shared_ptr<Table> table(std::string_view name) const {
    const auto found = tables.find(name);
    return found == tables.end() ? nullptr : found->second;
  }
};

}  // namespace rowsocket::engine::memory
