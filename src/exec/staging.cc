// SPDX-License-Identifier: GPL-2.0-only
#include "exec/staging.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/limits.h"

namespace rowsocket::exec {
namespace {

using engine::Begin;

/// Of a group it is taken for granted: its members are not looked at.
bool inserts(const Request& request) {
  return request.kind == RequestKind::insert || request.kind == RequestKind::group ||
         (request.kind == RequestKind::find && static_cast<const Find&>(request).otherwise != nullptr);
}

void answer_group(const Group& group, const Job& job) {
  Reply& reply = *group.reply;
  if (!job.outcome.ok()) {
    reply.group_failed(job.failed_member, job.outcome);
  } else if (!job.can_run()) {  // it has no members
    reply.group_begins();
    reply.group_ends();
    if (group.wants_gtid) {
      reply.committed(reply.out(), {});
    }
  }
}

/// `types` is nullptr where they were not asked for.
void tell_opened(const engine::ColumnTypes* types, Reply& reply) {
  if (types == nullptr) {
    reply.opened({});
    return;
  }
  std::vector<std::string_view> views;
  try {
    views.assign(types->begin(), types->end());
  } catch (...) {
    reply.failed(ErrorCode::out_of_memory);
    return;
  }
  reply.opened(views);
}

}  // namespace

void Job::end_running() {
  selection = nullptr;
  members_may_run = false;
}

void Job::refuse(Error error) {
  end_running();
  outcome = std::move(error);
  failed_member = Reply::group_itself;
}

void Job::give_up() {
  refuse(ErrorCode::commit_failed);
  out().give_up();
}

// ---- one request

bool Staging::make_room() {
  if (staged_.size() == staged_.capacity()) [[unlikely]] {
    try {
      staged_.reserve(std::max<size_t>(16, 2 * staged_.size()));
    } catch (...) {
      // Make room by making what there is final. Only a list that never held anything has no room then.
      settle();
    }
  }
  return staged_.capacity() > 0;
}

Begin Staging::run(Job& job) {
  job.reply_begin = job.out().size();
  if (job.has_run) [[unlikely]] {
    job.forget_rows();
  }
  job.has_run = true;
  runner_.begin(job.client->presence, job.client->given_up);
  runner_.let_be_given_up(!is_patient_ && !job.stays);
  runner_.forget_lenience();
  runner_.part_rows(job.parts_rows);
  if (inserts(*job.request)) {
    session_.begin_inserts(job.was_put_back() ? std::exchange(job.client->generated_ids, {})
                                              : std::vector<engine::GeneratedId>());
  }
  const Begin begin = job.trace == nullptr ? run_any(job) : run_traced(job);
  runner_.end();
  job.was_lenient = runner_.was_lenient();
  job.parts_rows = runner_.must_part_rows();
  // Of a transaction that is lost a request may have failed without an error of its own: it runs again.
  const bool is_over = begin == Begin::ready || begin == Begin::failed;
  if (is_over && !invariant((begin == Begin::ready) == job.outcome.ok() || transaction_.is_lost(),
                            "a request fails with an error, and only then has one")) {
    job.give_up();
    return Begin::failed;
  }
  return begin;
}

/// The host's logs are told what the session does meanwhile.
Begin Staging::run_traced(Job& job) {
  class Followed {
   public:
    Followed(RequestTrail& trail, const Job& job) : trail_(trail) { trail_.follow(job); }
    ~Followed() { trail_.follow_none(); }  // its client may go, whether the request threw or not
    Followed(const Followed&) = delete;
    Followed& operator=(const Followed&) = delete;

   private:
    RequestTrail& trail_;
  };
  const Followed followed(trail_, job);
  return run_any(job);
}

Begin Staging::run_any(Job& job) {
  const Begin begin = run_request(job);
  if (begin == Begin::commit_first && job.was_put_back()) {
    keep_generated_ids(job);
  }
  return begin;
}

Begin Staging::run_request(Job& job) {
  if (job.request->kind == RequestKind::group) {
    const auto& group = static_cast<const Group&>(*job.request);
    return runner_.run_group(group, job.member_selections, job.member_rows, job.failed_member, job.outcome);
  }
  return runner_.run(*job.selection, *job.request, job.rows, job.outcome);
}

Begin Staging::run_as_first(Job& job) {
  const Begin begin = run(job);
  if (invariant(begin != Begin::commit_first, "the first request of a transaction is not asked to be that")) {
    return begin;
  }
  job.give_up();
  return Begin::failed;
}

void Staging::answer_untold(const Job& job) {
  Reply& reply = *job.request->reply;
  if (job.outcome.reason == Reason::unknown_outcome) {
    job.out().give_up();
  } else if (job.request->kind == RequestKind::group) {
    answer_group(static_cast<const Group&>(*job.request), job);
  } else if (!job.outcome.ok()) {
    reply.failed(job.outcome);
  } else if (job.request->kind == RequestKind::open) {
    tell_opened(job.column_types.get(), reply);
  } else if (!job.can_run()) {
    reply.done();
  }
}

bool Staging::put_back(Job& job) {
  if (job.outcome.reason == Reason::no_thread) {
    put_back_for_thread(job);
    return true;
  }
  const bool is_row = job.outcome.reason == Reason::row_locked;
  if (!is_row) {
    job.outcome = ErrorCode::cannot_lock_table;  // the host may have said it in words of its own
  }
  if (put_back_for(job, is_row ? session_.row_lock_wait_timeout_ms() : session_.lock_wait_timeout_ms())) {
    return true;
  }
  job.end_running();
  return false;
}

/// Unless so much time is over since the first try, however the tries ended.
bool Staging::put_back_for(Job& job, uint64_t timeout_ms) {
  Client& client = *job.client;
  if (job.parked_since_ms == 0) {
    job.parked_since_ms = std::max<uint64_t>(now_ms_, 1);
    counters_.add(Counter::parked);
  }
  if (job.stays || now_ms_ - std::min(now_ms_, job.parked_since_ms) >= timeout_ms) {
    return false;
  }
  client.lacks_thread = false;
  client.parked_since_ms = job.parked_since_ms;
  client.waits_until_ms = job.parked_since_ms + timeout_ms;
  client.has_waited_alone = job.has_waited_alone;
  client.put_back_at = job.position;
  keep_generated_ids(job);
  return true;
}

void Staging::put_back_for_thread(Job& job) {
  Client& client = *job.client;
  client.given_up = {client.given_up.count + 1, runner_.first_began_us()};
  client.lacks_thread = true;
  client.parked_since_ms = 0;  // what it meets next is another lock
  client.put_back_at = job.position;
  keep_generated_ids(job);
}

/// For its next run. Without the memory for that, the next run is given others.
void Staging::keep_generated_ids(const Job& job) {
  if (!job.has_run || !inserts(*job.request)) {
    return;  // it was given none
  }
  try {
    job.client->generated_ids = session_.generated_ids();
  } catch (...) {
    job.client->generated_ids.clear();
  }
}

void Staging::stage(Job&& job) {
  if (!invariant(staged_.size() < staged_.capacity(), "there is room for a request before it runs") ||
      !invariant(follows_last(job), "requests of a client are staged in their order, and so are replies")) {
    job.out().give_up();
  }
  job.note_reply();
  job.client->is_staged = true;
  staged_.push_back(std::move(job));
}

/// Replies are cut from the last one to the first, and requests are put back from a position on.
bool Staging::follows_last(const Job& job) const {
  if (staged_.empty() || staged_.back().client != job.client) {
    return true;
  }
  const Job& last = staged_.back();
  return last.position < job.position && (last.reply_begin <= job.reply_begin || job.out().failed());
}

// ---- all that is staged

namespace {

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

void Staging::settle() {
  const ForAll for_all(session_, !staged_.empty());
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
  forget();
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
  if (transaction_.may_run_again()) {
    transaction_.roll_back();
    replay();
  } else {
    transaction_.roll_back();  // the request that did lasting work failed, and has its answer
    forget();
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
  forget();
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
  if (job.client->is_killed()) [[unlikely]] {
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
  remake(job);
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
