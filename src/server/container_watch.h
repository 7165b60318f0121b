// SPDX-License-Identifier: GPL-2.0-only
//
// Reads the table of containers, and publishes a new list when it has changed. A thread of its own with a
// session of its own: no worker ever waits for that table. It looks once per limits::containers_interval_ms,
// and holds no table and no metadata lock between two looks.
//
// The table is the administrator's, and may be anything at any time: absent, of another shape, locked, huge.
// While it is locked, the list stays as it was. Where it can not be read, there are no containers, and
// requests are told why. Rows and bytes beyond the limits are not taken.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "net/poller.h"
#include "net/wakeup.h"
#include "request/containers.h"
#include "request/counters.h"
#include "server/limited_log.h"
#include "server/settings_board.h"

namespace rowsocket::server {

/// What one look at the table found.
struct ContainerReading {
  std::vector<ContainerFields> rows;  ///< in the order of the primary key
  std::string problem;                ///< why there are none
  bool has_surplus = false;           ///< rows beyond the limit were left

  bool operator==(const ContainerReading&) const = default;
};

/// Look once. False where another session has the table locked: nothing is known then. May throw
/// std::bad_alloc.
[[nodiscard]] bool read_containers(engine::Session& session, const std::string& table,
                                   ContainerReading& reading);

class ContainerWatch {
 public:
  struct Surroundings {
    engine::Engine& engine;
    Log& log;
    Clock& clock;
    SettingsBoard& settings_board;
    std::function<void()> published;  ///< called on the watch's thread
  };

  /// `table` is database.table. May throw std::bad_alloc.
  ContainerWatch(Surroundings surroundings, std::string table);
  ~ContainerWatch();  ///< stops
  ContainerWatch(const ContainerWatch&) = delete;
  ContainerWatch& operator=(const ContainerWatch&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Have the thread end. Any thread may call this.
  void request_stop();
  void join();

 private:
  void run();
  void watch(engine::Session& session);
  [[nodiscard]] bool goes_on(engine::Session& session);
  void look(engine::Session& session);
  void publish(const ContainerReading& reading);

  engine::Engine& engine_;
  SettingsBoard& settings_board_;
  std::function<void()> published_;
  std::string table_;
  LimitedLog log_;     ///< used by the thread only
  Counters counters_;  ///< of the session; not read
  ContainerReading last_;
  bool has_looked_ = false;
  net::Epoll poller_;
  net::Wakeup wakeup_;
  std::atomic<bool> stop_requested_{false};
  std::thread thread_;
};

}  // namespace rowsocket::server
