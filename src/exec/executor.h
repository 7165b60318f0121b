// SPDX-License-Identifier: GPL-2.0-only
//
// Executes a turn's requests against the engine. One per worker, used by its thread only. It puts four
// objects together, each of which knows one thing:
//
//   Admission     may the client do this, and which selection is it about (admission.h)
//   Runner        one request, or one group, on the engine, and what its reply is told (runner.h)
//   Transaction   what the requests since the last commit did together; commit, rollback, GTIDs
//                 (transaction.h)
//   Staging       requests whose replies wait for that commit; they run again where it is lost (staging.h)
//
// Invariant 1: no reply to a write leaves before the commit that covers it. Replies are appended to the
// connections' output while the turn runs, and the caller sends nothing before `end_turn` returned. From the
// first write of a turn on, every request is remembered together with where its reply begins ("staged"). If
// the commit fails, these replies are cut off, and told anew.
//
// Invariant 2: a request is atomic. A request that fails is undone alone. If the engine rolls back the whole
// transaction, the staged requests are executed again one by one, each in its own transaction.
//
// What depends on no transaction (authentication, an open, a refusal) is decided once: a replay gives the
// same answer again. A staged request keeps the selection that its id meant when it was executed, whatever
// its client opened or lost since.
//
// A reply that can not even be written as an error leaves its buffer `failed()`. Nothing more is executed for
// such a connection, and its buffer stays failed; the caller closes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "exec/admission.h"
#include "exec/client.h"
#include "exec/long_requests.h"
#include "exec/request_tally.h"
#include "exec/request_trail.h"
#include "exec/runner.h"
#include "exec/staging.h"
#include "exec/transaction.h"
#include "exec/write_under_way.h"
#include "request/counters.h"
#include "request/request.h"
#include "request/settings.h"

namespace rowsocket::exec {

enum class Executed : uint8_t {
  done,     ///< the reply was told what happened
  parked,   ///< the request, or one of its client before it, waits for a lock or a thread: see
            ///< Client::put_back_at
  put_off,  ///< nothing of it was done, as it is expected to take long: see Client::is_unknown
};

class Executor {
 public:
  /// Called in the middle of `execute`; either may be empty.
  struct Notices {
    RequestBounds::TakesLong takes_long;
    std::function<void()> settled;  ///< every reply but the request's own is final
    /// The request is over, and others that it has taken along begin to run again.
    std::function<void()> undone;
    Transaction::Notices commits;
  };

  /// `ledger` is the thread's; nullptr: nothing is counted by table. `long_requests` is the server's;
  /// nullptr: no request is expected to take long.
  Executor(engine::Session& session, Counters& counters, std::shared_ptr<const Settings> settings,
           const Clock& clock, Notices notices = {}, TableLedger* ledger = nullptr,
           LongRequests* long_requests = nullptr);

  /// Between turns only.
  void use_settings(std::shared_ptr<const Settings> settings);

  /// `is_patient`: the session waits in place for locks, and a request that got none has its answer.
  void begin_turn(uint64_t now_ms, bool is_patient = false);
  /// What is executed from now on is counted from now on: what lies before this call is no request's time.
  void note_time() { tally_.note_time(); }
  /// Execute one request. `client`, `request`, its reply, the reply's output and all that they view must stay
  /// where they are until `end_turn` returned, or until `nothing_staged`. Bytes that were in the output
  /// before this call are never touched. `position` rises from request to request of a client in a turn. A
  /// request that must wait for a lock or a thread, now or when it runs again, makes it the client's
  /// `put_back_at`; nothing of this client is executed in this turn any more then. Never throws.
  [[nodiscard]] Executed execute(Client& client, const Request& request, size_t position);
  /// What is executed from now on came after everything that was executed in this turn.
  void others_came() {
    admission_.forget_accounts();
    session_.expire_snapshot();
  }
  /// True if the last request was the first of its client that a strict server would refuse.
  [[nodiscard]] bool met_first_lenience() const { return met_first_lenience_; }
  /// Between two requests: commit. Every reply so far is final then. Never throws.
  void settle_all() { staging_.settle(); }
  /// What others look at while a request goes on.
  [[nodiscard]] WriteUnderWay& write_under_way() { return write_; }
  /// How long a request took by itself: without waits, commits and what others asked.
  struct Took {
    std::optional<uint64_t> us;  ///< nullopt: that is not known
    Runner::Walked walked = {};
    bool was_beside = false;  ///< another thread went on with the loop
  };
  /// That was the last request, which was this client's. Told of all that took long, and of all requests of
  /// unknown clients, by which others are judged who ask for the same. Where it was a write, what a turn has
  /// changed is committed before the next ones of its kind, if it took long without a chance to be given up.
  void note_took(Client& client, const Took& took);
  /// That was all of this client, for this turn.
  void end_usual(Client& client);
  /// See Transaction.
  [[nodiscard]] uint64_t commit_ticks() const { return transaction_.commit_ticks(); }
  /// How long requests kept the processor busy in commits of their own, in µs: see engine::Session.
  [[nodiscard]] uint64_t work_in_commits_us() const { return work_in_commits_us_; }
  [[nodiscard]] bool is_committing() const { return transaction_.is_committing(); }
  [[nodiscard]] uint64_t rollback_count() const { return transaction_.rollback_count(); }
  /// See Runner.
  [[nodiscard]] Runner::Walked take_walked() { return runner_.take_walked(); }
  /// Commit; afterwards every reply of the turn is final. Never throws.
  void end_turn();

  /// True if nothing is staged: what earlier requests of this turn viewed may be reused.
  [[nodiscard]] bool nothing_staged() const { return staging_.is_empty(); }

 private:
  [[nodiscard]] engine::Begin admit(Client& client, Job& job);
  [[nodiscard]] engine::Begin admit_group(Client& client, Job& job);
  void settle_what_came_before(const Client& client, const Request& request);
  [[nodiscard]] bool make_room(Job& job);
  [[nodiscard]] engine::Begin run(Job& job);
  [[nodiscard]] engine::Begin run_behind_commit(Job& job);
  void note_places(const Job& job);
  [[nodiscard]] bool is_expected_long(const Job& job);
  [[nodiscard]] bool puts_off(Job& job);
  void note_long_write(Client& client, uint64_t us);
  void note_undone();
  void note_usual(Client& client, uint64_t us);
  void settle();
  void finish(Job&& job, bool is_staged);

  engine::Session& session_;
  Counters& counters_;
  const Clock& clock_;
  RequestTally tally_;
  RequestTrail trail_;
  std::shared_ptr<const Settings> settings_;
  Admission admission_;
  Transaction transaction_;
  Runner runner_;
  Staging staging_;
  LongRequests* long_requests_;
  WriteUnderWay write_;  ///< of the request under way, or of the last one
  /// Of the last request, if it was done and its client is unknown; a group has none.
  std::optional<LongRequests::UsualPlace> usual_place_;
  /// Of one client's requests, the longest of those of a place that came in a row.
  struct Longest {
    LongRequests::UsualPlace place = 0;
    uint64_t us = 0;
  };
  std::optional<Longest> longest_;
  std::function<void()> settled_;    ///< see `Notices`
  std::function<void()> undone_;     ///< the same
  bool met_first_lenience_ = false;  ///< see the function
  uint64_t work_in_commits_us_ = 0;
};

}  // namespace rowsocket::exec
