// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "mariadb/foreign_children.h"

namespace rowsocket::mariadb {
namespace {

ForeignChildren::Tables children_of(THD* thd, const TABLE* table) {
  ForeignChildren::Tables children;
  if (table->file->referenced_by_foreign_key()) {
    List<FOREIGN_KEY_INFO> keys;
    table->file->get_parent_foreign_key_list(thd, &keys);
    List_iterator<FOREIGN_KEY_INFO> rest(keys);
    while (const FOREIGN_KEY_INFO* const key = rest++) {
      children.push_back({key->foreign_db->str, key->foreign_table->str});
    }
  }
  return children;
}

bool has(const ForeignChildren::Tables& tables, const ForeignChildren::Table& table) {
  return std::find(tables.begin(), tables.end(), table) != tables.end();
}

}  // namespace

ForeignChildren::Families ForeignChildren::in(THD* thd, const TABLE_LIST* list) {
  Families found;
  for (; list != nullptr; list = list->next_global) {
    if (const TABLE* const table = list->table; table != nullptr && list->lock_type >= TL_FIRST_WRITE) {
      found.push_back(
          {std::string(table->s->db.str) + '\0' + table->s->table_name.str, children_of(thd, table)});
    }
  }
  return found;
}

ForeignChildren::Tables ForeignChildren::missing(Families found, const Tables& locked) {
  const bool has_children =
      std::any_of(found.begin(), found.end(), [](const Family& family) { return !family.children.empty(); });
  if (!has_children && !knows_any_.load(std::memory_order_acquire)) [[likely]] {
    return {};
  }
  const MutexLock lock(mutex_);
  Tables missing;
  for (const Family& family : found) {
    if (const auto known = known_.find(family.parent); known != known_.end()) {
      std::copy_if(known->second.begin(), known->second.end(), std::back_inserter(missing),
                   [&](const Table& child) { return !has(family.children, child) && !has(locked, child); });
    }
  }
  if (missing.empty()) {
    for (Family& family : found) {
      set(std::move(family));
    }
    knows_any_.store(!known_.empty(), std::memory_order_release);
  }
  return missing;
}

/// Parents that are gone stay, since nobody opens them any more; so where there are too many, all go.
void ForeignChildren::set(Family family) {
  if (family.children.empty()) {
    known_.erase(family.parent);
    return;
  }
  if (known_.size() >= limits::foreign_parents_max && !known_.contains(family.parent)) {
    known_.clear();
  }
  known_[family.parent] = std::move(family.children);
}

}  // namespace rowsocket::mariadb
