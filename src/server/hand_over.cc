// SPDX-License-Identifier: GPL-2.0-only
//
// How another thread goes on with a turn loop whose thread is stuck in a request; see loop_token.h.
//
//   stuck thread   run ─ execute ─ ... the request ............ keep_unsettled ─ commit ─ give_back
//   stand-in                        take ─ take_over ─ run ─ run ─ run ───────────────────── take_back ─ run
//
// The same where the thread is stuck in the turn's commit: then no request is under way.
//
// A connection whose requests stay with the stuck turn is away: the loop does not touch it until it is given
// back. If the turn commits in front of the request, `give_back_settled` comes right behind that commit.
#include <algorithm>

#include "base/limits.h"
#include "server/turn_loop.h"

namespace rowsocket::server {

using State = ClientConnection::State;

AdriftTurns::Adrift TurnLoop::take_over(Turn& own) {
  world_.counters.add(Counter::hand_overs);
  const std::span<ClientConnection* const> members = turn_->members();
  const size_t reached = turn_->reached();
  for (size_t number = 0; number < members.size(); ++number) {
    ClientConnection& connection = *members[number];
    if (number > reached || (number == reached && turn_->is_committing())) {
      connection.is_in_turn = false;
      connection.state = State::unreached;
      carried_over_.add(connection);
    } else if (number >= turn_->settled()) {
      connection.is_away = true;
      connections_.allotments().note_use(connection);
      connection.shown.away_on_thread = turn_->session().host_thread();
      connections_.watch(connection, net::Interest::none);
    } else {
      own.finish(connection);
      send_and_let_wait(connection);
    }
  }
  intake_.end_service();
  // No `reap` follows in this turn. What it did not need of the accounts' requests is for those that wait.
  look_at_held_back();
  connections_.allotments().end_turn();
  AdriftTurns::Adrift adrift{&turn_->session(), world_.clock.now_us()};
  if (!turn_->is_committing()) {
    adrift.client = members[reached];
    adrift.write = &turn_->write_under_way();
  }
  return adrift;
}

void TurnLoop::give_back(std::span<ClientConnection* const> members) {
  returned_.give_back(members);
  world_.inbox.wake();
}

void TurnLoop::give_back_settled(Turn& turn) {
  const std::span<ClientConnection* const> committed =
      turn.members().subspan(turn.settled(), turn.reached() - turn.settled());
  for (ClientConnection* connection : committed) {
    turn.finish(*connection);
  }
  give_back(committed);
  turn.keep_last();
}

void TurnLoop::take_back() {
  for (ClientConnection* connection : returned_.take()) {
    connection->is_away = false;
    connection->shown.away_on_thread = 0;
    connection->last_progress_ms = now_ms_;
    if (connection->closes_when_back) {
      const bool waits = connection->is_killed() && connection->client.was_put_back();
      world_.counters.add(Counter::requests_stopped, waits ? 1 : 0);
      connections_.close(*connection);
    }
    send_and_let_wait(*connection);
  }
}

/// Those whose writes wait for commits of other threads. They are not polled. So one that is broken is looked
/// for: its write is not begun. (One whose client has ended its side may wait for its reply.)
void TurnLoop::go_on_behind_commits() {
  const bool is_over = !writes_wait();
  if (!is_over && now_ms_ < next_look_behind_commits_ms_) {
    return;
  }
  next_look_behind_commits_ms_ = now_ms_ + limits::presence_ms;
  carried_over_.drop_behind_commit(
      [this](ClientConnection& connection) { return connection.is_closed() || close_if_broken(connection); });
  if (is_over) {
    carried_over_.take_behind_commit([this](ClientConnection& connection) {
      connection.state = State::cut;
      take_part(connection);
    });
  }
}

uint64_t TurnLoop::behind_commits_due_ms() const {
  return carried_over_.some_wait_for_commit() ? std::min(writes_wait_until_ms(), next_look_behind_commits_ms_)
                                              : never;
}

void TurnLoop::end() {
  drop_moved();
  for (const auto& connection : connections_.all()) {
    if (!connection->is_away) {
      connections_.close(*connection);
    }
  }
  connections_.remove_closed();
}

/// It may be away.
void TurnLoop::close(ClientConnection& connection) {
  if (connection.is_away) {
    connection.closes_when_back = true;
  } else {
    connections_.close(connection);
  }
}

}  // namespace rowsocket::server
