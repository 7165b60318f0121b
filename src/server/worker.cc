// SPDX-License-Identifier: GPL-2.0-only
#include "server/worker.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/limits.h"
#include "exec/table_ledger.h"

namespace rowsocket::server {
namespace {

std::string thread_name(engine::Intent intent, uint32_t number) {
  return (intent == engine::Intent::read ? "rowsocket-r" : "rowsocket-w") + std::to_string(number);
}

/// While a turn lives, others of its thread find it.
class Shown {
 public:
  Shown(Turn*& place, Turn& turn) : place_(place) { place_ = &turn; }
  ~Shown() { place_ = nullptr; }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

 private:
  Turn*& place_;
};

/// Whatever ends its use: nobody looks at the session any more.
class Looked {
 public:
  Looked(engine::Session& session, AdriftTurns& adrift, WaitingRoom& waiting_room)
      : session_(session), adrift_(adrift), waiting_room_(waiting_room) {}
  ~Looked() {
    adrift_.remove(session_);
    waiting_room_.forget(session_);
  }
  Looked(const Looked&) = delete;
  Looked& operator=(const Looked&) = delete;

 private:
  engine::Session& session_;
  AdriftTurns& adrift_;
  WaitingRoom& waiting_room_;
};

constexpr std::string_view stand_in_activity = "rowsocket: stand-in";

}  // namespace

Worker::Worker(const Surroundings& surroundings, engine::Intent intent, uint32_t number)
    : world_(surroundings),
      intent_(intent),
      number_(number),
      name_(thread_name(intent, number)),
      numbers_(number),
      log_(world_.log, world_.clock, name_),
      loop_({.selections = *selections_,
             .inbox = inbox_,
             .poller = poller_,
             .counters = counters_,
             .settings_board = world_.settings_board,
             .clock = world_.clock,
             .log = log_,
             .account_loads = world_.account_loads,
             .role = intent == engine::Intent::read ? "read" : "write",
             .wait_elsewhere = [this](ClientConnection& connection) { return wait_elsewhere(connection); },
             .logins = world_.logins,
             .handshakes = world_.handshakes,
             .spread = world_.spread,
             .worker_number = number,
             .waits_elsewhere_after_ms = world_.is_drill ? 0 : limits::waiting_room_after_ms,
             .bell = world_.bell,
             .lifelines = world_.lifelines,
             .send_ring = world_.has_send_ring ? &send_ring_ : nullptr,
             .commits = &commits_}),
      crew_({world_.log, world_.clock, world_.thread_limit}, name_,
            [this](Hand& hand, bool is_in_charge) { run(hand, is_in_charge); }) {
  world_.walks.add_loop(in_charge_);
}

Worker::~Worker() {
  request_stop();
  join();
}

// ---- its threads

bool Worker::start(std::string& failure) {
  if (!loop_.is_usable()) {
    log_.always(LogLevel::error, "can not serve: the process is out of file descriptors");
    inbox_.close();
    return true;
  }
  world_.thread_limit.take_anyway();
  is_started_ = true;
  return crew_.start_first(failure);
}

bool Worker::start_later() {
  if (is_started_ || !loop_.is_usable() || crew_.has_failed_lately()) {
    return has_begun_.load() && inbox_.is_open();
  }
  std::string failure;
  try {
    is_started_ = crew_.start_first(failure);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!is_started_) {
    crew_.note_failure(failure, false);
  }
  return false;  // it is asked again
}

void Worker::request_stop() {
  stop_requested_.store(true, std::memory_order_release);
  wake();
}

/// After the last `tick`.
void Worker::join() { crew_.join(); }

uint64_t Worker::count(Counter counter) const { return counters_.read(counter) + crew_.count(counter); }

bool Worker::copy_connections(uint64_t behind, size_t count_max,
                              std::vector<ConnectionFigures>& figures) const {
  return loop_.connections().roster().copy_behind(behind, count_max, world_.clock.now_ms(),
                                                  loop_.host_thread(), figures);
}

// ---- on a thread

/// Whatever goes wrong on this thread ends here. A worker without a thread in charge serves no client.
void Worker::run(Hand& hand, bool is_in_charge) {
  try {
    const auto session = world_.engine.create_session(
        {.intent = intent_,
         .worker_number = number_,
         .selections = selections_,
         .counters = &hand.counters,
         .wake = [this] { wake(); },
         .others_wait_for_rows = world_.has_stand_ins,
         .on_wait = [this, &hand](engine::Wait what) { note_wait(hand.turn, what); }});
    if (session != nullptr) {
      const Looked looked(*session, adrift_, waiting_room_);
      serve(hand, *session, is_in_charge);
    }
  } catch (const std::exception& error) {
    crew_.note_failure(error.what(), is_in_charge);
  } catch (...) {
    crew_.note_failure("ends after an unknown exception", is_in_charge);
  }
  if (is_in_charge) {
    inbox_.close();
    loop_.end();
    request_stop();
  }
  crew_.note_end(hand, is_in_charge);
}

void Worker::serve(Hand& hand, engine::Session& session, bool& is_in_charge) {
  Pace pace(world_.walks, world_.clock, [this] { return world_.walks.loops_waited_us(); });
  exec::TableLedger ledger(world_.statistics, session);
  Drill drill(loop_.token(), world_.clock, [this, &hand] { call_stand_in(hand.turn); });
  Turn turn({.session = session,
             .counters = hand.counters,
             .clock = world_.clock,
             .token = &loop_.token(),
             .numbers = numbers_,
             .desk = &loop_.desk(),
             .figures = world_.figures,
             .takes_long = [this, &hand, &pace](
                               uint64_t gone_on_us) { return note_long_walk(hand.turn, pace, gone_on_us); },
             .settled_adrift = [this, &hand] { give_back_settled(*hand.turn); },
             .commits = {.begins = [this, &hand] { begin_commit(*hand.turn); },
                         .ended = [this](uint64_t us) { commits_.end(us); }},
             .long_requests = &world_.long_requests,
             .ledger = &ledger,
             .drill = world_.is_drill ? &drill : nullptr,
             .lifelines = world_.lifelines},
            world_.settings_board.current());
  turn.reserve(1);
  const Shown shown(hand.turn, turn);
  has_begun_.store(true);
  while (!stop_requested_.load(std::memory_order_acquire)) {
    if (!is_in_charge) {
      session.set_activity(stand_in_activity);
      const Call call = stand_in(turn);
      is_in_charge = call == Call::loop;
      if (call == Call::end || session.interruption() == engine::Interruption::stop) {
        return;
      }
      continue;
    }
    in_charge_.store(this_thread_number(), std::memory_order_relaxed);
    TurnLoop::Ended ended = TurnLoop::Ended::well;
    try {
      ended = loop_.run(turn);
    } catch (...) {
      is_in_charge = !turn.is_adrift();
      throw;
    }
    switch (ended) {
      case TurnLoop::Ended::well:
        break;
      case TurnLoop::Ended::stop:
        return;
      case TurnLoop::Ended::adrift:
        is_in_charge = false;
        end_adrift(turn, pace.end());
        break;
    }
  }
}

/// Another thread has the loop, and the request under way has had committed what came before it.
void Worker::give_back_settled(Turn& turn) {
  await_hand_over();
  adrift_.let_looks_end();
  loop_.give_back_settled(turn);
}

/// Whoever took the loop has looked at the turn's members.
void Worker::await_hand_over() { const MutexLock lock(hand_over_); }

/// Another thread has the loop: end this turn, for the connections that are still in it.
void Worker::end_adrift(Turn& turn, uint64_t owed_us) {
  await_hand_over();
  ClientConnection* const asked_last = turn.is_committing() ? nullptr : turn.members()[turn.reached()];
  if (asked_last != nullptr) {
    end_request_adrift(turn, *asked_last);
  }
  turn.keep_unsettled();
  turn.commit();
  adrift_.remove(turn.session());
  turn.send_large_replies();
  turn.session().release_tables();
  turn.session().forget_selections();
  close_if_killed(turn);
  if (asked_last != nullptr) {
    asked_last->rests_until_ms = owed_us == 0 ? 0 : world_.clock.now_ms() + owed_us / 1000;
  }
  loop_.give_back(turn.members());
}

/// The request that took long, whose connection this is.
void Worker::end_request_adrift(Turn& turn, ClientConnection& connection) {
  adrift_.end_request(turn.session());
  turn.session().forget_stop();  // the commit is not of that client alone
  // In the drill, what goes on beside the loop is long.
  connection.note_beside(world_.is_drill ? limits::slice_us : turn.last_own_us());
}

/// KILL of a thread closes the connections that it serves. Those of the loop are another thread's.
void Worker::close_if_killed(Turn& turn) {
  if (turn.session().interruption() != engine::Interruption::close_connections) {
    return;
  }
  turn.session().clear_interruption();
  for (ClientConnection* connection : turn.members()) {
    if (connection->state != ClientConnection::State::failed) {
      connection->state = ClientConnection::State::leaving;
    }
  }
}

/// Wait to be called, and run what the waiting room has to run. Call::loop: the loop is this thread's now.
Worker::Call Worker::stand_in(Turn& turn) {
  Calls& calls = crew_.calls();
  const uint32_t expected = calls.expect();
  // Before there is a guest: a KILL from then on is meant for the guest.
  if (turn.session().interruption() == engine::Interruption::close_connections) {
    turn.session().clear_interruption();
  }
  const bool is_loop_ours = take_loop(turn);
  ClientConnection* const guest = is_loop_ours ? nullptr : waiting_room_.enter(turn.session());
  const bool is_called = is_loop_ours || guest != nullptr;
  if (!is_called && !stop_requested_.load() && turn.session().interruption() != engine::Interruption::stop) {
    calls.wait(expected);
  }
  calls.rest_is_over();
  if (guest != nullptr) {
    run_guest(turn, *guest);
  }
  if (!is_called && calls.must_end()) {
    return Call::end;
  }
  return is_loop_ours ? Call::loop : Call::none;
}

/// The guest's request alone.
void Worker::run_guest(Turn& turn, ClientConnection& guest) {
  turn.use_settings(world_.settings_board.current());
  turn.run_patiently(guest, world_.clock.now_ms());
  turn.session().release_tables();
  turn.session().forget_selections();
  close_if_killed(turn);
  waiting_room_.leave(guest);
  loop_.give_back(turn.members());
}

/// If the request that a stand-in was called for still goes on.
bool Worker::take_loop(Turn& turn) {
  const LoopToken::Ticket ticket = crew_.calls().called_for();
  if (ticket == 0 || ticket != loop_.token().seen()) {
    return false;
  }
  try {
    turn.reserve(inbox_.connection_count());
    adrift_.make_room();
  } catch (const std::exception&) {
    return false;  // the loop waits for the thread that is stuck
  }
  const MutexLock lock(hand_over_);
  if (stop_requested_.load() || !loop_.token().take(ticket)) {
    return false;
  }
  adrift_.add(loop_.take_over(turn));
  return true;
}

// ---- calls for stand-ins

/// The session of any thread of ours may have been killed.
void Worker::wake() {
  inbox_.wake();
  crew_.calls().call_all();
}

/// The request waits, or takes long. Under latches of the engine: no lock, and no memory. The turn is the
/// waiting thread's own. Once the loop was taken from the turn, the turn has no ticket that is good.
void Worker::call_stand_in(const Turn* turn) {
  if (has_loop(turn)) {
    crew_.calls().call_for(turn->ticket());
  }
}

void Worker::begin_commit(const Turn& turn) {
  const uint64_t now_ms = world_.clock.now_ms();
  // DDL of a table from which the turn has only read would wait for the commit, and the table's readers for
  // the DDL. Not before each commit: what clients have opened would have to be resolved again behind it.
  if (commits_.are_long(now_ms)) [[unlikely]] {
    turn.session().release_read_tables();
  }
  commits_.begin(now_ms);
  // (The ticker calls a stand-in for any commit that lasts.)
  if (commits_.are_slow() && has_loop(&turn) && !LoopToken::is_unhurried(turn.ticket())) {
    crew_.calls().call_for(turn.ticket());
  }
}

/// The turn is of the calling thread, which runs the loop, and is in what another thread may go on beside.
bool Worker::has_loop(const Turn* turn) const {
  const LoopToken::Ticket ticket = turn == nullptr ? 0 : turn->ticket();
  return ticket != 0 && ticket == loop_.token().seen();
}

/// Under latches of the engine. Where the connections are spread over many workers, others go on meanwhile,
/// and the ticker sees a wait that lasts.
void Worker::note_wait(Turn* turn, engine::Wait what) {
  if (what == engine::Wait::over) {
    if (turn != nullptr) {
      turn->note_wait_over();
    }
    return;
  }
  if (turn != nullptr && what != engine::Wait::code) {
    turn->note_wait_for_others();
  }
  if (what == engine::Wait::disk && world_.spread != nullptr) {
    world_.spread->note_disk_wait();
    const bool is_in_time =
        turn != nullptr && world_.clock.now_ms() - turn->began_ms() < limits::turn_in_place_ms;
    if (world_.spread->is_wide() && is_in_time && !world_.is_drill) {
      return;
    }
  }
  call_stand_in(turn);
}

/// Between two rows. False if the loop waits for this walk, and no thread is there that could go on with it;
/// or if those who were served before it in its turn have waited for it for a while. A walk of a turn that
/// has changed rows does not rest: others may wait for these rows.
bool Worker::note_long_walk(Turn* turn, Pace& pace, uint64_t gone_on_us) {
  call_stand_in(turn);
  const LoopToken::Ticket ticket = turn == nullptr ? 0 : turn->ticket();
  if (ticket == 0) {
    return true;  // it is alone
  }
  if (ticket == loop_.token().seen()) {
    return !world_.has_stand_ins || crew_.may_stand_in();
  }
  turn->note_walked();
  if (turn->keeps_replies() && gone_on_us >= limits::kept_waiting_us) {
    return false;
  }
  pace.keep(ticket, intent_ == engine::Intent::read || turn->only_reads());
  return true;
}

/// For the loop. There is a thread for it, or one can be made, which the next tick does.
bool Worker::wait_elsewhere(ClientConnection& connection) {
  if (!world_.has_stand_ins || !crew_.can_serve() || waiting_room_.waiting_count() >= crew_.free_count() ||
      !waiting_room_.offer(connection)) {
    return false;
  }
  if (!std::exchange(connection.client.has_waited_alone, true)) {
    counters_.add(Counter::waited_alone);
  }
  crew_.calls().call_one();
  return true;
}

}  // namespace rowsocket::server
