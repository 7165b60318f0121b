// SPDX-License-Identifier: GPL-2.0-only
//
// The transaction around a turn's requests: staging, commit, and what happens to staged replies when the transaction did not make
// it.
//
//   commit ok ................................ every staged reply is final
//   lost, or failed but may pass next time ... all staged replies are cut, every request runs again in a transaction of its own
//   failed for good .......................... writes answer the failure, reads (which may have seen the lost writes) run again
//
// A request that does what no rollback takes back (a table without transactions) is the only one of its transaction. It never
// runs again: its failure is its answer.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/invariant.h"
#include "exec/executor.h"

namespace rowsocket::exec {
namespace {

/// A request that loses its own transaction too is tried this often again.
constexpr int replay_retries = 3;

}  // namespace

/// Remember a request that is about to run. False, with nothing staged, if memory is refused.
bool Executor::stage(Staged&& request) {
  if (staged_.size() == staged_.capacity()) {
    try {
      staged_.reserve(std::max<size_t>(16, 2 * staged_.size()));
    } catch (...) {
      // Make room by making what there is final. Only a list that never held anything has no room then.
      settle();
      request.reply_begin = request.out->size();  // replies before this one may have changed their size
    }
    if (staged_.capacity() == 0) {
      return false;
    }
  }
  staged_.push_back(std::move(request));
  return true;
}

/// End the transaction, and make every reply so far final.
void Executor::settle() {
  if (transaction_open_) {
    Error error;
    bool worth_another_try = false;
    if (!commit(error, worth_another_try) && !staged_.empty()) {
      if (worth_another_try) {
        replay();
      } else {
        fail_writes(error);
      }
    }
  }
  forget_staged();
}

bool Executor::commit(Error& error, bool& worth_another_try) {
  const bool writes = transaction_writes_;
  const bool may_run_again = !session_.did_lasting_work();
  try {
    error = session_.commit();
  } catch (...) {
    error = ErrorCode::out_of_memory;
  }
  if (error.ok()) {
    counters_.add(Counter::rows_inserted, uncommitted_.inserted);
    counters_.add(Counter::rows_updated, uncommitted_.updated);
    counters_.add(Counter::rows_deleted, uncommitted_.deleted);
    counters_.add(Counter::commits, writes ? 1 : 0);
    fill_in_gtids();
    forget_transaction();
    return true;
  }
  counters_.add(Counter::commit_failures, writes ? 1 : 0);
  worth_another_try = may_run_again && (session_.transaction_lost() || error.reason != Reason::none);
  roll_back();
  return false;
}

void Executor::roll_back() {
  session_.rollback();
  forget_transaction();
}

/// The commit is known: say so where it was asked. The replies behind each place move back, every byte once.
void Executor::fill_in_gtids() {
  Buffer text;
  while (!gtid_places_.empty()) {
    Buffer& out = *gtid_places_.back().out;
    text.clear();
    gtid_places_.back().protocol->reply_text(text, session_.last_commit_gtid());
    const auto in_this = [&out](const GtidPlace& place) { return place.out == &out; };
    const auto places =
        static_cast<size_t>(std::find_if_not(gtid_places_.rbegin(), gtid_places_.rend(), in_this) - gtid_places_.rbegin());
    size_t tail_end = out.size();
    if (text.failed()) [[unlikely]] {
      out.fail();  // a reply that is not there must not be taken for the next one
    }
    if (out.failed() || !out.reserve(places * text.size())) {
      gtid_places_.resize(gtid_places_.size() - places);
      continue;
    }
    out.advance(places * text.size());
    for (size_t behind = places; behind > 0; --behind) {
      const size_t position = gtid_places_.back().position;
      gtid_places_.pop_back();
      std::memmove(out.data() + position + behind * text.size(), out.data() + position, tail_end - position);
      std::memcpy(out.data() + position + (behind - 1) * text.size(), text.data(), text.size());
      tail_end = position;
    }
  }
}

void Executor::forget_transaction() {
  gtid_places_.clear();
  transaction_open_ = false;
  transaction_writes_ = false;
  uncommitted_ = {};
}

/// After a request: the engine rolled back its whole transaction, or it may have.
void Executor::replay_if_lost() {
  if (!session_.transaction_lost()) [[likely]] {
    return;
  }
  if (session_.did_lasting_work()) {
    roll_back();  // it failed, and has its answer
    forget_staged();
  } else {
    replay();
  }
}

/// The whole transaction is gone: run what was staged again, one by one.
void Executor::replay() {
  roll_back();
  counters_.add(Counter::replays);
  cut_staged_replies();
  for (Staged& staged : staged_) {
    remake(staged);
  }
  forget_staged();
}

/// The transaction is gone for good: what it had promised was not kept.
void Executor::fail_writes(const Error& commit_error) {
  cut_staged_replies();
  for (Staged& staged : staged_) {
    if (!staged.can_run() || !staged.request.writes()) {
      remake(staged);
    } else if (!staged.out->failed()) {
      staged.outcome = commit_error;
      staged.failed_member = every_member;
      answer_staged(staged);
    }
  }
}

void Executor::cut_staged_replies() {
  for (auto staged = staged_.rbegin(); staged != staged_.rend(); ++staged) {
    if (!staged->out->failed()) {
      staged->out->truncate(staged->reply_begin);
    }
  }
}

/// Make a reply that was cut anew: execute the request in a transaction of its own.
void Executor::remake(Staged& staged) {
  Buffer& out = *staged.out;
  if (out.failed()) {
    return;
  }
  if (staged.can_run()) {
    staged.reply_begin = out.size();
    for (int retries = 0; !run_alone(staged) && retries < replay_retries; ++retries) {
    }
  }
  answer_staged(staged);
}

/// Run and commit one request. False if it lost its transaction: `outcome` says how, and another try may do better.
bool Executor::run_alone(Staged& staged) {
  staged.outcome = {};
  session_.set_patient(true);
  engine::Begin begin = run_staged(staged);
  if (begin == engine::Begin::commit_first) {
    roll_back();  // there is nothing in the transaction but what it began itself
    begin = run_staged(staged);
  }
  session_.set_patient(false);
  if (!invariant(begin != engine::Begin::commit_first, "the first request of a transaction is not asked to be that")) {
    roll_back();
    staged.out->fail();
    return true;
  }
  if (begin == engine::Begin::wait && staged.outcome.ok()) {
    staged.outcome = ErrorCode::cannot_lock_table;
  }
  bool worth_another_try = session_.transaction_lost() && !session_.did_lasting_work();
  Error commit_error;
  if (session_.transaction_lost()) {
    commit_error = session_.loss();
    roll_back();
  } else if (!transaction_open_ || commit(commit_error, worth_another_try)) {
    return true;
  }
  if (staged.outcome.ok()) {
    staged.outcome = std::move(commit_error);
    staged.failed_member = every_member;
    staged.out->truncate(staged.reply_begin);
  }
  return !worth_another_try;
}

engine::Begin Executor::run_staged(Staged& staged) {
  return staged.request.kind == RequestKind::group
             ? run_group(staged)
             : run(*staged.index, staged.request, *staged.protocol, *staged.out, staged.outcome);
}

void Executor::answer_staged(Staged& staged) {
  if (staged.request.kind == RequestKind::group) {
    answer_group(staged);
  } else {
    answer(*staged.protocol, *staged.out, staged.can_run(), staged.outcome);
  }
}

/// A request that nothing is staged around lost its transaction: there is only itself to run again.
Error Executor::redo_alone(Staged unstaged) {
  roll_back();
  counters_.add(Counter::replays);
  unstaged.out->truncate(unstaged.reply_begin);
  remake(unstaged);
  return std::move(unstaged.outcome);
}

void Executor::forget_staged() {
  for (const Staged& staged : staged_) {
    if (!staged.outcome.ok()) {
      counters_.add(counter_of(staged.outcome.code));
    }
  }
  staged_.clear();
}

}  // namespace rowsocket::exec
