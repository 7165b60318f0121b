// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <mysys_err.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "mariadb/current_thd.h"
#include "mariadb/diagnostics.h"
#include "mariadb/performance_schema.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {

using engine::Intent;

namespace {

constexpr size_t command_block_bytes = 8192;  ///< the first one is kept between commands

}  // namespace

/// Under the locks that guard `thd->killed`. Where an earlier KILL stands there, the server leaves that, and
/// the callback is all that tells of its shutdown.
void ServerThread::was_killed(THD* thd) {
  if (abort_loop) {
    of(thd).is_stopped_.store(true, std::memory_order_relaxed);
  }
  end_waits_for_space(thd);
  const Owner& owner = of(thd).owner_;
  owner.woken(owner.object);
}

/// The condition stays for others to handle.
bool ServerThread::Listener::handle_condition(THD* thd, uint number, const char*,
                                              Sql_condition::enum_warning_level*, const char*,
                                              Sql_condition**) {
  if (thd->lex->sql_command == SQLCOM_SIGNAL || thd->lex->sql_command == SQLCOM_RESIGNAL) {
    return false;  // what a trigger calls so
  }
  switch (number) {
    case EE_DISK_FULL:  // who waits for space says so every ten times, and hears of a KILL QUERY here
      if (thd->killed != NOT_KILLED) {
        end_waits_for_space(thd);
      }
      break;
    case ER_TRANS_CACHE_FULL:
    case ER_STMT_CACHE_FULL:
    case ER_ERROR_ON_WRITE:
      of(thd).note_log_refusal();
      break;
    default:
      if (is_about_temporary_space(static_cast<int>(number))) {  // which the binlog's cache takes, too
        of(thd).note_log_refusal();
      }
      break;
  }
  return false;
}

namespace {

/// GET_LOCK() says that it waits for a metadata lock. What is shown of the thread tells the two apart.
bool waits_for_user_lock(const THD* thd) {
  return thd->proc_info != nullptr && std::strcmp(thd->proc_info, "User lock") == 0;
}

}  // namespace

/// What flushes to a disk is left out: a commit's requests belong together.
void ServerThread::begins_to_wait(THD* thd, int what) {
  if (what == THD_WAIT_ROW_LOCK) {
    of(thd).row_waits().note_wait(true);
  }
  switch (what) {
    case THD_WAIT_DISKIO:
    case THD_WAIT_ROW_LOCK:
    case THD_WAIT_GLOBAL_LOCK:
    case THD_WAIT_META_DATA_LOCK:
    case THD_WAIT_TABLE_LOCK:
    case THD_WAIT_USER_LOCK:
    case THD_WAIT_SLEEP: {
      const Owner& owner = of(thd).owner_;
      const bool is_code = what == THD_WAIT_SLEEP || waits_for_user_lock(thd);
      owner.on_wait(owner.object, what == THD_WAIT_DISKIO ? engine::Wait::disk
                                  : is_code               ? engine::Wait::code
                                                          : engine::Wait::lock);
      break;
    }
    default:
      break;
  }
}

void ServerThread::has_waited(THD* thd) {
  of(thd).row_waits().note_wait(false);
  const Owner& owner = of(thd).owner_;
  owner.on_wait(owner.object, engine::Wait::over);
}

/// KILL takes both locks, asks which account the session has, and ends it, before it gives the locks back. So
/// no KILL comes later that was allowed earlier. (KILL USER asks without the locks.)
void ServerThread::weaken_kill() {
  const auto weakened = [](killed_state killed) {
    switch (killed) {
      case KILL_CONNECTION:
      case KILL_SYSTEM_THREAD:
        return KILL_QUERY;
      case KILL_CONNECTION_HARD:
      case KILL_SYSTEM_THREAD_HARD:
        return KILL_QUERY_HARD;
      default:
        return killed;
    }
  };
  mysql_mutex_lock(&thd_->LOCK_thd_kill);
  mysql_mutex_lock(&thd_->LOCK_thd_data);
  thd_->killed = weakened(thd_->killed);
  thd_->wsrep_abort_by_kill = weakened(thd_->wsrep_abort_by_kill);
  mysql_mutex_unlock(&thd_->LOCK_thd_data);
  mysql_mutex_unlock(&thd_->LOCK_thd_kill);
}

