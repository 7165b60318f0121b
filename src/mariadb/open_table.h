// SPDX-License-Identifier: GPL-2.0-only
//
// One table as a session uses it with one intent: opened and closed many times over the session's life (metadata locks are never
// in the way of DDL), locked in the engine's sense for a turn (reads) or a request (writes, and engines with table locks).
//
// A session keeps two of these for a table that it both reads and writes: the handler of a table opened for writing takes row
// locks when it reads, and plain reads must not.
#pragma once

#include <cstdint>
#include <string>

#include "engine/engine.h"
#include "mariadb/foreign_key_children.h"
#include "mariadb/server_headers.h"
#include "mariadb/table_opening.h"

namespace rowsocket::mariadb {

struct Binding;

class OpenTable {
 public:
  OpenTable(std::string database, std::string name, engine::Intent intent);
  OpenTable(const OpenTable&) = delete;
  OpenTable& operator=(const OpenTable&) = delete;
  ~OpenTable();

  [[nodiscard]] bool is_open() const { return table_ != nullptr; }
  [[nodiscard]] TABLE* table() const { return table_; }
  [[nodiscard]] engine::Intent intent() const { return intent_; }
  /// Differs after each opening: what was resolved for another generation is stale.
  [[nodiscard]] uint64_t generation() const { return generation_; }

  /// Open without waiting.
  [[nodiscard]] Opening open(THD* thd, Error& error);
  /// Before writes, once per transaction: open the children that foreign keys have got since. The table is open.
  [[nodiscard]] Opening follow_foreign_keys(THD* thd, Error& error);
  /// Close and give the metadata lock back. Unlocks before.
  void close(THD* thd);

  /// Open and lock for one write, together with everything that the table's triggers and defaults use, as the server does for a
  /// statement of its own. No other table may be open. The metadata locks stay until the end of the transaction.
  [[nodiscard]] Opening open_statement(THD* thd, Error& error);
  void close_statement(THD* thd);
  [[nodiscard]] bool needs_statement() const { return needs_statement_; }

  /// Lock in the engine's sense, without waiting for a table lock.
  [[nodiscard]] Opening lock(THD* thd, Error& error);
  void unlock(THD* thd);
  [[nodiscard]] bool is_locked() const { return lock_ != nullptr; }
  [[nodiscard]] MYSQL_LOCK* server_lock() const { return lock_; }
  /// True if its engine changes a row entirely or not at all, so that requests for one row can share a statement of the server.
  [[nodiscard]] bool changes_rows_atomically() const;
  /// True if the engine's locks are on the table: hold them for one request only.
  [[nodiscard]] bool has_table_lock() const { return table_->file->lock_count() > 0; }

  /// Somebody waits for this table, or it was flushed: close it at the end of the turn.
  [[nodiscard]] bool is_wanted_by_others() const {
    return table_->mdl_ticket->has_pending_conflicting_lock() || table_->s->tdc->flushed || children_.are_wanted_by_others();
  }

  /// Make the handler ready to walk the binding's index and fetch its columns, and the index's own where the walk has an end to
  /// compare them with. Returns a handler error or 0.
  [[nodiscard]] int activate(const Binding& binding, bool with_key_columns);
  /// End the walk.
  void deactivate();

 private:
  [[nodiscard]] bool refuse(Error& error) const;
  void name_in_list();

  std::string database_;
  std::string name_;
  engine::Intent intent_;
  uint64_t generation_ = 0;
  TABLE_LIST list_;
  TABLE* table_ = nullptr;
  MDL_ticket* ticket_ = nullptr;
  MYSQL_LOCK* lock_ = nullptr;
  const Binding* active_ = nullptr;
  bool active_with_key_columns_ = false;
  ForeignKeyChildren children_;       ///< of a table opened for writing
  query_id_t children_query_id_ = 0;  ///< the query (of a transaction) in which they were last looked for
  bool needs_statement_ = false;      ///< `open` was not enough when it was last opened
};

}  // namespace rowsocket::mariadb
