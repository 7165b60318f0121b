// SPDX-License-Identifier: GPL-2.0-only
//
// The phases of a turn, from received bytes to sent replies; see turn_loop.h.
#include <algorithm>
#include <exception>
#include <utility>

#include "base/limits.h"
#include "server/turn_loop.h"

namespace rowsocket::server {
namespace {

using State = ClientConnection::State;

/// One more than the limit in whole milliseconds: the clock's current one has begun already.
constexpr uint64_t parked_retry_ms = (limits::parked_retry_us + 999) / 1000 + 1;

}  // namespace

// ---- read
// -------------------------------------------------------------------------------------------------------------------------

void TurnLoop::read_requests() {
  ready_.clear();
  writable_.clear();
  gather_carried_over();
  for (const net::Poller::Event& event : events_) {
    auto* const connection = static_cast<ClientConnection*>(event.tag);
    if (connection != nullptr && !connection->is_closed() && connection->stream.has_output() && event.writable) {
      writable_.push_back(connection);
    }
  }
  receive_ready();
}

void TurnLoop::receive_ready() {
  for (const net::Poller::Event& event : events_) {
    auto* const connection = static_cast<ClientConnection*>(event.tag);
    if (connection != nullptr && event.readable && !connection->is_in_turn && !connection->stream.has_output() &&
        (connection->state == State::reading || connection->state == State::lingering)) {
      receive(*connection);
    }
  }
}

void TurnLoop::join_turn(ClientConnection& connection) {
  connection.is_in_turn = true;
  ready_.push_back(&connection);
}

/// Those that have requests already go first, and of them those that the last turn did not reach.
void TurnLoop::gather_carried_over() {
  const auto add_to_ready = [this](ClientConnection* connection) {
    if (!connection->is_closed()) {
      join_turn(*connection);
    }
  };
  std::for_each(unreached_.begin(), unreached_.end(), add_to_ready);
  std::for_each(cut_.begin(), cut_.end(), add_to_ready);
  unreached_.clear();
  cut_.clear();
  if (!parked_.empty()) {
    const auto due_end =
        std::find_if(parked_.begin(), parked_.end(), [this](auto* parked) { return parked->retry_at_ms > now_ms_; });
    std::for_each(parked_.begin(), due_end, add_to_ready);
    parked_.erase(parked_.begin(), due_end);
  }
}

void TurnLoop::receive(ClientConnection& connection) {
  const net::Transfer transfer = connection.stream.receive(pool_);
  counters_.add(Counter::bytes_received, transfer.byte_count);
  switch (transfer.status) {
    case net::Transfer::Status::moved:
      if (connection.state == State::lingering) {
        connection.stream.input().clear();
        connection.stream.give_back_empty(pool_);
      } else {
        connection.last_progress_ms = now_ms_;
        join_turn(connection);
      }
      return;
    case net::Transfer::Status::blocked:
      connection.stream.give_back_empty(pool_);
      return;
    case net::Transfer::Status::ended:
    case net::Transfer::Status::failed:
      close(connection);  // whatever was complete has been executed and answered: else we would not be reading
      return;
    case net::Transfer::Status::out_of_memory:
      close_with_note(connection, LogLevel::error, "is closed: no memory to receive");
      return;
  }
}

// ---- execute
// ----------------------------------------------------------------------------------------------------------------------

bool TurnLoop::turn_is_full() const {
  return requests_ >= limits::requests_per_turn || reply_bytes_ >= limits::reply_bytes_per_turn ||
         arena_.held_bytes() >= limits::arena_bytes_per_turn;
}

void TurnLoop::execute_requests() {
  if (ready_.empty()) {
    return;
  }
  requests_ = 0;
  reply_bytes_ = 0;
  executor_.begin_turn(now_ms_);
  size_t reached = 0;
  do {
    for (; reached < ready_.size(); ++reached) {
      ClientConnection& connection = *ready_[reached];
      if (turn_is_full()) {
        connection.state = State::unreached;
        connection.last_progress_ms = now_ms_;
      } else {
        execute_or_close(connection);
      }
    }
  } while (others_came());
}

/// A commit costs many about as much as one: those who came while the turn executed take part in it. Each does so once, so that
/// nobody waits for long.
bool TurnLoop::others_came() {
  if (executor_.nothing_staged() || turn_is_full() || ready_.size() >= table_.size()) {
    return false;
  }
  const size_t before = ready_.size();
  events_ = poller_.wait(0);
  receive_ready();
  executor_.others_came();
  return ready_.size() > before;
}

void TurnLoop::execute_or_close(ClientConnection& connection) {
  try {
    execute(connection);
  } catch (const std::exception& error) {
    close_with_note(connection, LogLevel::error, error.what());
  } catch (...) {
    close_with_note(connection, LogLevel::error, "is closed: unknown exception");
  }
}

/// Execute the connection's complete requests, as far as its share of the turn goes.
void TurnLoop::execute(ClientConnection& connection) {
  connection.state = State::reading;
  connection.last_progress_ms = now_ms_;
  connection.stream.borrow_output(pool_);
  const std::string_view input = connection.stream.input().view();
  Buffer& output = connection.stream.output();

  for (uint32_t executed = 0; connection.parsed_bytes < input.size(); ++executed) {
    if (executed == limits::requests_per_connection_turn || turn_is_full()) {
      connection.state = State::cut;
      return;
    }
    if (executor_.nothing_staged()) {
      arena_.reset();
    }
    const Parsed parsed = connection.protocol->parse(input.substr(connection.parsed_bytes), settings_->parse_limits, arena_,
                                                     connection.scanned_bytes, request_);
    if (parsed.status == Parsed::Status::need_more) {
      return;
    }
    if (parsed.status == Parsed::Status::fatal) {
      connection.fatal_error = request_.parse_error;  // the reply comes after the commit: a replay may change those before it
      connection.state = State::condemned;
      return;
    }
    if (parsed.status == Parsed::Status::foreign) {
      close_with_note(connection, LogLevel::warning, "speaks HTTP: it is closed, and nothing that it sent is done");
      return;
    }
    connection.scanned_bytes = 0;
    const size_t reply_begin = output.size();
    switch (executor_.execute(connection.client, request_, *connection.protocol, output)) {
      case exec::Executed::done:
        if (executor_.met_first_lenience()) [[unlikely]] {
          note(connection, LogLevel::note,
               "sends what rowsocket_strict would refuse (values beyond the columns, empty amounts, or keys that are no value of "
               "their column); it is served as earlier servers did");
        }
        break;
      case exec::Executed::parked:
        connection.state = State::parked;
        connection.retry_at_ms = now_ms_ + parked_retry_ms;
        return;
    }
    connection.parsed_bytes += parsed.consumed_bytes;
    ++requests_;
    reply_bytes_ += output.size() - reply_begin;
  }
}

// ---- commit
// -----------------------------------------------------------------------------------------------------------------------

void TurnLoop::commit() {
  if (ready_.empty()) {
    return;
  }
  if (executor_.nothing_staged()) {
    executor_.end_turn();
  } else {
    commit_writes();
  }
  session_.yield_tables();
  arena_.reset();
  for (ClientConnection* connection : ready_) {
    finish(*connection);
  }
}

void TurnLoop::commit_writes() {
  const uint64_t began_us = clock_.now_us();
  executor_.end_turn();
  const uint64_t wait_us =
      std::min<uint64_t>((clock_.now_us() - began_us) / limits::return_wait_share, limits::return_wait_us_max);
  return_wait_us_ = wait_us < limits::return_wait_us_min ? 0 : wait_us;
  committed_ = ready_.size();
}

/// Nothing views the input any more, and no reply changes any more.
void TurnLoop::finish(ClientConnection& connection) {
  connection.is_in_turn = false;
  net::Connection& stream = connection.stream;
  stream.input().consume(std::exchange(connection.parsed_bytes, 0));
  if (connection.state == State::condemned) {
    stream.input().clear();
    const Error error(connection.fatal_error);
    counters_.add(counter_of(error.code));
    connection.protocol->reply_error(stream.output(), error, settings_->policy.error_detail);
    note(connection, LogLevel::warning, "sent what can not be followed (a line that is too long): it is closed");
  }
  if (stream.output().failed() && !connection.is_closed()) {
    close_with_note(connection, LogLevel::error, "is closed: no memory for its replies");
  }
}

// ---- send
// -------------------------------------------------------------------------------------------------------------------------

void TurnLoop::send_replies() {
  for (Connections* list : {&ready_, &writable_}) {
    for (ClientConnection* connection : *list) {
      if (!connection->is_closed() && connection->stream.has_output()) {
        send(*connection);
      }
      if (!connection->is_closed()) {
        settle(*connection);
      }
    }
  }
}

void TurnLoop::send(ClientConnection& connection) {
  const net::Transfer transfer = connection.stream.send();
  if (transfer.status == net::Transfer::Status::moved) {
    counters_.add(Counter::bytes_sent, transfer.byte_count);
    connection.last_progress_ms = now_ms_;
  } else if (transfer.status == net::Transfer::Status::failed) {
    close(connection);
  }
}

/// Everything of this turn is done for the connection: what does it wait for now?
void TurnLoop::settle(ClientConnection& connection) {
  connection.stream.give_back_empty(pool_);
  table_.count_held_bytes(connection);
  if (connection.stream.has_output()) {
    watch(connection, net::Interest::output);
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
      parked_.push_back(&connection);
      watch(connection, net::Interest::none);
      return;
    case State::condemned:
      connection.state = State::lingering;
      connection.last_progress_ms = now_ms_;
      connection.stream.shut_down_output();
      next_sweep_ms_ = std::min(next_sweep_ms_, deadline_ms(connection));
      break;
    case State::reading:
    case State::lingering:
    case State::closed:
      break;
  }
  watch(connection, net::Interest::input);
}

void TurnLoop::watch(ClientConnection& connection, net::Interest wanted) {
  if (connection.interest == wanted) [[likely]] {
    return;
  }
  if (!poller_.change(connection.stream.fd(), connection.interest, wanted, &connection)) {
    close_with_note(connection, LogLevel::error, "is closed: it can not be polled");
    return;
  }
  connection.interest = wanted;
}

// ---- reap
// -------------------------------------------------------------------------------------------------------------------------

void TurnLoop::close(ClientConnection& connection) {
  if (!connection.is_closed()) {
    connection.state = State::closed;
    closing_.push_back(&connection);
  }
}

void TurnLoop::close_with_note(ClientConnection& connection, LogLevel level, std::string_view why) {
  note(connection, level, why);
  close(connection);
}

void TurnLoop::note(const ClientConnection& connection, LogLevel level, std::string_view what) {
  log_.about_connection(level, connection.number, connection.stream.peer(), what);
}

void TurnLoop::reap() {
  close_timed_out();
  bound_held_bytes();
  if (closing_.empty()) {
    return;
  }
  for (Connections* list : {&unreached_, &cut_, &parked_}) {
    std::erase_if(*list, [](const ClientConnection* connection) { return connection->is_closed(); });
  }
  counters_.add(Counter::connections_closed, closing_.size());
  for (ClientConnection* connection : closing_) {
    connection->stream.input().clear();
    connection->stream.output().clear();
    connection->stream.give_back_empty(pool_);
    table_.remove(*connection);
    inbox_.connection_closed();
  }
  closing_.clear();
}

/// When the connection has been without progress for too long. (Its own requests running or waiting for a lock are progress.)
uint64_t TurnLoop::deadline_ms(const ClientConnection& connection) const {
  if (connection.state == State::lingering) {
    return connection.last_progress_ms + limits::linger_ms;
  }
  return settings_->idle_timeout_ms > 0 ? connection.last_progress_ms + settings_->idle_timeout_ms : never;
}

void TurnLoop::close_timed_out() {
  if (now_ms_ < next_sweep_ms_) [[likely]] {
    return;
  }
  uint64_t next_ms = never;
  for (const auto& connection : table_.all()) {
    if (connection->is_closed()) {
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
      note(*connection, LogLevel::warning, "does not read its replies: it is closed");
    }
    close(*connection);
  }
  next_sweep_ms_ = next_ms == never ? never : std::max(next_ms, now_ms_ + limits::sweep_interval_ms);
}

/// What clients send by halves, do not read, and have open is bounded for all of them together: who holds most goes.
void TurnLoop::bound_held_bytes() {
  while (table_.held_bytes() + session_.held_bytes() > settings_->held_bytes_max) [[unlikely]] {
    ClientConnection* const largest = table_.largest_holder();
    if (largest == nullptr) {
      return;
    }
    close_with_note(*largest, LogLevel::warning,
                    "holds most of too much memory (half a request, replies not read, or opened indexes): it is closed");
    largest->stream.input().release();
    largest->stream.output().release();
    largest->client.forget_indexes();
    table_.count_held_bytes(*largest);
  }
}

}  // namespace rowsocket::server
