// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_tally.h"

#include <algorithm>
#include <optional>

#include "exec/request_words.h"
#include "exec/staging.h"
#include "exec/table_ledger.h"

namespace rowsocket::exec {
namespace {

Counter counter_of(Work work) {
  switch (work) {
    case Work::find:
      return Counter::requests_find;
    case Work::insert:
      return Counter::requests_insert;
    case Work::update:
      return Counter::requests_update;
    case Work::remove:
      return Counter::requests_delete;
    case Work::increment:
      return Counter::requests_increment;
  }
  return Counter::requests_find;
}

Done done_of(const Request& request, const RowCounts& counted, ErrorCode error) {
  const RowCounts rows = error == ErrorCode::none ? counted : counted.undone();
  return {.work = work_of(request),
          .error = error,
          .rows_examined = rows.read,
          .rows_sent = rows.told,
          .rows_changed = rows.changed()};
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
    case RequestKind::insert:
      return counter_of(work_of(request));
    case RequestKind::group:
      return Counter::requests_group;
    case RequestKind::authenticate:
      return Counter::requests_authenticate;
  }
  return std::nullopt;
}

}  // namespace

void RequestTally::add(const Job& job) {
  add_request(*job.request, job.outcome.ok());
  job.client->requests_answered += 1;
  if (job.was_lenient) [[unlikely]] {
    counters_.add(Counter::requests_lenient);
  }
  if (!job.outcome.ok()) {
    counters_.add(counter_of(job.outcome.code));
  }
  if (is_kept_) [[likely]] {
    enter(job);
  }
}

// ---- by table

void RequestTally::enter(const Job& job) {
  const TimeTaken time = is_timed_ ? time_of(job) : TimeTaken{};
  if (job.asked_for != nullptr) [[likely]] {
    ledger_->add(*job.asked_for, done_of(*job.request, job.rows, job.outcome.code), time);
  } else if (job.request->kind == RequestKind::group) {
    enter_group(job, time);
  }
}

TimeTaken RequestTally::time_of(const Job& job) const {
  const uint64_t waited_ms =
      job.parked_since_ms == 0 ? 0 : turn_began_ms_ - std::min(turn_began_ms_, job.parked_since_ms);
  return {.is_known = true,
          .ticks = noted_ticks_ - std::min(noted_ticks_, job.began_ticks),
          .waited_ns = waited_ms * 1'000'000};
}

/// Each member took as long as the group: it has its answer when the group has.
void RequestTally::enter_group(const Job& job, const TimeTaken& time) {
  const auto& members = static_cast<const Group&>(*job.request).members;
  for (size_t number = 0; number < job.member_selections.size(); ++number) {
    ErrorCode error = job.outcome.code;
    if (error != ErrorCode::none && job.failed_member != number && job.failed_member != Reply::every_member) {
      error = ErrorCode::undone_with_group;
    }
    ledger_->add(*job.member_selections[number], done_of(*members[number], job.member_rows[number], error),
                 time);
  }
}

// ---- by kind

void RequestTally::add_request(const Request& request, bool is_done) {
  ++turn_requests_;
  if (is_done && request.reply->counts()) {
    request.reply->count();
  }
  if (const std::optional<Counter> counter = counter_of_kind(request); counter.has_value()) {
    counters_.add(*counter);
  }
  if (request.kind == RequestKind::group) {
    for (const Request* member : static_cast<const Group&>(request).members) {
      add_request(*member, is_done);
    }
  } else if (request.kind == RequestKind::find && static_cast<const Find&>(request).list.is_given) {
    counters_.add(Counter::requests_in_list);
  }
}

}  // namespace rowsocket::exec
