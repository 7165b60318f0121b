// SPDX-License-Identifier: GPL-2.0-only
#include "server/turn_loop.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/limits.h"

namespace rowsocket::server {
namespace {

using State = ClientConnection::State;

constexpr int hold_tables_ms = static_cast<int>(limits::hold_tables_us / 1000);
constexpr std::string_view killed = "is closed: killed (rowsocket_kill)";

}  // namespace

TurnLoop::TurnLoop(const Surroundings& surroundings)
    : world_(surroundings),
      settings_(world_.settings_board),
      desk_(world_.logins, world_.account_loads, [this] { world_.inbox.wake(); }),
      connections_({.inbox = world_.inbox,
                    .poller = world_.poller,
                    .counters = world_.counters,
                    .log = world_.log,
                    .account_loads = world_.account_loads,
                    .handshakes = world_.handshakes,
                    .send_ring = world_.send_ring}),
      intake_(connections_, world_.clock),
      activity_(world_.role),
      now_ms_(world_.clock.now_ms()) {
  world_.selections.set_held_bytes_max(settings_->held_bytes_max);
  connections_.use_settings(*settings_);
}

TurnLoop::Ended TurnLoop::run(Turn& turn) {
  if (turn_ != &turn) [[unlikely]] {
    turn_ = &turn;
    host_thread_ = turn.session().host_thread();
  }
  activity_.show_first(turn.session(), connections_.size(), now_ms_);
  if (some_are_to_move()) [[unlikely]] {
    relieve();  // before the turn: it may end with another thread
  }
  poll();
  if (!obey_session()) {
    return Ended::stop;
  }
  refresh_settings();
  admit_arrivals();
  close_killed();
  read_requests();
  execute_requests(turn);
  if (!turn.is_adrift()) {
    commit(turn);
  }
  if (turn.is_adrift()) [[unlikely]] {
    return Ended::adrift;  // nothing of the loop may be touched any more
  }
  send_replies();
  reap();
  activity_.show_if_due(connections_.size(), now_ms_);
  return Ended::well;
}

// ---- poll

/// Opened tables are held over busy turns only. Before a longer sleep the tables are given back, and so is
/// the memory of a burst.
void TurnLoop::poll() {
  const int wait_ms = time_to_wait_ms();
  const uint64_t return_wait_us = return_wait_.take_us();
  const uint64_t return_wait_until_us =
      return_wait_us == 0 || wait_ms == 0 ? 0 : world_.clock.now_us() + return_wait_us;
  const bool long_wait = wait_ms == net::Poller::forever || wait_ms > hold_tables_ms;
  engine::Session& session = turn_->session();
  if (long_wait && (session.holds_tables() || connections_.has_surplus())) {
    events_ = connections_.wait(hold_tables_ms);
    if (events_.empty()) {
      session.release_tables();
      connections_.trim();
      events_ = nap(wait_ms);
    }
  } else {
    events_ = long_wait ? nap(wait_ms) : connections_.wait(wait_ms);
  }
  if (return_wait_until_us != 0 && return_wait_.are_few(events_.size())) {
    let_clients_return(return_wait_until_us);
  }
  // Before the turn looks for the reason: what comes from here on wakes the next poll.
  was_woken_ =
      std::any_of(events_.begin(), events_.end(), [](const auto& event) { return event.tag == nullptr; });
  if (was_woken_) {
    world_.inbox.wakeup().drain();
  }
  if (wait_ms != 0 && events_.empty()) {
    intake_.note_quiet();
  }
  now_ms_ = world_.clock.now_ms();
}

/// Meanwhile nobody needs to look at the loop.
Connections::Events TurnLoop::nap(int wait_ms) {
  is_napping_.store(true);
  const Connections::Events events = connections_.wait(wait_ms);
  is_napping_.store(false);
  if (world_.bell != nullptr) {
    world_.bell->ring_if_armed();
  }
  return events;
}

/// Meanwhile the turn holds nothing that others wait for.
void TurnLoop::let_clients_return(uint64_t until_us) {
  const uint64_t now_us = world_.clock.now_us();
  if (now_us < until_us) {
    world_.clock.sleep_us(until_us - now_us);
    events_ = connections_.wait(0);
  }
}

int TurnLoop::time_to_wait_ms() const {
  if (carried_over_.some_go_on() || connections_.some_may_go_on() || some_are_to_move()) {
    return 0;
  }
  if (intake_.some_wait()) [[unlikely]] {
    return intake_.need_not_wait() ? 0 : 1;  // a millisecond, or until a light one comes
  }
  const uint64_t deadline_ms =
      std::min({behind_commits_due_ms(), next_sweep_ms_, next_look_ms_, intake_.due_ms(),
                carried_over_.due_ms(), activity_.due_ms(connections_.size())});
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
      world_.log.always(LogLevel::note, "killed: closes its connections and goes on");
      for (const auto& connection : connections_.all()) {
        close(*connection);
      }
      turn_->session().clear_interruption();
      return true;
    case engine::Interruption::stop:
      break;
  }
  world_.log.always(LogLevel::note, "the server shuts down: closes its connections and stops");
  return false;
}

