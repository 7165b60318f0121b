// SPDX-License-Identifier: GPL-2.0-only
//
// One turn of a worker, seen from the requests: which connections take part in it, what they ask, and one
// commit. Owns what the requests and replies of a turn live in: the arena, the executor, and the list of the
// connections that take part. The loop (turn_loop.h) knows which connections are ready, and when.
//
//   begin · join, join, ... · execute [· join · execute] · commit
//
// While a request is executed, and while the turn commits, another thread may take over the loop
// (loop_token.h). Then the turn is adrift: it goes on alone with the connections whose replies are not final,
// and executes nothing further.
//
//   begin · join ... · execute (adrift) · keep_unsettled · commit
//   begin · join ... · execute · commit (adrift) · keep_unsettled · commit
//
// A commit in the middle of the request settles what came before: see TurnLoop::give_back_settled.
//
// No reply leaves before the commit (invariant 1); a turn is bounded (invariant 3).
//
// Requests view the bytes of their connection's input. So these bytes stay where they are from `execute` to
// the end of `commit`: no byte is received into, or consumed from, the input of a connection that takes part.
//
// The object serves one turn after the other, on its session's thread. Allocates when connections come, not
// per request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "exec/executor.h"
#include "request/counters.h"
#include "request/parsed_ahead.h"
#include "request/protocol.h"
#include "request/settings.h"
#include "server/client_connection.h"
#include "server/drill.h"
#include "server/gate.h"
#include "server/lifelines.h"
#include "server/loop_token.h"
#include "server/pipelines.h"

namespace rowsocket::server {

class Turn {
 public:
  struct Surroundings {
    engine::Session& session;
    Counters& counters;
    Clock& clock;
    LoopToken* token;           ///< nullptr where no other thread takes the loop, or stops a request
    UniqueNumbers& numbers;     ///< of the loop
    LoginDesk* desk = nullptr;  ///< of the loop; nullptr: every login is refused
    const ServerFigures* figures = nullptr;
    exec::RequestBounds::TakesLong takes_long = {};  ///< see there
    /// In the middle of a request earlier replies have become final, and another thread has the loop: see
    /// TurnLoop::give_back_settled. To be there if another thread may take the loop.
    std::function<void()> settled_adrift = {};
    exec::Transaction::Notices commits = {};
    exec::LongRequests* long_requests = nullptr;  ///< see exec::Executor
    exec::TableLedger* ledger = nullptr;   ///< of the session's thread; nullptr: nothing is counted by table
    Drill* drill = nullptr;                ///< of the thread; nullptr: there is none
    const Lifelines* lifelines = nullptr;  ///< nullptr: no administrator ends a connection
  };

  Turn(const Surroundings& surroundings, std::shared_ptr<const Settings> settings);

  [[nodiscard]] engine::Session& session() const { return session_; }
  /// Between turns.
  void use_settings(const std::shared_ptr<const Settings>& settings);
  /// From now on so many connections can join without an allocation. May throw std::bad_alloc.
  void reserve(size_t connection_count) {
    if (members_.capacity() < connection_count) {
      members_.reserve(2 * connection_count);
    }
  }

  /// The pipelines are those of the loop. `holds_writes_back`: what writes is not begun, and its connection
  /// is `behind_commit` then.
  void begin(uint64_t now_ms, Pipelines& pipelines, bool holds_writes_back = false);
  /// A whole turn of the connection's next request alone, and without the loop: it waits in place for locks.
  /// What is left to do is TurnLoop::give_back.
  void run_patiently(ClientConnection& connection, uint64_t now_ms);
  /// Requests are executed in the order in which their connections join. The connection has memory for
  /// replies.
  void join(ClientConnection& connection);
  [[nodiscard]] std::span<ClientConnection* const> members() const { return members_; }

