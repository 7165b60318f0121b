// SPDX-License-Identifier: GPL-2.0-only
//
// A session's duties on a node of a Galera cluster. Where the server is no node, nothing of this runs:
// callers ask `is_on()` first, which is one predictable branch.
//
// To the cluster a transaction of ours is a client's command with one transaction in it:
//
//   begin_request ─► wsrep_before_command, wsrep_sync_wait, start of the transaction   (once per transaction)
//                    gate: is the node ready?                                           (every time)
//   the server's commit or rollback; certification is a part of that commit
//   every table and metadata lock is given back
//   end ─► wsrep_after_statement (replays what was certified and then aborted), wsrep_after_command_*
//
// An applier that needs our rows or tables aborts our transaction from its own thread, at any time before the
// commit is ordered: it marks it, interrupts whatever we wait for (KILL_QUERY), and waits for our rollback.
// So `has_lost()` is asked after each request and before the next, and nothing is waited for while something
// is held, but a row lock and certification, which it interrupts.
//
// Everything is called on the session's thread.
#pragma once

#include "engine/engine.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class Galera {
 public:
  void attach(THD* thd) { thd_ = thd; }
  /// Before the THD goes.
  void detach();

  /// The server is a node, or was one when this session last looked.
  [[nodiscard]] bool is_on() const { return WSREP_ON || is_open_; }
  /// Between transactions: become a client of the cluster, or cease to be one, as `SET GLOBAL wsrep_on` says.
  void follow_server();
  /// This session is a client of the cluster.
  [[nodiscard]] bool is_open() const { return is_open_; }

  /// Before every request, once `is_open`. The first one of a transaction begins it; no metadata lock may be
  /// held then.
  [[nodiscard]] Error begin_request(engine::Intent request, engine::Intent session);
  /// A transaction was begun, and is to be ended.
  [[nodiscard]] bool is_begun() const { return is_begun_; }
  /// The cluster aborted the transaction: a rollback is what remains to be done.
  [[nodiscard]] bool has_lost() const { return is_begun_ && (is_aborted(thd_) || is_forgotten()); }
  /// True if the cluster gets nothing of a statement that the server rolls back. Without a binlog the
  /// statement's row events would go to the cluster with the transaction, and where a trigger has made the
  /// transaction stream, they may be there.
  [[nodiscard]] bool takes_back_statement(bool has_row_events) const {
    return !is_open_ || (!streams() && (mysql_bin_log.is_open() || !has_row_events));
  }
  /// How many rows the cluster lets a transaction change; 0 = any number.
  [[nodiscard]] uint64_t rows_max() const;
  /// The transaction was to change more than that. Where a trigger did, the server has undone the trigger's
  /// statement alone, and not the transaction.
  [[nodiscard]] bool has_too_many_rows() const {
    const uint64_t count_max = rows_max();
    return count_max > 0 && thd_->wsrep_affected_rows > count_max;
  }
  /// The server committed or rolled back, and no lock is left. `error` is what its commit said; the result is
  /// what became of the transaction: one that was aborted after its certification is committed here.
  [[nodiscard]] Error end(Error error);

  /// Commits of the node that are ordered behind the session's statement wait for its end: the cluster has
  /// ordered the statement (TOI), or the node stands apart for it (RSU). `thd` may be nullptr.
  [[nodiscard]] static bool holds_commits(THD* thd);
  /// The THD's transaction was aborted by the cluster.
  [[nodiscard]] static bool is_aborted(THD* thd);
  /// What that is to clients: a deadlock. Everything was undone, and trying again helps.
  [[nodiscard]] static Error conflict();
  /// The THD that has the table open is no client of a cluster, or the table's engine takes part in the
  /// cluster's transactions.
  [[nodiscard]] static bool replicates(const TABLE* table);
  /// With wsrep_certify_nonPK off the cluster is told of no change in a table without a primary key: the
  /// change would stay on this node. As SQL, this looks at every table of the statement.
  [[nodiscard]] static bool certifies(const THD* thd, const TABLE_LIST* tables);

 private:
  [[nodiscard]] Error begin(engine::Intent session);
  [[nodiscard]] Error begin_statement();
  /// It may also forget a transaction in which no engine takes part: a statement that only read is one to it.
  [[nodiscard]] bool is_forgotten() const {
    return was_active_ && !thd_->wsrep_trx().active() && thd_->transaction->all.ha_list != nullptr;
  }
  void settle_kills();
  /// The session's transactions go to the cluster in parts, before their end, or did when this one wrote.
  [[nodiscard]] bool streams() const;

  THD* thd_ = nullptr;
  bool is_open_ = false;
  bool is_begun_ = false;
  bool was_active_ = false;  ///< the cluster knew the transaction when it began
};

}  // namespace rowsocket::mariadb
