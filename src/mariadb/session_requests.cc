// SPDX-License-Identifier: GPL-2.0-only
//
// A session's requests and the transaction around them. Its life and its tables are in session.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstdio>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;

namespace {

constexpr std::chrono::seconds impatience(5);

/// A session of SQL takes the global settings over when it begins. Ours begins with the server, so each transaction does.
void follow_global_settings(system_variables& own) {
  constexpr ulonglong checks = OPTION_NO_FOREIGN_KEY_CHECKS | OPTION_RELAXED_UNIQUE_CHECKS | OPTION_NO_CHECK_CONSTRAINT_CHECKS;
  const system_variables& global = global_system_variables;
  own.time_zone = global.time_zone;
  own.sql_mode = global.sql_mode | MODE_STRICT_TRANS_TABLES | MODE_STRICT_ALL_TABLES;
  own.option_bits = (own.option_bits & ~checks) | (global.option_bits & checks);
  own.auto_increment_increment = global.auto_increment_increment;
  own.auto_increment_offset = global.auto_increment_offset;
  own.binlog_row_image = global.binlog_row_image;
  own.gtid_domain_id = global.gtid_domain_id;
  own.max_statement_time = global.max_statement_time;
}

}  // namespace

// ---- requests

void Session::begin_transaction() {
  if (in_transaction_) {
    return;
  }
  in_transaction_ = true;
  if (galera_.is_on()) [[unlikely]] {
    galera_.follow_server();
  }
  if (thd_->killed == KILL_QUERY || thd_->killed == KILL_QUERY_HARD) {
    thd_->reset_kill_query();  // there was no query of ours to kill
  }
  thd_->mem_root = &turn_memory_;
  thd_->set_query_id(next_query_id());
  thd_->set_time();
  thd_->variables.lock_wait_timeout = lock_patience_s();
  follow_global_settings(thd_->variables);
}

Begin Session::protect_from_backup(const OpenTable& table, Error& error) {
  const TABLE_SHARE* const share = table.table()->s;
  bool& has_protection = has_backup_protection_[share->online_backup ? 1 : 0];
  if (has_protection) {
    return Begin::ready;
  }
  MDL_request request;
  MDL_REQUEST_INIT(&request, MDL_key::BACKUP, "", "", share->online_backup ? MDL_BACKUP_TRANS_DML : MDL_BACKUP_DML,
                   MDL_STATEMENT);
  if (thd_->mdl_context.try_acquire_lock(&request)) {
    error = take_server_error(thd_, ErrorCode::cannot_lock_table);
    return Begin::failed;
  }
  has_protection = request.ticket != nullptr;
  return has_protection ? Begin::ready : Begin::wait;
}

/// Row locks are held from the first write on.
void Session::note_time() {
  last_write_at_ = std::chrono::steady_clock::now();
  if (!has_written_) {
    has_written_ = true;
    first_write_at_ = last_write_at_;
  }
}

bool Session::can_continue_statement(Index& index, Intent intent) {
  return statement_table_ != nullptr && intent == Intent::write_one_row && statement_table_ == &table_of(index, Intent::write);
}

Begin Session::begin_request(engine::Index& index, Intent intent, engine::Cursor*& cursor, Error& error) {
  if (!can_continue_statement(static_cast<Index&>(index), intent)) {
    end_statement();
  }
  intent = intent == Intent::read ? Intent::read : Intent::write;
  if (intent == Intent::write && options_.intent == Intent::read) {
    error = Error(ErrorCode::read_only);
    return Begin::failed;
  }
  if (intent == Intent::write && global_system_variables.tx_read_only) {
    error = Error(ErrorCode::sql, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, "tx_read_only is on");
    return Begin::failed;
  }
  begin_transaction();
  if (galera_.is_open()) [[unlikely]] {
    if (error = begin_in_cluster(intent); !error.ok()) {
      return Begin::failed;
    }
  }
  auto& own_index = static_cast<Index&>(index);
  Index::Side* side = nullptr;
  if (const Begin begin = make_ready(own_index, intent, side, error); begin != Begin::ready) {
    return begin;
  }
  OpenTable& table = *side->open;
  if (intent == Intent::write) {
    note_time();
    wait_for_rows(last_write_at_ >= impatient_until_);
    thd_->set_time();  // a statement of its own, with its own CURRENT_TIMESTAMP
    if (const Begin begin = request_is_statement_ ? Begin::ready : protect_from_backup(table, error); begin != Begin::ready) {
      return begin;
    }
  }
  if (group_ != nullptr && intent == Intent::write && !table.table()->file->has_transactions_and_rollback()) {
    if (std::exchange(request_is_statement_, false)) {
      table.close_statement(thd_);
    }
    error = Error(ErrorCode::no_transactions);
    return Begin::failed;
  }
  if (!table.is_locked()) {
    switch (table.lock(thd_, error)) {
      case Opening::ready:
        break;
      case Opening::failed:
        return Begin::failed;
      default:
        return Begin::wait;
    }
  }
  request_table_ = &table;
  request_changes_ = intent == Intent::write;
  rows_changed_before_ = table.table()->file->rows_changed;
  thd_->lock = request_changes_ ? table.server_lock() : nullptr;
  thd_->set_query_timer();
  cursor_.begin(thd_, table, side->binding, index.description().raw);
  cursor = &cursor_;
  return Begin::ready;
}

