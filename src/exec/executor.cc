// SPDX-License-Identifier: GPL-2.0-only
//
// One request: admit it, run it, answer it. The transaction around the requests is in transaction.cc.
#include "exec/executor.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "exec/admission.h"

namespace rowsocket::exec {
namespace {

using engine::Begin;
using engine::Intent;

Counter kind_of(const Request& request) {
  switch (request.kind) {
    case RequestKind::unknown:
      return Counter::requests_unknown;
    case RequestKind::open_index:
      return Counter::requests_open_index;
    case RequestKind::insert:
      return Counter::requests_insert;
    case RequestKind::authenticate:
      return Counter::requests_authenticate;
    case RequestKind::group:
      return Counter::requests_group;
    case RequestKind::find:
      break;
  }
  switch (request.modification) {
    case Modification::none:
      return Counter::requests_find;
    case Modification::update:
      return Counter::requests_update;
    case Modification::remove:
      return Counter::requests_delete;
    case Modification::increment:
    case Modification::decrement:
      return Counter::requests_increment;
  }
  return Counter::requests_unknown;
}

void add_to_counts(RowCounts& rows, const RowOutcome& outcome) {
  if (outcome.rows_affected > 0) {
    ++(outcome.rows_affected == 1 ? rows.inserted : rows.updated);
  }
}

Error insert(engine::Cursor& cursor, const Request& request, const Protocol& protocol, Buffer& out, size_t column_count,
             RowCounts& rows) {
  const size_t value_count = request.values.size() / request.row_count;
  engine::RowToInsert row{.values = {},
                          .on_duplicate = request.on_duplicate,
                          .set_on_duplicate = request.set_on_duplicate,
                          .add_on_duplicate = request.add_on_duplicate};
  const bool replies_once = request.reply_outcomes && !request.rows_alone;
  if (replies_once) {
    protocol.begin_rows(out, 2);
  }
  for (size_t number = 0; number < request.row_count; ++number) {
    row.values = request.values.subspan(number * value_count, std::min(value_count, column_count));
    RowOutcome outcome{};
    if (Error error = cursor.insert_row(row, outcome); !error.ok()) {
      return error;
    }
    add_to_counts(rows, outcome);
    if (request.reply_outcomes) {
      protocol.append_outcome(out, outcome);
    } else if (outcome.has_id) {
      protocol.reply_number(out, outcome.id);
    } else {
      protocol.reply_ok(out);
    }
  }
  if (replies_once) {
    protocol.end_rows(out);
  }
  return {};
}

/// More values than the index has columns.
bool has_surplus(const Request& request, const engine::Index& index) {
  const size_t value_count =
      request.kind == RequestKind::insert ? request.values.size() / request.row_count : request.new_values.size();
  return value_count > index.column_count();
}

}  // namespace

Executor::Executor(engine::Session& session, Counters& counters, const Policy& policy)
    : session_(session), counters_(counters), policy_(policy) {}

void Executor::begin_turn(uint64_t now_ms) { now_ms_ = now_ms; }

Executed Executor::execute(Client& client, const Request& request, const Protocol& protocol, Buffer& out) {
  met_first_lenience_ = false;
  is_lenient_ = false;
  if (out.failed()) [[unlikely]] {
    return Executed::done;
  }
  if (request.kind == RequestKind::group) {
    return execute_group(client, request, protocol, out);
  }
  const SharedIndex* index = nullptr;
  Error error;
  if (is_put_off(admit(client, request, index, error), client, error)) {
    return Executed::parked;
  }
  const size_t reply_begin = out.size();
  Begin begin = stage_and_run(index, request, protocol, out, error);
  if (begin == Begin::commit_first) {
    unstage();
    settle();
    begin = stage_and_run(index, request, protocol, out, error);
  }
  if (!invariant(begin != Begin::commit_first, "the first request of a transaction is not asked to be that")) {
    out.fail();
    return Executed::done;
  }
  if (is_put_off(begin, client, error)) {
    unstage();
    replay_if_lost();
    return Executed::parked;
  }
  client.parked_since_ms = 0;
  note_lenience(client);
  answer(protocol, out, index != nullptr, error);
  if (!staged_.empty()) {
    staged_.back().outcome = std::move(error);
    return finish(request);
  }
  if (index != nullptr && session_.transaction_lost()) [[unlikely]] {
    error = redo_alone({&protocol, &out, reply_begin, *index, request, std::move(error)});
  }
  if (!error.ok()) {
    counters_.add(counter_of(error.code));
  }
  count(request);
  return Executed::done;
}

/// Run a request on its index, if it has one. Staged before, where its reply may have to be made anew.
Begin Executor::stage_and_run(const SharedIndex*& index, const Request& request, const Protocol& protocol, Buffer& out,
                              Error& error) {
  if (!staged_.empty() || (index != nullptr && request.writes())) {
    if (!stage({&protocol, &out, out.size(), index == nullptr ? nullptr : *index, request})) {
      index = nullptr;
      error = ErrorCode::out_of_memory;
    }
  }
  return index != nullptr ? run(**index, request, protocol, out, error) : Begin::failed;
}

/// True if the request is to be presented again.
bool Executor::is_put_off(Begin begin, Client& client, Error& error) { return begin == Begin::wait && parks(client, error); }

/// The last of the staged requests has its answer.
Executed Executor::finish(const Request& request) {
  if (session_.transaction_lost()) {
    replay_if_lost();
  } else if (transaction_is_full()) {
    settle();
  }
  count(request);
  return Executed::done;
}

void Executor::end_turn() {
  settle();
  if (turn_requests_ > 0) {
    counters_.add(Counter::turns);
    counters_.add(Counter::turn_requests, std::exchange(turn_requests_, 0));
    counters_.add(Counter::rows_read, std::exchange(rows_read_, 0));
  }
}

/// Decide what depends on no transaction. `index` is set where the engine has rows to find or change.
Begin Executor::admit(Client& client, const Request& request, const SharedIndex*& index, Error& error) {
  switch (request.kind) {
    case RequestKind::unknown:
    case RequestKind::group:
      error.code = request.parse_error != ErrorCode::none ? request.parse_error : ErrorCode::unknown_command;
      break;
    case RequestKind::authenticate:
      error.code = authenticate(client, request, policy_);
      break;
    case RequestKind::open_index:
      error.code = check_open_index(client, request, policy_);
      return error.ok() ? open_index(client, request, error) : Begin::failed;
    case RequestKind::find:
    case RequestKind::insert:
      error.code = check_access(client, request);
      return error.ok() ? admit_on_index(client, request, index, error) : Begin::failed;
  }
  return error.ok() ? Begin::ready : Begin::failed;
}

/// `index` is the one that was opened, or the same with the request's own columns. It is good until the client's next request.
Begin Executor::admit_on_index(Client& client, const Request& request, const SharedIndex*& index, Error& error) {
  const bool counts_only = request.reply == FindReply::count && request.modification == Modification::none;
  const SharedIndex* named = &client.index(request.index_id);
  if (request.has_columns || (counts_only && request.kind == RequestKind::find && (*named)->column_count() > 0)) [[unlikely]] {
    const std::string_view columns = request.columns;  // a count without a list of its own needs none
    named = client.index_with_columns(request.index_id, columns);
    if (named == nullptr) {
      try {
        engine::IndexDescription description = client.index(request.index_id)->description();
        description.columns = columns;
        SharedIndex opened;
        if (const Begin begin = session_.open_index(description, opened, error); begin != Begin::ready) {
          return begin;
        }
        named = &client.remember_columns(request.index_id, std::move(opened));
      } catch (...) {
        error = ErrorCode::out_of_memory;
        return Begin::failed;
      }
    }
  }
  error.code = check_against(**named, request);
  if (!error.ok()) {
    return Begin::failed;
  }
  index = named;
  return Begin::ready;
}

/// On a failure the id keeps what it meant before.
Begin Executor::open_index(Client& client, const Request& request, Error& error) {
  try {
    const OpenIndexRequest& open = request.open;
    const engine::IndexDescription description{
        .database = std::string(open.database),
        .table = std::string(open.table),
        .index = std::string(open.index),
        .columns = std::string(open.columns),
        .filter_columns = std::string(open.filter_columns),
        .raw = open.raw,
    };
    std::shared_ptr<engine::Index> index;
    const Begin begin = session_.open_index(description, index, error);
    if (begin == Begin::ready) {
      client.set_index(request.index_id, std::move(index));
    }
    return begin;
  } catch (...) {
    error = ErrorCode::out_of_memory;
    return Begin::failed;
  }
}

Intent Executor::intent_of(const Request& request) {
  if (!request.writes()) {
    return Intent::read;
  }
  return request.changes_one_row() ? Intent::write_one_row : Intent::write;
}

/// One request in the engine. The reply of a success is appended to `out`; a failure leaves nothing there and nothing changed.
Begin Executor::run(engine::Index& index, const Request& request, const Protocol& protocol, Buffer& out, Error& error) {
  RowCounts rows;
  const Begin begin = request.rows_alone ? run_rows_alone(index, request, protocol, out, rows, error)
                                         : run_statement(index, request, protocol, out, rows, error);
  if (begin == Begin::ready) [[likely]] {
    uncommitted_.add_changes(rows);
  }
  return begin;
}

/// One statement of the engine; `rows` is added to where it succeeds.
Begin Executor::run_statement(engine::Index& index, const Request& request, const Protocol& protocol, Buffer& out,
                              RowCounts& rows, Error& error) {
  const size_t reply_begin = out.size();
  const Intent intent = intent_of(request);
  bool under_way = false;
  RowCounts own_rows;
  const size_t reply_bytes_max = reply_bytes_left(out);
  const size_t out_bytes_max = out.bytes_max();
  // A reply that is too large is refused before its memory is taken.
  out.set_bytes_max(std::min(out_bytes_max, reply_begin + reply_bytes_max + limits::reply_slack_bytes));
  try {
    engine::Cursor* cursor = nullptr;
    transaction_open_ = true;  // whatever comes of it: locks that were taken on the way are given back with the turn
    const Begin begin = session_.begin_request(index, intent, cursor, error);
    if (begin != Begin::ready) {
      return begin;
    }
    transaction_writes_ |= intent != Intent::read;
    under_way = true;
    is_lenient_ |= request.is_lenient || has_surplus(request, index);
    error = request.kind == RequestKind::insert
                ? insert(*cursor, request, protocol, out, index.column_count(), own_rows)
                : Walk(*cursor, request, protocol, out, reply_bytes_max, in_keys_, own_rows).run(index.column_count());
    if (error.ok() && out.failed()) [[unlikely]] {
      error = ErrorCode::out_of_memory;
    }
    if (error.ok()) {
      under_way = false;
      error = session_.end_request();
    }
  } catch (...) {
    error = ErrorCode::out_of_memory;
  }
  out.set_bytes_max(out_bytes_max);
  is_lenient_ |= session_.took_lenience();
  rows_read_ += own_rows.read;
  if (error.ok()) [[likely]] {
    rows.add_changes(own_rows);
    return Begin::ready;
  }
  if (under_way) {
    session_.abandon_request();
  }
  out.truncate(reply_begin);
  // A request that did what can not be undone has waited for the row as long as it may; it must not run again.
  return error.reason == Reason::row_locked && !session_.did_lasting_work() ? Begin::wait : Begin::failed;
}

/// True if a request that waits for a lock is to be presented again; else `error` is its answer.
bool Executor::parks(Client& client, Error& error) {
  if (client.parked_since_ms == 0) {
    client.parked_since_ms = std::max<uint64_t>(now_ms_, 1);
    counters_.add(Counter::parked);
  }
  const bool for_row = error.reason == Reason::row_locked;
  const uint64_t timeout_ms = for_row ? session_.row_lock_wait_timeout_ms() : session_.lock_wait_timeout_ms();
  if (now_ms_ - std::min(now_ms_, client.parked_since_ms) < timeout_ms) {
    return true;
  }
  if (!for_row) {
    error = ErrorCode::cannot_lock_table;
  }
  return false;
}

/// The request that was just staged, if it was, is nobody's business before it is presented again.
void Executor::unstage() {
  if (!staged_.empty()) {
    staged_.pop_back();
  }
}

/// Reply to a request that was decided: an error, or the success of one that the engine had no part in (it writes its own
/// replies).
void Executor::answer(const Protocol& protocol, Buffer& out, bool ran, Error& error) {
  if (error.ok()) {
    if (!ran) {
      protocol.reply_ok(out);
    }
    return;
  }
  if (policy_.error_detail && error.detail.empty()) {
    try {
      error.detail = explanation(error.code);
    } catch (...) {
      error.detail.clear();  // the code must do
    }
  }
  protocol.reply_error(out, error, policy_.error_detail);
}

void Executor::note_lenience(Client& client) {
  if (is_lenient_) [[unlikely]] {
    counters_.add(Counter::requests_lenient);
    met_first_lenience_ = client.note_lenience();
  }
}

void Executor::count(const Request& request) {
  ++turn_requests_;
  counters_.add(kind_of(request));
  for (const Request& member : request.members) {
    count(member);
  }
  if (request.kind == RequestKind::find && request.has_in_list) {
    counters_.add(Counter::requests_in_list);
  }
}

}  // namespace rowsocket::exec
