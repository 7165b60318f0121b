// SPDX-License-Identifier: GPL-2.0-only
//
// A thread that looks at every worker from time to time, and so notices requests that take long; see
// Worker::tick. While nothing happens it looks rarely. While all workers wait for clients it sleeps, until
// one of them rings the bell.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/bell.h"
#include "server/worker.h"

namespace rowsocket::server {

class Ticker {
 public:
  /// The workers outlive it, and do not change while it runs; they have the bell. `look` is called with each
  /// tick, too; it returns true if it wants to be called again soon.
  Ticker(const std::vector<std::unique_ptr<Worker>>& workers, Bell& bell, std::function<bool()> look)
      : workers_(workers), bell_(bell), look_(std::move(look)) {}
  ~Ticker() { stop(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Idempotent.
  void stop();

 private:
  void run();
  [[nodiscard]] bool tick();
  [[nodiscard]] uint32_t time_to_sleep_ms(uint32_t idle_ticks);
  [[nodiscard]] bool all_rest() const;

  const std::vector<std::unique_ptr<Worker>>& workers_;
  Bell& bell_;
  const std::function<bool()> look_;
  bool look_wants_more_ = false;
  std::thread thread_;
};

}  // namespace rowsocket::server
