// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cmath>

#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "mariadb/row_change.h"

namespace rowsocket::mariadb {
namespace {

using Wide = __int128;

/// Assigning to a generated column is an error, as in strict SQL.
Error refuse_generated(const Field* field) {
  if (field->vcol_info != nullptr || field->vers_sys_field()) {
    return Error(ErrorCode::sql, ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN,
                 std::string("column '") + field->field_name.str + "' is generated");
  }
  return {};
}

/// Generated columns and constraints, after the row's values are in place.
Error complete_row(THD* thd, TABLE* table) {
  if (table->vfield != nullptr && table->update_virtual_fields(table->file, VCOL_UPDATE_FOR_WRITE) != 0) {
    return take_server_error(thd, ErrorCode::sql);
  }
  if (table->verify_constraints(false) != VIEW_CHECK_OK) {
    return take_server_error(thd, ErrorCode::sql);
  }
  return {};
}

/// Where a column's new value goes: with BEFORE triggers, a twin that may be NULL until they have run.
Field* field_to_fill(TABLE* table, const Field* field) {
  Field** const twins = table->triggers != nullptr ? table->triggers->nullable_fields() : nullptr;
  return (twins != nullptr ? twins : table->field)[field->field_index];
}

Error require_default(TABLE* table, size_t given_count, const Binding& binding) {
  for (size_t i = 0; i < given_count; ++i) {
    binding.columns[i].field->set_has_explicit_value();
  }
  for (Field** field = table->field; *field != nullptr; ++field) {
    const bool has_no_default =
        ((*field)->flags & (NO_DEFAULT_VALUE_FLAG | VERS_ROW_START | VERS_ROW_END)) == NO_DEFAULT_VALUE_FLAG;
    const bool trigger_may_set_it = field_to_fill(table, *field) != *field;
    if (has_no_default && !trigger_may_set_it && !(*field)->has_explicit_value() && (*field)->vcol_info == nullptr &&
        (*field)->real_type() != MYSQL_TYPE_ENUM) {
      return Error(ErrorCode::sql, ER_NO_DEFAULT_FOR_FIELD,
                   std::string("column '") + (*field)->field_name.str + "' has no default");
    }
  }
  return {};
}

/// NOT NULL, once the BEFORE triggers have had their chance to set a value.
Error require_values(TABLE* table) {
  for (uint i = 0; i < table->s->fields; ++i) {
    Field* const filled = field_to_fill(table, table->field[i]);
    if (filled != table->field[i] && filled->is_real_null()) {
      const bool lacks_default = (filled->flags & NO_DEFAULT_VALUE_FLAG) != 0 && !filled->has_explicit_value();
      return Error(ErrorCode::sql, lacks_default ? ER_NO_DEFAULT_FOR_FIELD : ER_BAD_NULL_ERROR,
                   std::string("column '") + filled->field_name.str + (lacks_default ? "' has no default" : "' cannot be NULL"));
    }
  }
  return {};
}

Error run_triggers(THD* thd, TABLE* table, trg_event_type event, trg_action_time_type time, bool old_row_is_second) {
  if (table->triggers == nullptr) [[likely]] {
    return {};
  }
  if (table->triggers->process_triggers(thd, event, time, old_row_is_second)) {
    return take_server_error(thd, ErrorCode::sql);
  }
  return time == TRG_ACTION_BEFORE && event != TRG_EVENT_DELETE ? require_values(table) : Error();
}

void mark_changed(THD* thd, TABLE* table) {
  if (!table->file->has_transactions_and_rollback()) {
    thd->transaction->stmt.modified_non_trans_table = true;
  }
}

/// True if the change makes a row of history: some changed column is not WITHOUT SYSTEM VERSIONING.
bool makes_history(const Binding& binding, const TABLE* table, size_t changed_count) {
  const auto first = binding.columns.begin();
  return table->versioned(VERS_TIMESTAMP) &&
         std::any_of(first, first + static_cast<ptrdiff_t>(changed_count),
                     [](const Column& column) { return !column.field->vers_update_unversioned(); });
}

/// Write the row as it was (the second record), with its end of life, and leave the first record as it is.
int write_history(TABLE* table) {
  store_record(table, record[2]);
  table->mark_columns_per_binlog_row_image();  // the row event of an insert, now
  const int handler_code = vers_insert_history_row(table);
  restore_record(table, record[2]);
  return handler_code;
}

/// Write the changed first record over the row kept in the second.
Error write_update(THD* thd, const Binding& binding, TABLE* table, size_t changed_count) {
  const auto differs = [table] { return !records_are_comparable(table) || compare_record(table); };
  if (differs()) {
    table->evaluate_update_default_function();  // as in SQL, not where nothing changes
  }
  if (Error error = run_triggers(thd, table, TRG_EVENT_UPDATE, TRG_ACTION_BEFORE, true); !error.ok()) {
    return error;
  }
  if (!differs()) {
    return run_triggers(thd, table, TRG_EVENT_UPDATE, TRG_ACTION_AFTER, true);
  }
  const bool history = makes_history(binding, table, changed_count);
  if (history) {
    table->vers_update_fields();
  }
  if (Error error = complete_row(thd, table); !error.ok()) {
    return error;
  }
  int handler_code = table->file->ha_update_row(table->record[1], table->record[0]);
  if (handler_code == 0 && history) {
    handler_code = write_history(table);
  }
  if (handler_code != 0 && handler_code != HA_ERR_RECORD_IS_THE_SAME) {
    return engine_error(thd, table->file, handler_code);
  }
  mark_changed(thd, table);
  return run_triggers(thd, table, TRG_EVENT_UPDATE, TRG_ACTION_AFTER, true);
}

Error out_of_range(const Field* field) {
  return Error(ErrorCode::sql, ER_WARN_DATA_OUT_OF_RANGE, std::string("out of range for column '") + field->field_name.str + "'");
}

/// A whole number from text, wide enough that a 64-bit column plus it can not wrap.
bool parse_amount(const Value& amount, Wide& number) {
  const Value text = amount;
  size_t i = 0;
  bool negative = false;
  if (i < text.size && (text.data[i] == '-' || text.data[i] == '+')) {
    negative = text.data[i++] == '-';
  }
  constexpr size_t digits_max = 30;
  if (i == text.size || text.size - i > digits_max) {
    return false;
  }
  number = 0;
  for (; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') {
      return false;
    }
    number = number * 10 + (text.data[i] - '0');
  }
  number = negative ? -number : number;
  return true;
}

/// True if a decrement would carry the value over zero: the whole row is then left alone.
template <typename Number>
bool crosses_zero(const Number& before, const Number& after) {
  return (before < 0 && after > 0) || (before > 0 && after < 0);
}

enum class Addition : uint8_t { done, refused, failed };

Addition outcome(THD* thd, Error& error) {
  if (thd->is_error()) {
    error = take_server_error(thd, ErrorCode::sql);
    return Addition::failed;
  }
  return Addition::done;
}

Addition add_integer(THD* thd, Field* field, Wide before, const Value& amount, bool decrement, Error& error) {
  Wide delta = 0;
  if (!parse_amount(amount, delta)) {
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE, "'" + std::string(amount.view()) + "' is not a whole number");
    return Addition::failed;
  }
  const Wide after = decrement ? before - delta : before + delta;
  if (decrement && crosses_zero(before, after)) {
    return Addition::refused;
  }
  const bool fits_signed = after >= LONGLONG_MIN && after <= LONGLONG_MAX;
  const bool fits_unsigned = after >= 0 && after <= static_cast<Wide>(ULONGLONG_MAX);
  if (!fits_signed && !fits_unsigned) {
    error = out_of_range(field);
    return Addition::failed;
  }
  field->store(static_cast<longlong>(after), after > LONGLONG_MAX);
  return outcome(thd, error);
}