/// The server forgets whatever stands there when it comes to it, and so a stop that came behind what we have
/// seen. A connection of SQL hears of the stop by its socket, which the server closes. A session of ours has
/// none.
void ServerThread::stop(const engine::Work& work) {
  const MutexLock lock(stops_);
  if (work.number == work_.number) {
    was_told_to_stop_ = true;
    try_awake(thd_, KILL_QUERY);
  }
}

bool ServerThread::was_stopped() const {
  const MutexLock lock(stops_);
  return was_told_to_stop_;
}

void ServerThread::work_for(const engine::Presence* client) {
  const MutexLock lock(stops_);
  work_.begin(client);
  forget_stop_of_earlier_work();
}

void ServerThread::work_for_request() {
  const MutexLock lock(stops_);
  work_.begin_request();
  forget_stop_of_earlier_work();
}

/// A KILL QUERY of SQL is meant for whatever the thread does: it stays.
void ServerThread::forget_stop_of_earlier_work() {
  if (std::exchange(was_told_to_stop_, false) && thd_->killed == KILL_QUERY) [[unlikely]] {
    forget_kill();
  }
}

void ServerThread::forget_stop() {
  const MutexLock lock(stops_);
  was_told_to_stop_ = false;
  if (thd_->killed == KILL_QUERY) {
    forget_kill();
  }
}

void ServerThread::forget_kill() {
  thd_->reset_killed();
  thd_->mysys_var->abort = 0;
  if (is_stopped()) [[unlikely]] {
    awake(thd_, KILL_SERVER_HARD);
  }
}

/// The server tells a connection's scheduler about KILL; ours pokes the worker out of its poll.
scheduler_functions* ServerThread::notifying_scheduler() {
  static scheduler_functions functions = [] {
    scheduler_functions copy = *thread_scheduler;
    copy.thd_wait_begin = begins_to_wait;
    copy.thd_wait_end = has_waited;
    copy.post_kill_notification = was_killed;
    return copy;
  }();
  return &functions;
}

THD* make_thd(my_thread_id id) {
  constexpr size_t further_bytes = 8192;  // what else it takes while it is made
  if (global_system_variables.max_mem_used < sizeof(THD) + further_bytes) {
    throw std::runtime_error("max_session_mem_used is less than a session takes");
  }
  return new THD(id);
}

ServerThread::Memory::Memory(THD* thd) : of_session(thd->mem_root) {
  init_sql_alloc(PSI_NOT_INSTRUMENTED, &of_command, command_block_bytes, command_block_bytes, MYF(0));
}

ServerThread::ServerThread(Intent intent, const Owner& owner)
    : intent_(intent),
      owner_(owner),
      thd_(begin_thread()),
      memory_(thd_),
      random_numbers_(thd_),
      user_statistics_(thd_),
      row_waits_(thd_) {
  take_over_settings(false);
  thd_->event_scheduler.data = this;
  thd_->scheduler = notifying_scheduler();
  thd_->push_internal_handler(&listener_);
  server_threads.insert(thd_);
}

