// SPDX-License-Identifier: GPL-2.0-only
//
// What a session knows of its transaction, and the statement that is open in it. Begin and end of the
// transaction in the server's sense (trans_commit, the duties of a Galera node) are the session's.
//
// Reading sessions run in autocommit mode, as plain SELECTs: a turn is one statement, with one snapshot.
// Writing sessions run a transaction of several statements per turn, each with its own snapshot (READ
// COMMITTED). A change sees what others committed meanwhile. So a read behind it from an older snapshot would
// see one half of what another client committed as one. Only a group of several statements has one snapshot
// for all of them (REPEATABLE READ).
//
// One session owns it, on its thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "engine/engine.h"
#include "mariadb/galera.h"
#include "mariadb/open_table.h"
#include "mariadb/server_headers.h"
#include "mariadb/statement.h"

namespace rowsocket::mariadb {

class TurnTransaction {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  /// The group under way.
  enum class Group : uint8_t {
    none,
    one_statement,   ///< undone as a statement
    own_transaction  ///< it needs several statements: it is the first of its transaction, and undone with it
  };

  explicit TurnTransaction(THD* thd) : thd_(thd), statement_(thd) {}

  // From its begin to its end.

  /// False if one is under way already.
  bool begin();
  [[nodiscard]] bool is_under_way() const { return facts_.is_under_way; }
  /// No two of a session have the same; 0 = none is under way.
  [[nodiscard]] uint64_t number() const { return facts_.is_under_way ? count_ : 0; }
  /// It can not be kept: a rollback is what remains to be done.
  void lose() { facts_.is_lost = true; }
  [[nodiscard]] bool is_lost() const { return facts_.is_lost; }
  /// The same, since a statement of it could not be undone alone.
  [[nodiscard]] bool is_lost_by_failure() const { return facts_.is_lost_by_failure; }
  /// It lasts longer than it should, or no request may follow in it.
  [[nodiscard]] bool wants_commit() const;
  /// It is over in every storage engine, and no statement is open.
  void end();

  // Its statement.

  [[nodiscard]] Statement& statement() { return statement_; }
  /// No request continues it. Where its end fails, the failure is no single request's: the transaction is
  /// lost, and each request must run in its own.
  void end_shared_statement();
  /// End a statement of one request, or group. An error means that nothing of it was done. Where the server
  /// can not undo it (see Galera), the transaction is lost.
  [[nodiscard]] Error end_own_statement(const Galera& galera);
  /// Undo what a statement of its own did. Where the server can not (see Galera), the transaction is lost.
  void undo_statement(const Galera& galera);
  /// A request, or group, failed since the binlog's cache took not all of its events. Undoing the statement
  /// cuts the cache, but not reliably behind a write that failed: with nothing left of tmpdir, say, what
  /// follows would be unreadable. So the transaction is lost, and each request must run in one of its own.
  void note_log_refusal(const Galera& galera);

  /// Before its commit, where an ALTER TABLE that goes on online collects what it has changed: InnoDB lets
  /// its row locks go before the server tells the ALTER, so of two changes of a row the ALTER may be told the
  /// later one first, and the earlier one would stay. (SQL's sessions lose changes there.) From here to the
  /// end of the transaction no other session of ours does so. False where the server says an error.
  [[nodiscard]] bool wait_for_commits_that_alters_collect();
  /// An ALTER TABLE that goes on online collects what it has changed.
  [[nodiscard]] bool is_collected_for_alter() const { return facts_.is_collected_for_alter; }

  // What it has read.

  /// A request reads from the snapshot of the open statement.
  void note_read() { facts_.has_snapshot = true; }
  /// A read that comes from now on needs a newer snapshot.
  void expire_snapshot() { facts_.snapshot_is_old = facts_.has_snapshot; }
  /// Before a read: the statement ends whose snapshot is too old for the read. In a group all reads have the
  /// same one.
  void renew_snapshot();

  // What it has changed.

  /// A request that may change rows wants to join.
  void begin_write(Instant now) { facts_.last_write_at = now; }
  /// It has joined, and is about to change this table.
  void note_write(const OpenTable& table);
  /// A request may have removed entries from an index of a table that `shows_removed_entries`.
  void note_removed_entries() { facts_.has_removed_entries = true; }
  [[nodiscard]] bool has_removed_entries() const { return facts_.has_removed_entries; }
  /// An earlier statement than the one that is open may have changed a full-text index of InnoDB.
  [[nodiscard]] bool has_changed_fulltext() const {
    return facts_.fulltext_began != 0 && facts_.fulltext_began != statement_.number();
  }
  /// So many requests may have.
  [[nodiscard]] uint32_t fulltext_requests() const { return facts_.fulltext_requests; }
  [[nodiscard]] bool has_written() const { return facts_.has_written; }
  [[nodiscard]] bool does_lasting_work() const { return facts_.does_lasting_work; }
  [[nodiscard]] bool rows_outlive_it() const { return facts_.rows_outlive_it; }
  [[nodiscard]] bool is_of_one_request() const { return facts_.is_of_one_request; }
  /// A table is locked for a change: does a storage engine take part in the transaction?
  void note_engines();
  /// The server has rolled all of it back, within a call that failed (wsrep_max_ws_rows).
  [[nodiscard]] bool was_undone_by_server() const;

