// SPDX-License-Identifier: GPL-2.0-only
//
// One request: admit it, run it, answer it, stage it.
#include "exec/executor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/invariant.h"

namespace rowsocket::exec {
namespace {

using engine::Begin;

/// A change of numbers only; also one by nothing, where it can be told from an update with nothing.
bool is_increment(const Change& change) {
  const auto counts = [](const Assignment& one) {
    return one.operation != Operation::set && one.operation != Operation::append &&
           one.operation != Operation::prepend;
  };
  return change.assignments.empty()
             ? change.keeps_signs
             : std::all_of(change.assignments.begin(), change.assignments.end(), counts);
}

Counter counter_of_find(const Find& find) {
  switch (find.change.kind) {
    case Change::Kind::none:
      return Counter::requests_find;
    case Change::Kind::assign:
      return is_increment(find.change) ? Counter::requests_increment : Counter::requests_update;
    case Change::Kind::remove:
      return Counter::requests_delete;
  }
  return Counter::requests_find;
}

/// None of a request that asks for nothing.
std::optional<Counter> counter_of_kind(const Request& request) {
  switch (request.kind) {
    case RequestKind::refused:
      return Counter::requests_unknown;
    case RequestKind::nothing:
      return std::nullopt;
    case RequestKind::open:
      return Counter::requests_open_index;
    case RequestKind::find:
      return counter_of_find(static_cast<const Find&>(request));
    case RequestKind::insert:
      return Counter::requests_insert;
    case RequestKind::group:
      return Counter::requests_group;
    case RequestKind::authenticate:
      return Counter::requests_authenticate;
  }
  return std::nullopt;
}

}  // namespace

Executor::Executor(engine::Session& session, Counters& counters, std::shared_ptr<const Settings> settings)
    : session_(session),
      counters_(counters),
      admission_(session),
      transaction_(session, counters),
      runner_(session, transaction_),
      staging_(session, transaction_, runner_, counters) {
  use_settings(std::move(settings));
}

void Executor::use_settings(std::shared_ptr<const Settings> settings) {
  settings_ = std::move(settings);
  runner_.set_reply_bytes_max(settings_->reply_bytes_max);
}

void Executor::begin_turn(uint64_t now_ms) { now_ms_ = now_ms; }

Executed Executor::execute(Client& client, const Request& request) {
  met_first_lenience_ = false;
  runner_.forget_lenience();
  Job job(request);
  if (job.out().failed()) [[unlikely]] {
    return Executed::done;
  }
  if (staging_.is_empty()) {
    admission_.forget_retired();
  }
  if (is_put_off(admit(client, job), client, job)) {
    return Executed::parked;
  }
  const bool is_staged = make_room(job);
  if (is_put_off(run(job), client, job)) {
    staging_.replay_if_lost();
    return Executed::parked;
  }
  client.parked_since_ms = 0;
  note_lenience(client);
  Staging::answer(job);
  finish(std::move(job), is_staged);
  count(request);
  return Executed::done;
}

/// Decide what depends on no transaction.
Begin Executor::admit(Client& client, Job& job) {
  return job.request->kind == RequestKind::group
             ? admit_group(client, job)
             : admission_.admit(client, *job.request, *settings_, job.index, job.outcome);
}

Begin Executor::admit_group(Client& client, Job& job) {
  const auto& group = static_cast<const Group&>(*job.request);
  if (client.granted() == Access::none || group.mistake != ErrorCode::none) {
    job.refuse(client.granted() == Access::none ? ErrorCode::not_authenticated : group.mistake);
    return Begin::failed;
  }
  try {
    job.member_indexes.reserve(group.members.size());
  } catch (...) {
    job.refuse(ErrorCode::out_of_memory);
    return Begin::failed;
  }
  for (const Request* member : group.members) {
    engine::Index* index = nullptr;
    Error error;
    Begin begin = Begin::failed;
    if (member->kind == RequestKind::find || member->kind == RequestKind::insert) {
      begin = admission_.admit(client, *member, *settings_, index, error);
    } else {
      error = member->mistake != ErrorCode::none ? member->mistake : ErrorCode::not_in_group;
    }
    if (begin != Begin::ready) {
      const size_t number = job.member_indexes.size();
      job.refuse(std::move(error));
      job.failed_member = number;
      return begin;
    }
    job.member_indexes.push_back(index);
  }
  return Begin::ready;
}

/// True if there is room to stage the job, and it must be. Where memory is refused, the job is not to run.
bool Executor::make_room(Job& job) {
  if (!staging_.must_stage(job)) {
    return false;
  }
  if (!staging_.make_room()) [[unlikely]] {
    job.refuse(ErrorCode::out_of_memory);
    return false;
  }
  return true;
}

Begin Executor::run(Job& job) {
  job.reply_begin = job.out().size();
  if (!job.can_run()) {
    return Begin::failed;
  }
  Begin begin = staging_.run(job);
  if (begin == Begin::commit_first) [[unlikely]] {
    staging_.settle();
    begin = staging_.run(job);
  }
  if (!invariant(begin != Begin::commit_first,
                 "the first request of a transaction is not asked to be that")) {
    job.refuse(ErrorCode::commit_failed);
    job.out().fail();  // costs the connection
  }
  return begin;
}

/// True if the request is to be presented again; else it is answered.
bool Executor::is_put_off(Begin begin, Client& client, Job& job) {
  return begin == Begin::wait && parks(client, job.outcome);
}

/// True if a request that waits for a lock may wait on; else `error` is its answer.
bool Executor::parks(Client& client, Error& error) {
  if (client.parked_since_ms == 0) {
    client.parked_since_ms = std::max<uint64_t>(now_ms_, 1);
    counters_.add(Counter::parked);
  }
  const bool is_for_row = error.reason == Reason::row_locked;
  const uint64_t timeout_ms =
      is_for_row ? session_.row_lock_wait_timeout_ms() : session_.lock_wait_timeout_ms();
  if (now_ms_ - std::min(now_ms_, client.parked_since_ms) < timeout_ms) {
    return true;
  }
  if (!is_for_row) {
    error = ErrorCode::cannot_lock_table;
  }
  return false;
}

void Executor::note_lenience(Client& client) {
  if (runner_.was_lenient()) [[unlikely]] {
    counters_.add(Counter::requests_lenient);
    met_first_lenience_ = client.note_lenience();
  }
}

/// The job has its answer, as far as that depends on itself.
void Executor::finish(Job&& job, bool is_staged) {
  if (is_staged) {
    staging_.stage(std::move(job));
    if (transaction_.is_lost()) [[unlikely]] {
      staging_.replay_if_lost();
    } else if (transaction_.is_full()) {
      staging_.settle();
    }
    return;
  }
  if (job.can_run() && transaction_.is_lost()) [[unlikely]] {
    staging_.redo_alone(job);
  }
  if (!job.outcome.ok()) {
    counters_.add(counter_of(job.outcome.code));
  }
}

void Executor::count(const Request& request) {
  ++turn_requests_;
  if (const std::optional<Counter> counter = counter_of_kind(request); counter.has_value()) {
    counters_.add(*counter);
  }
  if (request.kind == RequestKind::group) {
    for (const Request* member : static_cast<const Group&>(request).members) {
      count(*member);
    }
  } else if (request.kind == RequestKind::find && static_cast<const Find&>(request).list.is_given) {
    counters_.add(Counter::requests_in_list);
  }
}

void Executor::end_turn() {
  staging_.settle();
  admission_.forget_retired();
  if (turn_requests_ > 0) {
    counters_.add(Counter::turns);
    counters_.add(Counter::turn_requests, std::exchange(turn_requests_, 0));
    counters_.add(Counter::rows_read, runner_.take_rows_read());
  }
}

}  // namespace rowsocket::exec
