// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "mariadb/duplicate_row.h"
#include "mariadb/forbidden_defaults.h"
#include "mariadb/generated_ids.h"
#include "mariadb/key_part.h"
#include "mariadb/row_addition.h"
#include "mariadb/row_change.h"
#include "mariadb/row_insert.h"
#include "mariadb/row_operation.h"
#include "mariadb/row_rules.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

Error require_default(TABLE* table, size_t given_count, const Binding& binding) {
  for (size_t i = 0; i < given_count; ++i) {
    binding.columns[i].field->set_has_explicit_value();
  }
  for (Field** field = table->field; *field != nullptr; ++field) {
    const bool has_no_default =
        ((*field)->flags & (NO_DEFAULT_VALUE_FLAG | VERS_ROW_START | VERS_ROW_END)) == NO_DEFAULT_VALUE_FLAG;
    const bool trigger_may_set_it = field_to_fill(table, *field) != *field;
    if (has_no_default && !trigger_may_set_it && !(*field)->has_explicit_value() &&
        (*field)->vcol_info == nullptr && (*field)->real_type() != MYSQL_TYPE_ENUM) {
      return Error(ErrorCode::sql, ER_NO_DEFAULT_FOR_FIELD,
                   std::string("column '") + (*field)->field_name.str + "' has no default");
    }
  }
  return {};
}

/// The row as the request and the defaults have it, in the table's first record. `skips` tells that a trigger
/// does not want it inserted.
Error fill_row(THD* thd, const Binding& binding, TABLE* table, const engine::RowToInsert& row, bool raw,
               bool& skips) {
  const std::span<const Value> values = row.values;
  restore_default_record_for_insert(table);
  table->reset_default_fields();
  table->auto_increment_field_not_null = false;
  for (size_t i = 0; i < values.size(); ++i) {
    Field* const field = binding.columns[i].field;
    if (Error error = refuse_generated(field); !error.ok()) {
      return error;
    }
    if (Error error = store_value(thd, field_to_fill(table, field), values[i], raw); !error.ok()) {
      return error;
    }
    if (field == table->next_number_field) {
      // 0 asks for a new number, unless the SQL mode says otherwise; so does NULL.
      const bool zero_is_a_value = (thd->variables.sql_mode & MODE_NO_AUTO_VALUE_ON_ZERO) != 0;
      table->auto_increment_field_not_null =
          !values[i].is_null() && (zero_is_a_value || field->val_int() != 0);
    }
  }
  if (Error error = require_default(table, values.size(), binding); !error.ok()) {
    return error;
  }
  if (Error error = refuse_forbidden_defaults(thd, table, row.on_duplicate); !error.ok()) {
    return error;
  }
  if (table->default_field != nullptr && table->update_default_fields(false) != 0) {
    return take_server_error(thd, ErrorCode::sql);
  }
  if (table->versioned(VERS_TIMESTAMP)) {
    table->vers_update_fields();
  }
  if (Error error = run_before_triggers(thd, table, TRG_EVENT_INSERT, true, skips); !error.ok() || skips) {
    return error;
  }
  if (Error error = generate_columns(thd, table); !error.ok()) {
    return error;
  }
  return check_constraints(thd, table);
}

/// The first values are a key that names the row (see Insert::names_row): a row can have this key, and the
/// table's first record has it. Uses the second record.
Error check_named_key(THD* thd, const Binding& binding, TABLE* table, std::span<const Value> values,
                      bool raw) {
  auto* const key =
      allocate_bytes(thd, binding.key->key_length + 8);  // as much beyond it as a bound of a walk has
  if (key == nullptr) {
    return ErrorCode::out_of_memory;
  }
  uint key_bytes = 0;
  for (size_t number = 0; number < binding.key_parts.size() && number < values.size(); ++number) {
    const KeyPart& part = binding.key_parts[number];
    if ((part.field->flags & VERS_ROW_END) != 0) {
      break;  // the server added it to the key, as the last part
    }
    Error error;
    const sql_values::Fit fit =
        write_key_part(thd, table, binding.key, part, values[number], raw, key + part.key_offset, error);
    if (!error.ok()) {
      return error;
    }
    // What asks for a generated number names no row.
    const bool is_generated = part.field == table->next_number_field && !table->auto_increment_field_not_null;
    if (fit != sql_values::Fit::exact || is_generated) {
      return Error(ErrorCode::sql, WARN_DATA_TRUNCATED,
                   std::string("column '") + part.field->field_name.str + "' has no row of this key");
    }
    key_bytes = part.key_offset + part.info->store_length;
  }
  return key_cmp_if_same(table, key, binding.key_number, key_bytes) ? other_key(binding) : Error();
}

