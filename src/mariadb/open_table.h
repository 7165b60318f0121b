// SPDX-License-Identifier: GPL-2.0-only
//
// One table as a session uses it with one intent. It is opened in one way only, the server's own
// `open_tables`, together with everything that a write to it reaches: the children of its foreign keys, and
// what its triggers and defaults use. What is refused is decided on what was opened, not on its name.
//
//   opened alone .......... it may stay open over statements and turns, as a table of SQL's HANDLER does:
//                           outside of `thd->open_tables`, with a metadata lock of its own (MDL_EXPLICIT)
//   opened with others .... it is the statement's, as every table in SQL is: in `thd->open_tables`, closed
//                           when the statement ends; the metadata locks stay until the transaction ends
//                           (MDL_TRANSACTION)
//
// A session keeps two of these for a table that it both reads and writes: the handler of a table that was
// locked for writing takes row locks when it reads, and plain reads must not.
#pragma once

#include <cstdint>
#include <string>

#include "base/limits.h"
#include "engine/engine.h"
#include "mariadb/code_traits.h"
#include "mariadb/foreign_children.h"
#include "mariadb/history_partitions.h"
#include "mariadb/opened_list.h"
#include "mariadb/server_headers.h"
#include "request/error.h"

namespace rowsocket::mariadb {

struct Binding;

/// Whether a table is there to be used.
enum class Opening : uint8_t {
  ready,
  wait,           ///< another session holds a conflicting lock; nothing is held for this attempt
  own_statement,  ///< writes to it need a statement with nothing else in it: end the present one, and open
                  ///< again
  new_partition,  ///< its history needs a new partition: close what is open, and open again with
                  ///< `NewHistory::add`
  failed
};

/// What an opening does where history needs a new partition (see history_partitions.h).
enum class NewHistory : uint8_t {
  report,  ///< answer Opening::new_partition
  add,     ///< add it, or do without where another session uses the table for longer than a moment
  ignore   ///< do without
};

class OpenTable {
 public:
  /// `children` outlives it.
  OpenTable(std::string database, std::string name, engine::Intent intent, ForeignChildren& children);
  OpenTable(const OpenTable&) = delete;
  OpenTable& operator=(const OpenTable&) = delete;
  ~OpenTable();

  [[nodiscard]] bool is_open() const { return table_ != nullptr; }
  [[nodiscard]] TABLE* table() const { return table_; }
  [[nodiscard]] engine::Intent intent() const { return intent_; }
  /// Differs after each opening: what was resolved for another generation is stale.
  [[nodiscard]] uint64_t generation() const { return generation_; }

  /// Before it is opened for writing: what the request does. Of a table with triggers only those are opened
  /// that this fires.
  void expect(const engine::Demand& demand);
  /// Open; waits for metadata locks as long as the THD's lock_wait_timeout says. `alone_in_statement`: no
  /// other table is in the statement under way, or there is none. For `NewHistory::add` the session has
  /// nothing else open.
  [[nodiscard]] Opening open(THD* thd, bool alone_in_statement, NewHistory new_history, Error& error);
  /// Close one that may stay open (`is_kept`). It is not locked. Where the transaction under way (0 = none)
  /// has used it, its metadata lock stays until that transaction ends.
  void close(THD* thd, uint64_t transaction);
  /// The session's transaction of this number uses the table.
  void note_use(uint64_t transaction) { used_in_transaction_ = transaction; }
  /// Its expressions keep values for the statement: of the account (CURRENT_USER), of a variable
  /// (@@timestamp) or of a sequence (RAND(7)).
  [[nodiscard]] bool has_values_of_statement() const { return !table_->vcol_refix_list.is_empty(); }
  /// It is locked, and these values are another request's.
  [[nodiscard]] bool keeps_values_of_statement() const { return is_locked() && has_values_of_statement(); }
  /// Before the end of the statement closes what it opened, or after: nothing where the table is kept.
  void about_to_close() { fixed_partitions_.release(); }
  void forget();

  // Of the opening.
  /// It was opened alone, and may stay open when the statement ends.
  [[nodiscard]] bool is_kept() const { return is_kept_; }
  /// Writes run triggers, draw from sequences, or move to another partition for history: each is a statement
  /// of its own.
  [[nodiscard]] bool needs_own_statement() const { return needs_own_statement_; }
  /// Writes may run triggers.
  [[nodiscard]] bool runs_triggers() const { return needs_own_statement_ && table_->triggers != nullptr; }
  /// Its triggers have a SAVEPOINT, say, so that the end of a statement may not undo what the statement did,
  /// or undoes more. The write is alone in its transaction, and undone with it.
  [[nodiscard]] bool needs_own_transaction() const { return code_.savepoints; }
  /// A write changes what no rollback takes back.
  [[nodiscard]] bool does_lasting_work() const { return does_lasting_work_; }
  /// The same of its own rows, but its triggers change what a rollback does take back.
  [[nodiscard]] bool rows_outlive_transaction() const { return rows_outlive_transaction_; }
  /// A transaction that uses it, even to read, is committed in one phase (Aria): a crash can part its tables
  /// from the binlog.
  [[nodiscard]] bool rules_out_two_phases() const { return rules_out_two_phases_; }
  /// A table that is kept has become the parent of a foreign key: it must be opened again, with its children.
  [[nodiscard]] bool lacks_children() const;
  /// Its engine changes a row entirely or not at all, so that requests for one row can share a statement of
  /// the server.
  [[nodiscard]] bool changes_rows_atomically() const;
  /// Its rows (those of its partitions) are InnoDB's.
  [[nodiscard]] bool is_innodb() const { return is_innodb_; }
  /// Its rows are RocksDB's. A walk by an equal key may come to an index entry behind the key that its own
  /// transaction has removed (RocksDB's BaseDeltaIterator with an upper bound).
  [[nodiscard]] bool shows_removed_entries() const { return shows_removed_entries_; }
  /// The same of a table that its triggers use, or that they change.
  [[nodiscard]] bool triggers_show_removed_entries() const { return triggers_show_removed_entries_; }
  /// A default or a generated column takes the time: NOW(), say.
  [[nodiscard]] bool reads_clock() const { return reads_clock_; }
  /// A write may change a full-text index of InnoDB. Where a statement is undone, InnoDB also forgets what
  /// earlier ones of its transaction have added to the index for the same rows (fts_undo_last_stmt does not
  /// find it any more). So a statement that may be undone comes first in its transaction.
  [[nodiscard]] bool changes_fulltext() const { return changes_fulltext_; }
  /// Of its rows (those of its partitions).
  [[nodiscard]] const handlerton* storage_engine() const { return table_->file->partition_ht(); }
  /// A write may also change rows of another storage engine that has transactions, by triggers.
  [[nodiscard]] bool changes_several_engines() const { return changes_several_engines_; }
  /// The engine's locks are on the table: hold them for one request only.
  [[nodiscard]] bool has_table_lock() const { return table_->file->lock_count() > 0; }
  /// Another session waits for this table, or it was flushed, or its memory is to be freed: close it at the
  /// end of the turn.
  [[nodiscard]] bool is_to_be_closed() const {
    return table_->mdl_ticket->has_pending_conflicting_lock() || table_->s->tdc->flushed ||
           table_->needs_reopen();
  }