/// The THD of a thread that begins.
THD* ServerThread::begin_thread() {
  my_thread_init();
  const my_thread_id id = next_thread_id();
  instrument_thread(id);
  THD* const thd = make_thd(id);
  make_current(thd);
  thd->system_thread = SYSTEM_THREAD_GENERIC;
  thd->set_command(COM_SLEEP);        // KILL does not find daemons
  thd->security_ctx->user = nullptr;  // "system user": an account may KILL sessions that have its name
  thd->security_ctx->host_or_ip = "rowsocket";
  strmake_buf(thd->security_ctx->priv_user, own_name);  // what CURRENT_USER() says
  thd->security_ctx->master_access = NO_ACL;            // read_only concerns us like any user
  thd->security_ctx->db_access = NO_ACL;
  // Audit plugins are told of clients (trail.h), and of nothing that the session does in its own name: those
  // for all classes of events count as found, and none is.
  std::fill(std::begin(thd->audit_class_mask), std::end(thd->audit_class_mask), ~0UL);
  my_net_init(&thd->net, nullptr, thd, MYF(MY_THREAD_SPECIFIC));
  lex_start(thd);
  thd->init_for_queries();
  thd->count_cuted_fields = CHECK_FIELD_WARN;
  thd->abort_on_warning = true;
  return thd;
}

ServerThread::~ServerThread() {
  server_threads.erase(thd_);
  thd_->pop_internal_handler();
  lex_end(thd_->lex);
  thd_->mem_root = memory_.of_session;
  thd_->reset_globals();
  make_current(thd_);
  delete thd_;
  free_root(&memory_.of_command, MYF(0));
  leave_thread();
  my_thread_end();
}

bool ServerThread::routines_have_met(std::string key, uint64_t versions) {
  if (routines_have_met_.size() >= limits::tables_of_routines_max) {
    routines_have_met_.clear();
  }
  return std::exchange(routines_have_met_[std::move(key)], versions) == versions;
}

/// Where InnoDB looks for a long unique key (over a BLOB or TEXT) depends on this, and so does which of two
/// rows in its way an upsert changes: behind the write in READ COMMITTED, before it in REPEATABLE READ. To
/// look before the write in READ COMMITTED, too, would let in duplicates, since no gap is locked there.
void ServerThread::share_snapshot(bool shares) {
  shares_snapshot_ = shares;
  const enum_tx_isolation isolation =
      shares || intent_ == Intent::read ? ISO_REPEATABLE_READ : ISO_READ_COMMITTED;
  thd_->variables.tx_isolation = isolation;
  thd_->tx_isolation = isolation;
}

/// The server's global variables, and over them what a session of ours must be.
void ServerThread::take_over_settings(bool is_cluster_client) {
  constexpr ulonglong of_transaction =
      OPTION_BEGIN | OPTION_BINLOG_THIS_TRX | OPTION_BINLOG_THIS_STMT | OPTION_GTID_BEGIN;
  system_variables& own = thd_->variables;
  const ulonglong transaction_bits = own.option_bits & of_transaction;
  settings_.take_over(thd_);
  statement_us_max_ = own.max_statement_time;
  memory_.max_bytes = own.max_mem_used;
  limit_memory(false);
  if (took_too_much_memory(thd_)) {
    forget_kill();  // the limit was taken over before the memory for the others
  }
  own.option_bits = (own.option_bits & ~of_transaction) | transaction_bits;
  own.wsrep_on = is_cluster_client;
  own.wsrep_trx_fragment_size = 0;  // a turn is small: it goes to the cluster in one piece
  own.binlog_format = BINLOG_FORMAT_ROW;
  share_snapshot(shares_snapshot_);
  own.sql_mode |= MODE_STRICT_TRANS_TABLES | MODE_STRICT_ALL_TABLES;
  own.lock_wait_timeout = 0;
  // With it off, and foreign keys unchecked, InnoDB keeps the rows of an empty table in a buffer. It loses
  // them where another statement of the transaction runs with other settings, as the next client's may.
  own.option_bits &= ~OPTION_RELAXED_UNIQUE_CHECKS;
  // A bulk load goes beside transactions, and ends with the session: ours does not. The other one commits the
  // rows of a statement before its end.
  GlobalSettings::switch_off(thd_, "rocksdb_bulk_load");
  GlobalSettings::switch_off(thd_, "rocksdb_commit_in_the_middle");
  if (intent_ == Intent::write) {
    own.option_bits |= OPTION_NOT_AUTOCOMMIT;
    own.option_bits &= ~OPTION_AUTOCOMMIT;
    thd_->server_status &= ~SERVER_STATUS_AUTOCOMMIT;
  } else {
    own.option_bits &= ~OPTION_NOT_AUTOCOMMIT;
    own.option_bits |= OPTION_AUTOCOMMIT;
    thd_->server_status |= SERVER_STATUS_AUTOCOMMIT;
  }
  row_waits_.take_over_settings();
}

