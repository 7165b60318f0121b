// SPDX-License-Identifier: GPL-2.0-only
//
// A session's requests. Its life and its tables are in session.cc, groups and the transaction in
// session_transaction.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <chrono>
#include <utility>

#include "base/invariant.h"
#include "mariadb/diagnostics.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;

Error Session::refuse(Intent intent) const {
  if (intent != Intent::read && options_.intent == Intent::read) {
    return Error(ErrorCode::read_only);
  }
  if (intent != Intent::read && thd_->tx_read_only) {
    return Error(ErrorCode::sql, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, "tx_read_only is on")
        .because(Reason::read_only);
  }
  const bool is_logged = mysql_bin_log.is_open() || galera_.is_open();
  if (intent != Intent::read && is_logged &&
      thd_->wsrep_binlog_format(BINLOG_FORMAT_ROW) == BINLOG_FORMAT_STMT) {
    // As SQL in READ COMMITTED. The server asks the variable anew wherever it undoes a statement.
    return Error(ErrorCode::sql, ER_BINLOG_STMT_MODE_AND_ROW_ENGINE,
                 "wsrep_forced_binlog_format is STATEMENT, and a write is rows");
  }
  return {};
}

Begin Session::begin_request(engine::Selection& selection, const engine::Use& use, engine::Cursor*& cursor,
                             Error& error) {
  if (!trail_.follows()) [[likely]] {
    return begin_any_request(selection, use, cursor, error);
  }
  trail_.begin_locking();
  const Begin begin = begin_any_request(selection, use, cursor, error);
  trail_.end_locking(begin);
  if (begin == Begin::ready) {
    trail_.note_tables(request_.table());
  }
  return begin;
}

Begin Session::begin_any_request(engine::Selection& selection, const engine::Use& use,
                                 engine::Cursor*& cursor, Error& error) {
  if (!invariant(!request_.is_under_way(), "one request is under way at a time")) {
    transaction_.lose();  // which of the two did what is not known
    error = ErrorCode::commit_failed;
    return Begin::failed;
  }
  begin_transaction();
  if (error = rights_.become(selection.description().account); !error.ok()) {
    return Begin::failed;
  }
  LeavesAccount unless_ready(rights_);
  const Begin begin = begin_as_account(selection, use, cursor, error);
  if (begin == Begin::ready) {
    unless_ready.stay();
  }
  return begin == Begin::failed && is_interrupted_by_cluster() ? Begin::wait : begin;
}

/// The THD acts as the selection's account.
Begin Session::begin_as_account(engine::Selection& selection, const engine::Use& use, engine::Cursor*& cursor,
                                Error& error) {
  const Intent intent = use.intent;
  if (error = refuse(intent); !error.ok()) {
    return Begin::failed;
  }
  if (galera_.is_open()) [[unlikely]] {
    if (error = begin_in_cluster(intent); !error.ok()) {
      return Begin::failed;
    }
  }
  if (intent == Intent::read) {
    transaction_.renew_snapshot();
  }
  BoundSelection::Side* side = nullptr;
  if (const Begin begin = join_statement(selection, use, side, error); begin != Begin::ready) {
    return begin;
  }
  side->open->note_use(transaction_.number());
  if (intent == Intent::read) {
    transaction_.note_read();
  }
  if (!request_.begin(*side, intent != Intent::read, selection.description().raw, rights_.statement_us_max()))
      [[unlikely]] {
    transaction_.lose();
    error = ErrorCode::cannot_lock_table;
    return Begin::failed;
  }
  cursor = &request_.cursor();
  if (transaction_.has_removed_entries()) [[unlikely]] {
    request_.cursor().avoid_removed_entries();
  }
  return Begin::ready;
}

/// Requests that are one step each, and reads, share a statement. In engines that lock tables a statement is
/// short.
bool Session::needs_own_statement(const OpenTable& table, Intent intent) const {
  switch (intent) {
    case Intent::read:
      return table.has_table_lock();
    case Intent::write_one_row:
      return !table.changes_rows_atomically() || galera_.is_open();
    case Intent::write:
      return true;
  }
  return true;
}

/// The selection's table is open and locked, in a statement that the request may be part of.
Begin Session::join_statement(const engine::Selection& selection, const engine::Use& use,
                              BoundSelection::Side*& side, Error& error) {
  const Intent intent = use.intent;
  Statement& statement = transaction_.statement();
  const bool in_group = transaction_.in_group_of_one_statement();
  if (!in_group && intent == Intent::write) {
    transaction_.end_shared_statement();
  }
  Begin begin = make_ready(selection, use, side, error);
  if (begin == Begin::ready && !in_group) {
    const bool own = needs_own_statement(*side->open, intent);
    const bool keeps_values = side->open->keeps_values_of_statement();
    if ((own || keeps_values) && statement.is_open() && !statement.is_unused()) {
      transaction_.end_shared_statement();  // which closes what was opened in it
      begin = make_ready(selection, use, side, error);
    }
    if (begin == Begin::ready) {
      if (!statement.is_open()) {
        statement.begin(own ? Statement::Kind::own : Statement::Kind::shared);
      } else if (own) {
        statement.become_own();
      }
    }
  }
  if (begin == Begin::ready) {
    begin = lock(side->open, use, error);
  }
  if (begin != Begin::ready && ends_own_statement()) {
    statement.rollback();  // nothing was done in it
  }
  return begin;
}

