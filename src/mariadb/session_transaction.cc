// SPDX-License-Identifier: GPL-2.0-only
//
// A session's groups and its transaction. Its requests are in session_requests.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "mariadb/diagnostics.h"
#include "mariadb/server_differences.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::GroupMember;
using engine::Intent;

// ---- groups

Begin Session::begin_group(std::span<const GroupMember> members, size_t& failed_member, Error& error) {
  if (!trail_.follows()) [[likely]] {
    return begin_any_group(members, failed_member, error);
  }
  trail_.begin_locking();
  const Begin begin = begin_any_group(members, failed_member, error);
  trail_.end_locking(begin);
  return begin;
}

Begin Session::begin_any_group(std::span<const GroupMember> members, size_t& failed_member, Error& error) {
  if (!invariant(!request_.is_under_way() && transaction_.group() == Group::none,
                 "a group begins between two requests, and one at a time")) {
    transaction_.lose();
    error = ErrorCode::commit_failed;
    return Begin::failed;
  }
  begin_transaction();
  if (!members.empty()) {
    if (error = rights_.become(members.front().selection->description().account); !error.ok()) {
      return Begin::failed;
    }
  }
  const LeavesAccount afterwards(rights_);
  const Begin begin = begin_group_as_account(members, failed_member, error);
  return begin == Begin::failed && is_interrupted_by_cluster() ? Begin::wait : begin;
}

/// All members are of one client, and so of one account: the THD acts as that.
Begin Session::begin_group_as_account(std::span<const GroupMember> members, size_t& failed_member,
                                      Error& error) {
  if (galera_.is_open()) [[unlikely]] {
    if (error = begin_in_cluster(options_.intent); !error.ok()) {
      return Begin::failed;
    }
  }
  const bool writes = std::any_of(members.begin(), members.end(),
                                  [](const auto& member) { return member.use.intent != Intent::read; });
  if (writes && thd_->transaction->all.no_2pc) {
    return Begin::commit_first;
  }
  transaction_.end_shared_statement();
  transaction_.begin_group(Group::one_statement);
  Statement& statement = transaction_.statement();
  statement.begin(Statement::Kind::own);
  bool several = false;
  Begin begin = Begin::failed;
  try {
    begin = prepare_group(members, writes, failed_member, several, error);
  } catch (...) {
    error = ErrorCode::out_of_memory;
  }
  if (begin == Begin::ready && !several) {
    return begin;
  }
  statement.rollback();  // nothing was done in it
  transaction_.leave_group();
  if (begin != Begin::ready) {
    return begin;
  }
  if (transaction_.has_written()) {
    return Begin::commit_first;
  }
  transaction_.begin_group(Group::own_transaction);
  thread_.share_snapshot(true);
  return Begin::ready;
}

/// Open all that the group needs, so that it waits or fails before it has done anything. `several`: a
/// statement is not enough.
Begin Session::prepare_group(std::span<const GroupMember> members, bool writes, size_t& number, bool& several,
                             Error& error) {
  bool changes_elsewhere = false;  // than in InnoDB
  for (number = 0; number < members.size(); ++number) {
    const GroupMember& member = members[number];
    if (error = refuse(member.use.intent); !error.ok()) {
      return Begin::failed;
    }
    BoundSelection::Side* side = nullptr;
    const Begin begin = make_ready(*member.selection, member.use, side, error);
    if (begin == Begin::commit_first) {
      several = true;
      return Begin::ready;
    }
    if (begin != Begin::ready) {
      return begin;
    }
    if (side->open->does_lasting_work() || (writes && side->open->rules_out_two_phases())) {
      error = no_transactions_error();
      return Begin::failed;
    }
    if (side->open->rules_out_two_phases() && transaction_.has_written()) {
      several = true;  // it only reads, but not beside the changes before it
      return Begin::ready;
    }
    if (member.use.intent == Intent::read) {
      continue;  // what finds of one statement see together is worth more than values of their own
    }
    if (transaction_.parts_engines(*side->open)) {
      return Begin::commit_first;
    }
    if (side->open->has_values_of_statement()) {
      several = true;
      return Begin::ready;
    }
    if (transaction_.has_changed_fulltext() && side->open->changes_fulltext()) {
      return Begin::commit_first;
    }
    // RocksDB asks once per statement which columns change, and changes no other indexes than theirs.
    const bool has_changes_before = !side->open->is_innodb() && std::exchange(changes_elsewhere, true);
    if (has_changes_before || side->open->needs_own_statement() ||
        (member.rows_alone && needs_own_statement(*side->open, member.use.intent))) {
      several = true;
      return Begin::ready;
    }
  }
  return Begin::ready;
}

