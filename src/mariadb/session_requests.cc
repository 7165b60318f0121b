// SPDX-License-Identifier: GPL-2.0-only
//
// A session's requests. Its life and its tables are in session.cc, groups and the transaction in
// session_transaction.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;

// ---- requests

/// How long opening and locking a table waits, in seconds: not at all, but for one that was told to be
/// patient, for one that can not be run again and, for a while, for a transaction that the cluster aborted.
/// It holds nothing, and mostly it was aborted for the table's DDL, which holds up writes on the whole
/// cluster.
ulong Session::lock_patience_s() const {
  const ulong timeout_s = global_system_variables.lock_wait_timeout;
  return is_patient_ || does_lasting_work_ ? timeout_s
         : replays_in_cluster_             ? std::min<ulong>(timeout_s, limits::cluster_replay_patience_s)
                                           : 0;
}

Error Session::refuse(Intent intent) const {
  if (intent != Intent::read && options_.intent == Intent::read) {
    return Error(ErrorCode::read_only);
  }
  if (intent != Intent::read && thd_->tx_read_only) {
    return Error(ErrorCode::sql, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, "tx_read_only is on");
  }
  return {};
}

Begin Session::begin_request(engine::Selection& selection, Intent intent, engine::Cursor*& cursor,
                             Error& error) {
  begin_transaction();
  if (error = refuse(intent); !error.ok()) {
    return Begin::failed;
  }
  if (galera_.is_open()) [[unlikely]] {
    if (error = begin_in_cluster(intent); !error.ok()) {
      return Begin::failed;
    }
  }
  if (intent == Intent::read) {
    renew_snapshot();
  }
  BoundSelection::Side* side = nullptr;
  if (const Begin begin = join_statement(selection, intent, side, error); begin != Begin::ready) {
    return begin;
  }
  OpenTable& table = *side->open;
  table.note_use(transaction_);
  has_snapshot_ = has_snapshot_ || intent == Intent::read;
  request_table_ = &side->open;
  request_changes_ = intent != Intent::read;
  rows_changed_before_ = table.table()->file->rows_changed;
  if (table.needs_own_statement()) {
    thread_.note_other_code();
  }
  thd_->get_stmt_da()->reset_current_row_for_warning(1);
  thd_->set_query_timer();
  thread_.limit_memory(true);
  cursor_.begin(thd_, table, side->binding, selection.description().raw);
  cursor = &cursor_;
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
Begin Session::join_statement(const engine::Selection& selection, Intent intent, BoundSelection::Side*& side,
                              Error& error) {
  if (group_ != Group::one_statement && intent == Intent::write) {
    end_shared_statement();
  }
  Begin begin = make_ready(selection, intent, side, error);
  if (begin == Begin::ready && group_ != Group::one_statement) {
    const bool own = needs_own_statement(*side->open, intent);
    if (own && statement_.is_open() && !statement_.is_unused()) {
      end_shared_statement();  // which closes what was opened in it
      begin = make_ready(selection, intent, side, error);
    }
    if (begin == Begin::ready) {
      if (!statement_.is_open()) {
        statement_.begin(own ? Statement::Kind::own : Statement::Kind::shared);
      } else if (own) {
        statement_.become_own();
      }
    }
  }
  if (begin == Begin::ready) {
    begin = lock(side->open, intent, error);
  }
  if (begin != Begin::ready && group_ != Group::one_statement && statement_.kind() == Statement::Kind::own) {
    statement_.rollback();  // nothing was done in it
  }
  return begin;
}

Begin Session::lock(const std::shared_ptr<OpenTable>& table, Intent intent, Error& error) {
  if (group_ == Group::none && parts_two_phases(*table, intent)) {
    return Begin::commit_first;
  }
  if (group_ == Group::own_transaction && table->rules_out_two_phases()) {
    error = no_transactions_error();
    return Begin::failed;
  }
  if (intent != Intent::read) {
    if (table->does_lasting_work()) {
      if (group_ != Group::none) {
        error = no_transactions_error();
        return Begin::failed;
      }
      if (has_written_ && !does_lasting_work_) {
        return Begin::commit_first;
      }
    }
    last_write_at_ = std::chrono::steady_clock::now();
    using RowPatience = ServerThread::RowPatience;
    thread_.wait_for_rows(is_patient_ || table->does_lasting_work() ? RowPatience::full
                          : last_write_at_ >= impatient_until_      ? RowPatience::second
                                                                    : RowPatience::none);
    thd_->set_time();  // each request has its own CURRENT_TIMESTAMP
    if (table->is_kept()) {
      if (const Begin begin = protect_from_backup(*table, error); begin != Begin::ready) {
        return begin;
      }
    }
  }
  be_patient_with(*table);
  switch (statement_.use(table, error)) {
    case Opening::ready:
      break;
    case Opening::wait:
      return Begin::wait;
    case Opening::own_statement:
    case Opening::new_partition:
    case Opening::failed:
      return Begin::failed;
  }
  if (intent != Intent::read) {
    note_write(*table);
  }
  return Begin::ready;
}

/// True if the transaction has a table from which two phases are ruled out, or would have, beside changes of
/// another.
bool Session::parts_two_phases(const OpenTable& table, Intent intent) const {
  if (table.rules_out_two_phases()) {
    return has_written_ && !does_lasting_work_ && !thd_->transaction->all.no_2pc;
  }
  return intent != Intent::read && thd_->transaction->all.no_2pc;
}

/// What `open_table` takes for a table that is opened for writing; ours may have been open before. It is kept
/// to the end of the transaction, so that no commit of ours waits behind a FLUSH TABLES WITH READ LOCK.
Begin Session::protect_from_backup(const OpenTable& table, Error& error) {
  const TABLE_SHARE* const share = table.table()->s;
  bool& has_protection = has_backup_protection_[share->online_backup ? 1 : 0];
  if (has_protection) {
    return Begin::ready;
  }
  MDL_request request;
  MDL_REQUEST_INIT(&request, MDL_key::BACKUP, "", "",
                   share->online_backup ? MDL_BACKUP_TRANS_DML : MDL_BACKUP_DML, MDL_STATEMENT);
  const ulong patience_s = lock_patience_s();
  const bool failed = patience_s > 0
                          ? thd_->mdl_context.acquire_lock(&request, static_cast<double>(patience_s))
                          : thd_->mdl_context.try_acquire_lock(&request);
  if (failed) {
    const bool conflict = is_lock_conflict(thd_);
    error = take_server_error(thd_, ErrorCode::cannot_lock_table);
    return conflict ? Begin::wait : Begin::failed;
  }
  has_protection = request.ticket != nullptr;
  return has_protection ? Begin::ready : Begin::wait;
}

/// Row locks are held from the first write on. What a write finds may be newer than the snapshot.
void Session::note_write(const OpenTable& table) {
  if (table.does_lasting_work()) {
    does_lasting_work_ = true;
    // For who blocks commits: the statement's end writes to the binlog.
    thd_->variables.lock_wait_timeout = lock_patience_s();
  }
  snapshot_is_old_ = has_snapshot_;
  if (!has_written_) {
    has_written_ = true;
    first_write_at_ = last_write_at_;
  }
}

/// From here on nothing of the request is a matter of max_statement_time, of max_session_mem_used, or of a
/// KILL QUERY that came while it ran.
void Session::end_limits() {
  thd_->reset_query_timer();
  thread_.limit_memory(false);
  const bool was_killed = thd_->killed == KILL_QUERY || thd_->killed == KILL_QUERY_HARD;
  if (thd_->killed == KILL_TIMEOUT || took_too_much_memory(thd_) || (was_killed && !galera_.is_open())) {
    thd_->reset_kill_query();
  }
}

Error Session::end_request() {
  if (request_table_ == nullptr) {
    return {};
  }
  end_limits();
  if (request_changes_) {
    cursor_.end_changes();
    (*request_table_)->deactivate();
    engines_joined_ = engines_joined_ || thd_->transaction->all.ha_list != nullptr;
  }
  request_table_ = nullptr;
  if (group_ != Group::one_statement && statement_.kind() == Statement::Kind::own) {
    Error error = statement_.commit();
    thread_.forget_what_code_left(galera_.is_open());
    return error;
  }
  return {};
}

void Session::abandon_request() {
  if (request_table_ == nullptr) {
    return;
  }
  end_limits();
  OpenTable& table = **request_table_;
  if (request_changes_) {
    cursor_.end_changes();
  }
  table.deactivate();
  const bool changed = request_changes_ && table.table()->file->rows_changed != rows_changed_before_;
  request_table_ = nullptr;
  clear_diagnostics(thd_);
  if (group_ != Group::one_statement) {
    if (statement_.kind() == Statement::Kind::own) {
      undo_statement();
      thread_.forget_what_code_left(galera_.is_open());
    } else if (changed) {
      is_lost_ = true;  // the others of the statement are not to be undone
    }
  }
  if (engines_joined_ && thd_->transaction->all.ha_list == nullptr) {
    is_lost_ = true;  // the server rolled back all of it, within the call that failed (wsrep_max_ws_rows)
  }
  if (cursor_.found_row_locked() && thread_.row_patience() == ServerThread::RowPatience::second) {
    // Somebody keeps a row for long. Who else wants it polls for a while, instead of holding up everybody for
    // a second each.
    impatient_until_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(limits::impatience_ms);
  }
}

/// Undo what a statement of its own did. Where the server can not (see Galera), the transaction goes with it.
void Session::undo_statement() {
  const bool is_undone = galera_.takes_back_statements() || !statement_.has_row_events();
  statement_.rollback();
  if (!is_undone) [[unlikely]] {
    is_lost_ = true;
  }
}

/// Nothing continues it. If that fails, the failure is nobody's in particular: each request must run in its
/// own transaction.
void Session::end_shared_statement() {
  if (statement_.is_open()) {
    is_lost_ |= !statement_.commit().ok();
  }
  has_snapshot_ = snapshot_is_old_ = false;
}

/// Before a read: the statement, and with it the snapshot that is too old for it, ends. In a group all reads
/// have the same one.
void Session::renew_snapshot() {
  if (snapshot_is_old_ && group_ == Group::none) {
    end_shared_statement();
  }
}

}  // namespace rowsocket::mariadb
