// SPDX-License-Identifier: GPL-2.0-only
//
// The tables that a write to one table reaches through foreign keys.
//
// The engine itself checks the rows of the children, and changes them (CASCADE, SET NULL), and then those of their children. What
// it needs from the server is what a statement in SQL gives it: metadata locks, so that nobody alters a child meanwhile; and, of
// children that may change, the open table, in which it computes their virtual columns. So children that an update or a delete
// of the parent may change are opened, and in turn their children; of the others only the name is locked.
//
// Opened and closed with the parent, by the session's thread, without waiting.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mariadb/table_opening.h"

namespace rowsocket::mariadb {

class ForeignKeyChildren {
 public:
  /// Open what the parent's foreign keys reach and is not open yet: a new child needs no lock on its parent. If that fails, none
  /// is open.
  [[nodiscard]] Opening open(THD* thd, TABLE* parent, Error& error);
  void close(THD* thd);
  /// Somebody waits for one of them, or it was flushed.
  [[nodiscard]] bool are_wanted_by_others() const;

 private:
  struct Child {
    std::string database;
    std::string name;
    bool may_change = false;
    TABLE_LIST list;
    TABLE* table = nullptr;
    MDL_ticket* ticket = nullptr;  ///< null before it is opened
  };

  [[nodiscard]] bool name_children_of(THD* thd, TABLE* parent, Error& error);
  [[nodiscard]] bool is_named(const FOREIGN_KEY_INFO& key, bool may_change) const;

  std::vector<std::unique_ptr<Child>> children_;  ///< the server points to their `list` while they are open
};

}  // namespace rowsocket::mariadb
