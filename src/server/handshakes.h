// SPDX-License-Identifier: GPL-2.0-only
//
// TLS handshakes, on a thread beside the workers: one costs as much as hundreds of requests, and clients take
// their time.
//
//   worker ── the first byte is TLS's ──► handshakes ── done ──► the worker's inbox, as a new connection
//                                             └── failed, or too slow ──► closed
//
// No handshake blocks. At most limits::handshakes_max are under way, each for limits::handshake_timeout_ms at
// most. Beyond that the party that has most of them loses its oldest one: so who opens a thousand handshakes
// and leaves them open hurts nobody else's.
//
// A connection stays counted as one of its worker's, and towards rowsocket_max_connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "net/descriptor.h"
#include "net/poller.h"
#include "net/wakeup.h"
#include "request/counters.h"
#include "server/inbox.h"
#include "server/limited_log.h"
#include "tls/sessions.h"
#include "tls/transport.h"

namespace rowsocket::server {

class Handshakes {
 public:
  /// `sessions` outlives it; nullptr: the host has no TLS.
  Handshakes(tls::Sessions* sessions, Log& log, const Clock& clock)
      : sessions_(sessions), log_(log, clock, "rowsocket"), clock_(clock) {}
  ~Handshakes();  ///< stops; no connection of its making is left
  Handshakes(const Handshakes&) = delete;
  Handshakes& operator=(const Handshakes&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Handshakes under way are broken off.
  void stop();

  struct Newcomer {
    Arrival arrival;  ///< without a transport
    net::Descriptor socket;
    Inbox* inbox;  ///< its worker's, which still counts it; outlives the threads
  };
  /// A client begins with TLS. From any thread. May throw std::bad_alloc.
  void add(Newcomer newcomer);

  [[nodiscard]] uint64_t count(Counter counter) const { return counters_.read(counter); }
  /// Connections inside TLS that are open now.
  [[nodiscard]] uint64_t open_connections() const { return open_count_.load(std::memory_order_relaxed); }

 private:
  struct Handshake {
    Newcomer newcomer;
    std::unique_ptr<tls::TlsTransport> transport;
    std::string party;
    uint64_t deadline_ms;
    net::Interest interest = net::Interest::none;
    std::list<Handshake>::iterator place = {};
  };

  void run();
  [[nodiscard]] int time_to_wait_ms() const;
  void take_newcomers();
  void begin(Newcomer newcomer);
  void make_room();
  void go_on(Handshake& handshake);
  void wait_for(Handshake& handshake, net::Interest wanted);
  void finish(Handshake& handshake);
  void fail(Handshake& handshake, std::string_view why);
  void fail(const Newcomer& newcomer, std::string_view why);
  void forget(Handshake& handshake);
  void end_overdue();

  tls::Sessions* sessions_;
  std::atomic<uint64_t> open_count_{0};
  Mutex mutex_;
  std::vector<Newcomer> newcomers_ ROWSOCKET_GUARDED_BY(mutex_);
  net::Wakeup wakeup_;
  std::atomic<bool> stop_requested_{false};
  std::thread thread_;

  // The thread's.
  LimitedLog log_;
  const Clock& clock_;
  net::Epoll poller_;
  std::list<Handshake> handshakes_;                    ///< the oldest first
  std::unordered_map<std::string, uint32_t> parties_;  ///< how many each has
  Counters counters_;
};

}  // namespace rowsocket::server
