// SPDX-License-Identifier: GPL-2.0-only
//
// When the requests of an open loop are due: at a fixed rate, whatever the server does. A latency that is counted from that time
// holds the wait of the requests that a stall held up (a closed loop would not have sent them, and so would not have seen them).
#pragma once

#include <cstdint>

namespace rowsocket::bench {

class Schedule {
 public:
  Schedule() = default;
  Schedule(double rate_per_s, uint64_t start_ns) : rate_per_ns_(rate_per_s / 1e9), start_ns_(start_ns) {}

  /// Of the next request.
  [[nodiscard]] uint64_t due_ns() const { return start_ns_ + static_cast<uint64_t>(static_cast<double>(taken_) / rate_per_ns_); }
  /// The next request is on its way; the one after it becomes the next.
  void take() { ++taken_; }
  /// How many are due by now and not taken.
  [[nodiscard]] uint64_t backlog(uint64_t now_ns) const {
    if (now_ns < start_ns_) {
      return 0;
    }
    const auto due = static_cast<uint64_t>(static_cast<double>(now_ns - start_ns_) * rate_per_ns_) + 1;
    return due > taken_ ? due - taken_ : 0;
  }

 private:
  double rate_per_ns_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace rowsocket::bench
