// SPDX-License-Identifier: GPL-2.0-only
//
// What a connection's requests take of the loop by themselves, without waits, commits and walks. It finds
// those that are too short for a walk and too long to be light: a column that is computed, say. Of each
// request some time is free, which is what it took at most. The rest adds up over the turns, up to a bound
// for each turn, and each turn lets some of it go. So quick requests beside a slow one hide nothing of it,
// and those between slow ones hide them only where most turns are quick.
//
// What is too short for that, and still several times what one row takes, makes a connection middling: a list
// of 50 keys, say. There the mean of its turns counts, and nothing of a read is free.
//
// Of a client that has just come, that says nothing: see exec/long_requests.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/limits.h"

namespace rowsocket::server {

class OwnTime {
 public:
  /// In a turn, its requests took so much more than what is free of each, and so much of the loop in all:
  /// of what writes, only what is not free.
  void add(uint64_t us, uint64_t of_loop_us = 0) {
    const auto counted_us = std::min<uint64_t>(of_loop_us, limits::middling_us_per_turn_max);
    mean_eighths_us_ = mean_eighths_us_ - mean_eighths_us_ / 8 + static_cast<uint32_t>(counted_us);
    const uint64_t sum_us = us_ + std::min<uint64_t>(us, limits::own_us_per_turn_max);
    us_ = static_cast<uint32_t>(std::min<uint64_t>(
        sum_us - std::min<uint64_t>(sum_us, limits::own_us_free_per_turn), limits::own_us_max));
    turns_ = std::min(turns_ + 1, limits::own_turns_until_known);
  }
  /// What it asks next is expected to take long. If that does not, it is light again.
  void presume_heavy() { us_ = std::max(us_, limits::heavy_own_us); }
  [[nodiscard]] bool is_heavy() const { return us_ >= limits::heavy_own_us; }
  [[nodiscard]] bool is_middling() const { return mean_eighths_us_ >= 8 * limits::middling_us; }
  /// It has taken part in few turns.
  [[nodiscard]] bool is_unknown() const { return turns_ < limits::own_turns_until_known; }

 private:
  uint32_t us_ = 0;
  uint32_t mean_eighths_us_ = 0;  ///< eight times the mean
  uint32_t turns_ = 0;            ///< up to limits::own_turns_until_known
};

}  // namespace rowsocket::server