  /// Execute the requests of the connections that joined since the last call. If the turn has no room for a
  /// connection, the connection is `unreached` then.
  void execute();
  /// Between two calls of `execute`: commit what was done so far. The replies are final then, unless the turn
  /// has come adrift.
  void settle();
  /// It takes no further request.
  [[nodiscard]] bool is_full() const;
  /// Another thread has taken over the loop while the request of `members()[reached()]` was executed, or
  /// while the turn committed.
  [[nodiscard]] bool is_adrift() const { return hold_.is_adrift(); }
  /// What another thread may go on beside is a commit, and no request: that of `members()[reached()]`, if
  /// there is such a member, has not begun.
  [[nodiscard]] bool is_committing() const { return is_committing_; }
  /// Of the request under way, if another thread may take the loop meanwhile; else 0. For the turn's thread.
  [[nodiscard]] LoopToken::Ticket ticket() const { return hold_.ticket(); }
  /// The request under way changes nothing, and no change of an earlier one waits for the commit: no session
  /// waits for a row that the turn has locked.
  [[nodiscard]] bool only_reads() const { return only_reads_; }
  /// Replies to earlier requests of the turn wait for the end of the one under way.
  [[nodiscard]] bool keeps_replies() const { return settled_ < reached_; }
  /// How long the last request of the connection that is executed took by itself, in µs, as far as that is
  /// known.
  [[nodiscard]] uint64_t last_own_us() const { return last_own_us_; }
  /// The request under way has walked over some rows.
  void note_walked() { executor_.write_under_way().begin_own_time(clock_.now_us()); }
  /// See Executor.
  [[nodiscard]] const exec::WriteUnderWay& write_under_way() { return executor_.write_under_way(); }
  /// The requests under way of one connection begin to wait for other sessions, or for a disk: that time says
  /// nothing of them.
  void note_wait_for_others() {
    wait_began_us_ = clock_.now_us();
    executor_.write_under_way().end_own_time();
  }
  void note_wait_over() {
    if (wait_began_us_ != 0) {
      const uint64_t now_us = clock_.now_us();
      const uint64_t us = now_us - std::exchange(wait_began_us_, 0);
      waited_us_ += executor_.is_committing() ? 0 : us;  // a commit is left out as a whole
      executor_.write_under_way().begin_own_time(now_us);
    }
  }
  [[nodiscard]] size_t reached() const { return reached_; }
  /// So many of the members that come first have replies that are final, whatever becomes of the request, or
  /// the commit, that is under way. Changes between two of them, and where `settled_adrift` is called.
  [[nodiscard]] size_t settled() const { return settled_; }
  [[nodiscard]] uint64_t began_ms() const { return now_ms_; }
  /// Adrift: what is settled, and what was not reached, is no longer the turn's.
  void keep_unsettled();
  /// Adrift, in the middle of a request: neither are the connections before it.
  void keep_last();
  /// Of its members some did not write when they last asked something.
  [[nodiscard]] bool has_readers() const { return has_readers_; }
  /// Some reply waits for the commit ...
  [[nodiscard]] bool has_changes() const { return !executor_.nothing_staged(); }
  /// ... and more connections can still take part in it.
  [[nodiscard]] bool has_room_in_commit() const { return has_changes() && !is_full(); }
  /// Connections that join from now on came after everything that was executed.
  void others_came() { executor_.others_came(); }

  /// After this every reply is final, and the inputs may move. Returns how long the commit took, in µs, if
  /// something was written. Where the turn comes adrift meanwhile, all is done but what `keep_unsettled` and
  /// another call do.
  /// `is_unhurried`: see LoopToken::enter.
  std::optional<uint64_t> commit(bool is_unhurried = false);
  /// After the commit of a turn that is adrift: send the large replies, so that the loop need not.
  void send_large_replies();
  /// What `commit` does last for each of its members: nothing views the input any more, and no reply changes
  /// any more.
  void finish(ClientConnection& connection);

