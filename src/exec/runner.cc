// SPDX-License-Identifier: GPL-2.0-only
#include "exec/runner.h"

#include <algorithm>

#include "base/limits.h"
#include "exec/demand.h"
#include "exec/insertion.h"

namespace rowsocket::exec {
namespace {

using engine::Begin;
using engine::Intent;

Intent intent_of(const Request& request) {
  if (!writes(request)) {
    return Intent::read;
  }
  return changes_one_row(request) ? Intent::write_one_row : Intent::write;
}

bool has_rows_alone(const Request& request) {
  return request.kind == RequestKind::insert && static_cast<const Insert&>(request).rows_alone;
}

/// More values than the selection has columns.
bool has_surplus(const Request& request, const engine::Selection& selection) {
  if (request.kind == RequestKind::insert) {
    const auto& insert = static_cast<const Insert&>(request);
    return insert.values.size() / insert.row_count > selection.column_count();
  }
  const auto& assignments = static_cast<const Find&>(request).change.assignments;
  return std::any_of(assignments.begin(), assignments.end(),
                     [&selection](const Assignment& one) { return one.column >= selection.column_count(); });
}

void tell_failures(Reply& reply, size_t row_count, ErrorCode reason) {
  RowOutcome outcome{};
  outcome.error = reason;
  for (size_t told = 0; told < row_count; ++told) {
    reply.inserted(outcome);
  }
}

}  // namespace

Begin Runner::run(engine::Selection& selection, const Request& request, RowCounts& rows, Error& error) {
  const Begin begin = run_any(selection, request, rows, error);
  if (begin == Begin::ready) [[likely]] {
    transaction_.add(rows);
  }
  return begin;
}

Begin Runner::run_any(engine::Selection& selection, const Request& request, RowCounts& rows, Error& error) {
  return has_rows_alone(request) ? run_rows_alone(selection, static_cast<const Insert&>(request), rows, error)
                                 : run_whole(selection, request, rows, error);
}

/// A request that is one statement of the engine.
Begin Runner::run_whole(engine::Selection& selection, const Request& request, RowCounts& rows, Error& error) {
  const size_t reply_bytes_max = reply_bytes_left(request.reply->out());
  return run_statement(selection, request, rows, error, [&](engine::Cursor& cursor, RowCounts& own_rows) {
    if (request.kind == RequestKind::insert) {
      const auto& insert = static_cast<const Insert&>(request);
      error = Insertion(cursor, insert, selection.column_count(), bounds_, own_rows).run(reply_bytes_max);
      bounds_.add_rows(insert.row_count);
    } else {
      Walk(cursor, static_cast<const Find&>(request), reply_bytes_max, bounds_, scratch_, own_rows, error)
          .run(selection.column_count());
    }
  });
}

/// One statement of the engine: `run_on` sets `error` where it fails. What it told and changed is added to
/// `rows` where it succeeds.
template <typename RunOn>
Begin Runner::run_statement(engine::Selection& selection, const Request& request, RowCounts& rows,
                            Error& error, const RunOn& run_on) {
  Buffer& out = request.reply->out();
  const size_t reply_begin = out.size();
  const size_t out_bytes_max = out.bytes_max();
  const Intent intent = intent_of(request);
  bool is_under_way = false;
  RowCounts own_rows;
  // A reply that is too large is refused before its memory is taken.
  out.set_bytes_max(std::min(out_bytes_max, reply_begin + reply_bytes_left(out) + limits::reply_slack_bytes));
  try {
    engine::Cursor* cursor = nullptr;
    transaction_.note_request();
    engine::Use use(intent, demand_of(request));
    use.is_further_row = is_further_row_;
    const Begin begin = session_.begin_request(selection, use, cursor, error);
    if (begin != Begin::ready) {
      out.set_bytes_max(out_bytes_max);
      return begin;
    }
    is_under_way = true;
    if (intent != Intent::read) {
      transaction_.note_write();
    }
    is_lenient_ |= request.is_lenient || has_surplus(request, selection);
    run_on(*cursor, own_rows);
    if (error.ok() && out.failed()) [[unlikely]] {
      error = ErrorCode::out_of_memory;
    }
    if (error.ok()) {
      is_under_way = false;
      error = session_.end_request();
    }
  } catch (...) {
    error = ErrorCode::out_of_memory;
  }
  out.set_bytes_max(out_bytes_max);
  is_lenient_ |= session_.took_lenience();
  rows_read_ += own_rows.read;
  bounds_.add_rows(own_rows.read);
  if (error.ok()) [[likely]] {
    rows.add_all(own_rows);
    return Begin::ready;
  }
  rows.read += own_rows.read;
  if (is_under_way) {
    session_.abandon_request();
  }
  out.truncate(reply_begin);
  if (bounds_.is_given_up()) {
    error.reason = Reason::no_thread;
  }
  // A request that did what can not be undone has waited for the row as long as it may; it must not run
  // again.
  const bool waits = error.reason == Reason::row_locked || error.reason == Reason::no_thread;
  return waits && transaction_.may_run_again() ? Begin::wait : Begin::failed;
}

/// An insert in which each row is a statement of its own. Where the request has to end, the rows that are
/// left have failed.
Begin Runner::run_rows_alone(engine::Selection& selection, const Insert& insert, RowCounts& rows,
                             Error& error) {
  Reply& reply = *insert.reply;
  const size_t reply_begin = reply.out().size();
  RowCounts own_rows;
  Begin begin = Begin::ready;
  bounds_.let_be_given_up(false);  // some of its rows may be committed already
  has_lone_rows_ = true;
  reply.begin_outcomes();
  for (size_t number = 0; begin == Begin::ready && number < insert.row_count; ++number) {
    const ErrorCode reason_to_end = number > 0 ? bounds_.reason_to_end(1) : ErrorCode::none;
    if (reason_to_end != ErrorCode::none) {
      tell_failures(reply, insert.row_count - number, reason_to_end);
      break;
    }
    begin = run_next_row(selection, insert, number, own_rows, error);
  }
  if (begin != Begin::ready) {
    rows.read += own_rows.read;
    reply.out().truncate(reply_begin);
    return begin;
  }
  reply.end_outcomes();
  rows.add_all(own_rows);
  return Begin::ready;
}

/// `ready`: the row's outcome is told, be it an error; anything else is about the whole insert. A row that
/// waits for a lock makes all of them wait: those before it are undone with the transaction, so that the
/// request can be presented again. Where they can not be undone, they are committed, and the row waits in
/// place: the session that has the lock may itself wait for what the transaction held, as ALTER TABLE does.
/// From there on each row is committed for itself, so that a transaction that is lost takes no other row with
/// it.
Begin Runner::run_next_row(engine::Selection& selection, const Insert& insert, size_t number, RowCounts& rows,
                           Error& error) {
  RowOutcome outcome{};
  RowCounts own_rows;
  Begin begin = transaction_.goes_on() ? run_row_and_commit(selection, insert, number, own_rows, outcome)
                                       : run_row_alone(selection, insert, number, own_rows, outcome);
  const bool is_alone = insert.row_count == 1 || transaction_.goes_on();
  if (!is_alone && ends_with_row(begin, outcome) && !commit_row(outcome)) {
    own_rows = own_rows.undone();
    begin = Begin::failed;
  }
  rows.add_all(own_rows);
  const bool stays = number > 0 && !transaction_.may_run_again();
  if (begin == Begin::wait && stays && !transaction_.goes_on()) {
    if (error = transaction_.commit_and_go_on(); !error.ok()) {
      return Begin::failed;
    }
    begin = run_row_and_commit(selection, insert, number, rows, outcome);
  }
  bounds_.add_rows(1);
  const bool is_put_off = begin != Begin::ready && begin != Begin::failed && !stays;
  if (is_put_off && !in_group_ && rows.changed() > 0) {
    session_.lose_transaction();
  }
  if (is_put_off || transaction_.is_lost()) {
    parts_rows_ = session_.is_lost_by_failure() && outcome.error.reason != Reason::conflict && !in_group_;
    error = std::move(outcome.error);
    return begin == Begin::ready ? Begin::failed : begin;
  }
  if (begin != Begin::ready && outcome.error.ok()) {
    outcome.error = ErrorCode::cannot_lock_table;
  }
  if (outcome.error.reason == Reason::unknown_outcome) [[unlikely]] {
    insert.reply->out().give_up();  // that there is no row would be as wrong as that there is
  }
  insert.reply->inserted(outcome);
  return Begin::ready;
}

/// A row has run in the transaction of those before it. It has to be committed for itself, or has lost
/// nothing but itself. (What lost the transaction to others may succeed when all of it runs again.)
bool Runner::ends_with_row(Begin begin, const RowOutcome& outcome) const {
  if (in_group_ || (begin != Begin::ready && begin != Begin::failed)) {
    return false;
  }
  return session_.commits_each_row() ||
         (parts_rows_ && !(transaction_.is_lost() && outcome.error.reason == Reason::conflict));
}

/// False if that failed, or the row had: then the outcome says why.
bool Runner::commit_row(RowOutcome& outcome) {
  Error error = transaction_.commit_and_go_on();
  if (error.ok()) {
    return true;
  }
  if (outcome.error.ok()) {
    outcome = {.error = std::move(error), .rows_affected = 0, .has_id = false, .id = 0};
  }
  return false;
}

/// Never with an error that is about other rows, too. The session that has the lock may come to wait for what
/// is taken on the way to the lock: ALTER TABLE can have the table's lock, and come to the metadata lock
/// later. So all of it is given back from time to time.
Begin Runner::run_row_and_commit(engine::Selection& selection, const Insert& insert, size_t number,
                                 RowCounts& rows, RowOutcome& outcome) {
  const uint64_t patience_ms = session_.lock_wait_timeout_ms();
  for (uint64_t waited_ms = 0;; waited_ms += limits::table_wait_ms) {
    RowCounts own_rows;
    outcome = {};
    const Begin begin = run_row_alone(selection, insert, number, own_rows, outcome);
    if (!commit_row(outcome)) {
      rows.add_all(own_rows.undone());
      return Begin::failed;
    }
    if (begin != Begin::wait || waited_ms >= patience_ms || !may_wait_on()) {
      rows.add_all(own_rows);
      return begin;
    }
  }
}

bool Runner::may_wait_on() {
  return bounds_.reason_to_end(1) == ErrorCode::none && session_.interruption() == engine::Interruption::none;
}

/// The outcome is told when the row's statement has ended, since that may fail too.
Begin Runner::run_row_alone(engine::Selection& selection, const Insert& insert, size_t number,
                            RowCounts& rows, RowOutcome& outcome) {
  Error error;
  is_further_row_ = number > 0;
  const Begin begin =
      run_statement(selection, insert, rows, error, [&](engine::Cursor& cursor, RowCounts& own_rows) {
        error =
            Insertion(cursor, insert, selection.column_count(), bounds_, own_rows).run_row(number, outcome);
      });
  is_further_row_ = false;
  if (begin != Begin::ready) {
    outcome = {.error = std::move(error), .rows_affected = 0, .has_id = false, .id = 0};
  }
  return begin;
}

/// How large the next reply may be.
size_t Runner::reply_bytes_left(const Buffer& out) const {
  const size_t replied_bytes = in_group_ ? out.size() - group_reply_begin_ : 0;
  return reply_bytes_max_ - std::min(replied_bytes, reply_bytes_max_);
}

// ---- groups: requests of one connection that commit together or not at all. Whether they are successes is
// known only when the last member has run.

Begin Runner::run_group(const Group& group, std::span<engine::Selection* const> selections,
                        std::span<RowCounts> rows, size_t& failed_member, Error& error) {
  Buffer& out = group.reply->out();
  const size_t reply_begin = out.size();
  if (const Begin begin = begin_group(group, selections, failed_member, error); begin != Begin::ready) {
    return begin;
  }
  Begin begin = run_members(group, selections, rows, failed_member, error);
  if (begin == Begin::ready) {
    begin = tell_group_end(group, failed_member, error);
  }
  if (begin != Begin::ready) {
    session_.abandon_group();
    out.truncate(reply_begin);
    return begin;
  }
  if (error = session_.end_group(); !error.ok()) {
    failed_member = Reply::every_member;
    if (group.wants_gtid) {
      transaction_.forget_last_gtid_place();
    }
    out.truncate(reply_begin);
    return Begin::failed;
  }
  for (const RowCounts& of_member : rows) {
    transaction_.add(of_member);
  }
  return Begin::ready;
}

/// The engine learns of all members before the first one runs: what must wait, waits before anything is done.
Begin Runner::begin_group(const Group& group, std::span<engine::Selection* const> selections,
                          size_t& failed_member, Error& error) {
  transaction_.note_request();
  failed_member = Reply::group_itself;
  try {
    members_.clear();
    for (size_t number = 0; number < selections.size(); ++number) {
      const Request& member = *group.members[number];
      members_.push_back(
          {selections[number], {intent_of(member), demand_of(member)}, has_rows_alone(member)});
    }
    return session_.begin_group(members_, failed_member, error);
  } catch (...) {
    error = ErrorCode::out_of_memory;
    return Begin::failed;
  }
}

/// The bounds ended a group between two of its members.
Begin Runner::begin_of_end(Error& error) const {
  if (!bounds_.is_given_up()) {
    return Begin::failed;
  }
  error.reason = Reason::no_thread;
  return Begin::wait;
}

Begin Runner::run_members(const Group& group, std::span<engine::Selection* const> selections,
                          std::span<RowCounts> rows, size_t& failed_member, Error& error) {
  in_group_ = true;
  group_reply_begin_ = group.reply->out().size();
  group.reply->group_begins();
  Begin begin = Begin::ready;
  for (size_t number = 0; begin == Begin::ready && number < selections.size(); ++number) {
    const Request& member = *group.members[number];
    failed_member = number;
    const bool is_behind_write = number > 0 && writes(*group.members[number - 1]);
    if (is_behind_write || bounds_.is_due() ||
        number % limits::rows_per_question == limits::rows_per_question - 1) {
      error = bounds_.reason_to_end(0);  // members of one row ask nothing themselves
    }
    begin = error.ok() ? run_any(*selections[number], member, rows[number], error) : begin_of_end(error);
    if (begin == Begin::ready && group.must_change && writes(member) && rows[number].changed() == 0) {
      error = ErrorCode::nothing_changed;
      begin = Begin::failed;
    }
  }
  in_group_ = false;
  return begin;
}

/// What the reply says of the commit is written behind this, when the commit is known.
Begin Runner::tell_group_end(const Group& group, size_t& failed_member, Error& error) {
  group.reply->group_ends();
  if (!group.wants_gtid) {
    return Begin::ready;
  }
  try {
    transaction_.remember_gtid_place(*group.reply);
    return Begin::ready;
  } catch (...) {
    error = ErrorCode::out_of_memory;
    failed_member = Reply::group_itself;
    return Begin::failed;
  }
}

}  // namespace rowsocket::exec
