// SPDX-License-Identifier: GPL-2.0-only
//
// Latencies of a run, in nanoseconds, in constant memory: a log-linear histogram in the manner of
// HdrHistogram. Values below 256 are counted exactly. Above, each power of two is cut into 128 buckets, so a
// bucket's last value is at most 0.8 % above any value in it. Percentiles are the harness's business. One
// owner, one thread.
//
//   value   0 .. 255 | 256 .. 511 | 512 .. 1023 | ...
//   bucket  1 wide   | 2 wide     | 4 wide      | ...
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rowsocket::bench {

class Latencies {
 public:
  void record(uint64_t value) {
    sum_ += value;
    max_ = std::max(max_, value);
    ++counts_[bucket_of(std::min(value, value_max))];
  }
  [[nodiscard]] uint64_t sum() const { return sum_; }
  [[nodiscard]] uint64_t max() const { return max_; }

  /// Calls `take(last_value, count)` for every bucket that holds something, ascending.
  template <typename Take>
  void for_each_bucket(Take&& take) const {
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      if (counts_[bucket] > 0) {
        take(last_value_of(bucket), counts_[bucket]);
      }
    }
  }

 private:
  static constexpr uint64_t value_max = (uint64_t{1} << 40) - 1;  ///< 18 minutes
  static constexpr size_t half = 128;

  static constexpr size_t bucket_of(uint64_t value) {
    const unsigned shift = value < 2 * half ? 0 : static_cast<unsigned>(std::bit_width(value)) - 8;
    return shift * half + static_cast<size_t>(value >> shift);
  }
  static constexpr uint64_t last_value_of(size_t bucket) {
    const size_t shift = bucket < 2 * half ? 0 : bucket / half - 1;
    return ((bucket - shift * half + uint64_t{1}) << shift) - 1;
  }

  std::array<uint64_t, 34 * half> counts_{};
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace rowsocket::bench
