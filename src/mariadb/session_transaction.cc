// SPDX-License-Identifier: GPL-2.0-only
//
// A session's groups and its transaction. Its requests are in session_requests.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::GroupMember;
using engine::Intent;

// ---- groups

Error no_transactions_error() {
  return {ErrorCode::no_transactions,
          "the table, or one that its triggers write to, is in a storage engine without transactions"};
}

Begin Session::begin_group(std::span<const GroupMember> members, size_t& failed_member, Error& error) {
  begin_transaction();
  if (options_.intent == Intent::read) {
    renew_snapshot();
    return Begin::ready;  // there is nothing to undo
  }
  if (galera_.is_open()) [[unlikely]] {
    if (error = begin_in_cluster(Intent::write); !error.ok()) {
      return Begin::failed;
    }
  }
  const bool writes = std::any_of(members.begin(), members.end(),
                                  [](const auto& member) { return member.intent != Intent::read; });
  if (writes && thd_->transaction->all.no_2pc) {
    return Begin::commit_first;
  }
  end_shared_statement();
  group_ = Group::one_statement;
  statement_.begin(Statement::Kind::own);
  bool several = false;
  const Begin begin = prepare_group(members, writes, failed_member, several, error);
  if (begin == Begin::ready && !several) {
    return begin;
  }
  statement_.rollback();  // nothing was done in it
  group_ = Group::none;
  if (begin != Begin::ready) {
    return begin;
  }
  if (has_written_) {
    return Begin::commit_first;
  }
  group_ = Group::own_transaction;
  thread_.share_snapshot(true);
  return Begin::ready;
}

/// Open all that the group needs, so that it waits or fails before it has done anything. `several`: a
/// statement is not enough.
Begin Session::prepare_group(std::span<const GroupMember> members, bool writes, size_t& number, bool& several,
                             Error& error) {
  for (number = 0; number < members.size(); ++number) {
    const GroupMember& member = members[number];
    if (error = refuse(member.intent); !error.ok()) {
      return Begin::failed;
    }
    BoundSelection::Side* side = nullptr;
    const Begin begin = make_ready(*member.selection, member.intent, side, error);
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
    if (side->open->rules_out_two_phases() && has_written_) {
      several = true;  // it only reads, but not beside the changes before it
      return Begin::ready;
    }
    if (member.intent == Intent::read) {
      continue;
    }
    if (side->open->needs_own_statement() ||
        (member.rows_alone && needs_own_statement(*side->open, member.intent))) {
      several = true;
      return Begin::ready;
    }
  }
  return Begin::ready;
}

Error Session::end_group() {
  switch (std::exchange(group_, Group::none)) {
    case Group::none:
      return {};
    case Group::one_statement:
      return statement_.commit();
    case Group::own_transaction:
      end_shared_statement();
      was_group_of_several_ = true;
      return is_lost_ ? Error(ErrorCode::commit_failed) : Error();
  }
  return {};
}

void Session::abandon_group() {
  switch (std::exchange(group_, Group::none)) {
    case Group::none:
      return;
    case Group::one_statement:
      undo_statement();
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
  return does_lasting_work_ || was_group_of_several_ ||
         (rows_max > 0 && thd_->wsrep_affected_rows >= rows_max) ||
         (has_written_ &&
          last_write_at_ - first_write_at_ >= std::chrono::milliseconds(limits::transaction_ms));
}

void Session::begin_transaction() {
  if (in_transaction_) {
    return;
  }
  in_transaction_ = true;
  ++transaction_;
  if (galera_.is_on()) [[unlikely]] {
    galera_.follow_server();
  }
  thread_.begin_command(galera_.is_open());
}

/// The transaction is over in every engine, and no statement is open.
void Session::end_transaction() {
  in_transaction_ = false;
  has_written_ = false;
  engines_joined_ = false;
  does_lasting_work_ = false;
  is_lost_ = false;
  has_snapshot_ = snapshot_is_old_ = false;
  group_ = Group::none;
  was_group_of_several_ = false;
  thread_.share_snapshot(false);
  has_backup_protection_[0] = has_backup_protection_[1] = false;
  thd_->transaction_rollback_request = 0;
  cursor_.forget_transaction();
  thread_.end_command();
}

/// The first request of a transaction may wait for the cluster, so it must not hold what an open_index left.
Error Session::begin_in_cluster(Intent intent) {
  if (!galera_.is_begun()) {
    release_tables();
  }
  return galera_.begin_request(intent == Intent::read ? Intent::read : Intent::write, options_.intent);
}

/// No lock may be left when the cluster ends a transaction: it may have to replay it behind who waits for the
/// lock.
Error Session::end_in_cluster(Error error) {
  release_tables();
  end_transaction();
  error = galera_.end(std::move(error));
  replays_in_cluster_ |= !error.ok();
  if (interruption() != engine::Interruption::none) {
    wake();  // a KILL that was kept back woke nobody
  }
  return error;
}

/// Whether a commit has made a GTID. Until the session's first one has, the server sets nothing of it but
/// seq_no (0).
bool is_new(const rpl_gtid& gtid, const rpl_gtid& before) {
  return gtid.seq_no != 0 && (before.seq_no == 0 || !(gtid == before));
}

Error Session::commit() {
  if (!in_transaction_) {
    return {};
  }
  end_shared_statement();
  if (is_lost_ || (transaction_lost() && !galera_.is_begun()))
      [[unlikely]] {  // a cluster says itself what became of it
    return is_lost_ ? Error(ErrorCode::commit_failed) : loss();
  }
  Error error;
  commit_has_gtid_ = false;
  if (options_.intent == Intent::write) {
    // From here on we wait as SQL does, for who blocks commits.
    thd_->variables.lock_wait_timeout = global_system_variables.lock_wait_timeout;
    const rpl_gtid before = thd_->get_last_commit_gtid();
    const bool failed = trans_commit(thd_);
    commit_has_gtid_ = !failed && is_new(thd_->get_last_commit_gtid(), before);
    if (failed) {
      error = take_server_error(thd_, ErrorCode::commit_failed);
      if (!galera_.is_begun()) {
        trans_rollback(thd_);
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

std::string_view Session::last_commit_gtid() const {
  if (!commit_has_gtid_) {
    return {};
  }
  const rpl_gtid gtid = thd_->get_last_commit_gtid();
  const int size = std::snprintf(gtid_text_, sizeof(gtid_text_), "%u-%u-%llu", gtid.domain_id, gtid.server_id,
                                 static_cast<unsigned long long>(gtid.seq_no));
  return {gtid_text_, static_cast<size_t>(size)};
}

void Session::rollback() {
  if (!in_transaction_) {
    return;
  }
  group_ = Group::none;
  abandon_request();
  if (statement_.is_open()) {
    statement_.rollback();
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
