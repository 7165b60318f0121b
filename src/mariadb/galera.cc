// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first. Two names mean functions of the server and, to plugins, those of a
// service.
#include <mysql/service_wsrep.h>
#undef wsrep_xid_seqno
#undef wsrep_xid_uuid
//
#include <wsrep_mysqld.h>
#include <wsrep_thd.h>
#include <wsrep_trans_observer.h>

#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/galera.h"

namespace rowsocket::mariadb {

using engine::Intent;

namespace {

/// The rule of SQL: a node that has no say in the cluster answers nothing, unless dirty reads are asked for.
bool is_ready_for(Intent request) {
  return (wsrep_ready_get() && wsrep_reject_queries == WSREP_REJECT_NONE) ||
         (request == Intent::read && global_system_variables.wsrep_dirty_reads);
}

Error not_ready() {
  return {ErrorCode::sql, ER_UNKNOWN_COM_ERROR, "WSREP has not yet prepared node for application use"};
}

}  // namespace

bool Galera::holds_commits(THD* thd) {
  if (thd == nullptr) {
    return false;
  }
  const auto mode = thd->wsrep_cs().mode();
  return mode == wsrep::client_state::m_toi || mode == wsrep::client_state::m_rsu;
}

void Galera::follow_server() {
  if (WSREP_ON == is_open_) {
    return;
  }
  if (!is_open_) {
    thd_->wsrep_client_thread = true;
    thd_->variables.wsrep_on = true;
    thd_->variables.wsrep_trx_fragment_size = 0;  // a turn is small: it goes to the cluster in one piece
    wsrep_open(thd_);
    is_open_ = true;
  } else {
    detach();
  }
}

void Galera::detach() {
  if (!is_open_) {
    return;
  }
  wsrep_close(thd_);
  wsrep_cleanup(thd_);
  thd_->variables.wsrep_on = false;
  thd_->wsrep_client_thread = false;
  is_open_ = false;
}

Error Galera::begin_request(Intent request, Intent session) {
  if (!is_ready_for(request)) {
    return not_ready();
  }
  if (!is_begun_) {
    // The server waits for the cluster before a write also where reads are dirty. Here a write may join the
    // transaction that a read has begun, unless the node takes no writes.
    const bool may_write = session == Intent::write && is_ready_for(Intent::write);
    thd_->lex->sql_command = may_write ? SQLCOM_UPDATE : SQLCOM_SELECT;
    return begin(session);
  }
  return has_lost() ? conflict() : begin_statement();
}

bool Galera::streams() const {
  return wsrep_streaming_enabled(thd_) || thd_->wsrep_sr().fragments_certified() > 0;
}

/// Reads begin a transaction too: the cluster can ask a session to stop only if the session has one.
Error Galera::begin(Intent session) {
  const system_variables& global = global_system_variables;
  thd_->variables.wsrep_sync_wait = global.wsrep_sync_wait;
  thd_->variables.wsrep_dirty_reads = global.wsrep_dirty_reads;
  wsrep_before_command(thd_);  // never fails: nothing is left of an earlier transaction
  if (streams()) [[unlikely]] {
    thd_->wsrep_cs().disable_streaming();  // a trigger's SET SESSION wsrep_trx_fragment_size has begun it
  }
  thd_->set_wsrep_next_trx_id(thd_->query_id);

  // The whole turn waits once, before it holds anything. Later the transaction that we wait for could be
  // waiting for us.
  constexpr uint before_reads = WSREP_SYNC_WAIT_BEFORE_READ;
  constexpr uint before_any =
      before_reads | WSREP_SYNC_WAIT_BEFORE_UPDATE_DELETE | WSREP_SYNC_WAIT_BEFORE_INSERT_REPLACE;
  Error error;
  if (wsrep_sync_wait(thd_, session == Intent::read ? before_reads : before_any)) {
    error = take_server_error(thd_, ErrorCode::sql);
  } else {
    error = begin_statement();
  }
  if (error.ok()) {
    is_begun_ = true;
    was_active_ = thd_->wsrep_trx().active();
  } else {
    thd_->wsrep_cs().reset_error();
    wsrep_after_command_ignore_result(thd_);
  }
  return error;
}

/// A statement that only read has ended its transaction. Without one the next statement would be interrupted
/// by DDL of the cluster without being told that the cluster did it.
Error Galera::begin_statement() { return wsrep_start_trx_if_not_started(thd_) == 0 ? Error() : not_ready(); }

uint64_t Galera::rows_max() const { return is_open_ ? wsrep_max_ws_rows : 0; }

Error Galera::end(Error error) {
  is_begun_ = false;
  wsrep_after_statement(thd_);
  wsrep_after_command_before_result(thd_);
  const wsrep::client_error outcome = wsrep_current_error(thd_);
  const bool was_replayed = thd_->get_stmt_da()->is_ok();  // only a replay says OK here
  wsrep_after_command_after_result(thd_);
  settle_kills();
  clear_diagnostics(thd_);
  switch (outcome) {
    case wsrep::e_success:
      return was_replayed ? Error() : std::move(error);
    case wsrep::e_deadlock_error:
      return conflict();
    case wsrep::e_size_exceeded_error:
      return Error(ErrorCode::sql, ER_UNKNOWN_ERROR, "larger than wsrep_max_ws_size")
          .because(Reason::too_large);
    case wsrep::e_interrupted_error:
      return {ErrorCode::sql, ER_QUERY_INTERRUPTED};
    default:  // the node lost the cluster while it waited for the certification
      return Error(ErrorCode::commit_failed, "the cluster did not answer: " + wsrep::to_string(outcome))
          .because(Reason::unknown_outcome);
  }
}

/// A KILL that came during the commit was kept back, and an abort by the cluster is over.
void Galera::settle_kills() {
  mysql_mutex_lock(&thd_->LOCK_thd_kill);
  mysql_mutex_lock(&thd_->LOCK_thd_data);
  const killed_state kept_back = thd_->wsrep_abort_by_kill;
  thd_->wsrep_abort_by_kill = NOT_KILLED;
  if (thd_->killed < kept_back) {
    thd_->killed = kept_back;
  }
  thd_->wsrep_aborter = 0;
  mysql_mutex_unlock(&thd_->LOCK_thd_data);
  mysql_mutex_unlock(&thd_->LOCK_thd_kill);
}

bool Galera::is_aborted(THD* thd) {
  const wsrep::transaction& transaction = thd->wsrep_trx();
  if (!transaction.active()) {
    return false;
  }
  switch (transaction.state()) {
    case wsrep::transaction::s_must_abort:
    case wsrep::transaction::s_cert_failed:
    case wsrep::transaction::s_must_replay:
      return true;
    case wsrep::transaction::s_aborting:
    case wsrep::transaction::s_aborted:
      return transaction.bf_aborted();
    default:
      return false;
  }
}

bool Galera::replicates(const TABLE* table) {
  return !WSREP(table->in_use) || (table->file->partition_ht()->flags & HTON_WSREP_REPLICATION) != 0;
}

bool Galera::certifies(const THD* thd, const TABLE_LIST* tables) {
  if (wsrep_certify_nonPK || !WSREP(thd)) {
    return true;
  }
  for (; tables != nullptr; tables = tables->next_global) {
    if (tables->table != nullptr && tables->table->s->primary_key == MAX_KEY) {
      return false;
    }
  }
  return true;
}

Error Galera::conflict() {
  return Error(ErrorCode::engine, HA_ERR_LOCK_DEADLOCK, "aborted in favour of another node's transaction")
      .because(Reason::conflict);
}

}  // namespace rowsocket::mariadb
