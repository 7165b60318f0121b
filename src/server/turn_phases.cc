// SPDX-License-Identifier: GPL-2.0-only
//
// The phases of a turn, from received bytes to sent replies; see turn_loop.h.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "server/turn_loop.h"

namespace rowsocket::server {

using State = ClientConnection::State;

// ---- read

void TurnLoop::read_requests() {
  turn_->use_settings(settings_.get());
  turn_->begin(now_ms_, pipelines_, writes_wait());
  intake_.begin_turn(now_ms_);
  writable_.clear();
  gather_carried_over();
  for (const net::Poller::Event& event : events_) {
    auto* const connection = static_cast<ClientConnection*>(event.tag);
    if (connection != nullptr && !connection->is_closed() && connection->stream.has_output() &&
        event.writable) {
      writable_.push_back(connection);
    }
  }
  receive_ready(false);
}

void TurnLoop::join(ClientConnection& connection) {
  if (!connection.is_closed()) {
    connections_.lend_output(connection);
    turn_->join(connection);
  }
}

/// It has requests. A heavy one has to wait in line.
void TurnLoop::take_part(ClientConnection& connection) {
  if (intake_.admit(connection)) {
    join(connection);
  }
}

/// Connections that have requests already go first.
void TurnLoop::gather_carried_over() {
  const auto take_part = [this](ClientConnection& connection) { this->take_part(connection); };
  const auto may_go_on = [this](const ClientConnection& cut) {
    return !cut.is_long_pipeline || cut.is_closed() || pipelines_.lets_in(cut.wrote_last);
  };
  carried_over_.take_ready(take_part, may_go_on);
  connections_.allotments().take_waiting(take_part);
  if (carried_over_.some_wait_for_commit()) [[unlikely]] {
    go_on_behind_commits();
  }
  carried_over_.take_due(now_ms_, [this](ClientConnection& parked) { try_parked_again(parked); });
}

/// A request that has been tried for a while waits on a thread of its own, if there is one. There it waits
/// for whole seconds, so the last second is spent here.
void TurnLoop::try_parked_again(ClientConnection& connection) {
  if (connection.is_closed()) {
    return;
  }
  if (connection.state == State::resting) {
    end_rest(connection);
    return;
  }
  const uint64_t parked_ms = now_ms_ - std::min(now_ms_, connection.client.parked_since_ms);
  if (parked_ms >= limits::presence_ms && connection.stream.is_gone()) {
    let_leave(connection);
    return;
  }
  // A client that names no account has no seat any more where it is of another account now: it comes in anew.
  const bool is_in =
      connection.membership.seat.load() != nullptr || connection.client.account.identity() != nullptr;
  const bool waits_long = is_in && connection.client.parked_since_ms != 0 &&
                          parked_ms >= world_.waits_elsewhere_after_ms &&
                          connection.client.waits_until_ms >= now_ms_ + 1000;
  if (!waits_long || !world_.wait_elsewhere || !turn_->session().can_be_patient()) {
    take_part(connection);
    return;
  }
  connections_.lend_output(connection);
  connection.is_in_turn = true;
  connection.is_away = true;
  if (!world_.wait_elsewhere(connection)) {
    connection.is_in_turn = connection.is_away = false;
    join(connection);
  }
}

/// What it has asked ends here, or is not begun: it is gone.
void TurnLoop::let_leave(ClientConnection& connection) {
  world_.counters.add(Counter::requests_stopped);
  connection.client.parked_since_ms = 0;
  connection.client.given_up = {};
  connection.client.left_at = 0;
  connection.state = State::leaving;
  connection.stream.input().clear();
  connection.scanned_bytes = 0;
  send_and_let_wait(connection);
}

void TurnLoop::end_rest(ClientConnection& connection) {
  connection.rests_until_ms = 0;
  if (connection.stream.input().empty()) {
    connection.state = State::reading;
    connections_.await_input(connection);
    return;
  }
  connection.state = State::cut;
  take_part(connection);
}

/// TLS may have to send something before more can be received.
static bool is_receivable(const net::Poller::Event& event, const ClientConnection& connection) {
  return event.readable || (event.writable && connection.stream.transport().receives_when_writable());
}

/// `only_of_writers`: not of those that did not write when they last asked something.
void TurnLoop::receive_ready(bool only_of_writers) {
  for (const net::Poller::Event& event : events_) {
    auto* const connection = static_cast<ClientConnection*>(event.tag);
    if (connection != nullptr && event.is_broken && !connection->is_in_turn &&
        connection->state == State::reading) [[unlikely]] {
      connections_.close(*connection);  // what it has asked is not begun: nobody would be told
      continue;
    }
    if (connection != nullptr && is_receivable(event, *connection) && !connection->is_in_turn &&
        !connection->stream.has_output() && (connection->wrote_last || !only_of_writers) &&
        (connection->state == State::reading || connection->state == State::lingering) &&
        intake_.receive(*connection)) {
      join(*connection);
    }
  }
}

// ---- execute

/// Once the turn is adrift, `turn_` is another thread's, as is everything else of the loop.
void TurnLoop::execute_requests(Turn& turn) {
  if (turn.members().empty() && !intake_.some_wait()) {
    return;
  }
  do {
    turn.execute();
    if (turn.is_adrift()) {
      return;
    }
    intake_.end_service();
  } while ((others_joined() || some_heavy_joins(turn)) && !turn.is_adrift());
}

/// One at a time: another joins if this one leaves the turn the time for it. Where it may go on without the
/// loop, what the turn has changed is committed before: nobody's reply, and nobody's row, waits for its end.
/// What was put back for a thread is over where its client has gone. (Else a client may have said that it
/// sends nothing more, and wait for its reply.)
bool TurnLoop::some_heavy_joins(Turn& turn) {
  while (!turn.is_full()) {
    ClientConnection* const heavy = intake_.next_heavy(turn.has_changes());
    if (heavy == nullptr) [[likely]] {
      return false;
    }
    if (heavy->stream.is_broken() || (heavy->client.given_up.count > 0 && heavy->stream.is_gone())) {
      let_leave(*heavy);
      continue;
    }
    join(*heavy);
    turn.others_came();  // what it asks may have come only now
    if (heavy->outlasts_slice()) {
      turn.settle();
    }
    return true;
  }
  return false;
}

/// A commit costs about as much for many requests as for one. So connections that came while the turn
/// executed take part in its commit. Each takes part once, so that no client waits for long. Those that read
/// when they last asked something would only wait for the commit: they come behind it.
bool TurnLoop::others_joined() {
  const size_t before = turn_->members().size();
  if (!turn_->has_room_in_commit() || before >= connections_.size()) {
    return false;
  }
  events_ = connections_.wait(0);
  receive_ready(true);
  turn_->others_came();
  return turn_->members().size() > before;
}

// ---- commit

/// As `execute_requests`: once the turn is adrift, the loop is another thread's.
void TurnLoop::commit(Turn& turn) {
  if (turn.members().empty()) {
    return;
  }
  if (turn.has_readers()) {
    read_at_ms_ = now_ms_;
  }
  const std::optional<uint64_t> commit_us = turn.commit(!serves_readers());
  if (commit_us.has_value() && !turn.is_adrift()) {
    return_wait_.note_commit(*commit_us, turn.members().size());
  }
}

// ---- send

void TurnLoop::send_replies() {
  send_and_let_wait(turn_->members());
  for (ClientConnection* const connection : writable_) {
    send_and_let_wait(*connection);  // what is left of earlier turns
  }
}

void TurnLoop::send_and_let_wait(ClientConnection& connection) {
  ClientConnection* const one = &connection;
  send_and_let_wait({&one, 1});
}

void TurnLoop::send_and_let_wait(std::span<ClientConnection* const> connections) {
  for (ClientConnection* const connection : connections) {
    end_turn_of(*connection);
  }
  connections_.send_all(connections, now_ms_);
  for (ClientConnection* const connection : connections) {
    if (!connection->is_closed()) {
      let_wait(*connection);
    }
  }
}

void TurnLoop::end_turn_of(ClientConnection& connection) {
  connection.is_in_turn = false;
  if (!connection.note.text.empty()) [[unlikely]] {
    connections_.note(connection, connection.note.level, connection.note.text);
    connection.note.text.clear();
  }
  if (connection.state == State::failed) [[unlikely]] {
    connections_.close(connection);
  }
}

static Doing doing_between_turns(ClientConnection& connection) {
  if (connection.stream.has_output()) {
    return Doing::sending;
  }
  switch (connection.state) {
    case State::unreached:
    case State::cut:
      return Doing::queued;
    case State::parked:
    case State::resting:
    case State::logging_in:
    case State::held_back:
    case State::behind_commit:
      return Doing::waiting;
    case State::reading:
      return connection.stream.input().empty() ? Doing::idle : Doing::reading;
    case State::condemned:
    case State::lingering:
    case State::leaving:
    case State::failed:
    case State::closed:
      break;
  }
  return Doing::closing;
}

/// Everything of this turn is done for the connection: what does it wait for now?
void TurnLoop::let_wait(ClientConnection& connection) {
  connections_.rest(connection);
  connections_.allotments().end_turn_of(connection);
  const bool goes_on = connection.state == State::reading || connection.state == State::unreached ||
                       connection.state == State::cut;
  if (goes_on && connection.rests_until_ms > now_ms_ && !connection.stream.has_output()) [[unlikely]] {
    connection.state = State::resting;
    connection.retry_at_ms = connection.rests_until_ms;
  }
  connection.shown.doing = doing_between_turns(connection);
  if (connection.stream.has_output()) {
    connections_.watch(connection, net::Interest::output);
    return;
  }
  switch (connection.state) {
    case State::unreached:
    case State::cut:
      carried_over_.add(connection);
      break;
    case State::parked:
    case State::resting:
    case State::behind_commit:
      carried_over_.add(connection);
      connections_.watch(connection, net::Interest::none);
      return;
    case State::logging_in:
      if (connection.login != nullptr && !connection.login->is_done()) {
        connections_.watch(connection, net::Interest::none);
        return;
      }
      connection.state = State::cut;
      carried_over_.add(connection);
      break;
    case State::held_back:
      connections_.allotments().hold_back(connection);
      connections_.watch(connection, net::Interest::none);
      return;
    case State::leaving:
      if (!connection.client.left_at.has_value()) {
        connections_.close(connection);
        return;
      }
      [[fallthrough]];  // it may have sent more, and still read what it was told
    case State::condemned:
      connection.state = State::lingering;
      connection.stream.shut_down_output();
      next_sweep_ms_ = std::min(next_sweep_ms_, deadline_ms(connection));
      break;
    case State::reading:
    case State::lingering:
    case State::failed:
    case State::closed:
      break;
  }
  if (std::exchange(connection.stays_meanwhile, false)) [[unlikely]] {
    relieved_for_ = 0;
  }
  connections_.await_input(connection);
}

// ---- reap

void TurnLoop::reap() {
  intake_.end_turn();
  close_timed_out();
  bound_held_bytes();
  connections_.bound_bytes_of_accounts();
  look_at_held_back();
  connections_.allotments().end_turn();
  if (connections_.some_are_closed()) {
    carried_over_.forget_closed();
    intake_.forget_closed();
    connections_.remove_closed();
  }
  intake_.share_memory(is_memory_short());
}

/// What the longest request takes: buffers double.
size_t TurnLoop::room_for_request() const { return 2 * settings_->line_bytes_max; }

bool TurnLoop::is_memory_short() const {
  const size_t bytes_max = settings_->held_bytes_max;
  return connections_.held_bytes(world_.selections) > bytes_max - std::min(bytes_max, room_for_request());
}

/// The large sender that goes on, if no more than a request is its own.
const ClientConnection* TurnLoop::spared_sender() const {
  const ClientConnection* const sender = intake_.sole_sender();
  return sender != nullptr && sender->shown.held_bytes <= room_for_request() ? sender : nullptr;
}

/// What this thread can make again goes first. Other threads that keep such things are stuck in a request, or
/// about to forget them.
void TurnLoop::bound_held_bytes() {
  const size_t bytes_max = settings_->held_bytes_max;
  if (connections_.held_bytes(world_.selections) <= bytes_max) [[likely]] {
    return;
  }
  if (turn_->session().kept_bytes() >= limits::kept_bytes_min) {
    turn_->session().forget_selections();
  }
  connections_.bound_held_bytes(bytes_max, world_.selections, spared_sender());
}

/// Connections that are held back are not polled. So one that is broken is looked for: it gives up its place
/// in the line, and its seat. A few at a time, so that a long line costs the others little.
void TurnLoop::look_at_held_back() {
  Allotments& allotments = connections_.allotments();
  if (!allotments.some_wait()) [[likely]] {
    next_look_ms_ = never;
    return;
  }
  if (now_ms_ >= next_look_ms_) {
    allotments.look_at_waiting(limits::waiting_per_look, [this](ClientConnection& connection) {
      static_cast<void>(close_if_broken(connection));
    });
    next_look_ms_ = never;
  }
  next_look_ms_ = std::min(next_look_ms_, now_ms_ + limits::presence_ms);
}

/// When the connection has been without progress for too long. (Its own requests running or waiting for a
/// lock are progress.)
uint64_t TurnLoop::deadline_ms(const ClientConnection& connection) const {
  if (connection.state == State::lingering) {
    return connection.last_progress_ms + limits::linger_ms;
  }
  const bool waits = connection.state == State::logging_in || connection.state == State::resting ||
                     connection.state == State::held_back || connection.state == State::behind_commit ||
                     connection.is_in_line;
  const bool waits_for_us = waits && !connection.stream.has_output();
  const uint64_t since_ms = waits_for_us ? now_ms_ : connection.last_progress_ms.read();
  const uint64_t idle_timeout_ms = uint64_t{settings_->idle_timeout_s} * 1000;
  return idle_timeout_ms > 0 ? since_ms + idle_timeout_ms : never;
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
      world_.counters.add(Counter::connections_timed_out);
    }
    if (connection->stream.has_output()) {
      connections_.note(*connection, LogLevel::warning, "does not read its replies: it is closed");
    }
    connections_.close(*connection);
  }
  next_sweep_ms_ = next_ms == never ? never : std::max(next_ms, now_ms_ + limits::sweep_interval_ms);
}

}  // namespace rowsocket::server