/// Writes hold their table's lock for the request only, and so do reads of engines that lock tables.
void Session::unlock_request_tables() {
  if (request_table_ == nullptr) {
    return;
  }
  cursor_.end_changes();
  if (std::exchange(request_is_statement_, false)) {
    request_table_->close_statement(thd_);
  } else if (request_table_ == statement_table_) {
    // end_statement does it
  } else if (request_changes_ || request_table_->has_table_lock()) {
    request_table_->unlock(thd_);
  }
  thd_->lock = nullptr;
  request_table_ = nullptr;
}

/// From here on nothing of the request is a matter of max_statement_time.
void Session::end_timer() {
  thd_->reset_query_timer();
  if (thd_->killed == KILL_TIMEOUT) {
    thd_->reset_kill_query();
  }
}

/// The request's row events go to the statement's cache, those of engines without and with transactions. False on an error.
bool Session::flush_row_events() {
  return thd_->binlog_flush_pending_rows_event(true, false) == 0 && thd_->binlog_flush_pending_rows_event(true, true) == 0;
}

Error Session::end_request() {
  if (request_table_ == nullptr) {
    return {};
  }
  end_timer();
  Error error;
  if (request_changes_) {
    request_table_->deactivate();
    if (request_table_->changes_rows_atomically() && !galera_.is_open()) {
      statement_table_ = request_table_;
    } else {
      error = commit_statement(*request_table_);
    }
  }
  unlock_request_tables();
  return error;
}

Error Session::commit_statement(OpenTable& table) {
  query_cache_invalidate3(thd_, table.table(), 1);
  const bool binlog_failed = !flush_row_events();
  thd_->reset_binlog_for_next_statement();
  if (thd_->transaction->stmt.modified_non_trans_table) {
    thd_->transaction->all.modified_non_trans_table = true;
  }
  Error error;
  if (binlog_failed) {
    error = take_server_error(thd_, ErrorCode::commit_failed);
    trans_rollback_stmt(thd_);
  } else if (trans_commit_stmt(thd_)) {
    error = take_server_error(thd_, ErrorCode::commit_failed);
  }
  return error;
}

/// Nothing continues it. If that fails, the failure is nobody's in particular: each request must run in its own transaction.
void Session::end_statement() {
  if (statement_table_ != nullptr) {
    OpenTable& table = *std::exchange(statement_table_, nullptr);
    statement_is_lost_ |= !commit_statement(table).ok();
    table.unlock(thd_);
  }
}

void Session::abandon_request() {
  if (request_table_ == nullptr) {
    return;
  }
  end_timer();
  if (request_table_ == statement_table_) {
    request_table_->deactivate();
    statement_is_lost_ |= request_table_->table()->file->rows_changed != rows_changed_before_;  // the others are not to be undone
  } else if (request_changes_) {
    request_table_->deactivate();
    trans_rollback_stmt(thd_);
    thd_->reset_binlog_for_next_statement();
  }
  clear_diagnostics(thd_);
  unlock_request_tables();
  if (cursor_.found_row_locked() && waits_for_rows_) {
    // Somebody keeps a row for long. Who else wants it polls for a while, instead of holding up everybody for a second each.
    impatient_until_ = std::chrono::steady_clock::now() + impatience;
  }
}

// ---- groups

/// A savepoint. Only the engines know of it: the metadata locks that a SQL savepoint would give back are not the transaction's
/// here.
Error Session::begin_group() {
  end_statement();
  begin_transaction();
  if (options_.intent == Intent::read) {
    return {};  // there is nothing to undo
  }
  auto* const savepoint = static_cast<SAVEPOINT*>(alloc_root(&turn_memory_, savepoint_alloc_size));
  if (savepoint == nullptr) {
    return Error(ErrorCode::out_of_memory);
  }
  static char name[] = "rowsocket";
  savepoint->prev = nullptr;
  savepoint->name = name;
  savepoint->length = sizeof(name) - 1;
  thd_->lex->ident = {savepoint->name, savepoint->length};  // what the binlog calls it
  if (ha_savepoint(thd_, savepoint) != 0) {
    return take_server_error(thd_, ErrorCode::no_transactions);
  }
  group_ = savepoint;
  return {};
}

