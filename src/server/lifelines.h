// SPDX-License-Identifier: GPL-2.0-only
//
// All connections by their numbers, wherever they are, so that an administrator can end one of them:
//
//   acceptor ......... begin: a Lifeline goes with its connection (inbox, loop, handshake, other worker)
//   administrator .... kill: the lifeline says so from now on, and whoever has the connection is woken
//   who has it ....... is_killed · closes the connection, and the lifeline ends
//
// The administrator waits for nobody. What a thread does for the client meanwhile asks `is_killed` where it
// asks whether the client is gone.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace rowsocket::server {

class Lifelines;

/// Of one connection, from accept to its end.
class Lifeline {
 public:
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  [[nodiscard]] bool is_killed() const { return is_killed_.load(std::memory_order_acquire); }

 private:
  friend class Lifelines;
  Lifeline(Lifelines& all, uint64_t number) : all_(all), number_(number) {}

  Lifelines& all_;
  const uint64_t number_;
  std::atomic<bool> is_killed_{false};
};

class Lifelines {
 public:
  /// A connection with this number, which no other has. It ends before this. May throw std::bad_alloc.
  [[nodiscard]] std::unique_ptr<Lifeline> begin(uint64_t number);

  /// There is a connection with this number.
  [[nodiscard]] bool has(uint64_t number) const;
  /// False if there is none. May throw std::bad_alloc; then nothing has changed.
  [[nodiscard]] bool kill(uint64_t number);
  /// Cheap: for every request.
  [[nodiscard]] bool some_are_killed() const { return killed_count_.load(std::memory_order_acquire) != 0; }
  /// Their numbers, as long as they have not ended. May throw std::bad_alloc.
  [[nodiscard]] std::vector<uint64_t> killed() const;

 private:
  friend class Lifeline;
  void end(const Lifeline& lifeline);

  mutable Mutex mutex_;
  std::unordered_map<uint64_t, Lifeline*> all_ ROWSOCKET_GUARDED_BY(mutex_);
  std::vector<uint64_t> killed_ ROWSOCKET_GUARDED_BY(mutex_);
  std::atomic<size_t> killed_count_{0};
};

}  // namespace rowsocket::server
