// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstring>

#include "mariadb/diagnostics.h"
#include "mariadb/row_rules.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

/// NOT NULL, once the BEFORE triggers have had their chance to set a value.
Error require_values(TABLE* table) {
  for (uint i = 0; i < table->s->fields; ++i) {
    Field* const filled = field_to_fill(table, table->field[i]);
    if (filled != table->field[i] && filled->is_real_null()) {
      if (filled->type() == MYSQL_TYPE_TIMESTAMP) {
        filled->set_notnull();
        table->field[i]->set_time();
        continue;
      }
      if (table->field[i] == table->next_number_field) {
        filled->set_notnull();
        filled->store(0, true);
        table->auto_increment_field_not_null = false;
        continue;
      }
      const bool lacks_default =
          (filled->flags & NO_DEFAULT_VALUE_FLAG) != 0 && !filled->has_explicit_value();
      return Error(ErrorCode::sql, lacks_default ? ER_NO_DEFAULT_FOR_FIELD : ER_BAD_NULL_ERROR,
                   std::string("column '") + filled->field_name.str +
                       (lacks_default ? "' has no default" : "' cannot be NULL"));
    }
  }
  return {};
}

bool asks_session(const Virtual_column_info* expression) {
  return expression != nullptr && (expression->flags & VCOL_SESSION_FUNC) != 0;
}

/// Of generated columns and defaults. The server lets no CHECK ask.
bool asks_session(const TABLE* table) {
  for (Field** field = table->vfield; field != nullptr && *field != nullptr; ++field) {
    if (asks_session((*field)->vcol_info)) {
      return true;
    }
  }
  for (Field** field = table->default_field; field != nullptr && *field != nullptr; ++field) {
    if (asks_session((*field)->default_value)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Error refuse_generated(const Field* field) {
  if (field->vcol_info != nullptr || field->vers_sys_field()) {
    return Error(ErrorCode::sql, ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN,
                 std::string("column '") + field->field_name.str + "' is generated");
  }
  return {};
}

Field* field_to_fill(TABLE* table, const Field* field) {
  Field** const twins = table->triggers != nullptr ? table->triggers->nullable_fields() : nullptr;
  return (twins != nullptr ? twins : table->field)[field->field_index];
}

void begin_new_values(TABLE* table) {
  table->reset_default_fields();
  if (table->triggers != nullptr) {
    table->triggers->clear_extra_null_bitmap();
  }
}

int prepare_unique_checks(TABLE* table) {
  return prepare_lookups_of_duplicates(table) == 0 ? 0 : HA_ERR_OUT_OF_MEM;
}

void set_events(TABLE* table, std::initializer_list<trg_event_type> events) {
  uint8 map = 0;
  for (const trg_event_type event : events) {
    map |= trg2bit(event);
  }
  table->pos_in_table_list->trg_event_map = map;
}

void enter_database(THD* thd, const LEX_CSTRING& database) {
  if (thd->db.str == nullptr || std::strcmp(thd->db.str, database.str) != 0) {
    static_cast<void>(thd->set_db(&database));  // a copy, under the lock that SHOW PROCESSLIST reads it with
  }
  // For the temporary tables of triggers and routines, as `USE` sets both.
  Schema_specification_st options;
  static_cast<void>(load_db_opt_by_name(thd, database.str, &options));  // the server's where it has none
  thd->db_charset = thd->variables.collation_database = options.default_table_charset;
}

void enter_database(const TABLE* table) {
  THD* const thd = table->in_use;
  const LEX_CSTRING& database = table->s->db;
  // A trigger enters its database itself. It need not where the session is there already.
  if (table->triggers == nullptr && !asks_session(table)) {
    return;
  }
  enter_database(thd, database);
  // What the account may do there: for a trigger that the account itself has defined.
  thd->security_ctx->db_access = acl_get_all3(thd->security_ctx, database.str, false);
}

void forget_duplicate(const TABLE* table) { table->file->lookup_errkey = static_cast<uint>(-1); }

Error generate_columns(THD* thd, TABLE* table) {
  if (table->vfield != nullptr && table->update_virtual_fields(table->file, VCOL_UPDATE_FOR_WRITE) != 0) {
    return take_server_error(thd, ErrorCode::sql);
  }
  return {};
}

Error check_constraints(THD* thd, TABLE* table) {
  if (table->verify_constraints(false) != VIEW_CHECK_OK) {
    return take_server_error(thd, ErrorCode::sql);
  }
  return {};
}

Error run_before_triggers(THD* thd, TABLE* table, trg_event_type event, bool old_row_is_second, bool& skips,
                          NamedColumns* named) {
  skips = false;
  if (table->triggers == nullptr) [[likely]] {
    return {};
  }
  const bool writes = event != TRG_EVENT_DELETE;
  if (writes) {
    if (Error error = generate_columns(thd, table); !error.ok()) {
      return error;
    }
  }
  if (run_table_triggers(thd, table, event, TRG_ACTION_BEFORE, old_row_is_second, skips, named)) {
    return take_server_error(thd, ErrorCode::sql);
  }
  return writes && !skips ? require_values(table) : Error();
}

Error run_after_triggers(THD* thd, TABLE* table, trg_event_type event, bool old_row_is_second,
                         NamedColumns* named) {
  if (table->triggers == nullptr) [[likely]] {
    return {};
  }
  bool skips = false;  // none of these can: the row is changed
  if (run_table_triggers(thd, table, event, TRG_ACTION_AFTER, old_row_is_second, skips, named)) {
    return take_server_error(thd, ErrorCode::sql);
  }
  return {};
}

void mark_changed(THD* thd, TABLE* table) {
  if (!table->file->has_transactions_and_rollback()) {
    thd->transaction->stmt.modified_non_trans_table = true;
  }
}

}  // namespace rowsocket::mariadb