void Session::end_group() {
  end_statement();
  if (group_ != nullptr) {
    ha_release_savepoint(thd_, std::exchange(group_, nullptr));
  }
}

void Session::abandon_group() {
  if (group_ == nullptr) {
    return;
  }
  end_statement();
  if (!thd_->transaction_rollback_request && !galera_.has_lost()) {  // else there is nothing left to roll back to
    ha_rollback_to_savepoint(thd_, group_);
    clear_diagnostics(thd_);
    if (galera_.is_begun()) [[unlikely]] {
      galera_.go_on_after_savepoint();
    }
  }
  end_group();
}

// ---- turns

void Session::unlock_read_tables() {
  for (const auto& table : open_tables_) {
    table->unlock(thd_);
  }
}

void Session::forget_turn() {
  in_transaction_ = false;
  has_written_ = false;
  statement_table_ = nullptr;
  statement_is_lost_ = false;
  group_ = nullptr;
  if (has_backup_protection_[0] || has_backup_protection_[1]) {
    thd_->mdl_context.release_statement_locks();
    has_backup_protection_[0] = has_backup_protection_[1] = false;
  }
  thd_->transaction_rollback_request = 0;
  cursor_.forget_snapshot();
  thd_->transaction->all.reset();
  thd_->transaction->stmt.reset();
  if (std::exchange(had_statement_, false)) {
    thd_->mdl_context.release_transactional_locks(thd_);
    thd_->free_items();
    lex_end(thd_->lex);
    free_root(statement_memory_, MYF(MY_KEEP_PREALLOC));
    thd_->mem_root = statement_memory_;
    lex_start(thd_);  // its memory must outlive the turn's
  }
  thd_->mem_root = statement_memory_;
  free_root(&turn_memory_, MYF(MY_KEEP_PREALLOC));
  if (thd_->is_error()) {
    clear_diagnostics(thd_);
  }
}

/// The first request of a transaction may wait for the cluster, so it must not hold what an open_index left.
Error Session::begin_in_cluster(Intent intent) {
  if (!galera_.is_begun()) {
    release_tables();
  }
  return galera_.begin_request(intent, options_.intent);
}

/// No lock may be left when the cluster ends a transaction: it may have to replay it behind who waits for the lock.
Error Session::end_in_cluster(Error error) {
  release_tables();
  forget_turn();
  error = galera_.end(std::move(error));
  replays_in_cluster_ |= !error.ok();
  if (interruption() != engine::Interruption::none) {
    wake();  // a KILL that was kept back woke nobody
  }
  return error;
}

Error Session::commit() {
  if (!in_transaction_) {
    return {};
  }
  end_statement();
  if (statement_is_lost_) [[unlikely]] {
    return Error(ErrorCode::commit_failed);
  }
  // From here on we wait as SQL does, for who blocks commits.
  thd_->variables.lock_wait_timeout = global_system_variables.lock_wait_timeout;
  const uint64_t seq_no_before = thd_->get_last_commit_gtid().seq_no;
  bool failed = trans_commit_stmt(thd_);
  if (options_.intent == Intent::write) {
    failed = trans_commit(thd_) || failed;
  }
  Error error;
  commit_has_gtid_ = !failed && thd_->get_last_commit_gtid().seq_no != seq_no_before;
  if (failed) {
    error = take_server_error(thd_, ErrorCode::commit_failed);
    if (!galera_.is_begun()) {
      trans_rollback_stmt(thd_);
      trans_rollback(thd_);
    }
  }
  if (galera_.is_begun()) [[unlikely]] {
    return end_in_cluster(std::move(error));
  }
  unlock_read_tables();
  forget_turn();
  return error;
}

std::string_view Session::last_commit_gtid() const {
  if (!commit_has_gtid_) {
    return {};
  }
  const rpl_gtid gtid = thd_->get_last_commit_gtid();
  const int size = std::snprintf(gtid_text_, sizeof(gtid_text_), "%u-%u-%llu", gtid.domain_id, gtid.server_id,
                                 static_cast<unsigned long long>(gtid.seq_no));
  return {gtid_text_, static_cast<size_t>(size)};
}

void Session::rollback() {
  if (!in_transaction_) {
    return;
  }
  abandon_request();
  trans_rollback_stmt(thd_);
  trans_rollback(thd_);
  if (galera_.is_begun()) [[unlikely]] {
    static_cast<void>(end_in_cluster({}));
    return;
  }
  unlock_read_tables();
  forget_turn();
}

}  // namespace rowsocket::mariadb
