// SPDX-License-Identifier: GPL-2.0-only
//
// One turn of a worker, seen from the requests: which connections take part in it, what they ask, and one
// commit. Owns what the requests and replies of a turn live in: the arena, the executor, and the list of the
// connections that take part. The loop (turn_loop.h) knows which connections are ready, and when.
//
//   begin · join, join, ... · execute [· join · execute] · commit
//
// No reply leaves before the commit (invariant 1); a turn is bounded (invariant 3).
//
// Requests view the bytes of their connection's input. So these bytes stay where they are from `execute` to
// the end of `commit`: no byte is received into, or consumed from, the input of a connection that takes part.
//
// The object serves one turn after the other, on its worker's thread. Allocates when connections come, not
// per request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "exec/executor.h"
#include "request/counters.h"
#include "request/protocol.h"
#include "request/settings.h"
#include "server/client_connection.h"
#include "server/connections.h"

namespace rowsocket::server {

class Turn {
 public:
  struct Surroundings {
    engine::Session& session;
    Counters& counters;
    Clock& clock;
    Connections& connections;
    const ServerFigures* figures = nullptr;
    uint32_t worker_number = 0;
  };

  Turn(const Surroundings& surroundings, std::shared_ptr<const Settings> settings);

  /// Between turns.
  void use_settings(std::shared_ptr<const Settings> settings);
  /// From now on so many connections can join without an allocation. May throw std::bad_alloc.
  void reserve(size_t connection_count) { members_.reserve(connection_count); }

  void begin(uint64_t now_ms);
  /// Requests are executed in the order in which their connections join.
  void join(ClientConnection& connection);
  [[nodiscard]] std::span<ClientConnection* const> members() const { return members_; }

  /// Execute the requests of the connections that joined since the last call. If the turn has no room for a
  /// connection, the connection is `unreached` then.
  void execute();
  /// Some reply waits for the commit, and more connections can still take part in it.
  [[nodiscard]] bool has_room_in_commit() const { return !executor_.nothing_staged() && !is_full(); }
  /// Connections that join from now on came after everything that was executed.
  void others_came() { executor_.others_came(); }

  /// After this every reply is final, and the inputs may move. Returns how long the commit took, in µs, if
  /// something was written.
  std::optional<uint64_t> commit();

 private:
  [[nodiscard]] bool is_full() const;
  void execute_or_close(ClientConnection& connection);
  void execute(ClientConnection& connection);
  [[nodiscard]] bool execute_next(ClientConnection& connection, std::string_view input,
                                  const Parsing& parsing);
  [[nodiscard]] bool execute(ClientConnection& connection, const Request& request);
  static void rewind(ClientConnection& connection, size_t put_back_at, uint64_t retry_at_ms);
  void end_stream(ClientConnection& connection, const Parsed& parsed);
  void finish(ClientConnection& connection);

  engine::Session& session_;
  Counters& counters_;
  Clock& clock_;
  Connections& connections_;
  const ServerFigures* figures_;
  std::shared_ptr<const Settings> settings_;

  Arena arena_;
  exec::Executor executor_;

  uint64_t now_ms_ = 0;
  uint64_t unix_time_us_ = 0;
  UniqueNumbers numbers_;
  uint32_t requests_ = 0;
  size_t reply_bytes_ = 0;
  size_t reached_ = 0;  ///< members that were executed, or found no room
  std::vector<ClientConnection*> members_;
};

}  // namespace rowsocket::server
