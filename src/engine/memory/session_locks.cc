// SPDX-License-Identifier: GPL-2.0-only
//
// How a session of the memory engine waits: for the big lock, and for tables that a test holds. And the
// tables that it holds itself.
#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/memory/server_errors.h"
#include "engine/memory/session.h"

namespace rowsocket::engine::memory {
/// Where the table is busy: wait in place if patient, else in a later turn.
Begin MemorySession::await_table(MutexLock& lock, const Table& table, Error& error) {
  bool is_free = !table.busy;
  if (table.busy && is_patient() && table.busy_since != std::this_thread::get_id()) {
    is_free = wait_in_place(lock, patience_ms(), [&table] { return !table.busy; });
  }
  if (!is_free && is_told_to_stop()) {
    error = interruption_error();
    return Begin::failed;
  }
  return table.busy ? Begin::wait : Begin::ready;
}

/// False if the time is over before the condition holds, or if the request is told to stop meanwhile.
template <typename Condition>
bool MemorySession::wait_in_place(MutexLock& lock, uint64_t timeout_ms, Condition condition) {
  const bool is_long = timeout_ms > state_.row_patience_ms;
  state_.patient_waits += is_long ? 1 : 0;
  state_.wait_began.notify_all();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  waits_ = true;
  is_stopped_ = is_stopped_ && goes_on_;
  while (!condition() && !is_told_to_stop() &&
         state_.lock_released.wait_until(lock, end) == std::cv_status::no_timeout) {
  }
  waits_ = false;
  state_.patient_waits -= is_long ? 1 : 0;
  return condition() && !is_told_to_stop();
}

void MemorySession::stop(const Work& work) {
  const MutexLock lock(state_.mutex);
  if (work.number != work_.number) {
    return;
  }
  was_stopped_ = true;
  commit_is_stopped_ = commits_;
  if (waits_ || goes_on_) {
    is_stopped_ = true;
    state_.lock_released.notify_all();
  }
}

void MemorySession::work_for(const Presence* client) {
  const MutexLock lock(state_.mutex);
  work_.begin(client);
  was_stopped_ = false;
  is_stopped_ = false;
}

void MemorySession::work_for_request() {
  const MutexLock lock(state_.mutex);
  work_.begin_request();
  was_stopped_ = false;
  is_stopped_ = false;
}

bool MemorySession::was_stopped() const {
  const MutexLock lock(state_.mutex);
  return was_stopped_;
}

void MemorySession::forget_stop() {
  const MutexLock lock(state_.mutex);
  was_stopped_ = false;
  is_stopped_ = false;
  ++state_.stops_forgotten;
}

Error MemorySession::interruption_error() const {
  return interruption_ == Interruption::stop
             ? Error(ErrorCode::shutting_down)
             : Error(ErrorCode::sql, er_query_interrupted, "Query execution was interrupted");
}

bool MemorySession::must_wait() const {
  const bool written = state_.writer.session != nullptr;
  return options_.intent == Intent::write ? written || !state_.readers.empty()
                                          : written || state_.waiting_writers > 0;
}

bool MemorySession::waits_for_own_thread() const {
  const auto is_own = [](const Holder& holder) {
    return holder.session != nullptr && holder.thread == std::this_thread::get_id();
  };
  return is_own(state_.writer) || std::any_of(state_.readers.begin(), state_.readers.end(), is_own);
}

Begin MemorySession::acquire(MutexLock& lock, Error& error) {
  if (locked_) {
    return Begin::ready;
  }
  const bool writes = options_.intent == Intent::write;
  if (must_wait()) {
    if (waits_for_own_thread()) {
      return Begin::wait;
    }
    state_.waiting_writers += writes ? 1 : 0;
    const uint64_t timeout_ms =
        is_patient() ? patience_ms() : std::min(state_.row_patience_ms, state_.lock_wait_timeout_ms);
    const bool free =
        wait_in_place(lock, timeout_ms, [this]() ROWSOCKET_REQUIRES(state_.mutex) { return !must_wait(); });
    state_.waiting_writers -= writes ? 1 : 0;
    if (!free) {
      state_.lock_released.notify_all();  // readers that let this writer pass
      error = is_told_to_stop() ? interruption_error()
                                : Error(ErrorCode::engine, ha_lock_wait_timeout, "Lock wait timeout exceeded")
                                      .because(Reason::row_locked);
      return Begin::failed;
    }
  }
  const Holder self{this, std::this_thread::get_id()};
  if (writes) {
    state_.writer = self;
  } else {
    state_.readers.push_back(self);
  }
  locked_ = true;
  return Begin::ready;
}

void MemorySession::release() {
  if (!std::exchange(locked_, false)) {
    return;
  }
  if (options_.intent == Intent::write) {
    state_.writer = {};
  } else {
    std::erase_if(state_.readers, [this](const Holder& holder) { return holder.session == this; });
  }
  state_.lock_released.notify_all();
}

// ---- tables that are held

void MemorySession::release_read_tables() {
  const MutexLock lock(state_.mutex);
  const auto held = held_tables_;
  for (const auto& table : held) {
    if (std::find(written_tables_.begin(), written_tables_.end(), table) == written_tables_.end()) {
      give_back(table);
    }
  }
}

void MemorySession::yield_tables() {
  const MutexLock lock(state_.mutex);
  const auto held = held_tables_;
  for (const auto& table : held) {
    if (table->busy) {
      give_back(table);
    }
  }
}

void MemorySession::release_tables() {
  const MutexLock lock(state_.mutex);
  while (!held_tables_.empty()) {
    give_back(std::shared_ptr<Table>(held_tables_.back()));
  }
}

bool MemorySession::holds_tables() const {
  const MutexLock lock(state_.mutex);
  return !held_tables_.empty();
}

}  // namespace rowsocket::engine::memory
