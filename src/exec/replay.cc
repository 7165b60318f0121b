// SPDX-License-Identifier: GPL-2.0-only
//
// The end of what is staged: a commit, and where the transaction is lost, each request once more by itself.
#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "exec/staging.h"

namespace rowsocket::exec {
namespace {

using engine::Begin;

/// What is done for all that is staged is not to be stopped since the client of the request under way has
/// gone. Where nothing is, as in most turns that only read, that costs nothing.
class ForAll {
 public:
  ForAll(engine::Session& session, bool is_something_staged)
      : session_(is_something_staged ? &session : nullptr) {
    if (session_ != nullptr) {
      session_->work_for(nullptr);
    }
  }
  ~ForAll() {
    if (session_ != nullptr) {
      session_->work_for_request();
    }
  }
  ForAll(const ForAll&) = delete;
  ForAll& operator=(const ForAll&) = delete;

 private:
  engine::Session* session_;
};

/// A request that runs again runs as long as its own client is there. Its commit is not to be stopped, as
/// that of its first run is not.
class ForClient {
 public:
  ForClient(engine::Session& session, const Client& client) : session_(session) {
    session_.work_for(client.presence);
  }
  ~ForClient() { session_.work_for(nullptr); }
  ForClient(const ForClient&) = delete;
  ForClient& operator=(const ForClient&) = delete;

 private:
  engine::Session& session_;
};

}  // namespace

/// Never throws: without the memory for what has to be said, nothing is said of anything that is staged.
void Staging::settle() {
  const ForAll for_all(session_, !staged_.empty());
  try {
    commit_or_fail();
    forget();
  } catch (...) {
    give_up();
  }
}

void Staging::commit_or_fail() {
  if (transaction_.is_open()) {
    const Committed committed = transaction_.commit();
    if (!committed.error.ok() && !staged_.empty()) {
      if (committed.worth_another_try) {
        replay();
      } else {
        fail_writes(committed.error);
      }
    }
  } else if (!invariant(!has_promised_writes(), "what was promised has a transaction to be committed")) {
    fail_writes(ErrorCode::commit_failed);
  }
}

/// A reply says that a write was done.
bool Staging::has_promised_writes() const {
  return std::any_of(staged_.begin(), staged_.end(), [](const Job& job) {
    return job.can_run() && job.outcome.ok() && writes(*job.request) && !job.is_put_back();
  });
}

void Staging::give_up() {
  for (Job& job : staged_) {
    job.give_up();
  }
  transaction_.roll_back();
  forget();
}

void Staging::replay_if_lost() {
  if (!transaction_.is_lost()) [[likely]] {
    return;
  }
  const ForAll for_all(session_, !staged_.empty());
  const bool may_run_again = transaction_.may_run_again();
  transaction_.roll_back();
  try {
    if (may_run_again) {
      replay();
    }  // else the request that did lasting work failed, and has its answer
    forget();
  } catch (...) {
    give_up();
  }
}

/// The whole transaction is gone: run what was staged again, one by one. Nothing waits in place here: while
/// one client's request waits for a lock, the others of the worker go on.
void Staging::replay() {
  counters_.add(Counter::replays);
  cut_replies();
  for (Job& job : staged_) {
    remake(job);
  }
}

/// The transaction is gone for good: what it had promised was not kept.
void Staging::fail_writes(const Error& commit_error) {
  cut_replies();
  for (Job& job : staged_) {
    if (!job.can_run() || !writes(*job.request)) {
      remake(job);
    } else if (!job.out().failed() && !job.is_put_back()) {
      job.outcome = commit_error;
      job.failed_member = Reply::every_member;
      answer(job);
      job.note_reply();
    }
  }
}

void Staging::cut_replies() {
  for (auto job = staged_.rbegin(); job != staged_.rend(); ++job) {
    if (!job->out().failed()) {
      job->out().truncate(job->reply_begin);
    }
  }
}

/// Make a reply that was cut anew: execute the request in a transaction of its own.
void Staging::remake(Job& job) {
  if (job.out().failed() || job.is_put_back()) {
    return;
  }
  job.stays = job.request->changes_state;
  const bool is_behind = job.client->left_at.has_value() && job.position > *job.client->left_at;
  if (is_behind || job.client->is_killed()) [[unlikely]] {
    job.refuse(ErrorCode::client_gone);
  }
  if (job.can_run()) {
    run_alone_until_done(job);
  }
  if (!job.is_put_back()) {
    answer(job);
    job.note_reply();
  }
}

/// A request that loses its transaction to others however often it is tried gives way: it is put back, as if
/// it had met a lock, so that its client is told of no deadlock that a later turn can do without.
void Staging::run_alone_until_done(Job& job) {
  uint32_t retries_left = is_patient_ ? limits::patient_replay_retries : limits::replay_retries;
  bool is_done = run_alone(job);
  for (; !is_done && retries_left > 0; --retries_left) {
    is_done = run_alone(job);
  }
  if (is_done || job.outcome.reason != Reason::conflict) {
    return;
  }
  if (put_back_for(job, std::min<uint64_t>(session_.row_lock_wait_timeout_ms(), limits::conflict_ms))) {
    job.out().truncate(job.reply_begin);
  }
}

Begin Staging::run_in_transaction_of_its_own(Job& job) {
  const ForClient for_client(session_, *job.client);
  const Begin begin = run(job);
  if (begin != Begin::commit_first) [[likely]] {
    return begin;
  }
  transaction_.roll_back();  // there is nothing in it but what the request began itself
  return run_as_first(job);
}

/// Run and commit one request, or put it back. False if it lost its transaction: `outcome` says how, and
/// another try may do better.
bool Staging::run_alone(Job& job) {
  const bool parted_rows = job.parts_rows;  // a failure may ask for it
  job.outcome = {};
  const Begin begin = run_in_transaction_of_its_own(job);
  if (!job.can_run()) [[unlikely]] {
    transaction_.roll_back();  // it was stopped
    return true;
  }
  if (begin == Begin::wait) {
    static_cast<void>(put_back(job));  // else its time is over, and the outcome is its answer
    transaction_.roll_back();
    return true;
  }
  Committed committed;
  if (transaction_.is_lost()) {
    const bool failed_by_itself =
        !job.outcome.ok() && fails_again(job.outcome.reason) && job.parts_rows == parted_rows;
    committed = {.error = session_.loss(),
                 .worth_another_try = !failed_by_itself && transaction_.may_run_again()};
    transaction_.roll_back();
  } else if (transaction_.is_open()) {
    committed = transaction_.commit();
  }
  if (committed.error.ok()) {
    return true;
  }
  if (job.outcome.ok()) {
    job.outcome = std::move(committed.error);
    job.failed_member = Reply::every_member;
    job.out().truncate(job.reply_begin);
  }
  return !committed.worth_another_try || committed.error.reason == Reason::too_large;
}

void Staging::redo_alone(Job& job) {
  const ForAll for_all(session_, true);
  transaction_.roll_back();
  counters_.add(Counter::replays);
  job.out().truncate(job.reply_begin);
  try {
    remake(job);
  } catch (...) {
    job.give_up();
    transaction_.roll_back();
  }
}

void Staging::forget() {
  tally_.note_time();
  for (Job& job : staged_) {
    job.client->is_staged = false;
    conclude(job);
  }
  staged_.clear();
}

void Staging::conclude_trace(Job& job) {
  if (job.is_put_back()) {
    RequestTrail::keep(job);
  } else {
    trail_.end(job);
  }
}

}  // namespace rowsocket::exec
