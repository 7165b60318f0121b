// SPDX-License-Identifier: GPL-2.0-only
#include "server/crew.h"

#include <exception>
#include <utility>

#include "base/limits.h"
#include "server/limited_log.h"

namespace rowsocket::server {

Crew::Crew(const Surroundings& surroundings, std::string name, Work work)
    : world_(surroundings), name_(std::move(name)), work_(std::move(work)) {}

bool Crew::add(bool is_in_charge, std::string& failure) {
  return hands_.add(name_, [this, is_in_charge](Hand& hand) { work_(hand, is_in_charge); }, failure);
}

void Crew::note_end(Hand& hand, bool is_in_charge) {
  if (!is_in_charge) {
    calls_.note_start(false);
  }
  hands_.note_end(hand);
}

void Crew::note_failure(std::string_view what, bool is_in_charge) {
  const uint64_t now_ms = world_.clock.now_ms();
  const uint64_t before_ms = failed_at_ms_.exchange(now_ms);
  if (is_in_charge || before_ms == 0 || now_ms - before_ms > limits::stand_in_complaint_ms) {
    LimitedLog(world_.log, world_.clock, name_).always(LogLevel::error, what);
  }
}

bool Crew::has_failed_lately() const {
  const uint64_t failed_at_ms = failed_at_ms_.load();
  return failed_at_ms != 0 && world_.clock.now_ms() - failed_at_ms < limits::stand_in_retry_ms;
}

bool Crew::has_idle_for(LoopToken::Ticket ticket) {
  if (idle_count() > 0) {
    return true;
  }
  if (!calls_.one_is_starting() && !make_stand_in() && std::exchange(missed_for_, ticket) != ticket) {
    counters_.add(Counter::stand_ins_missed);
  }
  return false;
}

/// False where none is allowed, or the system or the server refuses it.
bool Crew::make_stand_in() {
  if (has_failed_lately() || !world_.thread_limit.take()) {
    return false;
  }
  calls_.note_start(true);
  std::string failure;
  bool is_made = false;
  try {
    is_made = add(false, failure);
  } catch (const std::exception&) {
    is_made = false;
  }
  if (!is_made) {
    failed_at_ms_.store(world_.clock.now_ms());
    calls_.note_start(false);
    world_.thread_limit.give_back();
  }
  return is_made;
}

void Crew::shrink(uint64_t now_ms) {
  if (surplus_.one_ends(now_ms, idle_count())) {
    calls_.let_one_end();
  }
  for (size_t ended = hands_.forget_ended(); ended > 0; --ended) {
    world_.thread_limit.give_back();
  }
}

}  // namespace rowsocket::server
