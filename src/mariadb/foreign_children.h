// SPDX-License-Identifier: GPL-2.0-only
//
// The children of foreign keys, as each table was last opened for writing with them.
//
// While an ALTER TABLE ... ALGORITHM=COPY of a child ends, InnoDB knows of no foreign key of the child for a
// moment. The server, which asks InnoDB for the tables that a write may reach, then opens the parent without
// the child. What is changed in the parent would not reach the child, and the ALTER, which has the child's
// name locked, would not be waited for. (Waiting sessions of SQL are spared, since they ask again when the
// ALTER is done. A statement that comes in that moment is not.) So an opening that finds fewer children than
// the one before opens again, with the names of the missing ones locked.
#pragma once

#include "mariadb/server_headers.h"
// The server's headers come first.
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace rowsocket::mariadb {

/// For all sessions: any thread.
class ForeignChildren {
 public:
  struct Table {
    std::string database;
    std::string name;
    bool operator==(const Table&) const = default;
  };
  using Tables = std::vector<Table>;

  /// Of a list of tables that is open: those that stand there as children of a foreign key. May throw
  /// std::bad_alloc.
  [[nodiscard]] static Tables in(const TABLE_LIST* list);

  /// Those that the opening of this name last had, and that `found` lacks. May throw std::bad_alloc.
  [[nodiscard]] Tables missing(const std::string& opening, const Tables& found) const;
  /// What it has now. May throw std::bad_alloc.
  void set(const std::string& opening, Tables found);

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, Tables> known_ ROWSOCKET_GUARDED_BY(mutex_);  ///< those that have any
};

}  // namespace rowsocket::mariadb
