// SPDX-License-Identifier: GPL-2.0-only
//
// What a worker does, one turn after the other, for all its connections:
//
//   poll · read · execute · commit · send · reap
//
// One turn takes every ready connection, executes their complete requests in connection order, commits once, and then sends every
// connection its replies. No reply leaves before the commit (invariant 1); a turn is bounded (invariant 3), and who found no room
// in it comes first in the next.
//
// Requests view the bytes of their connection's input, so those stay where they are from the read phase to the end of the commit
// phase: nothing is received into, or consumed from, an input in between.
//
// turn_loop.cc holds what is around the turns (waiting, orders from outside, new connections), turn_phases.cc the phases of a
// turn.
//
// Runs on its worker's thread only; others reach it through the Inbox. Allocates when connections come, not per request.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/clock.h"
#include "request/counters.h"
#include "request/request.h"
#include "engine/engine.h"
#include "exec/executor.h"
#include "net/buffer_pool.h"
#include "net/poller.h"
#include "server/client_connection.h"
#include "server/connection_table.h"
#include "server/inbox.h"
#include "server/limited_log.h"
#include "server/settings.h"

namespace rowsocket::server {

class TurnLoop {
 public:
  struct Surroundings {
    engine::Session& session;
    Inbox& inbox;
    Counters& counters;
    const SettingsBoard& settings_board;  ///< something is published already
    Clock& clock;
    LimitedLog& log;
    std::string_view role;  ///< "read" or "write", for SHOW PROCESSLIST
  };

  /// May throw std::bad_alloc.
  explicit TurnLoop(const Surroundings& surroundings);
  ~TurnLoop();  ///< closes all connections
  TurnLoop(const TurnLoop&) = delete;
  TurnLoop& operator=(const TurnLoop&) = delete;

  /// False if the system refused what polling needs.
  [[nodiscard]] bool is_usable() const { return usable_; }

  /// Wait until there is something to do, and do it. False when the session is told to stop.
  [[nodiscard]] bool turn();

  [[nodiscard]] const ConnectionTable& connections() const { return table_; }

 private:
  // The phases.
  void poll();
  [[nodiscard]] bool obey_session();
  void refresh_settings();
  void admit_arrivals();
  void read_requests();
  void execute_requests();
  void commit();
  void send_replies();
  void reap();
  void show_activity_if_due();

  // One connection in a phase.
  void admit(Arrival arrival);
  void join_turn(ClientConnection& connection);
  void receive(ClientConnection& connection);
  void execute(ClientConnection& connection);
  void execute_or_close(ClientConnection& connection);
  void finish(ClientConnection& connection);
  void send(ClientConnection& connection);
  void settle(ClientConnection& connection);
  void watch(ClientConnection& connection, net::Interest wanted);
  void close(ClientConnection& connection);
  void close_with_note(ClientConnection& connection, LogLevel level, std::string_view why);
  void note(const ClientConnection& connection, LogLevel level, std::string_view what);

  void let_clients_return(uint64_t until_us);
  void commit_writes();
  [[nodiscard]] int time_to_wait_ms() const;
  [[nodiscard]] bool turn_is_full() const;
  [[nodiscard]] uint64_t deadline_ms(const ClientConnection& connection) const;
  void gather_carried_over();
  void receive_ready();
  [[nodiscard]] bool others_came();
  void close_timed_out();
  void bound_held_bytes();
  void reserve_lists();
  void show_activity();

  static constexpr uint64_t never = UINT64_MAX;
  using Connections = std::vector<ClientConnection*>;  ///< each list has room for all connections of the worker

  engine::Session& session_;
  Inbox& inbox_;
  Counters& counters_;
  const SettingsBoard& settings_board_;
  Clock& clock_;
  LimitedLog& log_;
  std::string_view role_;

  uint64_t settings_generation_;  ///< read before the settings: they may be newer, never older
  std::shared_ptr<const Settings> settings_;
  net::Poller poller_;
  net::BufferPool pool_;
  Arena arena_;
  exec::Executor executor_;
  ConnectionTable table_;
  bool usable_;

  // This turn.
  uint64_t now_ms_;
  std::span<const net::Poller::Event> events_;
  Request request_;
  uint32_t requests_ = 0;
  size_t reply_bytes_ = 0;
  Connections ready_;     ///< have requests, in the order in which they are executed
  Connections writable_;  ///< may go on sending what is left of earlier turns
  Connections closing_;
  std::vector<Arrival> arrivals_;

  // From turn to turn.
  Connections unreached_;
  Connections cut_;
  Connections parked_;           ///< by retry_at_ms
  size_t committed_ = 0;         ///< connections that took part in the last commit of writes
  uint64_t return_wait_us_ = 0;  ///< how long the next turn may wait for them
  uint64_t next_sweep_ms_ = never;
  uint64_t activity_shown_ms_ = 0;
  size_t activity_shown_connections_ = 0;
};

}  // namespace rowsocket::server
