// SPDX-License-Identifier: GPL-2.0-only
#include "server/acceptor.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/limits.h"
#include "server/thread.h"

namespace rowsocket::server {

Acceptor::Acceptor(std::vector<Endpoint> endpoints, const Workers& workers,
                   const SettingsBoard& settings_board, Lifelines& lifelines, Log& log, const Clock& clock)
    : endpoints_(std::move(endpoints)),
      workers_(workers),
      settings_board_(settings_board),
      lifelines_(lifelines),
      log_(log, clock, "rowsocket") {}

Acceptor::~Acceptor() { stop(); }

bool Acceptor::start(std::string& failure) {
  if (!wakeup_.valid() || !poller_.change(wakeup_.fd(), net::Interest::none, net::Interest::input, nullptr) ||
      !watch_listeners(net::Interest::none, net::Interest::input)) {
    failure = "can not poll the listeners: the process is out of file descriptors";
    return false;
  }
  return start_thread(thread_, "rowsocket-acc", [this] { run(); }, failure);
}

void Acceptor::stop() {
  stop_requested_.store(true, std::memory_order_release);
  wakeup_.notify();
  if (thread_.joinable()) {
    thread_.join();
  }
  endpoints_.clear();
}

bool Acceptor::watch_listeners(net::Interest current, net::Interest wanted) {
  return std::all_of(endpoints_.begin(), endpoints_.end(), [&](Endpoint& endpoint) {
    return poller_.change(endpoint.listener.fd(), current, wanted, &endpoint);
  });
}

void Acceptor::run() {
  while (!stop_requested_.load(std::memory_order_acquire)) {
    for (const net::Poller::Event& event : poller_.wait(net::Poller::forever)) {
      if (event.tag == nullptr) {
        wakeup_.drain();
      } else {
        accept_from(*static_cast<const Endpoint*>(event.tag));
      }
    }
    if (std::exchange(out_of_resources_, false)) {
      // Only a wake-up to stop can end the rest early.
      if (!watch_listeners(net::Interest::input, net::Interest::none)) {
        log_.limited(LogLevel::error, "can not rest from accepting");
      }
      static_cast<void>(poller_.wait(limits::accept_pause_ms));
      if (!watch_listeners(net::Interest::none, net::Interest::input)) {
        log_.limited(LogLevel::error, "can not go on accepting");
      }
    }
  }
}

void Acceptor::accept_from(const Endpoint& endpoint) {
  for (uint32_t i = 0; i < limits::accepts_per_listener; ++i) {
    try {
      net::Descriptor socket;
      net::Peer peer;
      switch (endpoint.listener.accept(socket, peer)) {
        case net::Listener::Accepted::connection:
          hand_over(endpoint, std::move(socket), std::move(peer));
          break;
        case net::Listener::Accepted::nothing:
          return;
        case net::Listener::Accepted::try_again:
          break;
        case net::Listener::Accepted::out_of_resources:
          log_.limited(LogLevel::error,
                       "can not accept: the process is out of file descriptors (open_files_limit) or memory");
          out_of_resources_ = true;
          return;
      }
    } catch (const std::exception& error) {
      log_.limited(LogLevel::error, error.what());
    }
  }
}

void Acceptor::hand_over(const Endpoint& endpoint, net::Descriptor socket, net::Peer peer) {
  const uint64_t number = ++connections_accepted_;
  if (connections_open() >= settings_board_.current()->max_connections) {
    counters_.add(Counter::connections_refused);
    log_.about_connection(LogLevel::warning, number, peer.text,
                          "is refused: there are rowsocket_max_connections already");
    return;
  }
  const auto access = endpoint.intent == engine::Intent::read ? exec::Access::read : exec::Access::write;
  Arrival arrival{std::make_unique<net::PlainTransport>(std::move(socket)),
                  std::move(peer),
                  number,
                  access,
                  endpoint.protocol,
                  endpoint.listener.port() == 0,
                  lifelines_.begin(number)};
  Worker* const worker = least_loaded(endpoint.intent);
  if (worker != nullptr && worker->inbox().offer(arrival)) {
    counters_.add(Counter::connections_accepted);
    return;
  }
  counters_.add(Counter::connections_refused);
  log_.about_connection(LogLevel::warning, number, arrival.peer.text, "is refused: no worker serves it");
}

Worker* Acceptor::least_loaded(engine::Intent intent) const {
  Worker* chosen = nullptr;
  for (const auto& worker : workers_) {
    if (worker->intent() == intent && worker->serves() &&
        (chosen == nullptr || worker->inbox().connection_count() < chosen->inbox().connection_count())) {
      chosen = worker.get();
    }
  }
  return chosen;
}

uint64_t Acceptor::connections_open() const {
  uint64_t count = 0;
  for (const auto& worker : workers_) {
    count += worker->inbox().connection_count();
  }
  return count;
}

}  // namespace rowsocket::server