void TurnLoop::refresh_settings() {
  if (settings_.are_current()) [[likely]] {
    return;
  }
  try {
    settings_.renew();
    world_.selections.set_held_bytes_max(settings_->held_bytes_max);
    connections_.use_settings(*settings_);
    next_sweep_ms_ = now_ms_;  // the idle time-out may have become shorter
  } catch (const std::exception&) {
    world_.log.limited(LogLevel::error, "keeps its old settings for now: no memory for the new ones");
  }
}

// ---- admit

void TurnLoop::admit_arrivals() {
  if (!was_woken_) {
    return;
  }
  take_back();
  take_logins();
  adopt_moved();
  world_.inbox.take(arrivals_);
  for (Arrival& arrival : arrivals_) {
    try {
      admit(std::move(arrival));
    } catch (const std::exception&) {
      world_.inbox.connection_closed();
      world_.counters.add(Counter::connections_refused);
      world_.log.limited(LogLevel::error, "a new connection is refused: no memory");
    }
  }
  arrivals_.clear();
}

/// A connection that is another thread's, or that still has replies to send, sees by itself that its login is
/// over.
void TurnLoop::take_logins() {
  desk_.returns().take(logins_done_);
  for (const std::shared_ptr<Login>& login : logins_done_) {
    ClientConnection* const connection = login->connection;
    if (connection != nullptr && !connection->is_away && !connection->is_in_turn &&
        connection->state == State::logging_in && !connection->stream.has_output()) {
      if (close_if_broken(*connection)) {
        continue;
      }
      connection->state = State::cut;
      carried_over_.add(*connection);
    }
  }
  logins_done_.clear();
}

/// What it has asked, and what waits, is not begun.
bool TurnLoop::close_if_broken(ClientConnection& connection) {
  if (!connection.stream.is_broken()) {
    return false;
  }
  world_.counters.add(Counter::requests_stopped);
  connections_.close(connection);
  return true;
}

void TurnLoop::admit(Arrival arrival) {
  const exec::Account account(arrival.port_access, *settings_);
  reserve_lists(connections_.size() + 1);
  ClientConnection& connection =
      connections_.add(std::make_unique<ClientConnection>(std::move(arrival), account, now_ms_));
  connection.shown.account = account.shown_number();
  next_sweep_ms_ = std::min(next_sweep_ms_, deadline_ms(connection));
  relieved_for_ = 0;
}

/// Connections that an administrator has ended, whatever they do. They are looked up behind those that came
/// or came back: one that was on its way has not been seen before.
void TurnLoop::close_killed() {
  const bool is_to_look = was_woken_ || missed_killed_;
  if (world_.lifelines == nullptr || !is_to_look || !world_.lifelines->some_are_killed()) [[likely]] {
    return;
  }
  try {
    for (const uint64_t number : world_.lifelines->killed()) {
      ClientConnection* const connection = connections_.roster().find(number);
      if (connection != nullptr && !connection->is_closed() && !connection->closes_when_back) {
        world_.counters.add(Counter::connections_killed);
        const bool waits = connection->client.was_put_back() || connection->state == State::behind_commit;
        world_.counters.add(Counter::requests_stopped, waits && !connection->is_away ? 1 : 0);
        world_.log.always_about_connection(LogLevel::warning, number, connection->stream.peer(), killed);
        close(*connection);
      }
    }
    missed_killed_ = false;
  } catch (const std::exception&) {
    missed_killed_ = true;
  }
}

void TurnLoop::stop_killed() {
  if (!token_.pin()) {
    return;
  }
  const engine::Work work = turn_->session().work();
  const engine::Presence* const client =
      work.whose(turn_->is_committing() ? nullptr : turn_->members()[turn_->reached()]);
  const bool is_killed = client != nullptr && client->is_killed();
  if (is_killed) {
    turn_->session().stop(work);
  }
  token_.unpin(is_killed);
}

/// After this, remembering a connection in any list allocates nothing.
void TurnLoop::reserve_lists(size_t connection_count) {
  turn_->reserve(connection_count);
  if (writable_.capacity() >= connection_count) {
    return;
  }
  const size_t room = std::max<size_t>(2 * connection_count, 16);
  returned_.reserve(room);
  intake_.reserve(room);
  carried_over_.reserve(room);
  writable_.reserve(room);  // the list that is looked at comes last: the others have as much room
}

}  // namespace rowsocket::server
