// SPDX-License-Identifier: GPL-2.0-only
//
// Time for measuring each request: a count that the processor keeps, which takes half as long to read as the
// system's clock. Where there is none that runs evenly on all cores, it is the system's clock in nanoseconds.
//
// Ticks are only good for how long something took. Two cores may differ by a few: what ended before it began
// took no time.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace rowsocket {

inline uint64_t system_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

/// The processor says that its count runs at one rate, whatever it does.
inline bool has_even_ticks() {
#if defined(__x86_64__)
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  constexpr uint32_t power_leaf = 0x80000007;
  constexpr uint32_t invariant_count = 1U << 8;
  return __get_cpuid(power_leaf, &a, &b, &c, &d) != 0 && (d & invariant_count) != 0;
#else
  return false;
#endif
}

/// Whether `ticks_now` reads the processor's count.
inline const bool ticks_are_the_processors = has_even_ticks();

inline uint64_t ticks_now() {
#if defined(__x86_64__)
  if (ticks_are_the_processors) [[likely]] {
    return __rdtsc();
  }
#endif
  return system_ns();
}

/// How long a tick takes. It is seen from how many of them come while it lives: the longer, the more exactly.
/// Any thread.
class TickRate {
 public:
  TickRate() : began_ticks_(ticks_now()), began_ns_(system_ns()) {}

  /// So many nanoseconds took 2^20 ticks, until now.
  [[nodiscard]] uint64_t ns_per_mebitick() const {
    const uint64_t ns = system_ns() - began_ns_;
    const uint64_t ticks = ticks_now() - began_ticks_;
    if (ns < first_look_ns || ticks == 0) {
      return usual;
    }
    return static_cast<uint64_t>(static_cast<double>(ns) * mebitick / static_cast<double>(ticks));
  }
  [[nodiscard]] static uint64_t to_ns(uint64_t ticks, uint64_t ns_per_mebitick) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(ticks) * ns_per_mebitick) >> 20U);
  }

 private:
  static constexpr double mebitick = 1U << 20U;
  /// Before this not enough is known: the rate of a processor of 2 GHz, or of the clock.
  static constexpr uint64_t first_look_ns = 1'000'000;
  static constexpr uint64_t of_two_gigahertz = 1U << 19U;
  static constexpr uint64_t of_the_clock = 1U << 20U;

  const uint64_t usual = ticks_are_the_processors ? of_two_gigahertz : of_the_clock;
  uint64_t began_ticks_;
  uint64_t began_ns_;
};

}  // namespace rowsocket
