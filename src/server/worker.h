// SPDX-License-Identifier: GPL-2.0-only
//
// One worker: a TurnLoop that serves the connections which the acceptor hands over, and the threads that run
// it. One thread at a time is in charge of the loop; each has its own engine session and turn.
//
// A thread that is stuck in a request (it waits for a lock or for a disk, or it walks over many rows) keeps
// that request's connection, and another thread goes on with the loop: a stand-in. When the stuck thread has
// finished, it gives the connection back, and becomes a stand-in itself.
//
//   in charge ── stuck, and another has taken the loop ──► adrift ── commit, give back ──► stand-in
//       ▲                                                                                     │
//       └────────────────────────────── called, and took the loop ────────────────────────────┘
//
// A stand-in is called by the session of the stuck thread, which knows that it is about to wait, or by
// `tick`, which sees that a request takes long. Stand-ins are made when they are first missed; there are as
// many as the server's ThreadLimit allows.
//
// The object belongs to the Server and outlives its threads, so that its counters can be read to the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/opened_selections.h"
#include "request/counters.h"
#include "request/protocol.h"
#include "server/inbox.h"
#include "server/limited_log.h"
#include "server/settings_board.h"
#include "server/stuck_request.h"
#include "server/turn_loop.h"

namespace rowsocket::server {

/// How many threads may still be made, over all workers. Any thread.
class ThreadLimit {
 public:
  void set(uint32_t count) { left_.store(count, std::memory_order_relaxed); }
  /// One that is made, whatever the limit says.
  void take_anyway() { left_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] bool take() {
    if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) {
      return true;
    }
    give_back();
    return false;
  }
  [[nodiscard]] bool is_left() const { return left_.load(std::memory_order_relaxed) > 0; }
  void give_back() { left_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> left_{0};
};

class Worker {
 public:
  struct Surroundings {
    engine::Engine& engine;
    Log& log;
    Clock& clock;
    const SettingsBoard& settings_board;  ///< something is published already
    const ServerFigures* figures;
    ThreadLimit& thread_limit;
  };

  /// `intent` is the worker's role; `number` counts the workers of that role. May throw std::bad_alloc.
  Worker(const Surroundings& surroundings, engine::Intent intent, uint32_t number);
  ~Worker();  ///< stops
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// Have the threads end after their turns. Any thread may call this.
  void request_stop();
  void join();

  /// To be called every limits::tick_ms, by one thread: calls a stand-in where a request takes long. Returns
  /// true if the worker is busy.
  bool tick();

  [[nodiscard]] engine::Intent intent() const { return intent_; }
  [[nodiscard]] Inbox& inbox() { return inbox_; }
  [[nodiscard]] const Inbox& inbox() const { return inbox_; }
  [[nodiscard]] uint64_t count(Counter counter) const;

 private:
  /// One that runs the loop, or could.
  struct Hand {
    Counters counters;
    std::thread thread;
  };

  [[nodiscard]] bool add_hand(bool is_in_charge, std::string& failure);
  void run(Hand& hand, bool is_in_charge);
  void serve(Hand& hand, engine::Session& session, bool& is_in_charge);
  void end_adrift(Turn& turn);
  [[nodiscard]] bool stand_in(Turn& turn);
  [[nodiscard]] bool take_loop(Turn& turn);
  void call_one();
  void call_all();
  void wake();
  void call_stand_in();
  void add_stand_in(LoopToken::Ticket ticket);

  Counters counters_;  ///< of the loop
  engine::Engine& engine_;
  Log& plain_log_;
  Clock& clock_;
  const SettingsBoard& settings_board_;
  const ServerFigures* figures_;
  ThreadLimit& thread_limit_;
  engine::Intent intent_;
  uint32_t number_;
  UniqueNumbers numbers_;  ///< the loop's
  std::string name_;
  LimitedLog log_;  ///< used by the thread in charge only
  Inbox inbox_;
  std::shared_ptr<engine::OpenedSelections> selections_ = std::make_shared<engine::OpenedSelections>();
  TurnLoop loop_;
  std::atomic<bool> stop_requested_{false};

  mutable Mutex hands_mutex_;
  std::vector<std::unique_ptr<Hand>> hands_ ROWSOCKET_GUARDED_BY(hands_mutex_);

  // Calls for stand-ins.
  Mutex hand_over_;                 ///< held while a stand-in takes over what the stuck turn gives up
  std::atomic<uint32_t> calls_{0};  ///< how many there were; stand-ins wait for it to change
  std::atomic<LoopToken::Ticket> called_for_{0};
  std::atomic<uint32_t> idle_{0};      ///< stand-ins that wait for a call
  std::atomic<bool> starting_{false};  ///< a stand-in is on its way
  std::atomic<ThreadNumber> in_charge_{0};

  // The ticker's.
  StuckRequest stuck_request_;
  LoopToken::Ticket missed_for_ = 0;  ///< a stand-in that could not be made
  Counters tick_counters_;
};

}  // namespace rowsocket::server
