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
  const uint64_t waits_per_s =
      uint64_t{disk_waits_.exchange(0, std::memory_order_relaxed)} * 1000 / passed_ms;
  if (is_wide()) {
    if (waits_per_s >= limits::spread_waits_per_s / 4) {
      last_cold_ms_ = now_ms;
    }
    return now_ms - last_cold_ms_ < limits::spread_rest_ms ? Wish::stay : Wish::narrow;
  }
  cold_looks_ = waits_per_s >= limits::spread_waits_per_s ? cold_looks_ + 1 : 0;
  if (cold_looks_ < limits::spread_cold_looks) {
    return Wish::stay;
  }
  cold_looks_ = 0;
  last_cold_ms_ = now_ms;
  return Wish::widen;
}

}  // namespace rowsocket::server
