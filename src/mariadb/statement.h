// SPDX-License-Identifier: GPL-2.0-only
//
// A statement of the server: what is done between two of its statement ends, in one table or several.
//
//   shared .... requests follow each other in it as long as each is one step of its engine, done or not
//               done, or reads. They share the tables' locks, the row events of the binlog and the end of
//               the statement.
//   own ....... of one request, or of one group of requests, which is undone as a whole when it fails
//
// It begins and ends as a statement of SQL does in `mysql_execute_command`:
//
//   begin      reset_for_next_command, a new query id, the time
//   use        lock_tables (with decide_logging_format), table by table, as the requests come to them
//   commit     end of the walks, the query cache, the row events, trans_commit_stmt
//   rollback   end of the walks, the row events of what stays, trans_rollback_stmt
//   both       unlock and ha_reset of every table, close_thread_tables, cleanup_after_query
//
// Two departures. Metadata locks of the statement (protection from backups) stay until the transaction ends,
// so that a commit never waits for a FLUSH TABLES WITH READ LOCK that came between two requests. And where
// the transaction's engines ask for a rollback (`transaction_rollback_request`), the session does it, since
// the requests of the turn have to run again.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/room.h"
#include "mariadb/open_table.h"

namespace rowsocket::mariadb {

class Statement {
 public:
  enum class Kind : uint8_t { none, shared, own };

  explicit Statement(THD* thd) : thd_(thd) {}

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_open() const { return kind_ != Kind::none; }
  /// No table was locked or opened in it.
  [[nodiscard]] bool is_empty() const { return tables_.empty(); }

  /// No request has run in it.
  [[nodiscard]] bool is_unused() const { return !is_used_; }

  void begin(Kind kind);
  /// One that nothing has run in is of one request, or group, from here on.
  void become_own() { kind_ = Kind::own; }
  /// Each statement of the session has its own; 0 before the first one.
  [[nodiscard]] uint64_t number() const { return number_; }
  /// A request uses the table in it, with its own CURRENT_TIMESTAMP, as a statement of SQL.
  void begin_request(const OpenTable& table);
  /// The table was opened with others: it is closed when the statement ends.
  void take(std::shared_ptr<OpenTable> table) { tables_.push_back(std::move(table)); }
  /// One more table can be taken, or used, without memory for it. May throw std::bad_alloc.
  void make_room() { make_room_in(tables_); }
  /// Lock an open table, unless it is locked. Row events that follow are those of this table.
  [[nodiscard]] Opening use(const std::shared_ptr<OpenTable>& table, Error& error);

  /// Row events of it stand in the binlog's cache, or will.
  [[nodiscard]] bool has_row_events() const { return has_row_events_ || thd_->binlog_table_maps; }

  /// An ALTER TABLE collects what it does. Where the statement is undone, only its last row is taken back
  /// from there (online_alter_log_row); the rest would be in the altered table. The end of the transaction
  /// takes back all.
  [[nodiscard]] bool is_collected_for_alter() const;

  /// A statement that had row events was undone since this was asked last.
  [[nodiscard]] bool take_undone_events() { return std::exchange(has_undone_events_, false); }

  /// An error means that nothing of the statement was done.
  [[nodiscard]] Error commit();
  /// What was done in tables without transactions stays.
  void rollback();

 private:
  void end_walks();
  [[nodiscard]] bool end_row_events();
  void invalidate_query_cache();
  void forget_routines();
  void undo();
  void end();

  THD* thd_;
  Kind kind_ = Kind::none;
  uint64_t number_ = 0;
  std::vector<std::shared_ptr<OpenTable>> tables_;  ///< locked in it, or closed by its end
  OpenTable* written_ = nullptr;                    ///< whose lock is `thd->lock`
  bool is_used_ = false;
  bool has_row_events_ = false;
  bool has_undone_events_ = false;
  bool is_undone_ = false;  ///< the one that ends now
};

}  // namespace rowsocket::mariadb
