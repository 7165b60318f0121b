// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/forbidden_defaults.h"

namespace rowsocket::mariadb {
namespace {

bool is_forbidden(THD* thd, Field* field) {
  const uchar* const defaults = field->table->s->default_values;
  return field->default_value == nullptr && field->vcol_info == nullptr &&
         (field->flags & (NO_DEFAULT_VALUE_FLAG | VERS_SYSTEM_FIELD)) == 0 &&
         !field->is_null_in_record(defaults) && field->validate_value_in_record_with_warn(thd, defaults) &&
         thd->is_error();
}

/// To set it, or only to look at it, as far as the server can tell.
bool is_named_by_triggers(TABLE* table, const Field* field) {
  if (table->triggers == nullptr) {
    return false;
  }
  bitmap_clear_all(&table->tmp_set);
  MY_BITMAP* const write_set = std::exchange(table->write_set, &table->tmp_set);
  table->triggers->mark_fields_used(TRG_EVENT_INSERT);
  table->write_set = write_set;
  return bitmap_is_set(&table->tmp_set, field->field_index);
}

}  // namespace

Error refuse_forbidden_defaults(THD* thd, TABLE* table, OnDuplicate on_duplicate) {
  if ((thd->variables.sql_mode & (MODE_NO_ZERO_DATE | MODE_NO_ZERO_IN_DATE)) == 0) {
    return {};
  }
  for (Field** field = table->field; *field != nullptr; ++field) {
    if ((*field)->has_explicit_value() || !is_forbidden(thd, *field)) [[likely]] {
      continue;
    }
    const bool has_time_of_change =
        on_duplicate == OnDuplicate::change && (*field)->has_update_default_function();
    if (!has_time_of_change && !is_named_by_triggers(table, *field)) {
      return take_server_error(thd, ErrorCode::sql);
    }
    clear_diagnostics(thd);
  }
  return {};
}

}  // namespace rowsocket::mariadb
