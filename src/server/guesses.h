// SPDX-License-Identifier: GPL-2.0-only
//
// How often a party may guess: a number of wrong passwords at once, and then one per interval. A login that
// is under way counts as a wrong guess until it has ended. Pure: time is given.
//
// `paid_at_ms` is when all guesses so far are paid for, at one interval each.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rowsocket::server {

class Guesses {
 public:
  struct Allowance {
    uint32_t at_once;
    uint32_t interval_ms;
  };

  explicit Guesses(const Allowance& allowance) : allowance_(allowance) {}

  /// When the next login may be tried; in the past or now, if at once.
  [[nodiscard]] uint64_t next_at_ms(uint64_t now_ms) const {
    const uint64_t paid_at_ms = std::max(paid_at_ms_, now_ms);
    const uint64_t owed_ms = (paid_at_ms - now_ms) + uint64_t{under_way_ + 1} * allowance_.interval_ms;
    const uint64_t credit_ms = uint64_t{allowance_.at_once} * allowance_.interval_ms;
    return now_ms + (owed_ms > credit_ms ? owed_ms - credit_ms : 0);
  }
  [[nodiscard]] bool may_try(uint64_t now_ms) const { return next_at_ms(now_ms) <= now_ms; }
  /// It has guessed more often than it may, whatever is under way.
  [[nodiscard]] bool is_slowed(uint64_t now_ms) const {
    const uint64_t credit_ms = uint64_t{allowance_.at_once - 1} * allowance_.interval_ms;
    return paid_at_ms_ > now_ms + credit_ms;
  }
  /// It has guessed wrong of late.
  [[nodiscard]] bool owes(uint64_t now_ms) const { return paid_at_ms_ > now_ms; }
  /// Nothing of it needs to be remembered.
  [[nodiscard]] bool is_even(uint64_t now_ms) const { return under_way_ == 0 && !owes(now_ms); }

  void begin() { ++under_way_; }
  void end(bool was_wrong, uint64_t now_ms) {
    --under_way_;
    if (was_wrong) {
      paid_at_ms_ = std::max(paid_at_ms_, now_ms) + allowance_.interval_ms;
    }
  }

 private:
  Allowance allowance_;
  uint32_t under_way_ = 0;
  uint64_t paid_at_ms_ = 0;
};

}  // namespace rowsocket::server