  /// Whether the open table can be used beside what the transaction has done. Never `wait`.
  [[nodiscard]] engine::Begin admit(const OpenTable& table, const engine::Use& use, Error& error) const;
  /// True if the server might not recover what the transaction has changed, or would, beside changes of the
  /// table. Without a binlog a transaction of several storage engines has its two phases in a log of the
  /// server's own (tc.log), and after a crash the server takes all that it finds prepared back, also what was
  /// committed. So a client of one engine must not share a transaction with a client of another.
  [[nodiscard]] bool parts_engines(const OpenTable& table) const;
  /// A backup can not begin between a change of the table and the commit.
  [[nodiscard]] engine::Begin protect_from_backup(const OpenTable& table, ulong patience_s, Error& error);
  /// A backup can not begin to block commits before the commit.
  [[nodiscard]] engine::Begin protect_commit(ulong patience_s, Error& error);

  // Its groups.

  [[nodiscard]] Group group() const { return facts_.group; }
  [[nodiscard]] bool in_group_of_one_statement() const { return facts_.group == Group::one_statement; }
  void begin_group(Group group) { facts_.group = group; }
  /// None is under way from here on. Returns which one it was.
  Group leave_group() { return std::exchange(facts_.group, Group::none); }
  /// The group that was left was `own_transaction`, and is kept.
  void note_group_of_several() { facts_.was_group_of_several = true; }

 private:
  void note_alter();
  [[nodiscard]] bool takes_back_statement(const Galera& galera) const;
  [[nodiscard]] bool has_to_come_first(const OpenTable& table, engine::Intent intent) const;
  [[nodiscard]] bool parts_two_phases(const OpenTable& table, engine::Intent intent) const;
  [[nodiscard]] engine::Begin protect(enum_mdl_type type, ulong patience_s, bool& has_protection,
                                      Error& error);

  /// Nothing of this outlives the transaction.
  struct Facts {
    /// From the first request, or opening of a table, to commit or rollback. Else all others have the values
    /// below.
    bool is_under_way = false;
    /// Something of it was undone, or failed, that can not be parted from the rest. Then nothing of it is
    /// acknowledged.
    bool is_lost = false;
    /// Only with `is_lost`: a statement has failed that could not be undone alone.
    bool is_lost_by_failure = false;

    /// A request has read in the open statement, so the statement has a snapshot.
    bool has_snapshot = false;
    /// Only with `has_snapshot`: a request came, or a row was changed, since then. No read uses it any more,
    /// but for those of the same group.
    bool snapshot_is_old = false;

    /// A request for writing has joined. Row locks may be held from then on. In a reading session never.
    bool has_written = false;
    /// When the first one joined. Only with `has_written`.
    Instant first_write_at;
    /// When the last one tried to.
    Instant last_write_at;
    /// A storage engine was seen to take part in it after a change. Where none does later, the server has
    /// undone the change.
    bool engines_joined = false;
    /// It has changed what no rollback takes back. Only with `has_written`. Then it has one request, which
    /// never runs again and belongs to no group.
    bool does_lasting_work = false;
    /// It has changed a table that needs its own transaction: see OpenTable. Only with `has_written`.
    bool is_of_one_request = false;
    /// A statement of it that was kept has changed a table that an ALTER TABLE copies online.
    bool is_collected_for_alter = false;
    /// Only with `does_lasting_work`: its triggers change what a rollback takes back.
    bool rows_outlive_it = false;
    /// It may have removed an entry from an index of a table that `shows_removed_entries`.
    bool has_removed_entries = false;
    /// The first and the last statement that may have changed a full-text index of InnoDB; 0 = none.
    uint64_t fulltext_began = 0;
    uint64_t fulltext_changed = 0;
    uint32_t fulltext_requests = 0;  ///< that may have changed one
    /// A metadata lock of the backup's kind is held to its end: for engines without, and with, backups of
    /// their own.
    bool has_backup_protection[2] = {false, false};
    bool has_commit_protection = false;  ///< the same of a commit's kind

    /// The group under way; ends with the transaction at the latest. `own_transaction` only where nothing was
    /// written before the group.
    Group group = Group::none;
    /// The group of `own_transaction` is done. Its snapshot ends with the transaction, so no request follows.
    bool was_group_of_several = false;
  };

  THD* thd_;
  Statement statement_;  ///< open only while the transaction is under way
  uint64_t count_ = 0;   ///< of the session's transactions
  Facts facts_;
};

/// A group, or a request, needs to be undone, and a table can not do that.
[[nodiscard]] Error no_transactions_error();

}  // namespace rowsocket::mariadb
