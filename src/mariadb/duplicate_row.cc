// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "mariadb/diagnostics.h"
#include "mariadb/duplicate_row.h"
#include "mariadb/row_change.h"
#include "mariadb/row_rules.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {
namespace {

/// The row that has the unique key of the first record, into the second. Returns a handler error or 0.
int read_duplicate(THD* thd, TABLE* table, uint key_number) {
  handler* const file = table->file;
  int handler_code = 0;
  if ((file->ha_table_flags() & HA_DUPLICATE_POS) != 0 || file->lookup_errkey != static_cast<uint>(-1)) {
    handler_code = file->ha_rnd_init(false);
    if (handler_code == 0) {
      handler_code = file->ha_rnd_pos(table->record[1], file->dup_ref);
      file->ha_rnd_end();
    }
  } else {
    auto* const key = allocate_bytes(thd, table->s->max_unique_length);
    if (key == nullptr) {
      return HA_ERR_OUT_OF_MEM;
    }
    file->extra(HA_EXTRA_FLUSH_CACHE);
    key_copy(key, table->record[0], table->key_info + key_number, 0);
    handler_code =
        file->ha_index_read_idx_map(table->record[1], key_number, key, HA_WHOLE_KEY, HA_READ_KEY_EXACT);
  }
  if (handler_code == 0 && table->vfield != nullptr) {
    table->move_fields(table->field, table->record[1], table->record[0]);
    handler_code = table->update_virtual_fields(file, VCOL_UPDATE_FOR_REPLACE);
    table->move_fields(table->field, table->record[0], table->record[1]);
  }
  return handler_code;
}

}  // namespace

bool is_duplicate(int handler_code) {
  return handler_code == HA_ERR_FOUND_DUPP_KEY || handler_code == HA_ERR_FOUND_DUPP_UNIQUE;
}

int look_at_duplicate(THD* thd, const Binding& binding, TABLE* table, const engine::RowToInsert& row,
                      uint key_number, bool must_read, int handler_code) {
  const bool may_be_another = row.names_row && key_number != binding.key_number;
  if (!must_read && !may_be_another) {
    return 0;
  }
  const int read_code = read_duplicate(thd, table, key_number);
  return read_code == 0 && may_be_another && has_other_key(binding, table) ? handler_code : read_code;
}

Error delete_duplicate(THD* thd, TABLE* table) {
  bool skips = false;
  if (Error error = run_before_triggers(thd, table, TRG_EVENT_DELETE, true, skips); !error.ok()) {
    return error;
  }
  const int handler_code = table->delete_row<true>(table->versioned(VERS_TIMESTAMP));
  if (handler_code != 0) {
    return engine_error(thd, table->file, handler_code);
  }
  mark_changed(thd, table);
  return skips ? Error() : run_after_triggers(thd, table, TRG_EVENT_DELETE, true);
}

}  // namespace rowsocket::mariadb
