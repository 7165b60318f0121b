// SPDX-License-Identifier: GPL-2.0-only
//
// Which of the connections that have sent something are received from in a turn, and how much.
//
//   ready ─── sends little ─────────────────────────────────────────────────► receive
//     │                                                                          ▲
//     └────── has sent much of a request that is not complete ── waits in line ──┘
//
// A connection that sends a large request costs time before there is anything to execute: its bytes are
// copied into memory that is new. So the connections that send little come first. The large senders come
// behind them, in turn: at least one of them, and more as long as large senders take no more than their share
// of the worker's time (limits::large_senders_share). A large sender that waits in line is not polled.
//
// One owner, one thread. Allocates in `reserve` only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "server/connections.h"

namespace rowsocket::server {

class Intake {
 public:
  /// Both outlive it.
  Intake(Connections& connections, const Clock& clock);

  /// From now on so many connections can wait in line. May throw std::bad_alloc.
  void reserve(size_t connection_count) { line_.reserve(connection_count); }

  void begin_turn();
  /// The connection has something to receive. True if there is something new to execute. A large sender goes
  /// to the end of the line.
  [[nodiscard]] bool receive(ClientConnection& connection);
  /// Behind all that send little: the next large sender that has something new to execute. nullptr where the
  /// others have to wait for the next turn.
  [[nodiscard]] ClientConnection* next_large_sender() {
    return line_.empty() ? nullptr : receive_from_line();
  }

  [[nodiscard]] bool some_wait() const { return !line_.empty(); }
  /// Connections that were closed are about to go.
  void forget_closed();

 private:
  [[nodiscard]] ClientConnection* receive_from_line();
  [[nodiscard]] bool another_may_follow() const;
  void end_service();

  Connections& connections_;
  const Clock& clock_;
  std::vector<ClientConnection*> line_;  ///< large senders; the one that has waited longest comes first
  size_t unpolled_ = 0;                  ///< the first of the line
  size_t served_ = 0;                    ///< the first of the line, since the last `end_service`

  // This turn.
  size_t left_bytes_ = 0;        ///< for all that send little
  size_t large_left_bytes_ = 0;  ///< for all large senders
  bool some_served_ = false;

  uint64_t served_at_us_;         ///< the last `end_service`
  uint64_t service_ends_us_ = 0;  ///< as long as the service has begun
};

}  // namespace rowsocket::server
