// SPDX-License-Identifier: GPL-2.0-only
#include "server/turn_loop.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/limits.h"

namespace rowsocket::server {
namespace {

constexpr int hold_tables_ms = static_cast<int>(limits::hold_tables_us / 1000);

}  // namespace

TurnLoop::TurnLoop(const Surroundings& surroundings)
    : selections_(surroundings.selections),
      inbox_(surroundings.inbox),
      counters_(surroundings.counters),
      settings_board_(surroundings.settings_board),
      clock_(surroundings.clock),
      log_(surroundings.log),
      role_(surroundings.role),
      settings_generation_(settings_board_.generation()),
      settings_(settings_board_.current()),
      connections_({.inbox = inbox_, .counters = counters_, .log = log_}),
      now_ms_(clock_.now_ms()) {}

TurnLoop::Ended TurnLoop::run(Turn& turn) {
  turn_ = &turn;
  if (activity_shown_by_ != &turn.session()) [[unlikely]] {
    show_activity();
  }
  poll();
  if (!obey_session()) {
    return Ended::stop;
  }
  refresh_settings();
  admit_arrivals();
  read_requests();
  execute_requests(turn);
  if (turn.is_adrift()) [[unlikely]] {
    return Ended::adrift;  // nothing of the loop may be touched any more
  }
  commit();
  send_replies();
  reap();
  show_activity_if_due();
  return Ended::well;
}

// ---- poll

/// Opened tables are held over busy turns only. Before a longer sleep the tables are given back, and so is
/// the memory of a burst.
void TurnLoop::poll() {
  const int wait_ms = time_to_wait_ms();
  const uint64_t return_wait_us = std::exchange(return_wait_us_, 0);
  const uint64_t return_wait_until_us =
      return_wait_us == 0 || wait_ms == 0 ? 0 : clock_.now_us() + return_wait_us;
  const bool long_wait = wait_ms == net::Poller::forever || wait_ms > hold_tables_ms;
  engine::Session& session = turn_->session();
  if (long_wait && (session.holds_tables() || connections_.has_surplus())) {
    events_ = connections_.wait(hold_tables_ms);
    if (events_.empty()) {
      session.release_tables();
      connections_.trim();
      events_ = connections_.wait(wait_ms);
    }
  } else {
    events_ = connections_.wait(wait_ms);
  }
  if (return_wait_until_us != 0 &&
      events_.size() < std::min<size_t>(committed_, limits::events_per_poll) / 2) {
    let_clients_return(return_wait_until_us);
  }
  now_ms_ = clock_.now_ms();
}

/// A commit that flushes costs about as much for many requests as for one. The clients that it answered come
/// back within moments. So a turn that would begin with fewer than half of these clients waits a little.
/// Meanwhile it holds nothing that others wait for.
void TurnLoop::let_clients_return(uint64_t until_us) {
  const uint64_t now_us = clock_.now_us();
  if (now_us < until_us) {
    clock_.sleep_us(until_us - now_us);
    events_ = connections_.wait(0);
  }
}

int TurnLoop::time_to_wait_ms() const {
  if (!unreached_.empty() || !cut_.empty()) {
    return 0;
  }
  uint64_t deadline_ms = next_sweep_ms_;
  if (!parked_.empty()) {
    deadline_ms = std::min(deadline_ms, parked_.front()->retry_at_ms);
  }
  if (activity_shown_connections_ != connections_.size()) {
    deadline_ms = std::min(deadline_ms, activity_shown_ms_ + limits::activity_interval_ms);
  }
  if (deadline_ms == never) {
    return net::Poller::forever;
  }
  constexpr uint64_t longest_ms = 1'000'000;
  return deadline_ms <= now_ms_ ? 0 : static_cast<int>(std::min(deadline_ms - now_ms_, longest_ms));
}

bool TurnLoop::obey_session() {
  switch (turn_->session().interruption()) {
    case engine::Interruption::none:
      return true;
    case engine::Interruption::close_connections:
      log_.always(LogLevel::note, "killed: closes its connections and goes on");
      for (const auto& connection : connections_.all()) {
        close(*connection);
      }
      turn_->session().clear_interruption();
      return true;
    case engine::Interruption::stop:
      break;
  }
  log_.always(LogLevel::note, "the server shuts down: closes its connections and stops");
  return false;
}

void TurnLoop::refresh_settings() {
  const uint64_t generation = settings_board_.generation();
  if (generation == settings_generation_) [[likely]] {
    return;
  }
  try {
    settings_ = settings_board_.current();
    settings_generation_ = generation;
    next_sweep_ms_ = now_ms_;  // the idle time-out may have become shorter
  } catch (const std::exception&) {
    log_.limited(LogLevel::error, "keeps its old settings for now: no memory for the new ones");
  }
}

// ---- admit

void TurnLoop::admit_arrivals() {
  const bool woken =
      std::any_of(events_.begin(), events_.end(), [](const auto& event) { return event.tag == nullptr; });
  if (!woken) {
    return;
  }
  inbox_.wakeup().drain();
  take_back();
  inbox_.take(arrivals_);
  for (Arrival& arrival : arrivals_) {
    try {
      admit(std::move(arrival));
    } catch (const std::exception&) {
      inbox_.connection_closed();
      counters_.add(Counter::connections_refused);
      log_.limited(LogLevel::error, "a new connection is refused: no memory");
    }
  }
  arrivals_.clear();
}

void TurnLoop::admit(Arrival arrival) {
  const exec::Account account(arrival.port_access, *settings_);
  reserve_lists(connections_.size() + 1);
  ClientConnection& connection =
      connections_.add(std::make_unique<ClientConnection>(std::move(arrival), account, now_ms_));
  next_sweep_ms_ = std::min(next_sweep_ms_, deadline_ms(connection));
}

/// After this, remembering a connection in any list allocates nothing.
void TurnLoop::reserve_lists(size_t connection_count) {
  turn_->reserve(connection_count);
  if (writable_.capacity() >= connection_count) {
    return;
  }
  const size_t room = std::max<size_t>(2 * connection_count, 16);
  {
    const MutexLock lock(returned_mutex_);
    returned_.reserve(room);
  }
  for (Waiting* list : {&taken_back_, &unreached_, &cut_, &parked_, &writable_}) {
    list->reserve(room);  // the list that is looked at comes last: the others have as much room
  }
}

// ---- SHOW PROCESSLIST

void TurnLoop::show_activity_if_due() {
  if (activity_shown_connections_ != connections_.size() &&
      now_ms_ - activity_shown_ms_ >= limits::activity_interval_ms) [[unlikely]] {
    show_activity();
  }
}

void TurnLoop::show_activity() {
  std::array<char, 96> text;
  std::snprintf(text.data(), text.size(), "rowsocket: %.*s worker, %zu connections",
                static_cast<int>(role_.size()), role_.data(), connections_.size());
  turn_->session().set_activity(text.data());
  activity_shown_by_ = &turn_->session();
  activity_shown_ms_ = now_ms_;
  activity_shown_connections_ = connections_.size();
}

}  // namespace rowsocket::server
