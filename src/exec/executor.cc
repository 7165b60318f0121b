// SPDX-License-Identifier: GPL-2.0-only
//
// One request: admit it, run it, answer it, stage it.
#include "exec/executor.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace rowsocket::exec {

using engine::Begin;

Executor::Executor(engine::Session& session, Counters& counters, std::shared_ptr<const Settings> settings,
                   const Clock& clock, Notices notices, TableLedger* ledger, LongRequests* long_requests)
    : session_(session),
      counters_(counters),
      clock_(clock),
      tally_(counters, ledger),
      trail_(session),
      admission_(session),
      transaction_(session, counters, clock, std::move(notices.commits)),
      runner_(session, transaction_, clock, std::move(notices.takes_long)),
      staging_(session, transaction_, runner_, counters, tally_, trail_),
      long_requests_(long_requests),
      settled_(std::move(notices.settled)),
      undone_(std::move(notices.undone)) {
  use_settings(std::move(settings));
}

void Executor::use_settings(std::shared_ptr<const Settings> settings) {
  settings_ = std::move(settings);
  runner_.set_reply_bytes_max(settings_->reply_bytes_max);
  runner_.set_bounds(settings_->rows_examined_max, settings_->request_ms_max);
  tally_.set_statistics(settings_->statistics, settings_->request_times);
}

void Executor::begin_turn(uint64_t now_ms, bool is_patient) {
  admission_.forget_accounts();
  staging_.begin_turn(now_ms, is_patient);
  trail_.begin_turn();
  tally_.begin_turn(now_ms);
}

Executed Executor::execute(Client& client, const Request& request, size_t position) {
  met_first_lenience_ = false;
  usual_place_.reset();
  write_.begin();
  Job job(client, request, position);
  job.began_ticks = tally_.noted_ticks();
  if (job.out().failed()) [[unlikely]] {
    return Executed::done;
  }
  if (trail_.concerns(client)) [[unlikely]] {
    trail_.receive(job, *settings_);
  }
  settle_what_came_before(client, request);
  if (job.is_put_back()) {
    staging_.conclude(job);
    return Executed::parked;
  }
  if (job.out().failed()) [[unlikely]] {
    job.give_up();
    staging_.conclude(job);
    return Executed::done;
  }
  if (staging_.is_empty()) {
    admission_.forget_retired();
  }
  Begin begin = admit(client, job);
  staging_.note_stop(job, begin);
  if (client.is_unknown && begin == Begin::ready && job.selection != nullptr && long_requests_ != nullptr &&
      puts_off(job)) [[unlikely]] {
    return Executed::put_off;
  }
  bool is_staged = false;
  if (begin != Begin::wait) {
    is_staged = make_room(job);
    begin = run(job);
  }
  if (job.is_put_back() || (begin == Begin::wait && staging_.put_back(job))) {
    write_.end();
    usual_place_.reset();
    note_undone();
    staging_.replay_if_lost();
    tally_.note_time();
    staging_.conclude(job);
    return Executed::parked;
  }
  client.parked_since_ms = 0;
  client.given_up = {};
  client.has_waited_alone = false;
  client.tries_take_long = false;
  client.generated_ids.clear();
  if (job.was_lenient) [[unlikely]] {
    met_first_lenience_ = client.note_lenience();
  }
  Staging::answer(job);
  if (!job.outcome.ok()) {
    usual_place_.reset();  // how quick one was that failed says nothing
  }
  const bool has_changed = job.outcome.ok() && job.changed() > 0;
  finish(std::move(job), is_staged);
  if (client.put_back_at.has_value()) {
    return Executed::parked;
  }
  if (has_changed) {  // quickly, until its time is known: see note_took
    write_.for_each_place([&](LongRequests::Place place) { client.quick_writes.note_quick(place); });
  }
  return Executed::done;
}

/// What is put back is presented again, and must mean the same then.
void Executor::settle_what_came_before(const Client& client, const Request& request) {
  if (client.is_staged && changes_what_requests_mean(request)) [[unlikely]] {
    settle();
  }
}

/// In the middle of a request.
void Executor::settle() {
  staging_.settle();
  if (settled_) {
    settled_();
  }
}

/// Decide what depends on no transaction.
Begin Executor::admit(Client& client, Job& job) {
  if (job.request->kind == RequestKind::group) {
    return admit_group(client, job);
  }
  const Begin begin = admission_.admit(client, *job.request, *settings_, job.selection, job.outcome);
  job.asked_for = job.selection;
  if (job.request->kind == RequestKind::open && begin == Begin::ready) {
    job.column_types = admission_.take_column_types();
  }
  return begin;
}

