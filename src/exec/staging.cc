// SPDX-License-Identifier: GPL-2.0-only
#include "exec/staging.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/limits.h"
#include "base/room.h"

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

void Job::refuse_since_left() {
  refuse(ErrorCode::client_gone);
  client->left_at = position;
}

void Job::give_up() {
  refuse(ErrorCode::commit_failed);
  out().give_up();
}

bool Staging::make_room() {
  try {
    make_room_in(staged_);
  } catch (const std::bad_alloc&) {
    // Make room by making what there is final. Only a list that never held anything has no room then.
    settle();
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
  note_stop(job, begin);
  if (runner_.has_client_left()) [[unlikely]] {
    job.client->left_at = job.position;
  }
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

/// In whatever words the host says that the request was ended, its client has gone.
void Staging::note_stop(Job& job, Begin begin) {
  if (begin == Begin::failed && session_.was_stopped()) [[unlikely]] {
    job.refuse_since_left();
  }
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

}  // namespace rowsocket::exec
