// SPDX-License-Identifier: GPL-2.0-only
//
// A thread that looks at every worker from time to time, and so notices requests that take long; see
// Worker::tick. While nothing happens it looks rarely.
#pragma once

#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/worker.h"

namespace rowsocket::server {

class Ticker {
 public:
  /// The workers outlive it, and do not change while it runs. `look` is called with each tick, too.
  Ticker(const std::vector<std::unique_ptr<Worker>>& workers, std::function<void()> look)
      : workers_(workers), look_(std::move(look)) {}
  ~Ticker() { stop(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Idempotent.
  void stop();

 private:
  void run();

  const std::vector<std::unique_ptr<Worker>>& workers_;
  const std::function<void()> look_;
  std::binary_semaphore stop_{0};
  std::thread thread_;
};

}  // namespace rowsocket::server
