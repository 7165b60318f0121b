// SPDX-License-Identifier: GPL-2.0-only
#include "server/ticker.h"

#include <algorithm>
#include <chrono>

#include "base/limits.h"
#include "server/thread.h"

namespace rowsocket::server {

bool Ticker::start(std::string& failure) {
  return start_thread(thread_, "rowsocket-tick", [this] { run(); }, failure);
}

void Ticker::stop() {
  if (thread_.joinable()) {
    bell_.stop();
    thread_.join();
  }
}

void Ticker::run() {
  uint32_t idle_ticks = 0;
  Bell::Woken woken = Bell::Woken::by_time;
  while ((woken = bell_.sleep(std::chrono::milliseconds(time_to_sleep_ms(idle_ticks)))) !=
         Bell::Woken::to_stop) {
    if (tick()) {
      idle_ticks = 0;
    } else if (woken == Bell::Woken::by_ring) {
      idle_ticks = limits::idle_ticks - limits::ticks_after_ring;  // the request comes only now
    } else {
      ++idle_ticks;
    }
  }
}

/// True if some worker is busy.
bool Ticker::tick() {
  bool is_busy = false;
  for (const auto& worker : workers_) {
    is_busy |= worker->tick();
  }
  look_wants_more_ = look_();
  return is_busy;
}

/// The bell is armed for a sleep that only it may end.
uint32_t Ticker::time_to_sleep_ms(uint32_t idle_ticks) {
  if (idle_ticks < limits::idle_ticks) {
    return limits::tick_ms;
  }
  if (idle_ticks < limits::resting_ticks || look_wants_more_) {
    return limits::idle_tick_ms;
  }
  bell_.arm();
  if (all_rest()) {
    return limits::resting_tick_ms;
  }
  bell_.disarm();
  return limits::idle_tick_ms;
}

bool Ticker::all_rest() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->rests(); });
}

}  // namespace rowsocket::server