Addition add_decimal(THD* thd, Field* field, const Value& amount, bool decrement, Error& error) {
  my_decimal before_buffer;
  my_decimal delta;
  my_decimal after;
  const my_decimal* const before = field->val_decimal(&before_buffer);
  const char* end = amount.data + amount.size;
  char* stop = const_cast<char*>(end);
  if (amount.size == 0 || internal_str2dec(amount.data, &delta, &stop, 0) != 0 || stop != end) {
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE, "'" + std::string(amount.view()) + "' is not a decimal number");
    return Addition::failed;
  }
  const int overflow = decrement ? my_decimal_sub(0, &after, before, &delta) : my_decimal_add(0, &after, before, &delta);
  if (overflow != 0) {
    error = out_of_range(field);
    return Addition::failed;
  }
  const bool changes_sign = !my_decimal_is_zero(before) && !my_decimal_is_zero(&after) && before->sign() != after.sign();
  if (decrement && changes_sign) {
    return Addition::refused;
  }
  field->store_decimal(&after);
  return outcome(thd, error);
}

Addition add_real(THD* thd, Field* field, const Value& amount, bool decrement, Error& error) {
  char* end = const_cast<char*>(amount.data + amount.size);
  int conversion_error = 0;
  const double delta = my_strtod(amount.data, &end, &conversion_error);
  if (amount.size == 0 || conversion_error != 0 || end != amount.data + amount.size || !std::isfinite(delta)) {
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE, "'" + std::string(amount.view()) + "' is not a number");
    return Addition::failed;
  }
  const double before = field->val_real();
  const double after = decrement ? before - delta : before + delta;
  if (decrement && crosses_zero(before, after)) {
    return Addition::refused;
  }
  if (!std::isfinite(after)) {
    error = out_of_range(field);
    return Addition::failed;
  }
  field->store(after);
  return outcome(thd, error);
}

/// Text columns count where they hold a whole number, as some old users have it.
Addition add_text(THD* thd, Field* field, const Value& amount, bool decrement, Error& error) {
  StringBuffer<64> buffer;
  const String* const text = field->val_str(&buffer);
  Wide before = 0;
  if (!parse_amount(Value(text->ptr(), text->length()), before)) {
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE,
                  std::string("column '") + field->field_name.str + "' holds no whole number");
    return Addition::failed;
  }
  return add_integer(thd, field, before, amount, decrement, error);
}

