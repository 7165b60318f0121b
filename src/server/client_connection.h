// SPDX-License-Identifier: GPL-2.0-only
//
// One client: its byte stream, what its protocol and exec remember of it, and where it stands in its worker's
// turns.
//
//            receive          execute             send
//   reading ─────────► (turn) ───────► (replies) ──────► reading
//                        │ no room left in the turn:   unreached, cut ──► the next turn
//                        │ the request waits for a lock: parked ────────► a later turn
//                        │ a stream that makes no sense: condemned ─────► lingering ──► closed
//                        │ the end of the stream:        leaving ───────► closed
//
// Output that the client has not taken yet comes first: until it is sent, nothing is received or executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "exec/client.h"
#include "net/connection.h"
#include "net/poller.h"
#include "request/protocol.h"
#include "server/inbox.h"

namespace rowsocket::server {

struct ClientConnection {
  enum class State : uint8_t {
    reading,    ///< waits for bytes
    unreached,  ///< has bytes that the turn had no room for
    cut,        ///< had its share of the turn; may have more requests
    parked,     ///< its first request waits for a lock
    condemned,  ///< is told why its stream can not be followed, and that nothing more comes
    lingering,  ///< was told so; its further bytes are dropped, so that our last reply reaches it
    leaving,    ///< is closed once its replies are sent
    failed,     ///< is closed, and its replies are not sent
    closed      ///< goes at the end of the turn
  };

  /// May throw std::bad_alloc.
  ClientConnection(Arrival arrival, exec::Account account, uint64_t now_ms)
      : stream(std::make_unique<net::PlainTransport>(std::move(arrival.socket)), std::move(arrival.peer)),
        client(account),
        protocol(arrival.protocol),
        wire_state(protocol->new_state()),
        number(arrival.number),
        last_progress_ms(now_ms) {}

  [[nodiscard]] bool is_closed() const { return state == State::closed; }

  net::Connection stream;
  exec::Client client;
  const Protocol* protocol;
  std::unique_ptr<WireState> wire_state;  ///< nullptr where the protocol has none
  uint64_t number;
  uint64_t last_progress_ms;  ///< when bytes last came or went, or a request ran; since when it lingers
  uint64_t retry_at_ms = 0;   ///< when parked
  size_t scanned_bytes = 0;   ///< see Protocol::parse
  size_t parsed_bytes = 0;    ///< front of the input that this turn has dealt with; consumed after the commit
  size_t held_bytes = 0;      ///< by its buffers, as the worker last counted them
  size_t list_bytes = 0;      ///< the same of its list of opened ids
  size_t slot = 0;            ///< where the worker keeps it
  ErrorCode fatal_error = ErrorCode::none;  ///< when condemned: the reply that is still to be written
  State state = State::reading;
  LogLevel note_level = LogLevel::note;
  std::string note;         ///< what the log is to say of it once its turn is over; empty = nothing
  bool is_in_turn = false;  ///< its requests are the turn's; what they view must stay
  bool is_away = false;     ///< the turn is another thread's, which alone touches it: see TurnLoop::take_over
  bool closes_when_back = false;
  net::Interest interest = net::Interest::none;
};

}  // namespace rowsocket::server
