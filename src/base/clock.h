// SPDX-License-Identifier: GPL-2.0-only
//
// Time as a parameter: what needs it takes a `Clock`, so that tests own theirs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/ticks.h"

namespace rowsocket {

/// Monotonic time since some start.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual uint64_t now_us() const = 0;
  virtual void sleep_us(uint64_t microseconds) = 0;
  [[nodiscard]] uint64_t now_ms() const { return now_us() / 1000; }
  /// For how long something took, where `now_us` is too dear: see base/ticks.h.
  [[nodiscard]] virtual uint64_t ticks() const { return now_us() * 1000; }
  [[nodiscard]] virtual uint64_t us_of(uint64_t ticks) const { return ticks / 1000; }
  /// The time of day, since 1970: for what is told or stored, never for how long something took.
  [[nodiscard]] virtual uint64_t unix_time_us() const = 0;
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] uint64_t now_us() const override {
    using std::chrono::duration_cast;
    return static_cast<uint64_t>(
        duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }
  [[nodiscard]] uint64_t unix_time_us() const override {
    using std::chrono::duration_cast;
    return static_cast<uint64_t>(
        duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
  }
  [[nodiscard]] uint64_t ticks() const override { return ticks_now(); }
  [[nodiscard]] uint64_t us_of(uint64_t ticks) const override {
    return TickRate::to_ns(ticks, rate_.ns_per_mebitick()) / 1000;
  }
  void sleep_us(uint64_t microseconds) override {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  }

 private:
  TickRate rate_;
};

/// A test's: it stands still until the test moves it, and a sleep is over at once.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] uint64_t now_us() const override { return now_us_; }
  void sleep_us(uint64_t microseconds) override {
    advance_us(microseconds);
    if (on_sleep) {
      on_sleep(microseconds);
    }
  }
  [[nodiscard]] uint64_t unix_time_us() const override { return epoch_us + now_us_; }
  void advance_us(uint64_t microseconds) { now_us_ += microseconds; }
  void advance_ms(uint64_t milliseconds) { advance_us(milliseconds * 1000); }

  std::function<void(uint64_t microseconds)> on_sleep;

 private:
  static constexpr uint64_t epoch_us = 1'700'000'000'000'000;
  uint64_t now_us_ = 1'000'000;
};

}  // namespace rowsocket