Addition add_to_field(THD* thd, Field* field, const Value& amount, bool decrement, Error& error) {
  if (error = refuse_generated(field); !error.ok()) {
    return Addition::failed;
  }
  if (is_string_column(field)) {
    return add_text(thd, field, amount, decrement, error);
  }
  switch (field->real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_BIT:
    case MYSQL_TYPE_YEAR: {
      const longlong bits = field->val_int();
      const bool is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
      return add_integer(thd, field, is_unsigned ? static_cast<Wide>(static_cast<ulonglong>(bits)) : bits, amount, decrement,
                         error);
    }
    case MYSQL_TYPE_NEWDECIMAL:
      return add_decimal(thd, field, amount, decrement, error);
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
      return add_real(thd, field, amount, decrement, error);
    default:
      error = Error(ErrorCode::bad_modification, std::string("column '") + field->field_name.str + "' is not a number");
      return Addition::failed;
  }
}

}  // namespace

// Row logging is switched on first: which columns a row event holds (binlog_row_image) is decided by the marking, and only for
// tables that are logged.
void prepare_insert(TABLE* table) {
  table->in_use->lex->sql_command = SQLCOM_INSERT;  // InnoDB locks AUTO_INCREMENT for longer where rows may follow in numbers
  table->file->prepare_for_row_logging();
  table->use_all_columns();
  table->mark_columns_per_binlog_row_image();
  table->file->prepare_for_insert(true);
  table->next_number_field = table->found_next_number_field;
}

// The binding's own column sets are in use, since its index is walked; these add what else is read or written.
void prepare_update(TABLE* table) {
  table->file->prepare_for_row_logging();
  table->mark_columns_needed_for_update();
  table->file->prepare_for_insert(true);
}

void prepare_delete(TABLE* table) {
  table->file->prepare_for_row_logging();
  table->mark_columns_needed_for_delete();
  table->file->prepare_for_insert(true);  // a versioned row is not deleted, its end is written
}

Error insert_row(THD* thd, const Binding& binding, TABLE* table, std::span<const Value> values, bool raw, bool& has_id,
                 uint64_t& id) {
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
      table->auto_increment_field_not_null = !values[i].is_null() && (zero_is_a_value || field->val_int() != 0);
    }
  }
  if (Error error = require_default(table, values.size(), binding); !error.ok()) {
    return error;
  }
  if (table->default_field != nullptr && table->update_default_fields(false) != 0) {
    return take_server_error(thd, ErrorCode::sql);
  }
  if (table->versioned(VERS_TIMESTAMP)) {
    table->vers_update_fields();
  }
  if (Error error = run_triggers(thd, table, TRG_EVENT_INSERT, TRG_ACTION_BEFORE, true); !error.ok()) {
    return error;
  }
  if (Error error = complete_row(thd, table); !error.ok()) {
    return error;
  }
  const int handler_code = table->file->ha_write_row(table->record[0]);
  if (handler_code != 0) {
    return engine_error(thd, table->file, handler_code);
  }
  mark_changed(thd, table);
  has_id = table->found_next_number_field != nullptr;
  id = table->file->insert_id_for_cur_row;
  return run_triggers(thd, table, TRG_EVENT_INSERT, TRG_ACTION_AFTER, true);
}

Error update_row(THD* thd, const Binding& binding, TABLE* table, std::span<const Value> new_values, bool raw) {
  store_record(table, record[1]);
  table->reset_default_fields();
  for (size_t i = 0; i < new_values.size(); ++i) {
    Field* const field = binding.columns[i].field;
    if (Error error = refuse_generated(field); !error.ok()) {
      return error;
    }
    if (Error error = store_value(thd, field_to_fill(table, field), new_values[i], raw); !error.ok()) {
      return error;
    }
    field->set_has_explicit_value();
  }
  return write_update(thd, binding, table, new_values.size());
}

Error add_to_row(THD* thd, const Binding& binding, TABLE* table, std::span<const Value> amounts, bool decrement, bool& changed) {
  store_record(table, record[1]);
  table->reset_default_fields();
  changed = false;
  for (size_t i = 0; i < amounts.size(); ++i) {
    Field* const field = binding.columns[i].field;
    if (field->is_null() || amounts[i].is_null()) {
      continue;
    }
    Error error;
    switch (add_to_field(thd, field, amounts[i], decrement, error)) {
      case Addition::done:
        field->set_has_explicit_value();
        break;
      case Addition::refused:
        return {};
      case Addition::failed:
        return error;
    }
  }
  changed = true;
  return write_update(thd, binding, table, amounts.size());
}

Error delete_row(THD* thd, TABLE* table) {
  if (Error error = run_triggers(thd, table, TRG_EVENT_DELETE, TRG_ACTION_BEFORE, false); !error.ok()) {
    return error;
  }
  const int handler_code = table->delete_row<false>(table->versioned(VERS_TIMESTAMP));
  if (handler_code != 0) {
    return engine_error(thd, table->file, handler_code);
  }
  mark_changed(thd, table);
  return run_triggers(thd, table, TRG_EVENT_DELETE, TRG_ACTION_AFTER, false);
}

}  // namespace rowsocket::mariadb
