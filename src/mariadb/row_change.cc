// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <string>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/row_change.h"
#include "mariadb/row_operation.h"
#include "mariadb/row_rules.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

/// True if the change makes a row of history: some changed column is not WITHOUT SYSTEM VERSIONING.
bool makes_history(const TABLE* table) {
  if (!table->versioned(VERS_TIMESTAMP)) {
    return false;
  }
  for (Field** field = table->field; *field != nullptr; ++field) {
    if ((*field)->has_explicit_value() && !(*field)->vers_update_unversioned()) {
      return true;
    }
  }
  return false;
}

/// Write the row as it was (the second record), with its end of life, and leave the first record as it is.
int write_history(TABLE* table) {
  store_record(table, record[2]);
  // Its row event has all columns, whatever binlog_row_image says. A replica has nowhere else to take the
  // past from. Under NOBLOB, SQL leaves out BLOBs that the change leaves alone, and a replica has NULL for
  // them.
  MY_BITMAP* const logged_columns = std::exchange(table->rpl_write_set, &table->s->all_set);
  const int handler_code = vers_insert_history_row(table);
  table->rpl_write_set = logged_columns;
  restore_record(table, record[2]);
  return handler_code;
}

}  // namespace

bool has_other_key(const Binding& binding, TABLE* table) {
  const my_ptrdiff_t distance = table->record[1] - table->record[0];
  for (const KeyPart& part : binding.key_parts) {
    Field* const field = part.field;
    const bool is_null = field->is_null();
    if (is_null != field->is_null_in_record(table->record[1]) ||
        (!is_null && field->cmp_offset(distance) != 0)) {
      return true;
    }
  }
  return false;
}

Error write_update(THD* thd, TABLE* table, bool is_upsert, Written& written) {
  const bool history = makes_history(table);
  const auto differs = [table] { return !records_are_comparable(table) || compare_record(table); };
  // A trigger sees both also where nothing else changes, as in SQL. The comparison leaves the first one out.
  table->evaluate_update_default_function();
  if (history) {
    table->vers_update_fields();
  }
  NamedColumns named(thd, table);
  if (!named.ok()) {
    return ErrorCode::out_of_memory;
  }
  bool skips = false;
  written = Written::kept;
  if (Error error = run_before_triggers(thd, table, TRG_EVENT_UPDATE, true, skips, &named); !error.ok()) {
    return error;
  }
  if (skips) [[unlikely]] {
    restore_record(table, record[1]);
    return {};
  }
  if (Error error = generate_columns(thd, table); !error.ok()) {
    return error;
  }
  if (!differs()) {
    written = Written::same;
    Error error;
    if (!is_upsert || upserts_run_triggers_after_same_rows) {
      error = run_after_triggers(thd, table, TRG_EVENT_UPDATE, true, &named);
    }
    restore_record(table, record[1]);  // what is there, without the new time
    return error;
  }
  if (Error error = check_constraints(thd, table); !error.ok()) {
    return error;
  }
  forget_duplicate(table);
  int handler_code = table->file->ha_update_row(table->record[1], table->record[0]);
  if (handler_code == 0 && history) {
    handler_code = write_history(table);
  }
  if (handler_code == HA_ERR_RECORD_IS_THE_SAME) {
    // NULL over NULL: the server's comparison sees the bytes under a NULL, too. The engine has written
    // nothing.
    written = Written::same;
    return run_after_triggers(thd, table, TRG_EVENT_UPDATE, true, &named);
  }
  if (handler_code != 0) {
    return engine_error(thd, table->file, handler_code);
  }
  written = Written::changed;
  mark_changed(thd, table);
  return run_after_triggers(thd, table, TRG_EVENT_UPDATE, true, &named);
}

// The binding's own column sets are in use, since its index is walked; these add what else is read or
// written.
int prepare_update(TABLE* table) {
  enter_database(table);
  set_events(table, {TRG_EVENT_UPDATE});
  table->prepare_triggers_for_update_stmt_or_event();
  table->file->prepare_for_row_logging();
  table->mark_columns_needed_for_update();
  return prepare_unique_checks(table);
}

int prepare_delete(TABLE* table) {
  enter_database(table);
  set_events(table, {TRG_EVENT_DELETE});
  table->prepare_triggers_for_delete_stmt_or_event();
  table->file->prepare_for_row_logging();
  table->mark_columns_needed_for_delete();
  return prepare_unique_checks(table);  // a versioned row is not deleted, its end is written
}

Error other_key(const Binding& binding) {
  return Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
               std::string("the row of this key has no other value in column '") +
                   binding.key_parts.front().field->field_name.str +
                   (binding.key_parts.size() == 1 ? "'" : "' and the other columns of the key"));
}

Error change_row(THD* thd, const Binding& binding, TABLE* table, std::span<const Assignment> assignments,
                 bool keeps_signs, bool raw, bool& changed) {
  changed = false;
  if (assignments.empty()) {
    changed = true;  // as a row that has its new values already; but no trigger has anything to see
    return {};
  }
  store_record(table, record[1]);
  begin_new_values(table);
  for (const Assignment& assignment : assignments) {
    Field* const field = binding.columns[assignment.column].field;
    Error error;
    switch (operate(thd, table, field, assignment.operation, assignment.value, raw, keeps_signs, error)) {
      case Operated::done:
        break;
      case Operated::refused:
        restore_record(table, record[1]);  // what was done to other columns
        return {};
      case Operated::failed:
        return error;
    }
  }
  if (binding.keeps_key && has_other_key(binding, table)) {
    return other_key(binding);
  }
  auto written = Written::kept;
  Error error = write_update(thd, table, false, written);
  changed = error.ok() && written != Written::kept;
  return error;
}

Error delete_row(THD* thd, TABLE* table, bool& deleted) {
  deleted = false;
  bool skips = false;
  if (Error error = run_before_triggers(thd, table, TRG_EVENT_DELETE, false, skips); !error.ok() || skips) {
    return error;
  }
  const int handler_code = table->delete_row<false>(table->versioned(VERS_TIMESTAMP));
  if (handler_code != 0) {
    return engine_error(thd, table->file, handler_code);
  }
  mark_changed(thd, table);
  deleted = true;
  return run_after_triggers(thd, table, TRG_EVENT_DELETE, false);
}

}  // namespace rowsocket::mariadb
