// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <mysys_err.h>

#include "mariadb/diagnostics.h"
#include "mariadb/galera.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {
namespace {

/// RocksDB's own errors (storage/rocksdb/rdb_global.h): a row has changed since the transaction's snapshot,
/// so the transaction has to be done again with a newer one.
constexpr int rocksdb_busy = rocksdb_errors_begin + 22;
constexpr int rocksdb_try_again = rocksdb_errors_begin + 25;

/// The server, or the plugin, is stopping, and interrupts what the THD does.
bool is_stopping(const THD* thd) { return thd->killed == KILL_SERVER || thd->killed == KILL_SERVER_HARD; }

/// Errors that only say that the request was interrupted.
bool is_interruption(int number) {
  return number == ER_SERVER_SHUTDOWN || number == ER_CONNECTION_KILLED || number == ER_QUERY_INTERRUPTED ||
         number == ER_STATEMENT_TIMEOUT || number == HA_ERR_ABORTED_BY_USER;
}

Reason reason_of(int handler_code) {
  switch (handler_code) {
    case HA_ERR_LOCK_WAIT_TIMEOUT:
      return Reason::row_locked;
    case HA_ERR_LOCK_DEADLOCK:
      return Reason::conflict;
    case HA_ERR_FOUND_DUPP_KEY:
    case HA_ERR_FOUND_DUPP_UNIQUE:
      return Reason::duplicate;
    default:
      return Reason::none;
  }
}

/// No value of AUTO_INCREMENT was to be had: there is none any more, or, in InnoDB, a long INSERT ... SELECT
/// of another session has the lock of them.
bool has_ids_left(handler* file) {
  if (file->partition_ht()->db_type != DB_TYPE_INNODB) {
    return false;
  }
  file->info(HA_STATUS_AUTO);
  return file->stats.auto_increment_value != ULONGLONG_MAX;
}

/// The server is read-only. (Other options have the first of these numbers, too.)
bool is_about_read_only(const Error& error) {
  return (error.number == ER_OPTION_PREVENTS_STATEMENT &&
          error.detail().find("--read-only") != std::string::npos) ||
         error.number == ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION || error.number == ER_READ_ONLY_MODE;
}

/// The server's own text of an error without parameters. A SIGNAL in a trigger takes any number, but has a
/// text of its own.
bool is_of_server(const THD* thd, const Error& error) { return error.detail() == ER_THD(thd, error.number); }

/// The detail begins as the server's own text of that number does.
bool begins_as_text_of(const THD* thd, const Error& error, uint number) {
  const char* const format = ER_THD(thd, number);
  return error.detail().starts_with(std::string_view(format, std::strcspn(format, "%")));
}

/// A variable of a trigger or a package has the type of a column (`%TYPE`), and DDL has that column's table.
/// A session that has locks is told so at once, and does not wait.
bool met_ddl_of_type(const THD* thd, const Error& error) {
  if (error.number != ER_WARN_I_S_SKIPPED_TABLE || !begins_as_text_of(thd, error, error.number)) [[likely]] {
    return false;
  }
  const std::string_view format = ER_THD(thd, error.number);  // "Table '%s'.'%s' was skipped since ..."
  return error.detail().ends_with(format.substr(format.rfind("%s") + 2));
}

/// Where a session was interrupted while it parsed a trigger, the server keeps the trigger as malformed, with
/// a message that nobody has written: bytes of its memory, which no client may see. Another copy of the table
/// may be well.
bool is_of_interrupted_parser(const THD* thd, const Error& error) {
  if (error.number != ER_PARSE_ERROR) [[likely]] {
    return false;
  }
  return !begins_as_text_of(thd, error, ER_SYNTAX_ERROR) &&
         !begins_as_text_of(thd, error, ER_ERROR_IN_TRIGGER_BODY) &&
         !begins_as_text_of(thd, error, ER_ERROR_IN_UNKNOWN_TRIGGER_BODY);
}

/// See take_server_error.
Error take_error(THD* thd, ErrorCode fallback) {
  if (Galera::is_aborted(thd)) [[unlikely]] {
    clear_diagnostics(thd);
    return Galera::conflict();  // whatever it was interrupted in
  }
  Error error(fallback);
  Diagnostics_area* const area = thd->get_stmt_da();
  if (!area->is_error() && thd->killed != NOT_KILLED) {
    // As at the end of a statement of SQL: one wait that a KILL cuts short leaves no error
    // (TABLE_SHARE::wait_for_old_version).
    thd->send_kill_message();
  }
  if (area->is_error()) {
    error.number = static_cast<int>(area->sql_errno());
    error.set_detail(area->message());
  }
  const bool timed_out = error.number == ER_LOCK_WAIT_TIMEOUT && is_of_server(thd, error);
  const bool was_undone = error.number == ER_CHECKREAD && thd->transaction_rollback_request;
  if (timed_out || error.number == ER_LOCK_DEADLOCK || was_undone) {
    error.reason = Reason::conflict;
  } else if (is_of_interrupted_parser(thd, error)) [[unlikely]] {
    error.set_detail("a trigger that an interrupted session did not parse to its end");
    error.reason = Reason::conflict;
  } else if (is_about_read_only(error)) {
    error.reason = Reason::read_only;
  }
  if (is_interruption(error.number)) {
    // Whatever it was that could not be finished.
    error.code = is_stopping(thd) ? ErrorCode::shutting_down : ErrorCode::sql;
  }
  clear_diagnostics(thd);
  return error;
}

}  // namespace