/// Where a request counts with whole numbers, the values that it gives to a new row are such.
Error check_whole_numbers(const Binding& binding, std::span<const DuplicateChange> changes) {
  for (const DuplicateChange& change : changes) {
    if (change.operation == Operation::add_whole) {
      if (Error error = require_whole_number(binding.columns[change.position].field); !error.ok()) {
        return error;
      }
    }
  }
  return {};
}

int write_row(TABLE* table, GeneratedIds& ids) {
  handler* const file = table->file;
  forget_duplicate(table);
  file->insert_id_for_cur_row = 0;
  const int handler_code = file->ha_write_row(table->record[0]);
  end_offer(table->in_use);  // no trigger, and no other row, is to take the value
  if (file->insert_id_for_cur_row > 0) {
    ids.note(table, file->insert_id_for_cur_row, handler_code == 0);
  }
  return handler_code;
}

/// The row was not inserted: the next one may have its generated id. (What restore_auto_increment() goes back
/// to is reserved only where a statement reserves the ids of all its rows at once.)
void give_to_next_row(handler* file, ulonglong generated_id) {
  if (generated_id > 0) {
    file->next_insert_id = generated_id;
  }
}

/// A row was not written, since there is one with its AUTO_INCREMENT value.
bool has_taken_id(TABLE* table, int handler_code) {
  return is_duplicate(handler_code) && table->file->get_dup_key(handler_code) == table->s->next_number_index;
}

void tell_id_in_row(const TABLE* table, RowOutcome& outcome) {
  Field* const field = table->found_next_number_field;
  const longlong id = field->val_int();
  outcome.id = static_cast<uint64_t>(id);
  outcome.id_is_negative = id < 0 && !field->is_unsigned();
}

/// The row that is there (in the second record) stays, and becomes the current one.
void keep_duplicate(TABLE* table, RowOutcome& outcome) {
  restore_record(table, record[1]);
  outcome.rows_affected = 0;
  if (outcome.has_id) {
    tell_id_in_row(table, outcome);
  }
}

bool has_before_insert_trigger(const TABLE* table) {
  return table->triggers != nullptr && table->triggers->has_triggers(TRG_EVENT_INSERT, TRG_ACTION_BEFORE);
}

/// The new row may hold other values than the client gave: those of a trigger, or a generated id.
bool may_have_own_values(const TABLE* table) {
  return has_before_insert_trigger(table) || table->found_next_number_field != nullptr;
}

/// Whether the new row's value of this column may be another than the client gave.
bool may_differ_from_given(const TABLE* table, const Field* field) {
  return has_before_insert_trigger(table) || field == table->next_number_field;
}

/// A column takes the value that it has in the row that was not inserted: what SQL's VALUES(column) is.
Operated take_from_new_row(THD* thd, TABLE* table, Field* field, Operation operation, bool raw,
                           Error& error) {
  Field* const given = field->clone(thd->mem_root, table, table->insert_values - table->record[0]);
  if (given == nullptr) {
    error = ErrorCode::out_of_memory;
    return Operated::failed;
  }
  if (given->is_null()) {
    return operate(thd, table, field, operation, Value(), raw, false, error);
  }
  if (operation == Operation::set) {
    Field* const filled = field_to_fill(table, field);
    filled->set_notnull();
    field_conv(filled, given);
    field->set_has_explicit_value();
    return Operated::done;
  }
  StringBuffer<MAX_FIELD_WIDTH> stored;
  StringBuffer<MAX_FIELD_WIDTH> text;
  const String* const shown = given->val_str(&stored);
  uint failed_characters = 0;
  if (text.copy(shown->ptr(), shown->length(), shown->charset(), wire_charset(field, raw),
                &failed_characters)) {
    error = ErrorCode::out_of_memory;
    return Operated::failed;
  }
  return operate(thd, table, field, operation, Value(std::string_view(text.ptr(), text.length())), raw, false,
                 error);
}

