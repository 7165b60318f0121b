// SPDX-License-Identifier: GPL-2.0-only
//
// The phases of a turn, from received bytes to sent replies; see turn_loop.h.
#include <algorithm>
#include <optional>

#include "base/limits.h"
#include "server/turn_loop.h"

namespace rowsocket::server {

using State = ClientConnection::State;

// ---- read

void TurnLoop::read_requests() {
  turn_->use_settings(settings_);
  turn_->begin(now_ms_);
  writable_.clear();
  gather_carried_over();
  for (const net::Poller::Event& event : events_) {
    auto* const connection = static_cast<ClientConnection*>(event.tag);
    if (connection != nullptr && !connection->is_closed() && connection->stream.has_output() &&
        event.writable) {
      writable_.push_back(connection);
    }
  }
  receive_ready();
}

void TurnLoop::join(ClientConnection& connection) {
  if (!connection.is_closed()) {
    connections_.lend_output(connection);
    turn_->join(connection);
  }
}

/// Connections that have requests already go first. Among these, the connections that the last turn did not
/// reach come first.
void TurnLoop::gather_carried_over() {
  const auto join = [this](ClientConnection* connection) { this->join(*connection); };
  std::for_each(unreached_.begin(), unreached_.end(), join);
  std::for_each(cut_.begin(), cut_.end(), join);
  unreached_.clear();
  cut_.clear();
  if (!parked_.empty()) {
    const auto due_end = std::find_if(parked_.begin(), parked_.end(),
                                      [this](auto* parked) { return parked->retry_at_ms > now_ms_; });
    std::for_each(parked_.begin(), due_end, join);
    parked_.erase(parked_.begin(), due_end);
  }
}

void TurnLoop::receive_ready() {
  for (const net::Poller::Event& event : events_) {
    auto* const connection = static_cast<ClientConnection*>(event.tag);
    if (connection != nullptr && event.readable && !connection->is_in_turn &&
        !connection->stream.has_output() &&
        (connection->state == State::reading || connection->state == State::lingering) &&
        connections_.receive(*connection)) {
      join(*connection);
    }
  }
}

// ---- execute

/// Once the turn is adrift, `turn_` is another thread's, as is everything else of the loop.
void TurnLoop::execute_requests(Turn& turn) {
  if (turn.members().empty()) {
    return;
  }
  do {
    turn.execute();
  } while (!turn.is_adrift() && others_joined());
}

/// A commit costs about as much for many requests as for one. So connections that came while the turn
/// executed take part in its commit. Each takes part once, so that no client waits for long.
bool TurnLoop::others_joined() {
  const size_t before = turn_->members().size();
  if (!turn_->has_room_in_commit() || before >= connections_.size()) {
    return false;
  }
  events_ = connections_.wait(0);
  receive_ready();
  turn_->others_came();
  return turn_->members().size() > before;
}

// ---- commit

void TurnLoop::commit() {
  if (turn_->members().empty()) {
    return;
  }
  const std::optional<uint64_t> commit_us = turn_->commit();
  if (commit_us.has_value()) {
    const uint64_t wait_us =
        std::min<uint64_t>(*commit_us / limits::return_wait_share, limits::return_wait_us_max);
    return_wait_us_ = wait_us < limits::return_wait_us_min ? 0 : wait_us;
    committed_ = turn_->members().size();
  }
}

// ---- send

void TurnLoop::send_replies() {
  for (ClientConnection* connection : turn_->members()) {
    send_and_settle(*connection);
  }
  for (ClientConnection* connection : writable_) {
    send_and_settle(*connection);
  }
}

void TurnLoop::send_and_settle(ClientConnection& connection) {
  connection.is_in_turn = false;
  if (!connection.note.empty()) [[unlikely]] {
    connections_.note(connection, connection.note_level, connection.note);
    connection.note.clear();
  }
  if (connection.state == State::failed) [[unlikely]] {
    connections_.close(connection);
  }
  if (!connection.is_closed() && connection.stream.has_output()) {
    connections_.send(connection, now_ms_);
  }
  if (!connection.is_closed()) {
    settle(connection);
  }
}

/// Everything of this turn is done for the connection: what does it wait for now?
void TurnLoop::settle(ClientConnection& connection) {
  connections_.rest(connection);
  if (connection.stream.has_output()) {
    connections_.watch(connection, net::Interest::output);
    return;
  }
  switch (connection.state) {
    case State::unreached:
      unreached_.push_back(&connection);
      break;
    case State::cut:
      cut_.push_back(&connection);
      break;
    case State::parked:
      park(connection);
      return;
    case State::condemned:
      connection.state = State::lingering;
      connection.stream.shut_down_output();
      next_sweep_ms_ = std::min(next_sweep_ms_, deadline_ms(connection));
      break;
    case State::leaving:
      connections_.close(connection);
      return;
    case State::reading:
    case State::lingering:
    case State::failed:
    case State::closed:
      break;
  }
  connections_.watch(connection, net::Interest::input);
}

/// In the order of the next try. A connection that another thread had may be due before others.
void TurnLoop::park(ClientConnection& connection) {
  const auto behind = std::upper_bound(
      parked_.begin(), parked_.end(), connection.retry_at_ms,
      [](uint64_t retry_at_ms, const ClientConnection* one) { return retry_at_ms < one->retry_at_ms; });
  parked_.insert(behind, &connection);
  connections_.watch(connection, net::Interest::none);
}

// ---- reap

void TurnLoop::reap() {
  close_timed_out();
  connections_.bound_held_bytes(settings_->held_bytes_max, selections_);
  if (!connections_.some_are_closed()) {
    return;
  }
  for (Waiting* list : {&unreached_, &cut_, &parked_}) {
    std::erase_if(*list, [](const ClientConnection* connection) { return connection->is_closed(); });
  }
  connections_.remove_closed();
}

/// When the connection has been without progress for too long. (Its own requests running or waiting for a
/// lock are progress.)
uint64_t TurnLoop::deadline_ms(const ClientConnection& connection) const {
  if (connection.state == State::lingering) {
    return connection.last_progress_ms + limits::linger_ms;
  }
  const uint64_t idle_timeout_ms = uint64_t{settings_->idle_timeout_s} * 1000;
  return idle_timeout_ms > 0 ? connection.last_progress_ms + idle_timeout_ms : never;
}

void TurnLoop::close_timed_out() {
  if (now_ms_ < next_sweep_ms_) [[likely]] {
    return;
  }
  uint64_t next_ms = never;
  for (const auto& connection : connections_.all()) {
    if (connection->is_closed() || connection->is_away) {
      continue;
    }
    const uint64_t deadline = deadline_ms(*connection);
    if (deadline > now_ms_) {
      next_ms = std::min(next_ms, deadline);
      continue;
    }
    if (connection->state != State::lingering) {
      counters_.add(Counter::connections_timed_out);
    }
    if (connection->stream.has_output()) {
      connections_.note(*connection, LogLevel::warning, "does not read its replies: it is closed");
    }
    connections_.close(*connection);
  }
  next_sweep_ms_ = next_ms == never ? never : std::max(next_ms, now_ms_ + limits::sweep_interval_ms);
}

}  // namespace rowsocket::server
