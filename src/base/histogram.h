// SPDX-License-Identifier: GPL-2.0-only
//
// How long things took, in buckets. Each doubling of the time has eight buckets of the same width, so that a
// percentile is known to an eighth of itself, whether it is of a microsecond or of a minute. The memory does
// not grow with what is counted.
//
//   ns   0 ─ 256 ─ 288 ─ 320 ... 512 ─ 576 ─ 640 ... 2^36 ─ and all that took longer
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/published.h"

namespace rowsocket {

/// Which bucket a time belongs to, and where a bucket ends.
struct LatencyBuckets {
  static constexpr uint32_t first_octave = 8;  ///< what took less than 2^8 ns is one bucket
  static constexpr uint32_t last_octave = 36;  ///< what took 2^36 ns (69 s) or more is one
  static constexpr uint32_t per_octave = 8;
  static constexpr size_t count = size_t{last_octave - first_octave} * per_octave + 2;

  [[nodiscard]] static size_t of(uint64_t ns) {
    if (ns < (uint64_t{1} << first_octave)) {
      return 0;
    }
    const auto octave = static_cast<uint32_t>(std::bit_width(ns)) - 1;
    if (octave >= last_octave) {
      return count - 1;
    }
    const uint64_t part = (ns >> (octave - 3U)) & (per_octave - 1U);
    return 1 + size_t{octave - first_octave} * per_octave + static_cast<size_t>(part);
  }
  /// The first time that is beyond it; UINT64_MAX of the last one.
  [[nodiscard]] static uint64_t end_ns(size_t bucket) {
    if (bucket == 0) {
      return uint64_t{1} << first_octave;
    }
    if (bucket >= count - 1) {
      return UINT64_MAX;
    }
    const auto octave = static_cast<uint32_t>((bucket - 1) / per_octave) + first_octave;
    const uint64_t part = (bucket - 1) % per_octave;
    return (uint64_t{per_octave} + part + 1) << (octave - 3U);
  }
};

/// `Number` is uint64_t, or Published<uint64_t> where one thread adds and others look.
template <typename Number>
class HistogramOf {
 public:
  void add(uint64_t ns) {
    counts_[LatencyBuckets::of(ns)] += 1;
    total_ns_ += ns;
    if (ns > max_ns_) [[unlikely]] {
      max_ns_ = ns;
    }
  }
  template <typename Other>
  void add_all(const HistogramOf<Other>& other) {
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      counts_[bucket] += other.count_of(bucket);
    }
    total_ns_ += other.total_ns();
    max_ns_ = std::max<uint64_t>(max_ns_, other.max_ns());
  }
  void clear() {
    for (Number& count : counts_) {
      count = 0;
    }
    total_ns_ = 0;
    max_ns_ = 0;
  }

  [[nodiscard]] uint64_t count_of(size_t bucket) const { return counts_[bucket]; }
  [[nodiscard]] uint64_t total_ns() const { return total_ns_; }
  [[nodiscard]] uint64_t max_ns() const { return max_ns_; }
  [[nodiscard]] uint64_t count() const {
    uint64_t sum = 0;
    for (const Number& count : counts_) {
      sum += count;
    }
    return sum;
  }
  /// So many in a thousand took no longer than this: the end of a bucket, or the longest time of all. 0 where
  /// nothing was counted.
  [[nodiscard]] uint64_t permille_ns(uint64_t permille) const {
    const uint64_t all = count();
    const uint64_t wanted = (all * permille + 999) / 1000;
    uint64_t seen = 0;
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      seen += counts_[bucket];
      if (seen >= wanted && all > 0) {
        return std::min(LatencyBuckets::end_ns(bucket), max_ns());
      }
    }
    return max_ns();
  }

 private:
  std::array<Number, LatencyBuckets::count> counts_{};
  Number total_ns_{};
  Number max_ns_{};
};

using Histogram = HistogramOf<uint64_t>;
using PublishedHistogram = HistogramOf<Published<uint64_t>>;

}  // namespace rowsocket
