// SPDX-License-Identifier: GPL-2.0-only
//
// Numbers of which no two are equal, on any worker of this server: what a protocol writes into a column that
// says which version of a row it is. They follow the time of day, so they go on rising over a restart. One
// per worker, for all of its threads.
//
//   microseconds since 1970, or one more than the last number had | worker
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace rowsocket {

class UniqueNumbers {
 public:
  explicit UniqueNumbers(uint32_t worker_number) : worker_(worker_number % worker_count) {}

  /// The time of day, as it is now.
  void set_time(uint64_t unix_time_us) { unix_time_us_.store(unix_time_us, std::memory_order_relaxed); }
  [[nodiscard]] uint64_t next() {
    uint64_t last_us = last_us_.load(std::memory_order_relaxed);
    uint64_t next_us = 0;
    do {
      next_us = std::max(last_us + 1, unix_time_us_.load(std::memory_order_relaxed));
    } while (!last_us_.compare_exchange_weak(last_us, next_us, std::memory_order_relaxed));
    return next_us * worker_count + worker_;
  }

 private:
  static constexpr uint64_t worker_count = 1024;

  uint64_t worker_;
  std::atomic<uint64_t> unix_time_us_{0};
  std::atomic<uint64_t> last_us_{0};
};

}  // namespace rowsocket
