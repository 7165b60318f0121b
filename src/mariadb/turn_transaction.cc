// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "base/invariant.h"
#include "base/limits.h"
#include "mariadb/diagnostics.h"
#include "mariadb/server_differences.h"
#include "mariadb/turn_transaction.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;

Error no_transactions_error() {
  return {ErrorCode::no_transactions,
          "the table, or one that its triggers write to, is in a storage engine without transactions"};
}

bool TurnTransaction::begin() {
  if (facts_.is_under_way) {
    return false;
  }
  facts_.is_under_way = true;
  ++count_;
  return true;
}

void TurnTransaction::end() {
  // A statement on a table without transactions that is undone leaves the description of the table in the
  // binlog's cache: the server forgets it. It would go to the binlog before the next change of such a table,
  // which need not be the same by then, and replicas would stop.
  if (statement_.take_undone_events()) [[unlikely]] {
    binlog_reset_cache(thd_);
  }
  facts_ = {};
}

bool TurnTransaction::wants_commit() const {
  return facts_.does_lasting_work || facts_.is_of_one_request || facts_.was_group_of_several ||
         (facts_.has_written &&
          facts_.last_write_at - facts_.first_write_at >= std::chrono::milliseconds(limits::transaction_ms));
}

// ---- its statement

void TurnTransaction::end_shared_statement() {
  if (statement_.is_open()) {
    note_alter();
    facts_.is_lost |= !statement_.commit().ok();
  }
  facts_.has_snapshot = facts_.snapshot_is_old = false;
}

Error TurnTransaction::end_own_statement(const Galera& galera) {
  const bool can_be_undone = takes_back_statement(galera);
  note_alter();
  Error error = statement_.commit();
  if (!error.ok() && !can_be_undone) [[unlikely]] {
    facts_.is_lost = facts_.is_lost_by_failure = true;
  }
  return error;
}

void TurnTransaction::undo_statement(const Galera& galera) {
  const bool is_undone = takes_back_statement(galera);
  statement_.rollback();
  if (!is_undone) [[unlikely]] {
    facts_.is_lost = facts_.is_lost_by_failure = true;
  }
}

/// A row that stands alone may change a full-text index that rows before it have changed: see
/// OpenTable::changes_fulltext.
bool TurnTransaction::takes_back_statement(const Galera& galera) const {
  const bool forgets_fulltext = has_changed_fulltext() && facts_.fulltext_changed == statement_.number();
  return !forgets_fulltext && !facts_.is_of_one_request && !statement_.is_collected_for_alter() &&
         galera.takes_back_statement(statement_.has_row_events());
}

void TurnTransaction::note_alter() {
  if constexpr (alters_collect_changes) {
    facts_.is_collected_for_alter |= statement_.is_collected_for_alter();
  }
}

bool TurnTransaction::wait_for_commits_that_alters_collect() {
  if (!facts_.is_collected_for_alter) [[likely]] {
    return true;
  }
  MDL_request request;
  MDL_REQUEST_INIT(&request, MDL_key::USER_LOCK, "rowsocket", "online ALTER", MDL_SHARED_NO_WRITE,
                   MDL_TRANSACTION);
  // SQL has no such wait, so no setting of SQL's bounds it: who is before us commits, or gives up.
  return !thd_->mdl_context.acquire_lock(&request, LONG_TIMEOUT);
}

void TurnTransaction::note_log_refusal(const Galera& galera) {
  facts_.is_lost |= facts_.has_written || !galera.takes_back_statement(true);
}

void TurnTransaction::renew_snapshot() {
  if (facts_.snapshot_is_old && facts_.group == Group::none) {
    end_shared_statement();
  }
}

// ---- what it has changed

/// What a write finds may be newer than the snapshot.
void TurnTransaction::note_write(const OpenTable& table) {
  if (!invariant(!table.does_lasting_work() || !facts_.has_written || facts_.does_lasting_work,
                 "no change that a rollback takes back is in one transaction with one that stays")) {
    facts_.is_lost = true;
  }
  facts_.does_lasting_work |= table.does_lasting_work();
  facts_.rows_outlive_it |= table.rows_outlive_transaction();
  facts_.is_of_one_request |= table.needs_own_transaction();
  facts_.snapshot_is_old = facts_.has_snapshot;
  if (table.changes_fulltext()) [[unlikely]] {
    ++facts_.fulltext_requests;
    facts_.fulltext_changed = statement_.number();
    if (facts_.fulltext_began == 0) {
      facts_.fulltext_began = statement_.number();
    }
  }
  if (!facts_.has_written) {
    facts_.has_written = true;
    facts_.first_write_at = facts_.last_write_at;
  }
}

