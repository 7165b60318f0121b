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
  return both_us - std::min(both_us, burst_us);
}

bool AllWalks::some_waited(uint64_t now_us) const {
  const uint64_t seen_us = waits_seen_us_.load(std::memory_order_relaxed);
  return seen_us != 0 && now_us - std::min(now_us, seen_us) < limits::walk_waits_us;
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

uint64_t AllWalks::loops_waited_us() const {
  uint64_t sum_us = 0;
  for (const auto* thread : loops_) {
    if (const ThreadNumber number = thread->load(std::memory_order_relaxed); number != 0) {
      sum_us += waited_for_processor_us(number);
    }
  }
  return sum_us;
}

/// Where a loop has another thread than before, the sum may be less: nobody is known to have waited then.
void Pace::keep(LoopToken::Ticket ticket, bool may_rest) {
  if (ticket != ticket_) {
    end();
    ticket_ = ticket;
    walks_.begin();
    burst_us_min_ = limits::walk_burst_us_first;
    if (may_rest && walks_.some_waited(clock_.now_us())) {
      rest_left_us_ = walks_.rest_us(limits::slice_us);
      rest();
      return;
    }
    begin_burst(waited_());
    return;
  }
  if (rest_left_us_ > 0) {
    rest();
    return;
  }
  const uint64_t burst_us = clock_.now_us() - burst_began_us_;
  if (burst_us < burst_us_min_) {
    return;
  }
  burst_us_min_ = std::min(2 * burst_us_min_, limits::walk_burst_us);
  const uint64_t now_waited_us = waited_();
  const uint64_t waited_us = now_waited_us - std::min(now_waited_us, waited_before_us_);
  const bool they_wait = waited_us >= burst_us / limits::walk_waited_share;
  if (they_wait) {
    walks_.note_waits(clock_.now_us());
  }
  const uint64_t rest_us = they_wait ? walks_.rest_us(burst_us) : 0;
  if (!may_rest) {
    owed_us_ = std::min<uint64_t>(owed_us_ + rest_us, limits::owed_rest_us_max);
  } else if (rest_us > 0) {
    rest_left_us_ = rest_us;
    rest();
    return;
  }
  begin_burst(now_waited_us);
}

/// In parts: between them the walk looks for its client.
void Pace::rest() {
  const uint64_t part_us = std::min<uint64_t>(rest_left_us_, limits::walk_rest_us_max);
  clock_.sleep_us(part_us);
  rest_left_us_ -= part_us;
  begin_burst(waited_());
}

void Pace::begin_burst(uint64_t waited_us) {
  waited_before_us_ = waited_us;
  burst_began_us_ = clock_.now_us();
}

uint64_t Pace::end() {
  if (std::exchange(ticket_, 0) != 0) {
    walks_.end();
  }
  rest_left_us_ = 0;
  return std::exchange(owed_us_, 0);
}

}  // namespace rowsocket::server
