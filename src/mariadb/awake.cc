// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "mariadb/awake.h"

namespace rowsocket::mariadb {
namespace {

constexpr ulong pause_us = 1000;
constexpr int try_count = 2000;

/// As THD::abort_current_cond_wait(). A broadcast without the mutex can come before the wait that it is to
/// end.
bool end_wait(st_my_thread_var& thread) {
  bool is_heard = true;
  mysql_mutex_lock(&thread.mutex);
  thread.abort = 1;
  if (thread.current_cond != nullptr && thread.current_mutex != nullptr) {
    is_heard = mysql_mutex_trylock(thread.current_mutex) == 0;
    mysql_cond_broadcast(thread.current_cond);
    if (is_heard) {
      mysql_mutex_unlock(thread.current_mutex);
    }
  }
  mysql_mutex_unlock(&thread.mutex);
  return is_heard;
}

/// As wsrep_kill_thd(): on a node of a cluster a KILL of a session that commits waits for the end of the
/// commit. One that came through would end the wait of a leader for the commits before its own. It leaves its
/// group without doing its work, and all later commits of the node are followers of that group for ever.
bool is_kept_back(THD* thd, killed_state state) {
  using Transaction = wsrep::transaction;
  const Transaction& transaction = thd->wsrep_trx();
  const bool commits = transaction.active() && (transaction.state() == Transaction::s_preparing ||
                                                transaction.state() == Transaction::s_committing ||
                                                transaction.state() == Transaction::s_ordered_commit);
  if (commits && thd->wsrep_abort_by_kill < state) {
    thd->wsrep_abort_by_kill = state;
  }
  return commits;
}

/// As THD::awake_no_mutex() for a thread without a socket.
bool awake_under_locks(THD* thd, killed_state state) {
  if (is_kept_back(thd, state)) {
    return true;
  }
  if (thd->killed >= KILL_CONNECTION) {
    state = thd->killed;
  }
  thd->set_killed_no_mutex(state);
  if (state >= KILL_CONNECTION) {
    thd->scheduler->post_kill_notification(thd);
  }
  const bool cluster_aborts = thd->wsrep_trx().active() && thd->wsrep_trx().bf_aborted();
  if (!cluster_aborts && thd->wsrep_abort_by_kill == NOT_KILLED) {
    ha_kill_query(thd, (thd->killed & KILL_HARD_BIT) != 0 ? THD_ABORT_ASAP : THD_ABORT_SOFTLY);
  }
  return thd->mysys_var == nullptr || end_wait(*thd->mysys_var);
}

}  // namespace

bool try_awake(THD* thd, killed_state state) {
  mysql_mutex_lock(&thd->LOCK_thd_kill);
  mysql_mutex_lock(&thd->LOCK_thd_data);
  const bool is_heard = awake_under_locks(thd, state);
  mysql_mutex_unlock(&thd->LOCK_thd_data);
  mysql_mutex_unlock(&thd->LOCK_thd_kill);
  return is_heard;
}

void end_waits_for_space(THD* thd) {
  if (thd->mysys_var != nullptr) {
    mysql_mutex_lock(&thd->mysys_var->mutex);
    thd->mysys_var->abort = 1;
    mysql_mutex_unlock(&thd->mysys_var->mutex);
  }
}

void awake(THD* thd, killed_state state) {
  for (int tries = 0; !try_awake(thd, state) && tries < try_count; ++tries) {
    my_sleep(pause_us);
  }
}

}  // namespace rowsocket::mariadb