/// The row that is there (in the second record) takes values of the one that was to be inserted.
Error change_duplicate(THD* thd, const Binding& binding, TABLE* table, const engine::RowToInsert& row,
                       bool raw, engine::Cursor& filters, RowOutcome& outcome) {
  if (table->insert_values != nullptr) {
    store_record(table, insert_values);
  }
  keep_duplicate(table, outcome);
  const bool matches = !row.filters_duplicates || filters.verdict() == engine::Verdict::match;
  if (!matches && row.mismatch_changes.empty()) {
    return {};
  }
  begin_new_values(table);
  bool names_id = false;
  for (const DuplicateChange& change : matches ? row.duplicate_changes : row.mismatch_changes) {
    Field* const field = binding.columns[change.position].field;
    names_id |= field == table->next_number_field;
    Error error;
    const Operated operated =
        may_differ_from_given(table, field)
            ? take_from_new_row(thd, table, field, change.operation, raw, error)
            : operate(thd, table, field, change.operation, row.values[change.position], raw, false, error);
    if (operated == Operated::failed) {
      return error;
    }
  }
  auto written = Written::kept;
  if (Error error = write_update(thd, table, true, written); !error.ok()) {
    return error;
  }
  if (names_id) {
    table->file->adjust_next_insert_id_after_explicit_value(table->next_number_field->val_int());
  }
  outcome.rows_affected = written == Written::changed ? 2 : 0;
  if (outcome.has_id) {
    tell_id_in_row(table, outcome);
  }
  return {};
}

/// The row as fill_row makes it, where it is one that the request may insert.
Error make_row(THD* thd, const Binding& binding, TABLE* table, const engine::RowToInsert& row, bool raw,
               bool& skips) {
  if (Error error = fill_row(thd, binding, table, row, raw, skips); !error.ok() || skips) {
    return error;
  }
  if (Error error = check_whole_numbers(binding, row.duplicate_changes); !error.ok()) {
    return error;
  }
  return row.names_row ? check_named_key(thd, binding, table, row.values, raw) : Error();
}

/// Since the earlier run another session named the id that was offered: the row gets another.
ulonglong offer_next_id(THD* thd, TABLE* table, GeneratedIds& ids) {
  ids.drop_last();
  const ulonglong offered_id = ids.offer(thd, table);
  table->file->auto_inc_intervals_count = 0;
  table->next_number_field->store(0, true);
  clear_diagnostics(thd);
  return offered_id;
}

/// A trigger does not want the row.
Error skip_row(const engine::RowToInsert& row, RowOutcome& outcome) {
  outcome.rows_affected = 0;
  return row.tells_row
             ? Error(ErrorCode::sql, ER_SIGNAL_EXCEPTION, "a trigger skips the row: there is none to tell")
             : Error();
}

}  // namespace

// Row logging is switched on first: which columns a row event holds (binlog_row_image) is decided by the
// marking, and only for tables that are logged.
int prepare_insert(TABLE* table, OnDuplicate on_duplicate) {
  handler* const file = table->file;
  enter_database(table);
  // InnoDB locks AUTO_INCREMENT for longer where rows may follow in numbers.
  table->in_use->lex->sql_command = SQLCOM_INSERT;
  file->prepare_for_row_logging();
  table->use_all_columns();
  table->mark_columns_per_binlog_row_image();
  table->next_number_field = table->found_next_number_field;
  table->prepare_triggers_for_insert_stmt_or_event();
  set_events(table, {TRG_EVENT_INSERT});
  switch (on_duplicate) {  // a row that is in the way is read with the lock that changing it needs
    case OnDuplicate::fail:
      break;
    case OnDuplicate::keep:
      file->extra(HA_EXTRA_IGNORE_DUP_KEY);
      break;
    case OnDuplicate::replace:
      set_events(table, {TRG_EVENT_INSERT, TRG_EVENT_DELETE});
      file->extra(HA_EXTRA_WRITE_CAN_REPLACE);
      table->prepare_for_position();
      break;
    case OnDuplicate::change:
      set_events(table, {TRG_EVENT_INSERT, TRG_EVENT_UPDATE});
      file->extra(HA_EXTRA_INSERT_WITH_UPDATE);
      table->prepare_for_position();
      if (may_have_own_values(table)) {
        table->insert_values = allocate_bytes(table->in_use, table->s->rec_buff_length);
        if (table->insert_values == nullptr) {
          return HA_ERR_OUT_OF_MEM;
        }
      }
      break;
  }
  return prepare_unique_checks(table);
}

