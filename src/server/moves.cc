// SPDX-License-Identifier: GPL-2.0-only
//
// How connections move from worker to worker, where the spread of the connections changes (spread.h):
//
//   this worker    relieve ─ take the connection out of all lists ─► the other's Inbox
//   the other one                                                    adopt_moved ─ its own from here on
//
// A connection moves between two turns, and only while none of its requests is under way. What it has sent,
// and has had no answer to, moves with it.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/limits.h"
#include "server/turn_loop.h"

namespace rowsocket::server {

using State = ClientConnection::State;

/// None of its requests is under way. Of a connection that is away, nothing else may be read.
static bool can_move(const ClientConnection& connection) {
  if (connection.is_away) {
    return false;
  }
  const net::Transport& transport = connection.stream.transport();
  const bool is_between_requests = connection.state == State::reading || connection.state == State::cut ||
                                   connection.state == State::unreached;
  return is_between_requests && !connection.is_in_line && connection.login == nullptr &&
         connection.client.parked_since_ms == 0 && !connection.stream.has_output() &&
         connection.stream.input_bytes() < limits::large_request_bytes && !transport.holds_input() &&
         !transport.receives_when_writable();
}

/// It stays for good, or for as long as it holds so much.
static bool holds_much(const ClientConnection& connection) {
  return connection.held_bytes + connection.list_bytes + connection.client.held_bytes() >
         limits::moved_bytes_max;
}

/// Connections that other workers are to serve move there, a few in a turn. One in the middle of something
/// moves when that is over (`let_wait` says so). So connections that stay cost a turn nothing.
void TurnLoop::relieve() {
  const uint32_t worker_count = world_.spread->worker_count();
  uint32_t moved_count = 0;
  for (size_t slot = connections_.size(); slot-- > 0;) {  // the last one takes the place of one that moves
    ClientConnection& connection = *connections_.all()[slot];
    if (connection.stays_meanwhile || !can_move(connection)) {
      connection.stays_meanwhile = true;
      continue;
    }
    Inbox* const to = world_.spread->elsewhere(world_.worker_number);
    if (to == nullptr) {
      break;
    }
    if (holds_much(connection)) {
      continue;
    }
    if (!move(connection, *to)) {
      break;  // the other worker has ended
    }
    if (++moved_count == limits::moves_per_turn) {
      return;
    }
  }
  relieved_for_ = worker_count;
}

/// False if it could not.
bool TurnLoop::move(ClientConnection& connection, Inbox& to) {
  carried_over_.forget(connection);
  intake_.forget(connection);
  std::unique_ptr<ClientConnection> moved = connections_.release(connection);
  if (moved == nullptr) {
    return false;
  }
  if (to.offer_moved(moved)) {
    world_.counters.add(Counter::connections_moved);
    world_.inbox.connection_closed();
    return true;
  }
  try {
    adopt(std::move(moved));
  } catch (const std::exception&) {
    note_drop();
  }
  return false;
}

/// Connections that were other workers'.
void TurnLoop::adopt_moved() {
  world_.inbox.take_moved(moved_);
  for (auto& connection : moved_) {
    try {
      adopt(std::move(connection));
    } catch (const std::exception&) {
      note_drop();
      world_.log.limited(LogLevel::error, "a connection of another worker is closed: no memory");
    }
  }
  moved_.clear();
}

/// May throw std::bad_alloc; then the connection is closed.
void TurnLoop::adopt(std::unique_ptr<ClientConnection> connection) {
  reserve_lists(connections_.size() + 1);
  connection->client.move_selections(world_.selections);
  ClientConnection& adopted = connections_.add(std::move(connection));
  relieved_for_ = 0;  // the spread may have changed while it was on its way
  if (adopted.is_closed()) {
    return;  // it can not be polled
  }
  connections_.rest(adopted);
  if (adopted.state != State::reading) {
    adopted.state = State::cut;
    carried_over_.add(adopted);
  }
  next_sweep_ms_ = std::min(next_sweep_ms_, deadline_ms(adopted));
}

/// A connection of this worker is closed that stands in none of its lists.
void TurnLoop::note_drop() {
  world_.inbox.connection_closed();
  world_.counters.add(Counter::connections_closed);
}

/// The loop ends: nothing can be adopted any more.
void TurnLoop::drop_moved() {
  world_.inbox.take_moved(moved_);
  for (size_t count = moved_.size(); count > 0; --count) {
    note_drop();
  }
  moved_.clear();
}

}  // namespace rowsocket::server