Error Session::end_group() {
  switch (transaction_.leave_group()) {
    case Group::none:
      return {};
    case Group::one_statement: {
      Error error = transaction_.end_own_statement(galera_);
      settle_log_refusal();
      return error;
    }
    case Group::own_transaction:
      transaction_.end_shared_statement();
      transaction_.note_group_of_several();
      return transaction_.is_lost() ? Error(ErrorCode::commit_failed) : Error();
  }
  return {};
}

void Session::abandon_group() {
  switch (transaction_.leave_group()) {
    case Group::none:
      return;
    case Group::one_statement:
      transaction_.undo_statement(galera_);
      return;
    case Group::own_transaction:
      if (!transaction_lost()) {  // else the caller rolls back
        rollback();
      }
      return;
  }
}

// ---- the transaction

Error Session::loss() const {
  return Error(ErrorCode::engine, HA_ERR_LOCK_DEADLOCK, "the transaction was rolled back")
      .because(Reason::conflict);
}

bool Session::wants_commit() const {
  const uint64_t rows_max = galera_.rows_max();
  const bool has_user_locks = thd_->ull_hash.records > 0;  // they are released behind the commit
  return goes_on_ || has_user_locks || transaction_.wants_commit() ||
         (transaction_.fulltext_requests() > 0 && fulltext_work_.is_dear()) ||
         (rows_max > 0 && thd_->wsrep_affected_rows >= rows_max);
}

void Session::begin_transaction() {
  thread_.forget_late_timeout();
  if (!transaction_.begin()) {
    return;
  }
  if (galera_.is_on()) [[unlikely]] {
    galera_.follow_server();
    release_tables();  // DDL of the cluster interrupts who has them: that is not to be taken for this request
  }
  if (options_.intent == Intent::write) {
    semi_sync_.begin_transaction();
  }
  rights_.forget_answers();
  const Time_zone* const zone = thd_->variables.time_zone;
  thread_.begin_command(galera_.is_open(), goes_on_);
  if (thd_->variables.time_zone != zone) [[unlikely]] {
    shelf_.forget_others(nullptr);  // which indexes can be walked key by key depends on it
  }
}

/// The transaction is over in every engine, and no statement is open.
void Session::end_transaction() {
  if (!invariant(!transaction_.statement().is_open(), "a transaction ends when its last statement is over")) {
    transaction_.statement().rollback();
  }
  transaction_.end();
  static_cast<void>(thread_.take_log_refusal());  // also of a statement that ended in the commit
  thread_.share_snapshot(false);
  thd_->transaction_rollback_request = 0;
  request_.cursor().forget_transaction();
  thread_.end_command();
}

/// The first request of a transaction may wait for the cluster, so it must not hold what an open_index left.
Error Session::begin_in_cluster(Intent intent) {
  if (!galera_.is_begun()) {
    release_tables();
  }
  return galera_.begin_request(intent == Intent::read ? Intent::read : Intent::write, options_.intent);
}

