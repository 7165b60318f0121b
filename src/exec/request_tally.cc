// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_tally.h"

#include <algorithm>
#include <optional>

#include "exec/staging.h"
#include "exec/table_ledger.h"

namespace rowsocket::exec {
namespace {

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

/// Of a request for a table.
Work work_of(const Request& request) {
  if (request.kind == RequestKind::insert) {
    return Work::insert;
  }
  switch (static_cast<const Find&>(request).change.kind) {
    case Change::Kind::none:
      return Work::find;
    case Change::Kind::assign:
      return is_increment(static_cast<const Find&>(request).change) ? Work::increment : Work::update;
    case Change::Kind::remove:
      return Work::remove;
  }
  return Work::find;
}

/// What a request that failed had told and changed was undone.
Done done_of(const Request& request, const RowCounts& rows, ErrorCode error) {
  const bool is_done = error == ErrorCode::none;
  return {.work = work_of(request),
          .error = error,
          .rows_examined = rows.read,
          .rows_sent = is_done ? rows.told : 0,
          .rows_changed = is_done ? rows.changed() : 0};
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

void RequestTally::add(const Job& job) {
  add_request(*job.request);
  job.client->requests_answered += 1;
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

void RequestTally::add_request(const Request& request) {
  ++turn_requests_;
  if (const std::optional<Counter> counter = counter_of_kind(request); counter.has_value()) {
    counters_.add(*counter);
  }
  if (request.kind == RequestKind::group) {
    for (const Request* member : static_cast<const Group&>(request).members) {
      add_request(*member);
    }
  } else if (request.kind == RequestKind::find && static_cast<const Find&>(request).list.is_given) {
    counters_.add(Counter::requests_in_list);
  }
}

}  // namespace rowsocket::exec
