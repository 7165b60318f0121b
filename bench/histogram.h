// SPDX-License-Identifier: GPL-2.0-only
//
// Latencies of a run, in nanoseconds, in constant memory: a log-linear histogram in the manner of HdrHistogram. Values below 256
// are counted exactly; above, each power of two is cut into 128 buckets, so a percentile is at most 1/128 (0.8 %) above the truth
// and never below it. One owner, one thread; several histograms of a run are merged with `add`.
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

class Histogram {
 public:
  static constexpr uint64_t value_max = (uint64_t{1} << 40) - 1;  ///< 18 minutes; larger values are counted as this

  void record(uint64_t value) {
    sum_ += value;
    max_ = std::max(max_, value);
    ++counts_[bucket_of(std::min(value, value_max))];
    ++total_;
  }

  void add(const Histogram& other) {
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      counts_[bucket] += other.counts_[bucket];
    }
    total_ += other.total_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  [[nodiscard]] uint64_t total() const { return total_; }
  /// The largest recorded value, exactly; 0 of none.
  [[nodiscard]] uint64_t max() const { return max_; }
  [[nodiscard]] double mean() const { return total_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(total_); }

  /// Calls `take(last_value, count)` for every bucket that holds something, ascending.
  template <typename Take>
  void for_each_bucket(Take&& take) const {
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      if (counts_[bucket] > 0) {
        take(last_value_of(bucket), counts_[bucket]);
      }
    }
  }

  /// The smallest value that at least `percent` of the recorded values do not exceed, rounded up to the end of its bucket; 0 if
  /// nothing was recorded.
  [[nodiscard]] uint64_t percentile(double percent) const {
    const auto wanted = std::max<uint64_t>(1, rank_of(percent));
    uint64_t seen = 0;
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      seen += counts_[bucket];
      if (seen >= wanted) {
        return last_value_of(bucket);
      }
    }
    return 0;
  }

 private:
  static constexpr unsigned exact_bits = 8;
  static constexpr size_t exact_count = size_t{1} << exact_bits;
  static constexpr size_t half_count = exact_count / 2;
  static constexpr size_t bucket_count = exact_count + (40 - exact_bits) * half_count;

  static constexpr size_t bucket_of(uint64_t value) {
    if (value < exact_count) {
      return static_cast<size_t>(value);
    }
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - exact_bits;
    return exact_count + (shift - 1) * half_count + static_cast<size_t>(value >> shift) - half_count;
  }

  static constexpr uint64_t last_value_of(size_t bucket) {
    if (bucket < exact_count) {
      return bucket;
    }
    const unsigned shift = static_cast<unsigned>((bucket - exact_count) / half_count) + 1;
    const uint64_t leading = (bucket - exact_count) % half_count + half_count;
    return ((leading + 1) << shift) - 1;
  }

  /// How many values stand at or below the percentile: `percent` of the total, rounded up.
  [[nodiscard]] uint64_t rank_of(double percent) const {
    const double exact = static_cast<double>(total_) * percent / 100.0;
    const auto floored = static_cast<uint64_t>(exact);
    return floored + (static_cast<double>(floored) < exact ? 1 : 0);
  }

  std::array<uint64_t, bucket_count> counts_{};
  uint64_t total_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace rowsocket::bench
