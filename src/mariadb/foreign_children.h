// SPDX-License-Identifier: GPL-2.0-only
//
// The children that each parent of a foreign key had when it was last opened for writing.
//
// While an ALTER TABLE ... ALGORITHM=COPY of a child ends, InnoDB knows of no foreign key of the child for a
// moment. The server, which asks InnoDB for the tables that a write may reach, then opens the parent without
// the child. What is changed in the parent would not reach the child, and the ALTER, which has the child's
// name locked, would not be waited for. (Waiting sessions of SQL are spared, since they ask again when the
// ALTER is done. A statement that comes in that moment is not.) So an opening that finds fewer children of a
// parent than the one before opens again, with the names of the missing ones locked. The same does one that
// finds a child which the server has not opened: it was forgotten when the server asked, and is there again.
#pragma once

#include "mariadb/server_headers.h"
// The server's headers come first.
#include <atomic>
#include <compare>
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
    auto operator<=>(const Table&) const = default;
  };
  using Tables = std::vector<Table>;
  struct Family {
    std::string parent;  ///< its database and name
    Tables children;     ///< in their order, each once
    Tables not_opened;   ///< of the children that a write of the list may reach
  };
  using Families = std::vector<Family>;

  /// Of a list of tables that is open: those that may be changed, whether they are parents or not. May throw
  /// std::bad_alloc.
  [[nodiscard]] static Families in(THD* thd, const TABLE_LIST* list);

  /// Children that the parents had, or have, and that are neither found and open nor `locked`. Where there
  /// are none, `found` is what is known of the parents from now on. May throw std::bad_alloc.
  [[nodiscard]] Tables missing(Families found, const Tables& locked);

 private:
  using Parents = std::unordered_map<std::string, Tables>;

  [[nodiscard]] const Tables* find(const std::string& parent) ROWSOCKET_REQUIRES(mutex_);
  const Tables& set(const std::string& parent, Tables children) ROWSOCKET_REQUIRES(mutex_);

  // Of parents that have any. Those that nobody asks for are forgotten at last: they may be gone.
  Mutex mutex_;
  Parents known_ ROWSOCKET_GUARDED_BY(mutex_);    ///< asked for lately
  Parents earlier_ ROWSOCKET_GUARDED_BY(mutex_);  ///< not since `known_` was full
  std::atomic<bool> knows_any_{false};
};

}  // namespace rowsocket::mariadb