void end_inserts(TABLE* table, OnDuplicate on_duplicate) {
  table->file->ha_release_auto_increment();
  table->next_number_field = nullptr;
  table->auto_increment_field_not_null = false;
  table->insert_values = nullptr;
  if (on_duplicate != OnDuplicate::fail) {
    table->file->extra(HA_EXTRA_NO_IGNORE_DUP_KEY);
    table->file->extra(HA_EXTRA_WRITE_CANNOT_REPLACE);
  }
}

Error insert_row(THD* thd, const Binding& binding, TABLE* table, const engine::RowToInsert& row, bool raw,
                 engine::Cursor& filters, GeneratedIds& ids, RowOutcome& outcome) {
  outcome.has_id = table->found_next_number_field != nullptr;
  outcome.rows_affected = 1;
  outcome.id = 0;
  outcome.id_is_negative = false;
  bool skips = false;
  if (Error error = make_row(thd, binding, table, row, raw, skips); !error.ok()) {
    return error;
  }
  if (skips) [[unlikely]] {
    return skip_row(row, outcome);
  }
  handler* const file = table->file;
  // Ids are reserved one by one. InnoDB forgets only with the statement what was reserved for more rows than
  // there were, and has no id for the next insert of a group then.
  file->auto_inc_intervals_count = 0;
  ulonglong generated_id = 0;
  ulonglong offered_id = outcome.has_id && !table->auto_increment_field_not_null ? ids.offer(thd, table) : 0;
  while (const int handler_code = write_row(table, ids)) {
    const auto fail = [&](int code) {
      give_to_next_row(file, generated_id);
      return engine_error(thd, file, code);
    };
    generated_id = file->insert_id_for_cur_row > 0 ? file->insert_id_for_cur_row : generated_id;
    if (offered_id > 0 && offered_id == generated_id && has_taken_id(table, handler_code)) {
      offered_id = offer_next_id(thd, table, ids);
      generated_id = 0;
      continue;
    }
    if (row.on_duplicate == OnDuplicate::fail || !is_duplicate(handler_code)) {
      return fail(handler_code);
    }
    const uint key_number = file->get_dup_key(handler_code);
    // Of a generated id that is taken, the key's whole range is used up: replacing would eat other rows.
    const bool id_is_taken = row.on_duplicate == OnDuplicate::replace &&
                             table->next_number_field != nullptr &&
                             key_number == table->s->next_number_index && generated_id > 0;
    if (key_number == static_cast<uint>(-1) || id_is_taken) {
      return fail(handler_code);
    }
    const bool must_read = row.on_duplicate != OnDuplicate::keep || outcome.has_id || row.tells_row;
    if (const int code = look_at_duplicate(thd, binding, table, row, key_number, must_read, handler_code)) {
      return fail(code);
    }
    clear_diagnostics(thd);
    if (row.on_duplicate == OnDuplicate::replace) {
      if (Error error = delete_duplicate(thd, table); !error.ok()) {
        return error;
      }
      outcome.rows_affected = 2;
      continue;
    }
    give_to_next_row(file, generated_id);
    file->insert_id_for_cur_row = 0;
    if (row.on_duplicate == OnDuplicate::change) {
      return change_duplicate(thd, binding, table, row, raw, filters, outcome);
    }
    outcome.rows_affected = 0;
    if (must_read) {
      keep_duplicate(table, outcome);
    }
    return {};
  }
  mark_changed(thd, table);
  outcome.id = file->insert_id_for_cur_row > 0 ? file->insert_id_for_cur_row : generated_id;
  return run_after_triggers(thd, table, TRG_EVENT_INSERT, true);
}

}  // namespace rowsocket::mariadb
