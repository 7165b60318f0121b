// SPDX-License-Identifier: GPL-2.0-only
#include "server/worker.h"

#include <exception>
#include <utility>

#include "server/thread.h"

namespace rowsocket::server {
namespace {

std::string thread_name(engine::Intent intent, uint32_t number) {
  return (intent == engine::Intent::read ? "rowsocket-r" : "rowsocket-w") + std::to_string(number);
}

constexpr std::string_view stand_in_activity = "rowsocket: stand-in";

}  // namespace

Worker::Worker(const Surroundings& surroundings, engine::Intent intent, uint32_t number)
    : engine_(surroundings.engine),
      plain_log_(surroundings.log),
      clock_(surroundings.clock),
      settings_board_(surroundings.settings_board),
      figures_(surroundings.figures),
      thread_limit_(surroundings.thread_limit),
      intent_(intent),
      number_(number),
      numbers_(number),
      name_(thread_name(intent, number)),
      log_(surroundings.log, surroundings.clock, name_),
      loop_({.selections = *selections_,
             .inbox = inbox_,
             .counters = counters_,
             .settings_board = settings_board_,
             .clock = clock_,
             .log = log_,
             .role = intent == engine::Intent::read ? "read" : "write"}) {}

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
  thread_limit_.take_anyway();
  return add_hand(true, failure);
}

bool Worker::add_hand(bool is_in_charge, std::string& failure) {
  const MutexLock lock(hands_mutex_);
  hands_.push_back(std::make_unique<Hand>());
  Hand& hand = *hands_.back();
  const bool started =
      start_thread(hand.thread, name_, [this, &hand, is_in_charge] { run(hand, is_in_charge); }, failure);
  if (!started) {
    hands_.pop_back();
  }
  return started;
}

void Worker::request_stop() {
  stop_requested_.store(true, std::memory_order_release);
  wake();
}

/// Nobody ticks any more.
void Worker::join() {
  MutexLock lock(hands_mutex_);
  for (size_t number = 0; number < hands_.size(); ++number) {
    std::thread& thread = hands_[number]->thread;
    if (thread.joinable()) {
      lock.unlock();
      thread.join();
      lock.lock();
    }
  }
}

uint64_t Worker::count(Counter counter) const {
  uint64_t sum = counters_.read(counter) + tick_counters_.read(counter);
  const MutexLock lock(hands_mutex_);
  for (const auto& hand : hands_) {
    sum += hand->counters.read(counter);
  }
  return sum;
}

// ---- on a thread

/// Whatever goes wrong on this thread ends here. Without a thread in charge the worker serves nobody.
void Worker::run(Hand& hand, bool is_in_charge) {
  try {
    const auto session = engine_.create_session({.intent = intent_,
                                                 .worker_number = number_,
                                                 .selections = selections_,
                                                 .counters = &hand.counters,
                                                 .wake = [this] { wake(); },
                                                 .about_to_wait = [this] { call_stand_in(); }});
    if (session != nullptr) {
      serve(hand, *session, is_in_charge);
    }
  } catch (const std::exception& error) {
    LimitedLog(plain_log_, clock_, name_).always(LogLevel::error, error.what());
  } catch (...) {
    LimitedLog(plain_log_, clock_, name_).always(LogLevel::error, "ends after an unknown exception");
  }
  if (is_in_charge) {
    loop_.end();
    inbox_.close();
    request_stop();
  } else {
    starting_.store(false);
  }
}

void Worker::serve(Hand& hand, engine::Session& session, bool& is_in_charge) {
  Turn turn({.session = session,
             .counters = hand.counters,
             .clock = clock_,
             .token = loop_.token(),
             .numbers = numbers_,
             .figures = figures_},
            settings_board_.current());
  while (!stop_requested_.load(std::memory_order_acquire)) {
    if (!is_in_charge) {
      session.set_activity(stand_in_activity);
      is_in_charge = stand_in(turn);
      if (session.interruption() == engine::Interruption::stop) {
        return;
      }
      continue;
    }
    in_charge_.store(this_thread_number(), std::memory_order_relaxed);
    switch (loop_.run(turn)) {
      case TurnLoop::Ended::well:
        break;
      case TurnLoop::Ended::stop:
        return;
      case TurnLoop::Ended::adrift:
        is_in_charge = false;
        end_adrift(turn);
        break;
    }
  }
}

/// Another thread has the loop: end this turn, for the connections that are still in it.
void Worker::end_adrift(Turn& turn) {
  {
    const MutexLock lock(hand_over_);  // whoever took the loop has looked at the turn's members
  }
  turn.keep_unsettled();
  turn.commit();
  turn.session().release_tables();
  loop_.give_back(turn.members());
}

/// Wait to be called. True if the loop is this thread's now.
bool Worker::stand_in(Turn& turn) {
  const uint32_t calls = calls_.load();  // what comes from here on ends the wait
  idle_.fetch_add(1);
  starting_.store(false);
  const bool is_loop_ours = take_loop(turn);
  if (turn.session().interruption() == engine::Interruption::close_connections) {
    turn.session().clear_interruption();  // it has none
  }
  if (!is_loop_ours && !stop_requested_.load() &&
      turn.session().interruption() != engine::Interruption::stop) {
    calls_.wait(calls);
  }
  idle_.fetch_sub(1);
  return is_loop_ours;
}

/// If the request that a stand-in was called for still goes on.
bool Worker::take_loop(Turn& turn) {
  const LoopToken::Ticket ticket = called_for_.load();
  if (ticket == 0 || ticket != loop_.token().seen()) {
    return false;
  }
  try {
    turn.reserve(inbox_.connection_count());
  } catch (const std::exception&) {
    return false;  // the loop waits for the thread that is stuck
  }
  const MutexLock lock(hand_over_);
  if (stop_requested_.load() || !loop_.token().take(ticket)) {
    return false;
  }
  loop_.take_over(turn, ticket);
  return true;
}

// ---- calls for stand-ins

/// The session of any thread of ours may have been killed.
void Worker::wake() {
  inbox_.wake();
  call_all();
}

void Worker::call_one() {
  calls_.fetch_add(1);
  calls_.notify_one();
}

void Worker::call_all() {
  calls_.fetch_add(1);
  calls_.notify_all();
}

/// Under latches of the engine: no lock, and no memory. A call for a request that has ended meanwhile is of
/// no effect.
void Worker::call_stand_in() {
  called_for_.store(loop_.token().seen());
  if (idle_.load() > 0) {
    call_one();
  }
}

bool Worker::tick() {
  const LoopToken::Ticket ticket = loop_.token().seen();
  const bool is_busy = ticket != 0;
  if (stuck_request_.look(ticket, in_charge_.load(std::memory_order_relaxed))) {
    if (idle_.load() > 0) {
      called_for_.store(ticket);
      call_one();
    } else if (!starting_.load()) {
      add_stand_in(ticket);
    }
  }
  return is_busy;
}

void Worker::add_stand_in(LoopToken::Ticket ticket) {
  if (!thread_limit_.take()) {
    if (std::exchange(missed_for_, ticket) != ticket) {
      tick_counters_.add(Counter::stand_ins_missed);
    }
    return;
  }
  starting_.store(true);
  std::string failure;
  bool is_added = false;
  try {
    is_added = add_hand(false, failure);
  } catch (const std::exception&) {
    is_added = false;  // no memory: the next tick tries again
  }
  if (!is_added) {
    starting_.store(false);
    thread_limit_.give_back();
  }
}

}  // namespace rowsocket::server