  /// Lock in the engine's sense, for the statement under way, it and what was opened with it. `thd->lock` is
  /// the lock then.
  [[nodiscard]] Opening lock(THD* thd, Error& error);
  [[nodiscard]] bool is_locked() const { return lock_ != nullptr; }
  [[nodiscard]] MYSQL_LOCK* server_lock() const { return lock_; }
  /// Each table that is locked with it, and whether for changes.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    if (is_kept_) {
      visit(table_->s, intent_ == engine::Intent::write);
      return;
    }
    for (const TABLE_LIST* list = &list_; list != nullptr; list = list->next_global) {
      if (list->table != nullptr && list->table->s->tmp_table == NO_TMP_TABLE) {
        visit(list->table->s, list->lock_type >= TL_FIRST_WRITE);
      }
    }
  }
  /// An ALTER TABLE goes on online, and collects what the statement under way has done.
  [[nodiscard]] bool is_collected_for_alter() const { return mariadb::is_collected_for_alter(&list_); }
  /// The statement that it was locked in has ended, in the engine, too: unlock, and be as after opening.
  void end_statement(THD* thd);

  /// Make the handler ready to walk the binding's index and fetch its columns, and the index's own where the
  /// walk has an end to compare them with. Returns a handler error or 0.
  [[nodiscard]] int activate(const Binding& binding, bool with_key_columns);
  /// End the walk.
  void deactivate();

 private:
  class Prelocking;

  [[nodiscard]] enum_sql_command command_to_lock() const;
  [[nodiscard]] enum_tx_isolation isolation_to_lock(const THD* thd) const;
  void name_in_list();
  [[nodiscard]] bool open_list(THD* thd, Error& error);
  static bool drop_malformed_triggers(THD* thd);
  static void close_list(THD* thd, const MDL_savepoint& before);
  [[nodiscard]] static Opening fail_to_open(THD* thd, const MDL_savepoint& before, Error& error);
  [[nodiscard]] Opening add_history_partition(THD* thd, const MDL_savepoint& before, Error& error);
  [[nodiscard]] bool open_whole_list(THD* thd, const MDL_savepoint& before, Error& error);
  [[nodiscard]] bool renew_routines(THD* thd, const MDL_savepoint& before, Error& error);
  [[nodiscard]] bool find_all_children(THD* thd, const MDL_savepoint& before, Error& error);
  [[nodiscard]] Opening check_opened(THD* thd, bool alone_in_statement, const MDL_savepoint& before);
  [[nodiscard]] bool refuse(const TABLE* table, Error& error) const;
  void keep(THD* thd);
  [[nodiscard]] bool copy_lock(THD* thd, const MDL_ticket& ticket) const;

  std::string database_;
  std::string name_;
  engine::Intent intent_;
  ForeignChildren& children_;
  uint64_t generation_ = 0;
  TABLE_LIST list_;
  CodeTraits code_;                   ///< of the triggers, and the routines that they call
  FixedPartitions fixed_partitions_;  ///< of the tables of the list, while the statement has them open
  uint8 events_ = 0;                  ///< of triggers, that the request can fire
  uint table_count_ = 0;              ///< it and those that were opened with it
  TABLE* table_ = nullptr;
  MYSQL_LOCK* lock_ = nullptr;
  uint64_t active_binding_ = 0;  ///< its `serial`; 0 = none
  bool active_with_key_columns_ = false;
  uint64_t used_in_transaction_ = UINT64_MAX;
  bool is_kept_ = false;
  bool needs_own_statement_ = false;  ///< as it was when it was last opened
  bool does_lasting_work_ = false;
  bool rows_outlive_transaction_ = false;
  bool rules_out_two_phases_ = false;
  bool is_innodb_ = false;
  bool shows_removed_entries_ = false;
  bool triggers_show_removed_entries_ = false;
  bool triggers_use_tables_ = false;
  bool changes_fulltext_ = false;
  bool changes_several_engines_ = false;
  bool reads_clock_ = false;
};

/// True if the server's last error is that another session holds a metadata or table lock.
[[nodiscard]] bool is_lock_conflict(THD* thd);

}  // namespace rowsocket::mariadb
