// SPDX-License-Identifier: GPL-2.0-only
//
// One worker: a thread with its own engine session. On this thread a TurnLoop serves the connections that the
// acceptor hands over. The object belongs to the Server and outlives its thread, so that its counters can be
// read to the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "request/counters.h"
#include "request/protocol.h"
#include "server/inbox.h"
#include "server/limited_log.h"
#include "server/settings_board.h"

namespace rowsocket::server {

class Worker {
 public:
  struct Surroundings {
    engine::Engine& engine;
    Log& log;
    Clock& clock;
    const SettingsBoard& settings_board;
    const ServerFigures* figures;
  };

  /// `intent` is the worker's role; `number` counts the workers of that role. May throw std::bad_alloc.
  Worker(const Surroundings& surroundings, engine::Intent intent, uint32_t number);
  ~Worker();  ///< stops
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Have the thread end after its turn. Any thread may call this.
  void request_stop();
  void join();

  [[nodiscard]] engine::Intent intent() const { return intent_; }
  [[nodiscard]] Inbox& inbox() { return inbox_; }
  [[nodiscard]] const Inbox& inbox() const { return inbox_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  void run();
  void serve(engine::Session& session);

  Counters counters_;
  engine::Engine& engine_;
  Clock& clock_;
  const SettingsBoard& settings_board_;
  const ServerFigures* figures_;
  engine::Intent intent_;
  uint32_t number_;
  std::string name_;
  LimitedLog log_;  ///< used by the thread only
  Inbox inbox_;
  std::atomic<bool> stop_requested_{false};
  std::thread thread_;
};

}  // namespace rowsocket::server
