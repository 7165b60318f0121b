// SPDX-License-Identifier: GPL-2.0-only
//
// Requests whose replies wait for the commit of their transaction, and what happens to these replies when it
// did not make it.
//
//   commit ok ................................ every staged reply is final
//   lost, or failed but may pass next time ... all staged replies are cut, every request runs again in a
//                                              transaction of its own
//   one of them must wait for a lock, or for
//   a thread ................................. it is put back, and with it what its client asked behind it:
//                                              they are presented again in a later turn
//   failed for good .......................... writes answer the failure, reads (which may have seen the lost
//                                              writes) run again
//
// A request that does what no rollback takes back (a table without transactions) is the only one of its
// transaction. It never runs again: its failure is its answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/engine.h"
#include "exec/client.h"
#include "exec/request_tally.h"
#include "exec/request_trail.h"
#include "exec/row_counts.h"
#include "exec/runner.h"
#include "exec/transaction.h"
#include "request/counters.h"
#include "request/request.h"

namespace rowsocket::exec {

/// One request on its way to its answer. Plain pointers: what they point to outlives the job (see
/// Executor::execute).
struct Job {
  /// A constructor, since GCC clears an aggregate with a string instruction, which takes longer than all else
  /// here.
  Job(Client& asking, const Request& asked, size_t asked_at)
      : client(&asking),
        request(&asked),
        position(asked_at),
        parked_since_ms(asking.parked_since_ms),
        has_waited_alone(asking.has_waited_alone) {}
  /// A group runs again from its beginning, and so do the others.
  void forget_rows() {
    rows = {};
    std::fill(member_rows.begin(), member_rows.end(), RowCounts{});
  }

  /// Rows that it has changed, with those of its members.
  [[nodiscard]] uint64_t changed() const {
    return std::accumulate(member_rows.begin(), member_rows.end(), rows.changed(),
                           [](uint64_t sum, const RowCounts& member) { return sum + member.changed(); });
  }

  Client* client;
  const Request* request;
  size_t position;                         ///< see Executor::execute
  uint64_t parked_since_ms;                ///< when it was first tried, if it has waited for a lock; else 0
  uint64_t began_ticks = 0;                ///< now it is tried
  engine::Selection* selection = nullptr;  ///< of a find or an insert that may run
  engine::Selection* asked_for = nullptr;  ///< the same, also when it does not run any more
  RowCounts rows;                          ///< what it did when it ran last
  std::vector<engine::Selection*> member_selections;  ///< of a group that may run
  std::vector<RowCounts> member_rows;                 ///< what its members did
  bool members_may_run = true;
  std::unique_ptr<engine::ColumnTypes> column_types;  ///< of an open that tells them
  Error outcome;
  size_t failed_member = Reply::group_itself;  ///< of a group: which member has `outcome` for its answer
  size_t reply_begin = 0;                      ///< size of the output before the reply
  Trace* trace = nullptr;                      ///< of its client; nullptr = the host's logs need none
  bool has_run = false;
  bool has_waited_alone = false;
  bool was_lenient = false;  ///< when it ran last
  bool parts_rows = false;   ///< see Runner::part_rows
  bool stays = false;  ///< it is not put back: told once, its reply has changed what a parser would read

  /// It was tried before, and put back.
  [[nodiscard]] bool was_put_back() const { return parked_since_ms != 0 || client->given_up.count > 0; }
  /// Else there is nothing to execute, and `outcome` is the answer.
  [[nodiscard]] bool can_run() const {
    return selection != nullptr || (!member_selections.empty() && members_may_run);
  }
  /// It will be presented again: it is not answered now.
  [[nodiscard]] bool is_put_back() const {
    return client->put_back_at.has_value() && position >= *client->put_back_at;
  }
  [[nodiscard]] Buffer& out() const { return request->reply->out(); }
  /// For its trace: the reply is written, and is the last thing in its output.
  void note_reply() const {
    if (trace != nullptr) [[unlikely]] {
      trace->reply_bytes = out().size() - reply_begin;
    }
  }
  /// It does not run again; its outcome is its answer.
  void end_running();
  /// It is not to run after all.
  void refuse(Error error);
  /// Its client has gone, or was killed: it is not to run, or was ended, and nothing behind it is begun.
  void refuse_since_left();
  /// For a bug of ours its answer is not known: it has none, and costs its connection.
  void give_up();
};

class Staging {
 public:
  Staging(engine::Session& session, Transaction& transaction, Runner& runner, Counters& counters,
          RequestTally& tally, RequestTrail& trail)
      : session_(session),
        transaction_(transaction),
        runner_(runner),
        counters_(counters),
        tally_(tally),
        trail_(trail) {}

