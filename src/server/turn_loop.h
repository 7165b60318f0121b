// SPDX-License-Identifier: GPL-2.0-only
//
// What a worker does, one turn after the other, for all its connections:
//
//   poll · read · execute · commit · send · reap
//
// One turn takes every ready connection, executes their complete requests in connection order, commits once,
// and then sends every connection its replies. A connection that found no room in a turn comes first in the
// next one.
//
//   TurnLoop      when: what is waited for, which connections are ready or parked, orders from outside
//   Turn          what: the requests of the connections that take part, on the engine
//   Connections   the bytes, the sockets and what tells that they are ready
//   Intake        which connections take part, those that take long behind the others
//   CarriedOver   connections with requests for a later turn
//
// turn_loop.cc holds what is around the turns (waiting, orders from outside, new connections), turn_phases.cc
// the phases of a turn, hand_over.cc how another thread goes on with the loop, moves.cc how connections move
// to other workers.
//
// One thread runs the loop: the owner of its token (loop_token.h). That thread brings the turn, and with it
// the session. Others reach the loop through the Inbox, and through `give_back`. Allocates when connections
// come, not per request.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "request/counters.h"
#include "request/settings.h"
#include "server/adrift_turns.h"
#include "server/bell.h"
#include "server/carried_over.h"
#include "server/commits_under_way.h"
#include "server/connections.h"
#include "server/inbox.h"
#include "server/intake.h"
#include "server/lifelines.h"
#include "server/limited_log.h"
#include "server/loop_token.h"
#include "server/return_wait.h"
#include "server/returned.h"
#include "server/settings_board.h"
#include "server/shown_activity.h"
#include "server/spread.h"
#include "server/turn.h"

namespace rowsocket::server {

class TurnLoop {
 public:
  struct Surroundings {
    engine::OpenedSelections& selections;  ///< of all sessions
    Inbox& inbox;
    net::Poller& poller;  ///< for this loop alone
    Counters& counters;
    const SettingsBoard& settings_board;  ///< something is published already
    Clock& clock;
    LimitedLog& log;
    AccountLoads& account_loads;
    std::string_view role;  ///< "read" or "write", for SHOW PROCESSLIST
    /// Takes a connection whose request waits for a lock, and has a thread of its own run it. False = it does
    /// not. Empty = there are no such threads.
    std::function<bool(ClientConnection& connection)> wait_elsewhere = {};
    Logins* logins = nullptr;
    Handshakes* handshakes = nullptr;  ///< nullptr: clients that begin with TLS are closed
    const Spread* spread = nullptr;    ///< nullptr: no connection moves to another worker
    uint32_t worker_number = 0;        ///< in the spread
    uint32_t waits_elsewhere_after_ms = limits::waiting_room_after_ms;
    Bell* bell = nullptr;                  ///< rung where the loop goes on after a nap
    const Lifelines* lifelines = nullptr;  ///< nullptr: no administrator ends a connection
    net::SendRing* send_ring = nullptr;    ///< for this loop alone; nullptr: each send is a call of its own
    /// Of all threads that run the loop, or stand in; nullptr: no other thread commits.
    const CommitsUnderWay* commits = nullptr;
  };

  /// May throw std::bad_alloc.
  explicit TurnLoop(const Surroundings& surroundings);
  TurnLoop(const TurnLoop&) = delete;
  TurnLoop& operator=(const TurnLoop&) = delete;

  /// False if the system refused what polling needs.
  [[nodiscard]] bool is_usable() const { return connections_.is_usable(); }

  enum class Ended : uint8_t {
    well,
    stop,   ///< the turn's session is told to stop
    adrift  ///< another thread has taken over the loop: see `turn.keep_unsettled` and `give_back`
  };
  /// Wait until there is something to do, and do it in this turn.
  [[nodiscard]] Ended run(Turn& turn);

  /// No thread runs the loop any more: close the connections, but for those that another thread still uses.
  void end();

  [[nodiscard]] LoopToken& token() { return token_; }
  [[nodiscard]] const LoopToken& token() const { return token_; }
  [[nodiscard]] LoginDesk& desk() { return desk_; }
  [[nodiscard]] std::shared_ptr<const Settings> settings() const { return settings_.get(); }
  /// For the thread that has just taken the token from the turn under way. `own` is the thread's own turn,
  /// with room for all connections. Until it returns, the other turn does not end. Returns what goes on in
  /// that.
  AdriftTurns::Adrift take_over(Turn& own);
  /// For the thread from which the loop was taken: the turn is committed. Its members are the loop's again.
  void give_back(std::span<ClientConnection* const> members);
  /// For the same thread, in the middle of the request: what its turn did before is committed. Their
  /// connections are the loop's again, and need not wait for the request.
  void give_back_settled(Turn& turn);

