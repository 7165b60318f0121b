// SPDX-License-Identifier: GPL-2.0-only
#include "exec/request_tally.h"

#include <algorithm>
#include <optional>

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

void RequestTally::add(const Request& request, const Error& outcome) {
  add_request(request);
  if (!outcome.ok()) {
    counters_.add(counter_of(outcome.code));
  }
}

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
