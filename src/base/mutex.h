// SPDX-License-Identifier: GPL-2.0-only
//
// A mutex that says what it guards, so that clang can check it (see CONTRIBUTING.md):
//
//   Mutex mutex_;
//   std::vector<Arrival> arrivals_ ROWSOCKET_GUARDED_BY(mutex_);
//
// A function that is called with the mutex held says so with ROWSOCKET_REQUIRES(mutex_). The checker does not
// look into predicates: wait in a loop.
#pragma once

#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define ROWSOCKET_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define ROWSOCKET_THREAD_ATTRIBUTE(attribute)
#endif
#define ROWSOCKET_GUARDED_BY(mutex) ROWSOCKET_THREAD_ATTRIBUTE(guarded_by(mutex))
#define ROWSOCKET_REQUIRES(mutex) ROWSOCKET_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace rowsocket {

class ROWSOCKET_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() ROWSOCKET_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() ROWSOCKET_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  /// For the checker, where the caller holds it under another name.
  void assume_held() const ROWSOCKET_THREAD_ATTRIBUTE(assert_capability(this)) {}

 private:
  std::mutex mutex_;
};

/// Holds a mutex while it lives, but for moments between `unlock` and `lock`.
class ROWSOCKET_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ROWSOCKET_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() ROWSOCKET_THREAD_ATTRIBUTE(release_capability()) {
    if (is_held_) {
      mutex_.unlock();
    }
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() ROWSOCKET_THREAD_ATTRIBUTE(acquire_capability()) {
    mutex_.lock();
    is_held_ = true;
  }
  void unlock() ROWSOCKET_THREAD_ATTRIBUTE(release_capability()) {
    is_held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

/// Waits with a MutexLock.
using ConditionVariable = std::condition_variable_any;

}  // namespace rowsocket
