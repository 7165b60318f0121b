// SPDX-License-Identifier: GPL-2.0-only
//
// Time as a parameter: what needs it takes a `Clock`, so that tests own theirs.
#pragma once

#include <chrono>
#include <cstdint>

namespace rowsocket {

/// Monotonic time in milliseconds since some start.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual uint64_t now_ms() const = 0;
};

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] uint64_t now_ms() const override {
    using std::chrono::duration_cast;
    return static_cast<uint64_t>(
        duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
};

class ManualClock final : public Clock {
 public:
  [[nodiscard]] uint64_t now_ms() const override { return now_ms_; }
  void advance_ms(uint64_t milliseconds) { now_ms_ += milliseconds; }

 private:
  uint64_t now_ms_ = 1000;
};

}  // namespace rowsocket
