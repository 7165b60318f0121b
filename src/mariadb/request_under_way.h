// SPDX-License-Identifier: GPL-2.0-only
//
// The request that a session runs, from the moment its table is locked until it succeeded or failed. There is
// at most one at a time. It has the cursor, and what the server limits a single statement of SQL by: time
// (max_statement_time), memory (max_session_mem_used), KILL QUERY.
//
// While a trigger runs, the session has the name of the trigger's definer, and the server lets that account
// KILL it. The session serves others, too. So a KILL that comes while a request for a table with triggers
// runs, whoever sent it, ends that request, as KILL QUERY does.
#pragma once

#include "mariadb/cursor.h"
#include "mariadb/open_table.h"
#include "mariadb/selection.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {

class RequestUnderWay {
 public:
  explicit RequestUnderWay(ServerThread& thread) : thread_(thread) {}

  /// The table of `side` is locked, and its binding is of the table's present opening. False where a bug of
  /// ours has it otherwise; then no request is under way. `own_us_max`: see ServerThread::limit_time.
  [[nodiscard]] bool begin(const BoundSelection::Side& side, bool changes, bool raw, uint64_t own_us_max);
  [[nodiscard]] bool is_under_way() const { return table_ != nullptr; }
  /// Of the request under way.
  [[nodiscard]] const OpenTable& table() const { return *table_; }
  /// It may change rows.
  [[nodiscard]] bool changes() const { return changes_; }

  /// It may have removed entries from an index of a table that `shows_removed_entries`.
  [[nodiscard]] bool may_have_removed_entries() const;

  /// It succeeded. What it changed is part of its statement.
  void end(bool is_cluster_client);
  /// It failed. True if it had changed rows, which are still to be undone.
  [[nodiscard]] bool abandon(bool is_cluster_client);

  /// Of the request under way; its AUTO_INCREMENT values, and whether its transaction is lost, also after it.
  [[nodiscard]] Cursor& cursor() { return cursor_; }
  [[nodiscard]] const Cursor& cursor() const { return cursor_; }

 private:
  void end_limits(bool is_cluster_client);

  ServerThread& thread_;
  Cursor cursor_;
  OpenTable* table_ = nullptr;  ///< locked while the request is under way; nullptr = none is
  bool changes_ = false;
  bool began_killed_ = false;
  ulonglong rows_changed_before_ = 0;  ///< by the table's handler, before the request
  ulong removals_before_ = 0;          ///< rows that the session had deleted or updated
};

}  // namespace rowsocket::mariadb
