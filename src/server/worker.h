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
// many as the server's ThreadLimit allows. One that was not needed for a while ends.
//
// Stand-ins also run the requests of the waiting room, which wait for locks (waiting_room.h).
//
// The object belongs to the Server and outlives its threads, so that its counters can be read to the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/opened_selections.h"
#include "exec/table_statistics.h"
#include "request/counters.h"
#include "request/protocol.h"
#include "server/bell.h"
#include "server/crew.h"
#include "server/inbox.h"
#include "server/lifelines.h"
#include "server/limited_log.h"
#include "server/pacing.h"
#include "server/settings_board.h"
#include "server/spread.h"
#include "server/stuck_request.h"
#include "server/turn_loop.h"
#include "server/waiting_room.h"

namespace rowsocket::server {

class Worker {
 public:
  struct Surroundings {
    engine::Engine& engine;
    Log& log;
    Clock& clock;
    const SettingsBoard& settings_board;  ///< something is published already
    const ServerFigures* figures;
    ThreadLimit& thread_limit;
    AllWalks& walks;
    bool has_stand_ins;  ///< `tick` is called
    exec::TableStatistics& statistics;
    exec::LongRequests& long_requests;
    AccountLoads& account_loads;
    Logins* logins = nullptr;              ///< nullptr: every login is refused; outlives the worker's threads
    Handshakes* handshakes = nullptr;      ///< nullptr: no TLS; outlives the worker's threads
    Spread* spread = nullptr;              ///< of the worker's role; nullptr: it has none
    bool is_drill = false;                 ///< for tests: see drill.h
    Bell* bell = nullptr;                  ///< wakes who calls `tick`; nullptr: nobody sleeps
    const Lifelines* lifelines = nullptr;  ///< nullptr: no administrator ends a connection
    bool has_send_ring = true;             ///< where the kernel has one
  };

  /// `intent` is the worker's role; `number` counts the workers of that role. May throw std::bad_alloc.
  Worker(const Surroundings& surroundings, engine::Intent intent, uint32_t number);
  ~Worker();  ///< stops
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] bool start(std::string& failure);
  /// The same for a worker that is not always needed, whose thread the limit has counted. True as soon as it
  /// serves: until then it is to be called again.
  [[nodiscard]] bool start_later();
  [[nodiscard]] bool is_starting() const { return is_started_ && !has_begun_.load() && inbox_.is_open(); }
  /// Have the threads end after their turns. Any thread may call this.
  void request_stop();
  void join();

  /// To be called every limits::tick_ms, by one thread: calls a stand-in where a request takes long. Returns
  /// true if the worker is busy.
  bool tick();
  /// For the same thread: until the worker's bell rings, there is nothing to look at.
  [[nodiscard]] bool rests() const {
    if (!is_started_ || (thread_count() == 0 && !inbox_.is_open())) {
      return true;  // nobody serves
    }
    return loop_.is_napping() && thread_count() <= 1 && waiting_room_.waiting_count() == 0;
  }

  /// An administrator has ended a connection, of this worker or not. From any thread; waits for nothing.
  void look_for_killed() {
    loop_.stop_killed();
    inbox_.wake();
  }

  [[nodiscard]] engine::Intent intent() const { return intent_; }
  /// New connections may come to it.
  [[nodiscard]] bool serves() const {
    return inbox_.is_open() && (world_.spread == nullptr || number_ < world_.spread->worker_count());
  }
  [[nodiscard]] Inbox& inbox() { return inbox_; }
  [[nodiscard]] const Inbox& inbox() const { return inbox_; }
  [[nodiscard]] uint64_t count(Counter counter) const;
  /// Of its connections: see Roster::copy_behind.
  [[nodiscard]] bool copy_connections(uint64_t behind, size_t count_max,
                                      std::vector<ConnectionFigures>& figures) const;
  /// Its threads, now, and how many of them have nothing to do but to wait for a call.
  [[nodiscard]] size_t thread_count() const { return crew_.size(); }
  [[nodiscard]] size_t idle_thread_count() const { return crew_.idle_count(); }

 private:
  /// What a stand-in was called for.
  enum class Call : uint8_t { none, loop, end };

  void run(Hand& hand, bool is_in_charge);
  void serve(Hand& hand, engine::Session& session, bool& is_in_charge);
  void give_back_settled(Turn& turn);
  void await_hand_over();
  void end_adrift(Turn& turn, uint64_t owed_us);
  void end_request_adrift(Turn& turn, ClientConnection& connection);
  [[nodiscard]] Call stand_in(Turn& turn);
  [[nodiscard]] bool take_loop(Turn& turn);
  void wake();
  void call_stand_in(const Turn* turn);
  void begin_commit(const Turn& turn);
  [[nodiscard]] bool has_loop(const Turn* turn) const;
  void note_wait(Turn* turn, engine::Wait what);
  [[nodiscard]] bool note_long_walk(Turn* turn, Pace& pace, uint64_t gone_on_us);
  [[nodiscard]] bool wait_elsewhere(ClientConnection& connection);
  void run_guest(Turn& turn, ClientConnection& guest);
  static void close_if_killed(Turn& turn);
  void look_after_guests(uint64_t now_ms);
  void stop_for_those_gone(uint64_t now_ms);
  void send_guests_back();

  const Surroundings world_;
  const engine::Intent intent_;
  const uint32_t number_;
  const std::string name_;
  Inbox inbox_;

  // What belongs to the loop: the thread in charge uses it.
  Counters counters_;
  UniqueNumbers numbers_;
  LimitedLog log_;
  net::Epoll poller_;
  net::SendRing send_ring_;
  std::shared_ptr<engine::OpenedSelections> selections_ = std::make_shared<engine::OpenedSelections>();
  CommitsUnderWay commits_;
  TurnLoop loop_;

  // Its threads, and how they find each other.
  Crew crew_;
  WaitingRoom waiting_room_;
  AdriftTurns adrift_;
  Mutex hand_over_;  ///< held while a stand-in takes over what the stuck turn gives up
  std::atomic<ThreadNumber> in_charge_{0};
  std::atomic<bool> stop_requested_{false};
  bool is_started_ = false;
  std::atomic<bool> has_begun_{false};  ///< some thread has a session

  // The ticker's.
  StuckRequest stuck_request_;
  uint64_t clients_seen_at_ms_ = 0;
  uint64_t guests_made_way_at_ms_ = 0;
};

}  // namespace rowsocket::server
