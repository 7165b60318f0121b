// SPDX-License-Identifier: GPL-2.0-only
#include "server/spread.h"

#include <algorithm>

#include "base/limits.h"

namespace rowsocket::server {

Inbox* Spread::elsewhere(uint32_t worker_number) const {
  const uint32_t count = worker_count();
  Inbox* least = nullptr;
  for (uint32_t number = 0; number < count; ++number) {
    Inbox* const one = inboxes_[number];
    if (number != worker_number && one->is_open() &&
        (least == nullptr || one->connection_count() < least->connection_count())) {
      least = one;
    }
  }
  const bool serves = worker_number < count;
  if (least == nullptr || !serves) {
    return least;
  }
  const bool has_too_many = inboxes_[worker_number]->connection_count() > least->connection_count() + 1;
  return is_wide() && has_too_many ? least : nullptr;
}

Spread::Wish Spread::look(uint64_t now_ms) {
  const uint64_t passed_ms = now_ms - looked_at_ms_;
  if (passed_ms < limits::spread_look_ms) {
    return Wish::stay;
  }
  looked_at_ms_ = now_ms;
  const uint64_t waits = disk_waits_.exchange(0, std::memory_order_relaxed);
  const uint64_t waits_per_s = waits * 1000 / passed_ms;
  if (!is_wide()) {
    return is_cold(waits_per_s, now_ms) ? Wish::widen : Wish::stay;
  }
  if (waits_per_s >= limits::spread_waits_per_s / 4) {
    last_cold_ms_ = now_ms;
  }
  if (trial_fails(waits, now_ms)) {
    return Wish::narrow;
  }
  return now_ms - last_cold_ms_ < limits::spread_rest_ms ? Wish::stay : Wish::narrow;
}

bool Spread::is_cold(uint64_t waits_per_s, uint64_t now_ms) {
  if (waits_per_s < limits::spread_waits_per_s || now_ms < next_trial_ms_) {
    cold_looks_ = 0;
    cold_waits_per_s_ = 0;
    return false;
  }
  cold_waits_per_s_ = (cold_waits_per_s_ * cold_looks_ + waits_per_s) / (cold_looks_ + 1);
  ++cold_looks_;
  return cold_looks_ >= limits::spread_cold_looks;
}

/// The connections move first. Where the load ended meanwhile, nothing was learnt.
bool Spread::trial_fails(uint64_t waits, uint64_t now_ms) {
  const uint64_t passed_ms = now_ms - widened_at_ms_;
  if (trial_waits_per_s_min_ == 0 || passed_ms < limits::spread_settle_ms) {
    return false;
  }
  trial_waits_ += waits;
  if (passed_ms < limits::spread_settle_ms + limits::spread_trial_ms) {
    return false;
  }
  const uint64_t waits_per_s = trial_waits_ * 1000 / (passed_ms - limits::spread_settle_ms);
  const bool is_better = waits_per_s >= trial_waits_per_s_min_;
  trial_waits_per_s_min_ = 0;
  if (is_better) {
    trial_pause_ms_ = limits::spread_pause_ms;
  } else if (waits_per_s >= limits::spread_waits_per_s / 4) {
    next_trial_ms_ = now_ms + trial_pause_ms_;
    trial_pause_ms_ = std::min(2 * trial_pause_ms_, limits::spread_pause_ms_max);
  }
  return !is_better;
}

void Spread::set(uint32_t worker_count, uint64_t now_ms) {
  worker_count_.store(worker_count, std::memory_order_relaxed);
  if (!is_wide()) {
    return;
  }
  widened_at_ms_ = last_cold_ms_ = now_ms;
  trial_waits_ = 0;
  trial_waits_per_s_min_ = cold_waits_per_s_ + cold_waits_per_s_ / limits::spread_gain_share;
  cold_looks_ = 0;
  cold_waits_per_s_ = 0;
}

}  // namespace rowsocket::server