/// No lock may be left when the cluster ends a transaction: it may have to replay the transaction behind one
/// that waits for the lock.
Error Session::end_in_cluster(Error error) {
  release_tables();
  end_transaction();
  error = galera_.end(std::move(error));
  if (!error.ok()) {
    patience_.note_cluster_abort();
  }
  if (interruption() != engine::Interruption::none) {
    wake();  // a KILL that was kept back has not woken the worker
  }
  return error;
}

Error Session::commit() {
  goes_on_ = false;
  if (!transaction_.is_under_way()) {
    return {};
  }
  if (!invariant(!request_.is_under_way(), "nothing is committed in the middle of a request")) {
    transaction_.lose();
  }
  transaction_.end_shared_statement();
  // The caller rolls back. Where the cluster has aborted it, a commit may pass the cluster by: an abort in
  // the middle of a trigger's statement leaves nothing to be certified, and in InnoDB the rows of other
  // statements.
  if (transaction_lost()) [[unlikely]] {
    return transaction_.is_lost() ? Error(ErrorCode::commit_failed) : loss();
  }
  Error error;
  thread_.row_waits().may_give_way(false);
  if (options_.intent == Intent::write) {
    // From here on we wait as SQL does, for a backup that blocks commits.
    thd_->variables.lock_wait_timeout = global_system_variables.lock_wait_timeout;
    thd_->set_time();  // COMMIT is a statement, whose time replicas are told: not what a trigger has set
    gtid_.before_commit();
    const FulltextWork::Commit measured(fulltext_work_, transaction_.fulltext_requests());
    const bool is_its_turn = transaction_.wait_for_commits_that_alters_collect();
    if (!is_its_turn || trans_commit(thd_)) {
      error = take_server_error(thd_, ErrorCode::commit_failed);
      if (error.number == ER_LOCK_WAIT_TIMEOUT) {
        error.reason = Reason::none;  // it has waited as long as it may
      } else if (is_about_temporary_space(error.number)) {
        // The server fills the binlog's cache up to its end before it writes to the binlog.
        error.reason = Reason::too_large;
      }
      const bool may_be_logged = is_its_turn && (gtid_.is_made_by_failure() || !mysql_bin_log.is_open());
      if (may_be_logged && transaction_.is_collected_for_alter()) [[unlikely]] {
        error.reason = Reason::unknown_outcome;  // the ALTER is told when the binlog and the engines are done
      }
      // A commit of the cluster that failed has rolled back, or comes again (`end_in_cluster`).
      if (!is_its_turn || !galera_.is_begun()) {
        trans_rollback(thd_);
      }
    } else {
      gtid_.note_commit();
      if (gtid_.is_made() && !semi_sync_.is_acknowledged()) [[unlikely]] {
        sql_print_warning(
            "rowsocket: no semi-synchronous replica has acknowledged a commit, which does not wait "
            "any more. Its clients get no reply");
        error = Error(ErrorCode::commit_failed, "no replica has acknowledged it")
                    .because(Reason::unknown_outcome);
      }
    }
    thd_->cleanup_after_query();  // COMMIT is a statement
  }
  if (galera_.is_begun()) [[unlikely]] {
    return end_in_cluster(std::move(error));
  }
  end_transaction();
  return error;
}

Error Session::commit_and_go_on() {
  if (Error error = commit(); !error.ok()) {
    return error;
  }
  release_tables();
  goes_on_ = true;
  return {};
}

void Session::rollback() {
  goes_on_ = false;
  if (!transaction_.is_under_way()) {
    return;
  }
  transaction_.leave_group();
  abandon_request();
  if (transaction_.statement().is_open()) {
    transaction_.statement().rollback();
  }
  if (options_.intent == Intent::write) {
    trans_rollback(thd_);
    thd_->cleanup_after_query();
  }
  if (galera_.is_begun()) [[unlikely]] {
    static_cast<void>(end_in_cluster({}));
    return;
  }
  end_transaction();
}

}  // namespace rowsocket::mariadb
