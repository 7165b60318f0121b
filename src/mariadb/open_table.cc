// SPDX-License-Identifier: GPL-2.0-only
//
// What is done with a table while it is open: lock it for a statement, and walk it. How it is opened and
// closed is in table_opening.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "base/invariant.h"
#include "mariadb/binding.h"
#include "mariadb/diagnostics.h"
#include "mariadb/galera.h"
#include "mariadb/open_table.h"
#include "mariadb/opened_list.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {

OpenTable::OpenTable(std::string database, std::string name, engine::Intent intent, ForeignChildren& children)
    : database_(std::move(database)), name_(std::move(name)), intent_(intent), children_(children) {}

OpenTable::~OpenTable() {
  // The THD that opened it may be gone: there is nothing left to do but to count it.
  static_cast<void>(invariant(table_ == nullptr, "a table is closed before it is forgotten"));
}

bool is_lock_conflict(THD* thd) {
  if (!thd->get_stmt_da()->is_error()) {
    return false;
  }
  const uint number = thd->get_stmt_da()->sql_errno();
  return number == ER_LOCK_WAIT_TIMEOUT || number == ER_LOCK_DEADLOCK;
}

void OpenTable::forget() {
  table_ = nullptr;
  lock_ = nullptr;
  active_binding_ = 0;
}

bool OpenTable::lacks_children() const {
  return intent_ == engine::Intent::write && is_kept_ && table_->file->referenced_by_foreign_key();
}

/// By it InnoDB decides in READ COMMITTED whether what triggers read is locked, too: not for UPDATE.
enum_sql_command OpenTable::command_to_lock() const {
  if (intent_ == engine::Intent::read) {
    return SQLCOM_SELECT;
  }
  if (!needs_own_statement_) {
    return SQLCOM_UPDATE;
  }
  if ((events_ & trg2bit(TRG_EVENT_INSERT)) != 0) {
    return SQLCOM_INSERT;
  }
  return (events_ & trg2bit(TRG_EVENT_UPDATE)) == 0 ? SQLCOM_DELETE : SQLCOM_UPDATE;
}

/// By it InnoDB decides whether what is read for a change keeps others from inserting beside it, until the
/// transaction ends. Triggers that keep a rule (how many rows there may be, say) rely on it where the server
/// has REPEATABLE READ for SQL. So their statements have it, too.
enum_tx_isolation OpenTable::isolation_to_lock(const THD* thd) const {
  const auto of_sql = static_cast<enum_tx_isolation>(global_system_variables.tx_isolation);
  if (!triggers_use_tables_ || of_sql <= ISO_READ_COMMITTED) {
    return thd->tx_isolation;
  }
  return has_rocksdb(&list_) ? ISO_REPEATABLE_READ : of_sql;  // RocksDB has no more
}

Opening OpenTable::lock(THD* thd, Error& error) {
  const bool for_write = intent_ == engine::Intent::write;
  if (!invariant(table_ != nullptr && lock_ == nullptr, "a table is locked once, while it is open") ||
      !invariant(!for_write || table_->mdl_ticket->get_type() >= MDL_SHARED_WRITE,
                 "a table that may be changed has a metadata lock for that")) {
    error = ErrorCode::cannot_lock_table;
    return Opening::failed;
  }
  if (for_write && !Galera::certifies(thd, &list_)) [[unlikely]] {
    // The server's check (wsrep_check_pk) comes after a row, and walks `open_tables`: a table that is kept is
    // not there.
    error =
        Error(ErrorCode::sql, ER_LOCK_DEADLOCK, "wsrep_certify_nonPK is off, and a table has no primary key");
    return Opening::failed;
  }
  thd->lock = nullptr;
  thd->lex->sql_command = command_to_lock();
  const enum_tx_isolation to_lock = isolation_to_lock(thd);
  if (to_lock != thd->tx_isolation &&
      thd->tx_isolation == ISO_READ_COMMITTED) {  // a group keeps its snapshot
    begin_without_snapshot(thd, &list_, to_lock);
  }
  const enum_tx_isolation isolation = std::exchange(thd->tx_isolation, to_lock);
  if (!needs_own_statement_) {
    // The children of foreign keys are locked as the statement's own: no statement runs inside of this one.
    thd->lex->query_tables_own_last = nullptr;
  }
  renew_at_times(thd, &list_);
  const bool failed =
      (is_kept_ && !prepare_expressions(thd, table_)) ||
      lock_tables(thd, &list_, table_count_, for_write ? 0 : MYSQL_OPEN_IGNORE_LOGGING_FORMAT);
  thd->tx_isolation = isolation;
  thd->lex->sql_command = for_write ? SQLCOM_UPDATE : SQLCOM_SELECT;
  if (failed) {
    const bool conflict = is_lock_conflict(thd);
    error = take_server_error(thd, ErrorCode::cannot_lock_table);
    if (!conflict && error.number != 0 && error.code != ErrorCode::shutting_down) {
      error.code = ErrorCode::sql;  // read_only and the like: the number says it
    }
    if (thd->lock != nullptr) {
      mysql_unlock_tables(thd, std::exchange(thd->lock, nullptr));
    }
    if (is_kept_) {
      table_->vcol_cleanup_expr(thd);
      table_->file->ha_reset();
      forget_online_alter(table_);
    }
    return conflict ? Opening::wait : Opening::failed;
  }
  lock_ = thd->lock;
  return Opening::ready;
}

// What close_thread_tables does for a table, without giving it back to the table cache.
void OpenTable::end_statement(THD* thd) {
  mysql_unlock_tables(thd, std::exchange(lock_, nullptr));
  if (!is_kept_) {
    return;
  }
  table_->vcol_cleanup_expr(thd);
  table_->file->update_global_table_stats();
  table_->file->update_global_index_stats();
  free_field_buffers_larger_than(table_, MAX_TDC_BLOB_SIZE);
  table_->file->ha_reset();
  forget_online_alter(table_);
}

bool OpenTable::changes_rows_atomically() const {
  const bool is_one_change =
      table_->file->ht->db_type == DB_TYPE_INNODB && !table_->versioned() && !table_->s->long_unique_table;
  // Where a change of a parent is refused, only the end of the statement undoes what its cascades have noted
  // for a child's full-text index.
  const bool cascades_to_fulltext = changes_fulltext_ && table_count_ > 1;
  return is_one_change && !cascades_to_fulltext && !needs_own_statement_;
}

int OpenTable::activate(const Binding& binding, bool with_key_columns) {
  if (active_binding_ == binding.serial && active_with_key_columns_ == with_key_columns) {
    return 0;
  }
  if (!invariant(binding.generation == generation_, "columns are marked in the opening they belong to")) {
    return HA_ERR_INTERNAL_ERROR;
  }
  deactivate();
  binding.use_columns(table_, with_key_columns);
  handler* const file = table_->file;
  if (binding.covering) {
    file->ha_start_keyread(binding.key_number);
  }
  const int handler_code = file->ha_index_init(binding.key_number, true);
  if (handler_code != 0) {
    file->ha_end_keyread();
    return handler_code;
  }
  active_binding_ = binding.serial;
  active_with_key_columns_ = with_key_columns;
  return 0;
}

void OpenTable::deactivate() {
  if (table_ == nullptr) {
    return;
  }
  table_->file->ha_index_or_rnd_end();  // nothing where neither was begun
  if (std::exchange(active_binding_, 0) != 0) {
    table_->file->ha_end_keyread();
  }
}

}  // namespace rowsocket::mariadb
