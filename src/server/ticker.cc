// SPDX-License-Identifier: GPL-2.0-only
#include "server/ticker.h"

#include <chrono>

#include "base/limits.h"
#include "server/thread.h"

namespace rowsocket::server {

bool Ticker::start(std::string& failure) {
  return start_thread(thread_, "rowsocket-tick", [this] { run(); }, failure);
}

void Ticker::stop() {
  if (thread_.joinable()) {
    stop_.release();
    thread_.join();
  }
}

void Ticker::run() {
  uint32_t idle_ticks = 0;
  std::chrono::milliseconds pause(limits::tick_ms);
  while (!stop_.try_acquire_for(pause)) {
    bool is_busy = false;
    for (const auto& worker : workers_) {
      is_busy |= worker->tick();
    }
    look_();
    idle_ticks = is_busy ? 0 : idle_ticks + 1;
    pause =
        std::chrono::milliseconds(idle_ticks < limits::idle_ticks ? limits::tick_ms : limits::idle_tick_ms);
  }
}

}  // namespace rowsocket::server
