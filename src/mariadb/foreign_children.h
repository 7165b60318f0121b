// SPDX-License-Identifier: GPL-2.0-only
//
// The children that each parent of a foreign key had when it was last opened for writing.
//
// While an ALTER TABLE ... ALGORITHM=COPY of a child ends, InnoDB knows of no foreign key of the child for a
// moment. The server, which asks InnoDB for the tables that a write may reach, then opens the parent without
// the child. What is changed in the parent would not reach the child, and the ALTER, which has the child's
// name locked, would not be waited for. (Waiting sessions of SQL are spared, since they ask again when the
// ALTER is done. A statement that comes in that moment is not.) So an opening that finds fewer children of a
// parent than the one before opens again, with the names of the missing ones locked.
#pragma once

#include "mariadb/server_headers.h"
// The server's headers come first.
#include <atomic>
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
  struct Family {
    std::string parent;  ///< its database and name
    Tables children;
  };
  using Families = std::vector<Family>;

  /// Of a list of tables that is open: those that may be changed, whether they are parents or not. May throw
  /// std::bad_alloc.
  [[nodiscard]] static Families in(THD* thd, const TABLE_LIST* list);

  /// The children that the parents had, and that neither `found` nor `locked` has. Where there are none,
  /// `found` is what is known of the parents from now on. May throw std::bad_alloc.
  [[nodiscard]] Tables missing(Families found, const Tables& locked);

 private:
  void set(Family family) ROWSOCKET_REQUIRES(mutex_);

  Mutex mutex_;
  std::unordered_map<std::string, Tables> known_ ROWSOCKET_GUARDED_BY(mutex_);  ///< those that have any
  std::atomic<bool> knows_any_{false};
};

}  // namespace rowsocket::mariadb
