// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"
#include "mariadb/opened_list.h"
#include "mariadb/row_rules.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {

bool prepare_expressions(THD* thd, TABLE* table) {
  if (table->vcol_refix_list.is_empty()) [[likely]] {
    return true;
  }
  enter_database(thd, table->s->db);
  const bool was_strict = std::exchange(thd->abort_on_warning, false);
  const bool failed = table->vcol_cleanup_expr(thd) || table->vcol_fix_expr(thd);
  thd->abort_on_warning = was_strict;
  return !failed;
}

bool number_tables(THD* thd, TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    TABLE* const table = list->table;
    if (table != nullptr && table->map == 0) {
      table->set_table_map(1, 0);
      // The server has prepared expressions while the table had no number.
      if (!prepare_expressions(thd, table)) {
        return false;
      }
    }
  }
  return true;
}

void renew_at_times(THD* thd, TABLE_LIST* list) {
  if (thd->query_id % limits::statements_per_renewal != 0) [[likely]] {
    return;
  }
  for (; list != nullptr; list = list->next_global) {
    if (list->table != nullptr && !list->table->vcol_refix_list.is_empty()) {
      list->table->mark_table_for_reopen();
    }
  }
}

bool calls_routines(const LEX& lex) {
  const auto* routine = reinterpret_cast<const Sroutine_hash_entry*>(lex.sroutines_list.first);
  for (; routine != nullptr; routine = routine->next) {
    if (routine->mdl_request.key.mdl_namespace() != MDL_key::TRIGGER) {
      return true;
    }
  }
  return false;
}

uint64_t versions_of(const TABLE_LIST* list) {
  uint64_t versions = 1;
  for (; list != nullptr; list = list->next_global) {
    versions = versions * 31 + (list->table != nullptr ? list->table->s->table_map_id : 0);
  }
  return versions;
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

// InnoDB does so in READ COMMITTED where the first table of a statement is to be locked. Like lock_count(),
// it puts no lock into the list.
void begin_without_snapshot(THD* thd, const TABLE_LIST* list, enum_tx_isolation isolation) {
  for (; list != nullptr; list = list->next_global) {
    if (list->table != nullptr && list->table->file->partition_ht()->db_type == DB_TYPE_INNODB) {
      THR_LOCK_DATA* none = nullptr;
      const enum_tx_isolation before = std::exchange(thd->tx_isolation, isolation);
      list->table->file->store_lock(thd, &none, TL_READ);
      thd->tx_isolation = before;
      list->table->file->store_lock(thd, &none, TL_READ);
      return;
    }
  }
}

bool is_collected_for_alter(const TABLE_LIST* list) {
  while (list != nullptr && (list->table == nullptr || !is_collected_for_alter(list->table))) {
    list = list->next_global;
  }
  return list != nullptr;
}

bool uses_tables_in_code(const TABLE_LIST* list) {
  while (list != nullptr && list->prelocking_placeholder != TABLE_LIST::PRELOCK_ROUTINE) {
    list = list->next_global;
  }
  return list != nullptr;
}

bool reads_clock(const TABLE* table) {
  const auto takes_time = [](const Virtual_column_info* expression) {
    return expression != nullptr && (expression->flags & VCOL_TIME_FUNC) != 0;
  };
  return std::any_of(table->field, table->field + table->s->fields, [&](const Field* field) {
    return takes_time(field->default_value) || takes_time(field->vcol_info);
  });
}

static bool has_user_variable(const Virtual_column_info* expression) {
  if (expression == nullptr || (expression->flags & VCOL_NON_DETERMINISTIC) == 0) [[likely]] {
    return false;
  }
  return std::ranges::any_of(std::array{Item_func::SUSERVAR_FUNC, Item_func::GUSERVAR_FUNC},
                             [expression](Item_func::Functype kind) {
                               return expression->expr->walk(&Item::find_function_processor, false, &kind);
                             });
}

UserVariables user_variables_of(const TABLE_LIST* list) {
  UserVariables found = UserVariables::none;
  for (const TABLE_LIST* one = list; one != nullptr; one = one->next_global) {
    const TABLE* const table = one->table;
    if (table == nullptr) {
      continue;
    }
    // A generated column, and code of a trigger, may read a default, by DEFAULT(column).
    const bool uses_defaults = one->lock_type >= TL_FIRST_WRITE || table->vfield != nullptr || one != list;
    for (Field* const* field = table->field; *field != nullptr; ++field) {
      const bool in_default = has_user_variable((*field)->default_value);
      if (has_user_variable((*field)->vcol_info) || (in_default && uses_defaults)) {
        return UserVariables::used;
      }
      found = in_default ? UserVariables::kept : found;
    }
  }
  return found;
}

static bool has_fulltext_of_innodb(const TABLE* table) {
  const TABLE_SHARE* const share = table->s;
  return table->file->partition_ht()->db_type == DB_TYPE_INNODB &&
         std::any_of(share->key_info, share->key_info + share->keys, is_fulltext);
}

bool writes_several_engines(const TABLE_LIST* list) {
  const handlerton* const first = list->table->file->partition_ht();
  while ((list = list->next_global) != nullptr) {
    if (list->table != nullptr && list->lock_type >= TL_FIRST_WRITE &&
        list->table->file->has_transactions() && list->table->file->partition_ht() != first) {
      return true;
    }
  }
  return false;
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
