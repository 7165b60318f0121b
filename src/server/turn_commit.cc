// SPDX-License-Identifier: GPL-2.0-only
//
// The end of a turn: its commit, beside which another thread may go on with the loop, and what remains of
// each connection's part in it.
#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "server/turn.h"

namespace rowsocket::server {
namespace {

using State = ClientConnection::State;

/// At least one more than the limit in whole milliseconds: the clock's current one has begun already.
uint64_t parked_retry_ms(uint64_t parked_ms) {
  constexpr uint64_t first_ms = (limits::parked_retry_us + 999) / 1000 + 1;
  return std::clamp<uint64_t>(parked_ms / limits::parked_retry_share, first_ms, limits::parked_retry_ms_max);
}

/// Requests that were put back are parsed again: whatever was found behind them is forgotten.
void rewind(ClientConnection& connection, size_t put_back_at, uint64_t retry_at_ms) {
  connection.parsed_bytes = put_back_at;
  connection.scanned_bytes = 0;
  connection.retry_at_ms = retry_at_ms;
  if (connection.state != State::failed) {
    connection.state = connection.client.lacks_thread ? State::unreached : State::parked;
  }
}

}  // namespace

std::optional<uint64_t> Turn::commit(bool is_unhurried) {
  std::optional<uint64_t> commit_us;
  if (executor_.nothing_staged()) {
    executor_.end_turn();
  } else {
    const uint64_t began_us = clock_.now_us();
    const bool was_adrift = is_adrift();
    commit_changes(is_unhurried, [this] { executor_.end_turn(); });
    commit_us = clock_.now_us() - began_us;
    if (is_adrift() && !was_adrift) [[unlikely]] {
      return commit_us;  // the thread that has the loop looks at the members
    }
  }
  session_.yield_tables();
  arena_.reset();
  for (ClientConnection* connection : members_) {
    finish(*connection);
  }
  return commit_us;
}

void Turn::settle() {
  if (has_changes()) {
    commit_changes(false, [this] { executor_.settle_all(); });
  }
}

/// A commit waits for a disk, and maybe for replicas. So another thread may take the loop meanwhile.
template <typename Commit>
void Turn::commit_changes(bool is_unhurried, Commit commit) {
  if (is_patient_ || is_adrift()) {
    commit();
    return;
  }
  only_reads_ = false;
  is_committing_ = true;
  {
    const LoopHold::Entered entered(hold_, is_unhurried);
    pass_drill();
    commit();
    pass_drill();
  }
  if (!is_adrift()) {
    is_committing_ = false;
  }
}

void Turn::send_large_replies() {
  for (ClientConnection* connection : members_) {
    if (connection->state == State::failed || connection->stream.output().size() < limits::receive_bytes) {
      continue;
    }
    const net::Transfer transfer = connection->stream.send();
    if (transfer.status == net::Transfer::Status::moved) {
      counters_.add(Counter::bytes_sent, transfer.byte_count);
      connection->shown.bytes_sent += transfer.byte_count;
    } else if (transfer.status == net::Transfer::Status::failed) {
      connection->state = State::failed;
    }
  }
}

void Turn::finish(ClientConnection& connection) {
  net::Connection& stream = connection.stream;
  const auto put_back_at = std::exchange(connection.client.put_back_at, {});
  if (!invariant(connection.parsed_bytes <= stream.input().size() &&
                     put_back_at.value_or(0) <= connection.parsed_bytes,
                 "a turn takes, and puts back, requests that its input holds")) {
    connection.state = State::failed;
    return;
  }
  if (put_back_at.has_value()) {
    const uint64_t parked_ms = now_ms_ - std::min(now_ms_, connection.client.parked_since_ms);
    rewind(connection, *put_back_at, now_ms_ + parked_retry_ms(parked_ms));
  }
  stream.input().consume(std::exchange(connection.parsed_bytes, 0));
  if (connection.client.left_at.has_value() && connection.state != State::failed && !is_killed(connection))
      [[unlikely]] {
    connection.state = State::leaving;
  }
  if (connection.state == State::condemned || connection.state == State::leaving) [[unlikely]] {
    stream.input().clear();
  }
  if (connection.state == State::condemned) [[unlikely]] {
    counters_.add(counter_of(connection.fatal_error));
    connection.protocol->refuse_stream(stream.output(), connection.fatal_error, *settings_);
  }
  if (stream.output().failed() && connection.state != State::failed) {
    connection.fail("is closed: no memory for its replies, or it is not known what became of its writes");
  }
}

// ---- adrift

void Turn::keep_unsettled() {
  members_.resize(reached_ + (is_committing_ ? 0 : 1));
  members_.erase(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(settled_));
  reached_ -= std::exchange(settled_, 0);
}

void Turn::keep_last() {
  settled_ = reached_;
  keep_unsettled();
}

}  // namespace rowsocket::server
