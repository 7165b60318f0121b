// SPDX-License-Identifier: GPL-2.0-only
//
// Which keys a run asks for: uniform, or Zipf (a few keys are asked for most of the time). Reproducible from a seed. One owner,
// one thread.
#pragma once

#include <cstdint>

namespace rowsocket::bench {

/// xorshift64*: 64 good bits in about a nanosecond; the generator's own cost must not hide the server's.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DULL;
  }
  /// Uniform in [0, bound). The bias of the multiplication is below bound / 2^32.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }
  /// Uniform in [0, 1).
  double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

/// Ranks 1..count with probability proportional to 1 / rank^exponent, in constant time and memory (rejection-inversion, Hörmann
/// and Derflinger 1996).
class Zipf {
 public:
  Zipf(uint32_t count, double exponent);
  [[nodiscard]] uint32_t rank(Random& random) const;

 private:
  [[nodiscard]] double integral(double rank) const;
  [[nodiscard]] double integral_inverse(double area) const;

  double count_;
  double exponent_;
  double area_first_;  ///< where the distribution's area begins (rank 1, whole)
  double area_last_;
  double shortcut_;  ///< a candidate this close to its rank is accepted without a further test
};

/// Keys 1..count. `zipf_exponent` 0 = uniform.
class KeySource {
 public:
  KeySource(uint32_t count, double zipf_exponent, uint64_t seed);
  uint32_t next();

 private:
  uint32_t count_;
  bool uniform_;
  Random random_;
  Zipf zipf_;
};

}  // namespace rowsocket::bench