  /// `is_patient`: the session waits in place for locks, on a thread of its own.
  void begin_turn(uint64_t now_ms, bool is_patient) {
    now_ms_ = now_ms;
    is_patient_ = is_patient;
  }

  [[nodiscard]] bool is_empty() const { return staged_.empty(); }

  // One request at a time: make room for it, run it, answer it, stage it.

  /// True if the reply of this job may have to be told anew. Groups always: their replies may wait for a
  /// GTID.
  [[nodiscard]] bool must_stage(const Job& job) const {
    return !staged_.empty() || (job.selection != nullptr && writes(*job.request)) ||
           job.request->kind == RequestKind::group;
  }
  /// Room for one more. False if memory is refused; then nothing is staged.
  [[nodiscard]] bool make_room();
  /// It, or what was made ready for it, may have been stopped.
  void note_stop(Job& job, engine::Begin begin);
  /// Run a job. What it did is part of the transaction; a success is told, a failure is not.
  [[nodiscard]] engine::Begin run(Job& job);
  /// The same of a job that asked to be the first of its transaction, and is now. Never `commit_first`.
  [[nodiscard]] engine::Begin run_as_first(Job& job);
  /// Tell a job's reply what is still to be told: a failure, or the success of a job that did not run.
  static void answer(const Job& job) {
    const bool is_told = job.selection != nullptr && job.outcome.ok();
    if (!is_told) [[unlikely]] {
      answer_untold(job);
    }
  }
  /// A job that waits for a thread is put back. One that waits for a lock is, unless it has waited as long as
  /// it may: then its outcome is its answer, and it does not run again. True if it was put back.
  [[nodiscard]] bool put_back(Job& job);
  /// The job's answer is final, or it will be presented again.
  void conclude(Job& job) {
    if (!job.is_put_back()) [[likely]] {
      tally_.add(job);
    }
    if (job.trace != nullptr) [[unlikely]] {
      conclude_trace(job);
    }
  }
  /// Remember an answered job. There is room for it.
  void stage(Job&& job);

  /// End the transaction, and make every reply so far final.
  void settle();
  /// For a bug of ours the answers are not known: undo all, at the cost of the connections.
  void give_up();
  /// After a request: if the transaction was lost, bring what was staged to its answers without it.
  void replay_if_lost();
  /// A job that nothing is staged around lost its transaction: there is only itself to run again.
  void redo_alone(Job& job);

 private:
  [[nodiscard]] engine::Begin run_request(Job& job);
  [[nodiscard]] engine::Begin run_traced(Job& job);
  static void answer_untold(const Job& job);
  [[nodiscard]] engine::Begin run_any(Job& job);
  [[nodiscard]] bool follows_last(const Job& job) const;
  [[nodiscard]] bool has_promised_writes() const;
  void replay();
  void commit_or_fail();
  void fail_writes(const Error& commit_error);
  void cut_replies();
  void remake(Job& job);
  void run_alone_until_done(Job& job);
  [[nodiscard]] bool run_alone(Job& job);
  [[nodiscard]] engine::Begin run_in_transaction_of_its_own(Job& job);
  void keep_generated_ids(const Job& job);
  [[nodiscard]] bool put_back_for(Job& job, uint64_t timeout_ms);
  void put_back_for_thread(Job& job);
  void forget();
  void conclude_trace(Job& job);

  engine::Session& session_;
  Transaction& transaction_;
  Runner& runner_;
  Counters& counters_;
  RequestTally& tally_;
  RequestTrail& trail_;
  uint64_t now_ms_ = 0;
  bool is_patient_ = false;
  std::vector<Job> staged_;  ///< in order of execution
};

}  // namespace rowsocket::exec