  /// If an administrator has ended the client whose request is under way, the request is told to stop. For
  /// any thread.
  void stop_killed();

  /// It waits for clients, and that may take long. For any thread.
  [[nodiscard]] bool is_napping() const { return is_napping_.load(); }

  [[nodiscard]] const Connections& connections() const { return connections_; }
  /// What the host calls the thread that runs the loop, or ran it last. For any thread.
  [[nodiscard]] uint64_t host_thread() const { return host_thread_; }

 private:
  // The phases.
  void poll();
  [[nodiscard]] bool obey_session();
  void refresh_settings();
  void admit_arrivals();
  void read_requests();
  void execute_requests(Turn& turn);
  void commit(Turn& turn);
  /// Some client has read of late.
  [[nodiscard]] bool serves_readers() const { return now_ms_ - read_at_ms_ < limits::readers_stay_ms; }
  void send_replies();
  void reap();

  // Poll.
  [[nodiscard]] Connections::Events nap(int wait_ms);
  void let_clients_return(uint64_t until_us);
  [[nodiscard]] int time_to_wait_ms() const;

  // Admit.
  void admit(Arrival arrival);
  void take_logins();
  void close_killed();
  bool close_if_broken(ClientConnection& connection);
  void reserve_lists(size_t connection_count);

  // Read and execute.
  void join(ClientConnection& connection);
  void take_part(ClientConnection& connection);
  void gather_carried_over();
  void try_parked_again(ClientConnection& connection);
  void go_on_behind_commits();
  [[nodiscard]] uint64_t behind_commits_due_ms() const;
  void let_leave(ClientConnection& connection);
  void end_rest(ClientConnection& connection);
  [[nodiscard]] bool some_heavy_joins(Turn& turn);
  void receive_ready(bool only_of_writers);
  [[nodiscard]] bool others_joined();

  // Send and reap.
  void send_and_let_wait(ClientConnection& connection);
  void send_and_let_wait(std::span<ClientConnection* const> connections);
  void end_turn_of(ClientConnection& connection);
  void close(ClientConnection& connection);
  void let_wait(ClientConnection& connection);
  [[nodiscard]] uint64_t deadline_ms(const ClientConnection& connection) const;
  void close_timed_out();
  void bound_held_bytes();
  [[nodiscard]] size_t room_for_request() const;
  [[nodiscard]] bool is_memory_short() const;
  [[nodiscard]] const ClientConnection* spared_sender() const;
  void look_at_held_back();

  // From thread to thread: hand_over.cc.
  void take_back();
  [[nodiscard]] uint64_t writes_wait_until_ms() const {
    return world_.commits == nullptr ? 0 : world_.commits->writes_wait_until_ms();
  }
  [[nodiscard]] bool writes_wait() const { return writes_wait_until_ms() > now_ms_; }

  // From worker to worker: moves.cc.
  void relieve();
  [[nodiscard]] bool some_are_to_move() const {
    return world_.spread != nullptr && world_.spread->worker_count() != relieved_for_;
  }
  [[nodiscard]] bool move(ClientConnection& connection, Inbox& to);
  void adopt_moved();
  void adopt(std::unique_ptr<ClientConnection> connection);
  void note_drop();
  void drop_moved();

  static constexpr uint64_t never = UINT64_MAX;

  const Surroundings world_;
  CurrentSettings settings_;
  LoginDesk desk_;
  Connections connections_;
  Intake intake_;
  LoopToken token_;
  Returned returned_;  ///< the only one that other threads use
  ShownActivity activity_;

  // This turn.
  Turn* turn_ = nullptr;  ///< of the thread that runs the loop
  Published<uint64_t> host_thread_ = 0;
  std::atomic<bool> is_napping_{false};
  uint64_t now_ms_;
  Connections::Events events_;
  bool was_woken_ = false;                   ///< by another thread, when the turn began
  bool missed_killed_ = false;               ///< for want of memory, those to be closed were not looked up
  std::vector<ClientConnection*> writable_;  ///< may go on sending what is left of earlier turns

  // From turn to turn.
  uint64_t read_at_ms_ = 0;  ///< when a client read last, roughly
  CarriedOver carried_over_;
  Pipelines pipelines_;
  ReturnWait return_wait_;
  uint64_t next_sweep_ms_ = never;
  uint64_t next_look_ms_ = never;  ///< at those that are held back
  uint64_t next_look_behind_commits_ms_ = 0;
  uint32_t relieved_for_ = 0;  ///< worker count of the spread for which nothing is left to be moved; 0: none

  // Memory for what is taken at once.
  std::vector<Arrival> arrivals_;
  std::vector<std::shared_ptr<Login>> logins_done_;
  MovedConnections moved_;
};

}  // namespace rowsocket::server
