// SPDX-License-Identifier: GPL-2.0-only
//
// RowSocket as a whole: listeners, workers, configuration. The host (the MariaDB plugin, or a test) starts
// and stops it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "exec/table_statistics.h"
#include "request/counters.h"
#include "server/config.h"
#include "server/connection_figures.h"
#include "tls/sessions.h"

namespace rowsocket::server {

class Server {
 public:
  /// All of them outlive the server. `tls_sessions` may be nullptr: no TLS.
  Server(engine::Engine& engine, Log& log, Clock& clock, tls::Sessions* tls_sessions = nullptr);
  ~Server();  ///< stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Bind every listener, then start the workers. On failure nothing is left open, and the text says what to
  /// do
  /// ("rowsocket_port_read: 127.0.0.1:9998 is in use ...").  Call once.
  [[nodiscard]] bool start(const Config& config, std::string& failure);

  /// Close the listeners and all connections, stop and join all workers. Requests under way are finished or
  /// undone. Idempotent, bounded by the engine's longest uninterruptible step.
  void stop();

  /// Take over new settings. Thread-safe. New requests see them at the latest in their worker's next turn; a
  /// changed secret concerns new authentications.
  void reconfigure(const Settings& settings);

  /// The TCP port of a door, after start (port 0 resolved). 0 = not served, or no such door.
  [[nodiscard]] uint32_t port(std::string_view door) const;

  /// Sum over all workers, those that ended included.
  [[nodiscard]] uint64_t counter(Counter counter) const;
  [[nodiscard]] uint64_t connections_read() const;  ///< open now
  [[nodiscard]] uint64_t connections_write() const;
  [[nodiscard]] uint64_t connections_tls() const;
  [[nodiscard]] uint64_t threads() const;       ///< of all workers, now
  [[nodiscard]] uint64_t idle_threads() const;  ///< of them, stand-ins that are not needed

  // From the end of `start` on.

  /// How far a reader of the connections has come.
  struct ConnectionsRead {
    size_t worker = 0;
    uint64_t behind = 0;  ///< the number of the last one of this worker
  };
  /// The figures of the next connections, into an empty vector: each connection once that is open from the
  /// first call to the last, worker by worker. False behind the last ones. One whose TLS handshake is under
  /// way is left out. May throw std::bad_alloc.
  [[nodiscard]] bool read_connections(ConnectionsRead& read, std::vector<ConnectionFigures>& figures) const;
  [[nodiscard]] exec::TableStatistics& statistics() const;

  /// There is a connection with this number (ConnectionFigures::number), whatever it does.
  [[nodiscard]] bool has_connection(uint64_t number) const;
  /// Close the connection with this number, and stop what is done for its client: as KILL CONNECTION of SQL.
  /// Other clients notice nothing. Does not wait for it. False if there is none. Thread-safe. May throw
  /// std::bad_alloc; then nothing has changed.
  bool kill_connection(uint64_t number);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rowsocket::server
