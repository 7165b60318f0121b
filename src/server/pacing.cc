// SPDX-License-Identifier: GPL-2.0-only
#include "server/pacing.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/limits.h"

namespace rowsocket::server {

uint64_t AllWalks::rest_us(uint64_t burst_us) const {
  const uint64_t walks = count_.load(std::memory_order_relaxed);
  const uint64_t both_us = burst_us * walks * limits::walks_share / processors_;
  return std::min<uint64_t>(both_us - std::min(both_us, burst_us), limits::walk_rest_us_max);
}

uint64_t waited_for_processor_us(ThreadNumber thread) {
  std::array<char, 128> text{};
  // ran waited slices: the first two in ns. The last byte stays 0.
  if (told_of(thread, "schedstat", std::span(text).first(text.size() - 1)).empty()) {
    return 0;
  }
  char* waited = nullptr;
  static_cast<void>(std::strtoull(text.data(), &waited, 10));
  return std::strtoull(waited, nullptr, 10) / 1000;
}

void Pace::keep(LoopToken::Ticket ticket, ThreadNumber other) {
  if (ticket != ticket_) {
    end();
    ticket_ = ticket;
    walks_.begin();
    begin_burst(other, waited_(other));
    return;
  }
  const uint64_t burst_us = clock_.now_us() - burst_began_us_;
  if (burst_us < limits::walk_burst_us) {
    return;
  }
  const uint64_t now_waited_us = waited_(other);  // 0 if the system does not say
  const bool has_more = other == other_ && now_waited_us > other_waited_us_;
  const uint64_t waited_us = has_more ? now_waited_us - other_waited_us_ : 0;
  const uint64_t rest_us = waited_us >= burst_us / limits::walk_waited_share ? walks_.rest_us(burst_us) : 0;
  if (rest_us > 0) {
    clock_.sleep_us(rest_us);
  }
  begin_burst(other, rest_us > 0 ? waited_(other) : now_waited_us);
}

void Pace::begin_burst(ThreadNumber other, uint64_t waited_us) {
  other_ = other;
  other_waited_us_ = waited_us;
  burst_began_us_ = clock_.now_us();
}

void Pace::end() {
  if (std::exchange(ticket_, 0) != 0) {
    walks_.end();
  }
}

}  // namespace rowsocket::server
