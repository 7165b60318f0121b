// SPDX-License-Identifier: GPL-2.0-only
//
// Which keys the requests have: drawn from a range, drawn from a list, or each one used once in ascending
// order. The same seed gives the same keys. One owner, one thread; nothing is allocated after a request had
// its keys once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rowsocket::bench {

/// xorshift64*: 64 good bits in about a nanosecond.
class Random {
 public:
  explicit Random(uint64_t seed) : state_((seed + 1) * 0x9E3779B97F4A7C15ULL | 1) {}

  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DULL;
  }
  /// Uniform in [0, bound). The bias of the multiplication is below bound / 2^32.
  uint32_t below(uint64_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }
  /// Uniform in [0, 1).
  double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

struct KeyRange {
  size_t count = 1;  ///< of one request; different keys, ascending
  uint32_t least = 1;
  uint32_t most = 1;
  bool next = false;  ///< ascending from `least`, each once
  /// A file of 32-bit numbers to draw from instead; a key that is often in it is drawn often. Empty = none.
  std::string list = "";
};

class KeySource {
 public:
  /// Throws std::runtime_error if there are too few keys, or the list cannot be read.
  KeySource(const KeyRange& range, uint64_t seed);

  void next(std::vector<uint32_t>& keys);
  /// The first that was not used; of ascending keys only.
  [[nodiscard]] uint32_t unused() const { return unused_; }

 private:
  [[nodiscard]] uint32_t draw();
  void make_different(std::vector<uint32_t>& keys);

  KeyRange range_;
  std::vector<uint32_t> list_;
  Random random_;
  uint32_t unused_;
};

}  // namespace rowsocket::bench