 private:
  void clear(uint64_t now_ms);
  [[nodiscard]] size_t others() const;
  [[nodiscard]] bool is_killed(const ClientConnection& connection) const {
    return lifelines_ != nullptr && lifelines_->some_are_killed() && connection.is_killed();
  }
  [[nodiscard]] bool has_left(ClientConnection& connection, uint64_t& looked_at_ticks);
  void put_readers_first();
  void put_behind_readers();
  void execute_or_close(ClientConnection& connection);
  void note_settled();
  void note_undone();
  void note_own_time(ClientConnection& connection, uint32_t requests);
  [[nodiscard]] std::optional<uint64_t> take_own_us();
  void note_request_time(ClientConnection& connection, const Request& request);
  void add_own_us(uint64_t us, uint32_t free_us);
  void execute(ClientConnection& connection);
  [[nodiscard]] bool execute_next(ClientConnection& connection, std::string_view input, const Parsed& parsed);
  [[nodiscard]] bool execute(ClientConnection& connection, const Request& request);
  [[nodiscard]] exec::Executed run(ClientConnection& connection, const Request& request);
  void pass_drill();
  template <typename Commit>
  void commit_changes(bool is_unhurried, Commit commit);

  engine::Session& session_;
  Counters& counters_;
  Clock& clock_;
  LoopHold hold_;
  Drill* drill_;
  const Lifelines* lifelines_;
  const ServerFigures* figures_;
  std::shared_ptr<const Settings> settings_;

  Arena arena_;
  ParsedAhead ahead_;  ///< of the connection that is executed
  exec::Executor executor_;
  Gate gate_;
  std::function<void()> settled_adrift_;  ///< see Surroundings

  uint64_t now_ms_ = 0;
  uint64_t unix_time_us_ = 0;  ///< 0 = not read in this turn
  UniqueNumbers& numbers_;
  uint32_t requests_ = 0;
  Pipelines alone_;                 ///< of a turn that is patient: never more than one, and none before
  Pipelines* pipelines_ = &alone_;  ///< those of the loop, as long as the turn has it, or `alone_`
  size_t reply_bytes_ = 0;
  size_t reached_ = 0;       ///< members that were executed, or found no room
  size_t settled_ = 0;       ///< see the function
  bool is_put_off_ = false;  ///< the last request of the connection that is executed
  /// What was counted up to a moment.
  struct Measured {
    uint64_t ticks = 0;
    uint64_t commit_ticks = 0;
    uint64_t work_in_commits_us = 0;
    uint64_t rollbacks = 0;
    uint64_t waited_us = 0;
  };
  [[nodiscard]] Measured measure() const;
  [[nodiscard]] std::optional<uint64_t> own_us(const Measured& from, const Measured& to) const;
  Measured before_;  ///< when what was measured last ended
  /// When the request under way ended, if others that it has taken along run again behind it.
  struct Undone {
    Measured at;
    exec::Runner::Walked walked;
  };
  std::optional<Undone> undone_;
  uint64_t last_own_us_ = 0;        ///< see the function
  uint64_t received_at_ticks_ = 0;  ///< when something of those that take part was received last
  uint64_t slow_us_ = 0;            ///< what the connection's requests took of this turn, and is not free
  uint64_t of_loop_us_ = 0;         ///< all of it, but for what is free of writes
  uint64_t walked_us_ = 0;          ///< for so long they walked, which is apart
  uint64_t wait_began_us_ = 0;      ///< see note_wait_for_others; 0 = it does not wait
  uint64_t waited_us_ = 0;
  bool is_patient_ = false;  ///< of one request, and without the loop
  bool only_reads_ = false;  ///< see the function
  bool holds_writes_back_ = false;
  bool has_readers_ = false;    ///< see the function
  size_t readers_end_ = 0;      ///< members up to here, of those that have joined, were taken for readers ...
  size_t were_no_readers_ = 0;  ///< ... but the last so many of them, which ask for writes
  bool lets_readers_pass_ = false;  ///< the connection that is executed: it is to come behind them
  /// The connection that is executed has asked for a write, in this turn; nullopt: it has asked nothing yet.
  std::optional<bool> asks_write_;
  bool is_committing_ = false;  ///< see the function
  std::vector<ClientConnection*> members_;
};

}  // namespace rowsocket::server
