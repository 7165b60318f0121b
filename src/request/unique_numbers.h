// SPDX-License-Identifier: GPL-2.0-only
//
// Numbers of which no two are equal, on any worker of this server: what a protocol writes into a column that
// says which version of a row it is. They follow the time of day, so they go on rising over a restart. One
// per worker, used by its thread only.
//
//   microseconds since 1970, or one more than the last number had | worker
#pragma once

#include <algorithm>
#include <cstdint>

namespace rowsocket {

class UniqueNumbers {
 public:
  explicit UniqueNumbers(uint32_t worker_number) : worker_(worker_number % worker_count) {}

  /// The time of day, as it is now.
  void set_time(uint64_t unix_time_us) { unix_time_us_ = unix_time_us; }
  [[nodiscard]] uint64_t next() {
    last_us_ = std::max(last_us_ + 1, unix_time_us_);
    return last_us_ * worker_count + worker_;
  }

 private:
  static constexpr uint64_t worker_count = 1024;

  uint64_t worker_;
  uint64_t unix_time_us_ = 0;
  uint64_t last_us_ = 0;
};

}  // namespace rowsocket