void ServerThread::begin_command(bool is_cluster_client, bool goes_on) {
  if (!invariant(current_thd == thd_, "a session is used by the thread that made it")) {
    make_current(thd_);
  }
  const bool is_of_query = thd_->killed != NOT_KILLED && thd_->killed < KILL_CONNECTION;
  const bool is_meant = goes_on && (thd_->killed == KILL_QUERY || thd_->killed == KILL_QUERY_HARD);
  if (is_of_query && !is_meant) {
    forget_kill();  // there was no query of ours to kill
  }
  thd_->mem_root = &memory_.of_command;
  thd_->set_query_id(next_query_id());
  thd_->set_time();
  if (settings_.have_changed(thd_->start_utime)) [[unlikely]] {
    take_over_settings(is_cluster_client);
  }
  user_statistics_.begin_command();
}

void ServerThread::end_command() {
  if (!invariant(thd_->open_tables == nullptr && thd_->lock == nullptr,
                 "at the end of a command no table is open in it, or locked")) {
    close_thread_tables(thd_);
  }
  thd_->mdl_context.release_statement_locks();
  thd_->release_transactional_locks();
  mysql_ull_cleanup(thd_);  // not with the request that took them: what they guard may be seen from here on
  thd_->transaction->all.reset();
  thd_->transaction->stmt.reset();
  user_statistics_.end_command();
  mysql_audit_release(thd_);
  if (thd_->is_error()) {
    clear_diagnostics(thd_);
  }
  if (std::exchange(memory_.lex_is_used, false)) {
    lex_end(thd_->lex);
    thd_->mem_root = memory_.of_session;
    free_root(memory_.of_session, MYF(MY_KEEP_PREALLOC));
    lex_start(thd_);  // its memory must outlive the command's
  }
  thd_->mem_root = memory_.of_session;
  free_root(&memory_.of_command, MYF(MY_KEEP_PREALLOC));
}

/// Our statement is set to rows already (`Statement::begin`), and is not asked again before its end.
void ServerThread::begin_code() {
  noted_.other_code = true;
  thd_->variables.binlog_format = binlog_format_of_code();
}

/// SQL removes them. Where an expression of a table knows one by its place, they stay, and are as those that
/// nobody has set.
void ServerThread::forget_user_variables() {
  if (!keeps_variables_) [[likely]] {
    my_hash_reset(&thd_->user_vars);
    return;
  }
  for (ulong number = 0; number < thd_->user_vars.records; ++number) {
    auto* const variable = reinterpret_cast<user_var_entry*>(my_hash_element(&thd_->user_vars, number));
    update_hash(variable, true, nullptr, 0, &type_handler_long_blob, &my_charset_bin);
    variable->set_charset(&my_charset_bin);
  }
}

/// What `THD::change_user` resets, but for what a session of ours keeps: its tables with their metadata
/// locks, its transaction, and its identity.
void ServerThread::reset(bool is_cluster_client) {
  if (thd_->has_temporary_tables()) {
    thd_->close_temporary_tables();
  }
  forget_user_variables();
  my_hash_reset(&thd_->sequences);
  thd_->first_successful_insert_id_in_prev_stmt = 0;
  thd_->first_successful_insert_id_in_prev_stmt_for_binlog = 0;
  thd_->set_row_count_func(-1);
  thd_->auto_inc_intervals_forced.empty();  // SET insert_id
  thd_->user_time.val = 0;                  // SET timestamp
  random_numbers_.seed();                   // SET rand_seed1; what was read of it tells nothing either
  take_over_settings(is_cluster_client);
}

}  // namespace rowsocket::mariadb
