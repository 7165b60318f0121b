// SPDX-License-Identifier: GPL-2.0-only
//
// The threads of one worker, each with what others may see of it: its counters, and its turn. A thread that
// has ended stays in the list until `forget_ended`; what it counted is kept.
//
// Thread-safe. Hands do not move.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "request/counters.h"

namespace rowsocket::server {

class Turn;

/// A thread that runs the loop, or could.
struct Hand {
  Counters counters;
  std::thread thread;
  Turn* turn = nullptr;  ///< the thread's own
  std::atomic<bool> has_ended{false};
};

class Hands {
 public:
  /// Start a thread that does `work`. False if the system refuses it. May throw std::bad_alloc.
  [[nodiscard]] bool add(const std::string& name, std::function<void(Hand&)> work, std::string& failure);
  /// The last thing that the hand's thread does.
  void note_end(Hand& hand);
  /// Wait for the end of all threads. No thread is added any more, or by those that end only.
  void join();
  /// Forget those that have ended. Returns how many.
  [[nodiscard]] size_t forget_ended();

  [[nodiscard]] size_t size() const;
  [[nodiscard]] uint64_t count(Counter counter) const;

 private:
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Hand>> hands_ ROWSOCKET_GUARDED_BY(mutex_);
  Counters ended_counters_ ROWSOCKET_GUARDED_BY(mutex_);
  std::atomic<bool> some_ended_{false};  ///< and are still in the list
};

}  // namespace rowsocket::server
