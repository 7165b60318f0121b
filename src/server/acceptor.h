// SPDX-License-Identifier: GPL-2.0-only
//
// One small thread that owns all listeners. It gives every new connection to the worker that has the fewest
// connections, among the workers of the listener's role. The alternative was a listener in every worker's own
// poll (SO_REUSEPORT or EPOLLEXCLUSIVE). Those balance by chance, and busy workers with long-lived
// connections stay busy. Here accepting costs a worker no more than a wake-up.
//
// Out of descriptors: accepting rests for `limits::accept_pause_ms`, the clients wait in the backlog, and no
// thread spins.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "net/address.h"
#include "net/descriptor.h"
#include "net/poller.h"
#include "net/wakeup.h"
#include "request/counters.h"
#include "server/endpoints.h"
#include "server/lifelines.h"
#include "server/limited_log.h"
#include "server/settings_board.h"
#include "server/worker.h"

namespace rowsocket::server {

class Acceptor {
 public:
  using Workers = std::vector<std::unique_ptr<Worker>>;

  /// `workers` outlive the acceptor and stay as they are. `lifelines` outlive its connections.
  Acceptor(std::vector<Endpoint> endpoints, const Workers& workers, const SettingsBoard& settings_board,
           Lifelines& lifelines, Log& log, const Clock& clock);
  ~Acceptor();  ///< stops
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// End the thread and close the listeners.
  void stop();

  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  void run();
  void accept_from(const Endpoint& endpoint);
  void hand_over(const Endpoint& endpoint, net::Descriptor socket, net::Peer peer);
  [[nodiscard]] Worker* least_loaded(engine::Intent intent) const;
  [[nodiscard]] uint64_t connections_open() const;
  [[nodiscard]] bool watch_listeners(net::Interest current, net::Interest wanted);

  std::vector<Endpoint> endpoints_;
  const Workers& workers_;
  const SettingsBoard& settings_board_;
  Lifelines& lifelines_;
  LimitedLog log_;  ///< used by the thread only
  net::Epoll poller_;
  net::Wakeup wakeup_;
  Counters counters_;
  uint64_t connections_accepted_ = 0;
  bool out_of_resources_ = false;
  std::atomic<bool> stop_requested_{false};
  std::thread thread_;
};

}  // namespace rowsocket::server