/// The statement is of the request alone, and ends with it.
bool Session::ends_own_statement() {
  return !transaction_.in_group_of_one_statement() && transaction_.statement().kind() == Statement::Kind::own;
}

Begin Session::lock(const std::shared_ptr<OpenTable>& table, const engine::Use& use, Error& error) {
  if (const Begin begin = transaction_.admit(*table, use, error); begin != Begin::ready) {
    return begin;
  }
  const bool writes = use.intent != Intent::read;
  if (writes) {
    if (const Begin begin = prepare_write(*table, error); begin != Begin::ready) {
      return begin;
    }
  }
  if (writes || table->reads_clock()) {
    transaction_.statement().begin_request(*table);
  }
  thd_->variables.lock_wait_timeout = patience_.for_tables_s(goes_on_);
  switch (transaction_.statement().use(table, error)) {
    case Opening::ready:
      break;
    case Opening::wait:
      return Begin::wait;
    case Opening::own_statement:
    case Opening::new_partition:
    case Opening::failed:
      if (thread_.take_log_refusal()) [[unlikely]] {
        transaction_.lose();  // events of the requests before it, in another table
      }
      return Begin::failed;
  }
  if (writes) {
    transaction_.note_write(*table);
    transaction_.note_engines();  // at once: the first request of a transaction may lose it
    if (table->does_lasting_work()) {
      // The statement's end writes to the binlog, and waits for a backup that blocks commits.
      thd_->variables.lock_wait_timeout = global_system_variables.lock_wait_timeout;
      thread_.row_waits().may_give_way(false);
    }
  }
  return Begin::ready;
}

/// Before the table is locked for a change.
Begin Session::prepare_write(const OpenTable& table, Error& error) {
  const auto now = std::chrono::steady_clock::now();
  const bool others_wait = options_.others_wait_for_rows && can_be_patient();
  transaction_.begin_write(now);
  const auto patience = patience_.for_rows(goes_on_ || table.does_lasting_work(), others_wait, now);
  RowWaits& row_waits = thread_.row_waits();
  const bool waits_for_rest = patience == RowPatience::rest;
  row_waits.set_patience(patience, waits_for_rest ? patience_.left_s(row_waits.timeout_s()) : 0);
  if (table.does_lasting_work()) {
    if (const Begin begin = transaction_.protect_commit(patience_.for_tables_s(goes_on_), error);
        begin != Begin::ready) {
      return begin;
    }
  }
  if (!table.is_kept()) {
    return Begin::ready;  // its opening took the protection
  }
  return transaction_.protect_from_backup(table, patience_.for_tables_s(goes_on_), error);
}

Error Session::end_request() {
  if (!request_.is_under_way()) {
    return {};
  }
  leave_account();
  if (request_.may_have_removed_entries()) [[unlikely]] {
    transaction_.note_removed_entries();
  }
  request_.end(galera_.is_open());
  if (!ends_own_statement()) {
    return {};
  }
  Error error = transaction_.end_own_statement(galera_);
  if (settle_log_refusal() && error.ok()) [[unlikely]] {
    error = Error(ErrorCode::sql, ER_TRANS_CACHE_FULL, "the binlog's cache is full, and a trigger went on");
  }
  thread_.forget_what_code_left(galera_.is_open());
  return error;
}

/// `request_` is still under way.
void Session::leave_account() {
  thread_.user_statistics().count_for_account(request_.table().table()->file, rights_.client_host());
  rights_.leave();
}

/// A request, or group, has failed or ended. True if the binlog did not take all of it.
bool Session::settle_log_refusal() {
  const bool is_refused = thread_.take_log_refusal();
  if (is_refused) [[unlikely]] {
    transaction_.note_log_refusal(galera_);
  }
  return is_refused;
}

void Session::abandon_request() {
  if (!request_.is_under_way()) {
    return;
  }
  leave_account();
  const bool has_changed = request_.abandon(galera_.is_open());
  if (ends_own_statement()) {
    transaction_.undo_statement(galera_);
    thread_.forget_what_code_left(galera_.is_open());
  } else if (has_changed && !transaction_.in_group_of_one_statement()) {
    transaction_.lose();  // the other requests of the statement are not to be undone
  }
  settle_log_refusal();
  if (transaction_.was_undone_by_server() || galera_.has_too_many_rows()) {
    transaction_.lose();  // alone, each may have few enough
  }
  if (request_.cursor().found_row_locked()) {
    patience_.note_row_kept(thread_.row_waits().patience());
  }
}

}  // namespace rowsocket::mariadb