Begin Executor::admit_group(Client& client, Job& job) {
  const auto& group = static_cast<const Group&>(*job.request);
  const bool may_read = client.account.may_read(*settings_);
  if (!may_read || group.mistake != ErrorCode::none) {
    job.refuse(!may_read ? ErrorCode::not_authenticated : group.mistake);
    return Begin::failed;
  }
  try {
    job.member_selections.reserve(group.members.size());
    job.member_rows.resize(group.members.size());
  } catch (...) {
    job.refuse(ErrorCode::out_of_memory);
    return Begin::failed;
  }
  for (const Request* member : group.members) {
    engine::Selection* selection = nullptr;
    Error error;
    Begin begin = Begin::failed;
    if (member->kind == RequestKind::find || member->kind == RequestKind::insert) {
      begin = admission_.admit(client, *member, *settings_, selection, error);
    } else {
      error = member->mistake != ErrorCode::none ? member->mistake : ErrorCode::not_in_group;
    }
    if (begin != Begin::ready) {
      const size_t number = job.member_selections.size();
      job.refuse(std::move(error));
      job.failed_member = number;
      return begin;
    }
    job.member_selections.push_back(selection);
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

/// What becomes final on the way may put back requests of the same client, or cost it its connection: then
/// this one does not run.
Begin Executor::run(Job& job) {
  job.reply_begin = job.out().size();
  if (!job.can_run() || job.is_put_back()) {
    return Begin::failed;
  }
  note_places(job);
  Begin begin = Begin::commit_first;
  if (staging_.is_empty() || !is_expected_long(job)) [[likely]] {
    begin = staging_.run(job);
  }
  return begin == Begin::commit_first ? run_behind_commit(job) : begin;
}

/// Whoever sees that the request took long sees the commit before it, too.
Begin Executor::run_behind_commit(Job& job) {
  write_.set_trusted(false);
  write_.end_own_time();
  const uint64_t ticks_before = transaction_.commit_ticks();
  const uint64_t least_us = transaction_.has_changed() ? limits::long_write_us_per_commit : 0;
  settle();
  const uint64_t commit_us = std::max<uint64_t>(
      {clock_.us_of(transaction_.commit_ticks() - ticks_before), least_us, limits::commit_behind_us_min});
  write_.for_each_place([&](LongRequests::Place place) { long_requests_->note_commit(place, commit_us); });
  uint64_t& left_us = job.client->long_us_left;
  left_us -= std::min(left_us, commit_us);
  if (job.out().failed()) [[unlikely]] {
    job.give_up();
  } else if (job.client->is_lost()) [[unlikely]] {
    job.refuse_since_left();
  }
  if (!job.can_run() || job.is_put_back()) {
    return Begin::failed;
  }
  write_.begin_own_time(clock_.now_us());
  return staging_.run_as_first(job);
}

/// Nothing is known of the client. So what the same request took for others decides.
bool Executor::puts_off(Job& job) {
  const auto place =
      long_requests_->usual_place_of(job.client->account.name_hash(), *job.selection, *job.request);
  if (job.client->comes_behind || job.was_put_back() ||
      long_requests_->usual_us(place) < limits::unknown_own_us_max) {
    usual_place_ = place;
    return false;
  }
  if (job.trace != nullptr) {
    RequestTrail::keep(job);
  }
  counters_.add(Counter::requests_put_off);
  tally_.note_time();
  return true;
}

void Executor::note_took(Client& client, const Took& took) {
  if (!took.us.has_value()) {
    write_.for_each_place([&](LongRequests::Place place) { client.quick_writes.forget(place); });
    return;
  }
  note_usual(client, *took.us);
  const uint64_t walk_us = took.walked.us - std::min(took.walked.us, took.walked.stuck_us);
  const uint64_t us = *took.us - std::min(*took.us, walk_us);
  if (us >= (took.was_beside ? limits::long_write_us_min : limits::long_write_us_min_unseen)) {
    note_long_write(client, us);
  }
}

/// Whether it was done or not: the others have waited for it.
void Executor::note_long_write(Client& client, uint64_t us) {
  const uint64_t counted_us = std::min<uint64_t>(us, limits::commits_behind_us_max);
  write_.for_each_place([&](LongRequests::Place place) {
    long_requests_->note_long(place, us, write_.is_trusted());
    client.quick_writes.forget(place);
    client.long_us_left = std::max(client.long_us_left, counted_us);
  });
  client.tries_take_long = client.put_back_at.has_value();
}

void Executor::note_usual(Client& client, uint64_t us) {
  if (!usual_place_.has_value()) {
    return;
  }
  if (longest_.has_value() && longest_->place != *usual_place_) {
    end_usual(client);
  }
  longest_ = {.place = *usual_place_, .us = longest_.has_value() ? std::max(longest_->us, us) : us};
}

void Executor::end_usual(Client& client) {
  const auto longest = std::exchange(longest_, {});
  if (!longest.has_value()) {
    return;
  }
  const bool is_long = longest->us >= limits::unknown_own_us_max;
  if (is_long || !client.has_taken_long) {
    long_requests_->note_usual(longest->place, longest->us);
  }
  client.has_taken_long |= is_long;
}

/// It was put back, and is tried again. A commit before each try would cost the others more than most tries
/// take.
static bool is_short_try(const Job& job) { return job.was_put_back() && !job.client->tries_take_long; }

/// Where it writes.
void Executor::note_places(const Job& job) {
  if (long_requests_ == nullptr || !writes(*job.request)) {
    return;
  }
  const auto add = [&](const engine::Selection* selection, const Request& request) {
    if (selection != nullptr && writes(request)) {
      write_.add(long_requests_->place_of(job.client->account.name_hash(), *selection, request));
    }
  };
  if (job.request->kind == RequestKind::group) {
    const auto& group = static_cast<const Group&>(*job.request);
    for (size_t number = 0; number < job.member_selections.size(); ++number) {
      add(job.member_selections[number], *group.members[number]);
    }
  } else {
    add(job.selection, *job.request);
  }
  bool is_known = true;
  write_.for_each_place(
      [&](LongRequests::Place place) { is_known &= job.client->quick_writes.is_known(place); });
  write_.set_trusted(is_known && (job.client->long_us_left == 0 || is_short_try(job)));
}

/// A write that is expected to take long leaves nobody waiting: neither for replies nor for rows.
bool Executor::is_expected_long(const Job& job) {
  bool is_expected = writes(*job.request) && job.client->long_us_left > 0;
  bool is_expected_of_all = false;
  write_.for_each_place([&](LongRequests::Place place) {
    is_expected |= long_requests_->expects(place);
    is_expected_of_all |= long_requests_->expects_of_all(place);
  });
  if (!is_expected || is_short_try(job) || (write_.is_trusted() && !is_expected_of_all)) [[likely]] {
    return false;
  }
  counters_.add(Counter::commits_before_long);
  return true;
}

void Executor::note_undone() {
  if (transaction_.is_lost() && undone_) {
    undone_();
  }
}

/// The job has its answer, as far as that depends on itself.
void Executor::finish(Job&& job, bool is_staged) {
  tally_.note_time();
  if (is_staged) {
    staging_.stage(std::move(job));
    if (transaction_.is_lost()) [[unlikely]] {
      write_.end();  // what runs again is not it alone
      note_undone();
      staging_.replay_if_lost();
    } else if (transaction_.is_full()) {
      write_.end();  // the commit takes long, if anything does
      const uint64_t work_us = session_.work_in_commits_us();
      staging_.settle();
      work_in_commits_us_ += session_.work_in_commits_us() - work_us;
    }
    return;
  }
  if (transaction_.is_lost()) [[unlikely]] {
    write_.end();
    note_undone();
    if (job.can_run()) {
      staging_.redo_alone(job);
    } else {
      staging_.replay_if_lost();  // its answer was made by a wait that was too long
    }
    tally_.note_time();
  }
  job.note_reply();
  staging_.conclude(job);
}

void Executor::end_turn() {
  staging_.settle();
  if (!invariant(staging_.is_empty() && !transaction_.is_open(),
                 "a turn ends with nothing staged, and its transaction is over")) {
    staging_.give_up();
  }
  admission_.forget_retired();
  trail_.end_turn();
  if (const uint64_t requests = tally_.take_turn_requests(); requests > 0) {
    counters_.add(Counter::turns);
    counters_.add(Counter::turn_requests, requests);
    counters_.add(Counter::rows_read, runner_.take_rows_read());
  }
}

}  // namespace rowsocket::exec
