// SPDX-License-Identifier: GPL-2.0-only
//
// Wakes the ticker, which need not look at loops that all wait for clients.
//
//   ticker   arm · all loops nap? · sleep                     else disarm
//   loop     naps = true · waits for clients · naps = false · ring_if_armed
//
// Both sides write first and read then, in one order for all threads. So a loop that the ticker saw napping
// finds the bell armed when it goes on.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/mutex.h"

namespace rowsocket::server {

class Bell {
 public:
  enum class Woken : uint8_t { by_time, by_ring, to_stop };

  // For the ticker.
  void arm() { is_armed_.store(true); }
  void disarm() { is_armed_.store(false); }
  /// A semaphore of the standard library would spin for 50 µs before it sleeps.
  [[nodiscard]] Woken sleep(std::chrono::milliseconds at_most) {
    MutexLock lock(mutex_);
    if (!is_stopped_ && !rings_) {
      changed_.wait_for(lock, at_most);
    }
    if (is_stopped_) {
      return Woken::to_stop;
    }
    return std::exchange(rings_, false) ? Woken::by_ring : Woken::by_time;
  }

  // For any thread.
  void ring_if_armed() {
    if (is_armed_.load() && is_armed_.exchange(false)) {
      const MutexLock lock(mutex_);
      rings_ = true;
      changed_.notify_one();
    }
  }
  /// No sleep from now on.
  void stop() {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    changed_.notify_one();
  }

 private:
  std::atomic<bool> is_armed_{false};
  Mutex mutex_;
  ConditionVariable changed_;
  bool rings_ ROWSOCKET_GUARDED_BY(mutex_) = false;
  bool is_stopped_ ROWSOCKET_GUARDED_BY(mutex_) = false;
};

}  // namespace rowsocket::server
