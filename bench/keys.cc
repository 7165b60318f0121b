// SPDX-License-Identifier: GPL-2.0-only
#include "bench/keys.h"

#include <algorithm>
#include <cmath>

namespace rowsocket::bench {

namespace {

/// A prime: multiplying by it modulo the number of keys is a permutation, so hot keys are spread over the table's pages.
constexpr uint64_t scatter = 2654435761;

}  // namespace

Random::Random(uint64_t seed) : state_((seed + 1) * 0x9E3779B97F4A7C15ULL) {
  if (state_ == 0) {
    state_ = 1;
  }
}

Zipf::Zipf(uint32_t count, double exponent) : count_(count), exponent_(exponent) {
  area_first_ = integral(1.5) - 1;
  area_last_ = integral(count_ + 0.5);
  shortcut_ = 2 - integral_inverse(integral(2.5) - std::pow(2.0, -exponent_));
}

/// The integral of x^-exponent; expm1 and log1p keep it exact near exponent 1.
double Zipf::integral(double rank) const {
  const double logarithm = std::log(rank);
  const double scaled = (1 - exponent_) * logarithm;
  return std::abs(scaled) < 1e-8 ? logarithm : std::expm1(scaled) / (1 - exponent_);
}

double Zipf::integral_inverse(double area) const {
  const double scaled = std::max(area * (1 - exponent_), -1.0);
  return std::abs(scaled) < 1e-8 ? std::exp(area) : std::exp(std::log1p(scaled) / (1 - exponent_));
}

uint32_t Zipf::rank(Random& random) const {
  for (;;) {
    const double area = area_last_ + random.fraction() * (area_first_ - area_last_);
    const double place = integral_inverse(area);
    const double rank = std::clamp(std::floor(place + 0.5), 1.0, count_);
    if (rank - place <= shortcut_ || area >= integral(rank + 0.5) - std::pow(rank, -exponent_)) {
      return static_cast<uint32_t>(rank);
    }
  }
}

KeySource::KeySource(uint32_t count, double zipf_exponent, uint64_t seed)
    : count_(count), uniform_(zipf_exponent <= 0), random_(seed), zipf_(count, uniform_ ? 1 : zipf_exponent) {}

uint32_t KeySource::next() {
  if (uniform_) {
    return 1 + random_.below(count_);
  }
  return 1 + static_cast<uint32_t>(zipf_.rank(random_) * scatter % count_);
}

}  // namespace rowsocket::bench
