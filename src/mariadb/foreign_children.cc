// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/limits.h"
#include "mariadb/foreign_children.h"

namespace rowsocket::mariadb {
namespace {

std::string full_name(const LEX_CSTRING& database, const LEX_CSTRING& table) {
  return std::string(database.str) + '\0' + table.str;
}

/// There may be many keys of one child.
ForeignChildren::Tables children_of(THD* thd, const TABLE* table) {
  std::unordered_set<std::string> seen;
  ForeignChildren::Tables children;
  if (table->file->referenced_by_foreign_key()) {
    List<FOREIGN_KEY_INFO> keys;
    table->file->get_parent_foreign_key_list(thd, &keys);
    List_iterator<FOREIGN_KEY_INFO> rest(keys);
    while (const FOREIGN_KEY_INFO* const key = rest++) {
      if (seen.insert(full_name(*key->foreign_db, *key->foreign_table)).second) {
        children.push_back({key->foreign_db->str, key->foreign_table->str});
      }
    }
  }
  std::sort(children.begin(), children.end());
  return children;
}

bool is_opened(const TABLE_LIST* list, const ForeignChildren::Table& table) {
  for (; list != nullptr; list = list->next_global) {
    if (list->table != nullptr && table.database == list->db.str && table.name == list->table_name.str) {
      return true;
    }
  }
  return false;
}

/// Those that the server opens with it.
ForeignChildren::Tables not_opened(const TABLE_LIST* list, const TABLE_LIST* parent,
                                   const ForeignChildren::Tables& children) {
  ForeignChildren::Tables not_opened;
  if ((parent->trg_event_map & (trg2bit(TRG_EVENT_UPDATE) | trg2bit(TRG_EVENT_DELETE))) != 0) {
    std::copy_if(children.begin(), children.end(), std::back_inserter(not_opened),
                 [list](const ForeignChildren::Table& child) { return !is_opened(list, child); });
  }
  return not_opened;
}

}  // namespace

ForeignChildren::Families ForeignChildren::in(THD* thd, const TABLE_LIST* list) {
  Families found;
  for (const TABLE_LIST* one = list; one != nullptr; one = one->next_global) {
    if (const TABLE* const table = one->table; table != nullptr && one->lock_type >= TL_FIRST_WRITE) {
      Tables children = children_of(thd, table);
      Tables left_out = not_opened(list, one, children);
      found.push_back(
          {full_name(table->s->db, table->s->table_name), std::move(children), std::move(left_out)});
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
  const auto is_locked = [&locked](const Table& child) {
    return std::find(locked.begin(), locked.end(), child) != locked.end();
  };
  const MutexLock lock(mutex_);
  Tables missing;
  for (const Family& family : found) {
    std::remove_copy_if(family.not_opened.begin(), family.not_opened.end(), std::back_inserter(missing),
                        is_locked);
    if (const Tables* const known = find(family.parent); known != nullptr) {
      Tables gone;
      std::set_difference(known->begin(), known->end(), family.children.begin(), family.children.end(),
                          std::back_inserter(gone));
      std::remove_copy_if(gone.begin(), gone.end(), std::back_inserter(missing), is_locked);
    }
  }
  if (missing.empty()) {
    for (Family& family : found) {
      if (family.children.empty()) {
        known_.erase(family.parent);
      } else {
        set(family.parent, std::move(family.children));
      }
    }
    knows_any_.store(!known_.empty() || !earlier_.empty(), std::memory_order_release);
  }
  return missing;
}

const ForeignChildren::Tables* ForeignChildren::find(const std::string& parent) {
  const auto known = known_.find(parent);
  if (known != known_.end()) {
    return &known->second;
  }
  auto earlier = earlier_.extract(parent);
  return earlier.empty() ? nullptr : &set(parent, std::move(earlier.mapped()));
}

const ForeignChildren::Tables& ForeignChildren::set(const std::string& parent, Tables children) {
  if (known_.size() >= limits::foreign_parents_max && !known_.contains(parent)) {
    earlier_ = std::exchange(known_, {});
  }
  return known_[parent] = std::move(children);
}

}  // namespace rowsocket::mariadb