void TurnTransaction::note_engines() {
  facts_.engines_joined = facts_.engines_joined || thd_->transaction->all.ha_list != nullptr;
}

bool TurnTransaction::was_undone_by_server() const {
  return facts_.engines_joined && thd_->transaction->all.ha_list == nullptr;
}

Begin TurnTransaction::admit(const OpenTable& table, const engine::Use& use, Error& error) const {
  const Intent intent = use.intent;
  if (facts_.group == Group::none &&
      (parts_two_phases(table, intent) || (!use.is_further_row && has_to_come_first(table, intent)))) {
    return Begin::commit_first;
  }
  if (facts_.group == Group::own_transaction && table.rules_out_two_phases()) {
    error = no_transactions_error();
    return Begin::failed;
  }
  if (intent != Intent::read && table.does_lasting_work()) {
    if (facts_.group != Group::none) {
      error = no_transactions_error();
      return Begin::failed;
    }
    if (facts_.has_written && !facts_.does_lasting_work) {
      return Begin::commit_first;
    }
  }
  return Begin::ready;
}

/// The request's statement would not be right behind what the transaction has changed.
bool TurnTransaction::has_to_come_first(const OpenTable& table, Intent intent) const {
  return (intent != Intent::read && parts_engines(table)) ||
         (facts_.has_written && (table.needs_own_transaction() || facts_.is_of_one_request)) ||
         (facts_.has_removed_entries && table.triggers_show_removed_entries()) ||
         (has_changed_fulltext() && table.changes_fulltext() && statement_.kind() == Statement::Kind::own);
}

/// True if the transaction has a table from which two phases are ruled out, or would have, beside changes of
/// another.
bool TurnTransaction::parts_two_phases(const OpenTable& table, Intent intent) const {
  if (table.rules_out_two_phases()) {
    return facts_.has_written && !facts_.does_lasting_work && !thd_->transaction->all.no_2pc;
  }
  return intent != Intent::read && thd_->transaction->all.no_2pc;
}

bool TurnTransaction::parts_engines(const OpenTable& table) const {
  if (!facts_.has_written || mysql_bin_log.is_open() || WSREP_ON) [[likely]] {
    return false;  // (a Galera node refuses writes into other engines than InnoDB)
  }
  const auto is_other = [&table](const Ha_trx_info* info) {
    return info->is_trx_read_write() && info->ht() != table.storage_engine();
  };
  for (const THD_TRANS* part : {&thd_->transaction->stmt, &thd_->transaction->all}) {
    for (const Ha_trx_info* info = part->ha_list; info != nullptr; info = info->next()) {
      if (is_other(info)) {
        return true;
      }
    }
  }
  return table.changes_several_engines();
}

/// What `open_table` takes for a table that is opened for writing; ours may have been open before. It is kept
/// to the end of the transaction, so that no commit of ours waits behind a FLUSH TABLES WITH READ LOCK.
Begin TurnTransaction::protect_from_backup(const OpenTable& table, ulong patience_s, Error& error) {
  const TABLE_SHARE* const share = table.table()->s;
  return protect(share->online_backup ? MDL_BACKUP_TRANS_DML : MDL_BACKUP_DML, patience_s,
                 facts_.has_backup_protection[share->online_backup ? 1 : 0], error);
}

/// For changes that stay: BACKUP STAGE BLOCK_COMMIT lets Aria and MEMORY be changed, but their rows not into
/// the binlog. SQL finds that out when the rows are there.
Begin TurnTransaction::protect_commit(ulong patience_s, Error& error) {
  return protect(MDL_BACKUP_COMMIT, patience_s, facts_.has_commit_protection, error);
}

Begin TurnTransaction::protect(enum_mdl_type type, ulong patience_s, bool& has_protection, Error& error) {
  if (has_protection) {
    return Begin::ready;
  }
  MDL_request request;
  MDL_REQUEST_INIT(&request, MDL_key::BACKUP, "", "", type, MDL_STATEMENT);
  const bool failed = patience_s > 0
                          ? thd_->mdl_context.acquire_lock(&request, static_cast<double>(patience_s))
                          : thd_->mdl_context.try_acquire_lock(&request);
  if (failed) {
    const bool conflict = is_lock_conflict(thd_);
    error = take_server_error(thd_, ErrorCode::cannot_lock_table);
    return conflict ? Begin::wait : Begin::failed;
  }
  has_protection = request.ticket != nullptr;
  return has_protection ? Begin::ready : Begin::wait;
}

}  // namespace rowsocket::mariadb