void clear_diagnostics(THD* thd) {
  if (thd->killed == KILL_BAD_DATA || thd->killed == KILL_BAD_DATA_HARD) {
    thd->reset_kill_query();
  }
  thd->clear_error(true);
  // In SQL the next statement begins without it (reset_for_next_command). Here other requests may go on in
  // the same statement, and the parser of triggers fails where it is set.
  thd->is_fatal_error = false;
  forget_conditions(thd);
}

void forget_conditions(THD* thd) {
  if (thd->get_stmt_da()->warn_count() > 0) [[unlikely]] {
    thd->get_stmt_da()->clear_warning_info(thd->query_id);
  }
}

Error take_server_error(THD* thd, ErrorCode fallback) {
  // A cache of the binlog that finds no room in tmpdir tells it as mysys does. The server does not look for
  // that.
  const Diagnostics_area* const area = thd->get_stmt_da();
  const bool is_of_files = area->is_error() && area->sql_errno() <= EE_ERROR_LAST;
  if ((is_of_files || mysql_bin_log.check_write_error(thd)) && !Galera::is_aborted(thd)) [[unlikely]] {
    ServerThread::of(thd).note_log_refusal();
  }
  return take_error(thd, fallback);
}

// No file that is missed in an opening is one of the binlog, to which an opening writes nothing.
Error take_error_of_opening(THD* thd) { return take_error(thd, ErrorCode::cannot_open_table); }

bool took_too_much_memory(const THD* thd) {
  return thd->killed == KILL_QUERY && thd->killed_err != nullptr &&
         thd->killed_err->no == ER_OPTION_PREVENTS_STATEMENT;
}

Error interruption_error(THD* thd) {
  if (is_stopping(thd)) {
    return Error(ErrorCode::shutting_down);
  }
  if (thd->killed == KILL_TIMEOUT) {
    return Error(ErrorCode::sql, ER_STATEMENT_TIMEOUT, "longer than max_statement_time");
  }
  if (took_too_much_memory(thd)) {
    return Error(ErrorCode::sql, ER_OPTION_PREVENTS_STATEMENT, thd->killed_err->msg);
  }
  if (Galera::is_aborted(thd)) {
    return Galera::conflict();
  }
  Error error(ErrorCode::sql, ER_QUERY_INTERRUPTED, "interrupted");
  error.reason = ServerThread::of(thd).row_waits().gave_way() ? Reason::row_locked : Reason::none;
  return error;
}

bool waited_for_row(THD* thd, const Error& error) {
  if (is_interruption(error.number) && ServerThread::of(thd).row_waits().gave_way()) {
    return true;
  }
  if (error.number == ER_LOCK_WAIT_TIMEOUT) {
    return is_of_server(thd, error);
  }
  if (met_ddl_of_type(thd, error)) {
    return true;
  }
  if (error.number != ER_AUTOINC_READ_FAILED || !is_of_server(thd, error)) {
    return false;
  }
  for (TABLE* table = thd->open_tables; table != nullptr; table = table->next) {
    if (table->found_next_number_field != nullptr && !has_ids_left(table->file)) {
      return false;
    }
  }
  return true;
}

Error engine_error(THD* thd, handler* file, int handler_code) {
  if (handler_code == rocksdb_busy || handler_code == rocksdb_try_again) {
    thd->mark_transaction_to_rollback(true);  // as RocksDB does after a deadlock
    handler_code = HA_ERR_LOCK_DEADLOCK;
  }
  if (handler_code == HA_ERR_RECORD_CHANGED && thd->transaction_rollback_request) {
    handler_code = HA_ERR_LOCK_DEADLOCK;  // InnoDB has rolled back (innodb_snapshot_isolation)
  }
  if (handler_code == HA_ERR_ROLLBACK && thd->transaction_rollback_request) {
    // A deadlock came in the check of a long unique key, and ha_write_row met its traces with the next call.
    handler_code = HA_ERR_LOCK_DEADLOCK;
  }
  if (handler_code == HA_ERR_AUTOINC_READ_FAILED && thd->killed == NOT_KILLED && has_ids_left(file)) {
    handler_code = HA_ERR_LOCK_WAIT_TIMEOUT;
  }
  if (thd->killed == KILL_TIMEOUT || took_too_much_memory(thd)) {
    clear_diagnostics(thd);
    return interruption_error(thd);
  }
  if (!thd->get_stmt_da()->is_error()) {
    file->print_error(handler_code, MYF(0));
  }
  if (handler_code == HA_ERR_RBR_LOGGING_FAILED) [[unlikely]] {
    ServerThread::of(thd).note_log_refusal();
  }
  Error error = take_server_error(thd, ErrorCode::engine);
  if (Galera::is_aborted(thd)) [[unlikely]] {
    return Galera::conflict();  // whatever the engine made of it
  }
  if (handler_code == HA_ERR_TABLE_READONLY && error.number == ER_READ_ONLY_MODE) {
    error.code = ErrorCode::sql;  // as where the server itself refuses (innodb_force_recovery)
    return error;
  }
  error.number = handler_code;
  const bool gave_way = is_interruption(handler_code) && ServerThread::of(thd).row_waits().gave_way();
  error.reason = gave_way ? Reason::row_locked : reason_of(handler_code);
  error.code =
      is_stopping(thd) && is_interruption(handler_code) ? ErrorCode::shutting_down : ErrorCode::engine;
  return error;
}

}  // namespace rowsocket::mariadb
