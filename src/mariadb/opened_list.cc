// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>

#include "mariadb/opened_list.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {

bool number_tables(THD* thd, TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    TABLE* const table = list->table;
    if (table != nullptr && table->map == 0) {
      table->set_table_map(1, 0);
      // The server has prepared expressions while the table had no number.
      if (table->vcol_cleanup_expr(thd) || table->vcol_fix_expr(thd)) {
        return false;
      }
    }
  }
  return true;
}

bool keeps_changes(const TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    const TABLE* const table = list->table;
    if (table != nullptr && list->lock_type >= TL_FIRST_WRITE &&
        table->s->table_type != TABLE_TYPE_SEQUENCE && !table->file->has_transactions_and_rollback()) {
      return true;
    }
  }
  return false;
}

bool parts_with_others(const TABLE_LIST* list) {
  if (list->table->file->has_transactions_and_rollback()) {
    return false;
  }
  for (list = list->next_global; list != nullptr; list = list->next_global) {
    const TABLE* const table = list->table;
    if (table != nullptr && list->lock_type >= TL_FIRST_WRITE &&
        table->s->table_type != TABLE_TYPE_SEQUENCE && table->file->has_transactions_and_rollback()) {
      return true;
    }
  }
  return false;
}

bool has_engine_of_one_phase(const TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    if (list->table != nullptr) {
      const handlerton* const engine = list->table->file->partition_ht();
      if (engine->commit != nullptr && engine->prepare == nullptr) {
        return true;
      }
    }
  }
  return false;
}

bool is_rocksdb(const TABLE* table) {
  const handlerton* const engine = table->file->partition_ht();
  return engine->prepare != nullptr && engine->db_type != DB_TYPE_INNODB;
}

bool has_rocksdb(const TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    if (list->table != nullptr && is_rocksdb(list->table)) {
      return true;
    }
  }
  return false;
}

bool reads_clock(const TABLE* table) {
  const auto takes_time = [](const Virtual_column_info* expression) {
    return expression != nullptr && (expression->flags & VCOL_TIME_FUNC) != 0;
  };
  return std::any_of(table->field, table->field + table->s->fields, [&](const Field* field) {
    return takes_time(field->default_value) || takes_time(field->vcol_info);
  });
}

static bool has_fulltext_of_innodb(const TABLE* table) {
  const TABLE_SHARE* const share = table->s;
  return table->file->partition_ht()->db_type == DB_TYPE_INNODB &&
         std::any_of(share->key_info, share->key_info + share->keys, is_fulltext);
}

bool writes_fulltext(const TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    if (list->table != nullptr && list->lock_type >= TL_FIRST_WRITE && has_fulltext_of_innodb(list->table)) {
      return true;
    }
  }
  return false;
}

}  // namespace rowsocket::mariadb
