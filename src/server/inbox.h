// SPDX-License-Identifier: GPL-2.0-only
//
// The acceptor leaves new connections for a worker here, and other workers leave connections that move to it
// (spread.h). All of them see here how many connections the worker has, and whether it serves at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "exec/client.h"
#include "net/address.h"
#include "net/transport.h"
#include "net/wakeup.h"
#include "request/protocol.h"
#include "server/lifelines.h"

namespace rowsocket::server {

/// A connection that was accepted.
struct Arrival {
  std::unique_ptr<net::Transport> transport;
  net::Peer peer;
  uint64_t number;  ///< counts the connections since start, for the log
  exec::Access port_access;
  const Protocol* protocol;
  bool is_unix = false;                 ///< it came through a unix socket
  std::unique_ptr<Lifeline> life = {};  ///< nullptr: no administrator reaches it
};

struct ClientConnection;
using MovedConnections = std::vector<std::unique_ptr<ClientConnection>>;

class Inbox {
 public:
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // For the acceptor.
  /// Hand a connection over. False if the worker does not serve any more or there is no memory; the arrival
  /// stays the caller's.
  [[nodiscard]] bool offer(Arrival& arrival);
  /// The same for a connection that was the worker's before, and is still counted.
  [[nodiscard]] bool offer_back(Arrival& arrival);
  [[nodiscard]] bool is_open() const;

  // For other workers.
  /// A connection of another worker is this one's from now on. False as for `offer`; then it stays the
  /// caller's.
  [[nodiscard]] bool offer_moved(std::unique_ptr<ClientConnection>& connection);

  // For any thread.
  /// Connections of this worker, those on their way to it included.
  [[nodiscard]] uint32_t connection_count() const {
    return connection_count_.load(std::memory_order_relaxed);
  }
  void wake() { wakeup_.notify(); }

  // For the worker.
  [[nodiscard]] net::Wakeup& wakeup() { return wakeup_; }
  /// The connections that arrived since the last call, into an empty vector. The vector's memory is used for
  /// the next arrivals.
  void take(std::vector<Arrival>& arrivals);
  /// The same for connections that move here.
  void take_moved(MovedConnections& moved);
  /// One of the connections that were handed over is gone.
  void connection_closed() { connection_count_.fetch_sub(1, std::memory_order_relaxed); }
  /// Take nothing more, and close what has arrived. Connections that move here can still be taken.
  void close();

 private:
  [[nodiscard]] bool offer(Arrival& arrival, uint32_t newly_counted);

  mutable Mutex mutex_;
  std::vector<Arrival> arrivals_ ROWSOCKET_GUARDED_BY(mutex_);
  MovedConnections moved_ ROWSOCKET_GUARDED_BY(mutex_);
  bool open_ ROWSOCKET_GUARDED_BY(mutex_) = true;
  std::atomic<uint32_t> connection_count_{0};
  net::Wakeup wakeup_;
};

}  // namespace rowsocket::server
