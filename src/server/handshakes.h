// SPDX-License-Identifier: GPL-2.0-only
//
// TLS handshakes, on a thread beside the workers: one costs as much as hundreds of requests, and clients take
// their time.
//
//   worker ── the first byte is TLS's ──► handshakes ── done ──► the worker's inbox, as a new connection
//                                             └── failed, or too slow ──► closed
//
// No handshake blocks. At most limits::handshakes_max are under way, and each may keep the thread waiting for
// limits::handshake_timeout_ms; what it waits for the thread does not count. Parties take turns, a step of
// one handshake each, and between two steps the thread sees what has come (handshake_queue.h). Beyond the
// maximum the party that has most of them loses one, before it has cost anything if there is such a one. So
// a party that opens a thousand handshakes, left open or not, harms only its own.
//
// A connection stays counted as one of its worker's, and towards rowsocket_max_connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "net/poller.h"
#include "net/wakeup.h"
#include "request/counters.h"
#include "server/handshake_queue.h"
#include "server/lifelines.h"
#include "server/limited_log.h"
#include "tls/sessions.h"

namespace rowsocket::server {

class Handshakes {
 public:
  /// `sessions` outlives it; nullptr: the host has no TLS. So does `lifelines`; nullptr: no administrator
  /// ends a connection.
  Handshakes(tls::Sessions* sessions, Log& log, const Clock& clock, const Lifelines* lifelines = nullptr)
      : sessions_(sessions), lifelines_(lifelines), log_(log, clock, "rowsocket"), clock_(clock) {}
  ~Handshakes();  ///< stops; no connection of its making is left
  Handshakes(const Handshakes&) = delete;
  Handshakes& operator=(const Handshakes&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Handshakes under way are broken off.
  void stop();

  using Newcomer = HandshakeQueue::Newcomer;
  /// A client begins with TLS. From any thread. May throw std::bad_alloc.
  void add(Newcomer newcomer);
  /// An administrator has ended a connection, one of these or not. From any thread.
  void look_for_killed() { wakeup_.notify(); }

  [[nodiscard]] uint64_t count(Counter counter) const { return counters_.read(counter); }
  /// Connections inside TLS that are open now.
  [[nodiscard]] uint64_t open_connections() const { return open_count_.load(std::memory_order_relaxed); }

 private:
  using Handshake = HandshakeQueue::Handshake;

  void run();
  [[nodiscard]] int time_to_wait_ms() const;
  void take_newcomers();
  void admit(Newcomer newcomer);
  void came(Handshake& handshake);
  void take_step(Handshake& handshake);
  [[nodiscard]] bool begin(Handshake& handshake);
  void go_on(Handshake& handshake);
  void wait_for(Handshake& handshake, net::Interest wanted);
  void finish(Handshake& handshake);
  void fail(Handshake& handshake, std::string_view why);
  void stop_waiting(Handshake& handshake);
  void forget(Handshake& handshake);
  void end_overdue();
  void end_killed();

  tls::Sessions* sessions_;
  const Lifelines* lifelines_;
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
  HandshakeQueue queue_;
  std::set<std::pair<uint64_t, Handshake*>> deadlines_;  ///< of those that wait for their clients
  Counters counters_;
};

}  // namespace rowsocket::server
