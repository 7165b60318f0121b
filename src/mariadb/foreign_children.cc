// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "mariadb/foreign_children.h"

namespace rowsocket::mariadb {

ForeignChildren::Tables ForeignChildren::in(const TABLE_LIST* list) {
  Tables found;
  for (; list != nullptr; list = list->next_global) {
    if (list->prelocking_placeholder == TABLE_LIST::PRELOCK_FK) {
      found.push_back({list->db.str, list->table_name.str});
    }
  }
  return found;
}

ForeignChildren::Tables ForeignChildren::missing(const std::string& opening, const Tables& found) const {
  const MutexLock lock(mutex_);
  Tables missing;
  if (const auto known = known_.find(opening); known != known_.end()) {
    std::copy_if(
        known->second.begin(), known->second.end(), std::back_inserter(missing),
        [&found](const Table& table) { return std::find(found.begin(), found.end(), table) == found.end(); });
  }
  return missing;
}

void ForeignChildren::set(const std::string& opening, Tables found) {
  const MutexLock lock(mutex_);
  if (found.empty()) {
    known_.erase(opening);
  } else {
    known_[opening] = std::move(found);
  }
}

}  // namespace rowsocket::mariadb
