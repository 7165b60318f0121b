// SPDX-License-Identifier: GPL-2.0-only
//
// Tables with PARTITION BY SYSTEM_TIME ... AUTO: the server adds a partition for history when the last one is
// full, or its time is over. In SQL `open_tables` does so on its way: it closes what it has opened, takes an
// exclusive lock, adds the partition and opens again.
//
// It is the same here, in the same order and by the same function of the server, but as a step of its own:
//
//   open ....... put_off_new_partitions, so that open_tables adds none
//   due ........ is there a table that needs one?
//   close ...... this table, and whatever else the session has open: no partition is added to an open table
//   add ........ within a patience of its own
//   open again . with or without a new partition. Without one the last partition takes the history, as in SQL
//                where the exclusive lock was not to be had
//
// Statements of triggers add no partitions (FixedPartitions). The tables that triggers change stand in the
// list of tables, too, so the partition that such a table needs is added before the request that fires them.
//
// A step of its own for two reasons. Only the session can close its other openings of the table. And where
// two sessions hold the table's metadata lock and need a partition, `open_tables` of the second one tries
// again and again, without a pause, until the first one is done or gives up; the first one waits for the
// second one's transaction meanwhile. A worker must not be the second one.
#pragma once

#include "mariadb/server_headers.h"
// The server's headers come first.
#include <vector>

namespace rowsocket::mariadb {

/// True if its history moves on to the next partition, which may have to be made first.
[[nodiscard]] bool keeps_history_in_steps(const TABLE* table);

/// Before these tables are opened: the opening adds no partition to them.
void put_off_new_partitions(THD* thd, TABLE_LIST* first);

/// The tables are open; a list's `table` that is nullptr is not. True if one that is opened for writing needs
/// a partition that no session is adding.
[[nodiscard]] bool needs_new_partition(THD* thd, TABLE_LIST* first);

/// While it lives after `fix`, no statement of a trigger adds partitions to the tables. `open_tables`
/// of such a statement would do so in the middle of ours: it commits the statement and opens the table anew,
/// and changes are missing in the binlog. Where another session is about to add one, it would try again and
/// again, without a pause and without an end, because the other session waits for this one's transaction.
class FixedPartitions {
 public:
  FixedPartitions() = default;
  FixedPartitions(const FixedPartitions&) = delete;
  FixedPartitions& operator=(const FixedPartitions&) = delete;

  /// The tables are open, and stay open until `release`.
  void fix(TABLE_LIST* first);
  /// Before the tables are closed: the next session that uses them adds partitions.
  void release();

 private:
  std::vector<Vers_part_info*> fixed_;  ///< of tables that the server may add partitions to
};

/// Adds the partitions that a table needs. It is told of the tables while they are open, and adds when they
/// are closed.
class NewPartitions {
 public:
  /// `patience_s`: how long `add` waits for other sessions that use the table.
  NewPartitions(THD* thd, ulong patience_s);
  NewPartitions(const NewPartitions&) = delete;
  NewPartitions& operator=(const NewPartitions&) = delete;

  /// From here on no other session adds partitions to the table, so `add` must follow.
  [[nodiscard]] bool claim(TABLE_LIST* first);
  /// False where the server has reported an error. It is none that another session uses the table for longer.
  [[nodiscard]] bool add();

 private:
  THD* thd_;
  Open_table_context context_;
};

}  // namespace rowsocket::mariadb
