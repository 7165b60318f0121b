// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/invariant.h"
#include "mariadb/diagnostics.h"
#include "mariadb/performance_schema.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {

using engine::Intent;

namespace {

/// innodb_lock_wait_timeout; nullptr in a server without InnoDB.
sys_var* find_row_lock_variable() {
  mysql_prlock_rdlock(&LOCK_system_variables_hash);
  sys_var* const variable = intern_find_sys_var(STRING_WITH_LEN("innodb_lock_wait_timeout"));
  mysql_prlock_unlock(&LOCK_system_variables_hash);
  return variable;
}

/// Another session waits for a metadata lock that the THD holds: for one of a table, or that of backups,
/// which FLUSH TABLES WITH READ LOCK and read_only take, too.
bool is_waited_for(const THD* thd) {
  struct Search {
    const THD* holder;
    bool found;
  } search{thd, false};
  const auto look = [](MDL_ticket* ticket, void* argument, bool is_granted) -> int {
    auto& looking = *static_cast<Search*>(argument);
    looking.found |= is_granted && ticket->get_ctx()->get_thd() == looking.holder &&
                     ticket->has_pending_conflicting_lock();
    return looking.found ? 1 : 0;
  };
  static_cast<void>(mdl_iterate(look, &search));
  return search.found;
}

}  // namespace

/// Under the locks that guard `thd->killed`. Where an earlier KILL stands there, the server leaves that, and
/// the callback is all that tells of its shutdown.
void ServerThread::was_killed(THD* thd) {
  if (abort_loop) {
    of(thd).is_stopped_.store(true, std::memory_order_relaxed);
  }
  const Owner& owner = of(thd).owner_;
  owner.woken(owner.object);
}

/// What flushes to a disk is left out: commits happen between requests, and belong together.
void ServerThread::begins_to_wait(THD* thd, int what) {
  if (what == THD_WAIT_ROW_LOCK) {
    of(thd).note_row_wait(true);
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
      owner.about_to_wait(owner.object, what == THD_WAIT_DISKIO ? engine::Wait::disk : engine::Wait::lock);
      break;
    }
    default:
      break;
  }
}

void ServerThread::has_waited(THD* thd) { of(thd).note_row_wait(false); }

/// InnoDB holds no latch when a wait for a row begins or ends.
void ServerThread::note_row_wait(bool waits) {
  if (may_give_way_) {
    const MutexLock lock(row_wait_mutex_);
    waits_for_row_ = waits;
  }
}

/// While the wait lasts: its end waits for us, so that nothing else of the session is interrupted.
void ServerThread::give_way() {
  const MutexLock lock(row_wait_mutex_);
  if (waits_for_row_ && is_waited_for(thd_)) {
    gave_way_.store(true);
    thd_->awake(KILL_QUERY);
  }
}

/// Who sends a KILL has both locks from before it asks whose the session is until it is killed. So none comes
/// later that was allowed earlier. (KILL USER asks without the locks.)
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
void ServerThread::forget_kill() {
  thd_->reset_killed();
  thd_->mysys_var->abort = 0;
  if (is_stopped()) [[unlikely]] {
    thd_->awake(KILL_SERVER_HARD);
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
  constexpr size_t further_bytes = 8192;
  if (global_system_variables.max_mem_used < sizeof(THD) + further_bytes) {
    throw std::runtime_error("max_session_mem_used is less than a session takes");
  }
  return new THD(id);
}

ServerThread::ServerThread(Intent intent, const Owner& owner) : intent_(intent), owner_(owner) {
  init_sql_alloc(PSI_NOT_INSTRUMENTED, &command_memory_, 8192, 8192, MYF(0));
  create();
  thd_->event_scheduler.data = this;
  thd_->scheduler = notifying_scheduler();
  server_threads.insert(thd_);
}

void ServerThread::create() {
  my_thread_init();
  const my_thread_id id = next_thread_id();
  instrument_thread(id);
  thd_ = make_thd(id);
  thd_->thread_stack = static_cast<char*>(__builtin_frame_address(0));
  thd_->store_globals();
  thd_->system_thread = SYSTEM_THREAD_GENERIC;
  thd_->set_command(COM_SLEEP);        // KILL does not find daemons
  thd_->security_ctx->user = nullptr;  // "system user": an account may KILL sessions that have its name
  thd_->security_ctx->host_or_ip = "rowsocket";
  strmake_buf(thd_->security_ctx->priv_user, "rowsocket");  // what CURRENT_USER() says
  thd_->security_ctx->master_access = NO_ACL;               // read_only concerns us like any user
  thd_->security_ctx->db_access = NO_ACL;
  // Audit plugins are told of clients (trail.h), and of nothing that the session does in its own name: those
  // for all classes of events count as found, and none is.
  std::fill(std::begin(thd_->audit_class_mask), std::end(thd_->audit_class_mask), ~0UL);
  my_net_init(&thd_->net, nullptr, thd_, MYF(MY_THREAD_SPECIFIC));
  lex_start(thd_);
  thd_->init_for_queries();
  session_memory_ = thd_->mem_root;
  thd_->count_cuted_fields = CHECK_FIELD_WARN;
  thd_->abort_on_warning = true;
  row_lock_variable_ = find_row_lock_variable();
  seed_random_numbers();
  take_over_settings(false);
}

ServerThread::~ServerThread() {
  server_threads.erase(thd_);
  lex_end(thd_->lex);
  thd_->mem_root = session_memory_;
  thd_->reset_globals();
  thd_->store_globals();
  delete thd_;
  free_root(&command_memory_, MYF(0));
  leave_thread();
  my_thread_end();
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
  memory_max_bytes_ = own.max_mem_used;
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
  if (intent_ == Intent::write) {
    own.option_bits |= OPTION_NOT_AUTOCOMMIT;
    own.option_bits &= ~OPTION_AUTOCOMMIT;
    thd_->server_status &= ~SERVER_STATUS_AUTOCOMMIT;
  } else {
    own.option_bits &= ~OPTION_NOT_AUTOCOMMIT;
    own.option_bits |= OPTION_AUTOCOMMIT;
    thd_->server_status |= SERVER_STATUS_AUTOCOMMIT;
  }
  row_patience_ = RowPatience::full;  // what was taken over
  wait_for_rows(RowPatience::second);
}

void ServerThread::begin_command(bool is_cluster_client, bool goes_on) {
  if (!invariant(current_thd == thd_, "a session is used by the thread that made it")) {
    thd_->store_globals();
  }
  const bool is_of_query = thd_->killed != NOT_KILLED && thd_->killed < KILL_CONNECTION;
  const bool is_meant = goes_on && (thd_->killed == KILL_QUERY || thd_->killed == KILL_QUERY_HARD);
  if (is_of_query && !is_meant) {
    forget_kill();  // there was no query of ours to kill
  }
  thd_->mem_root = &command_memory_;
  thd_->set_query_id(next_query_id());
  thd_->set_time();
  if (settings_.have_changed(thd_->start_utime)) [[unlikely]] {
    take_over_settings(is_cluster_client);
  }
  thd_->userstat_running = opt_userstat_running;
  if (thd_->userstat_running) [[unlikely]] {
    begin_user_statistics();
  }
}

void ServerThread::begin_user_statistics() {
  thd_->userstat_running = true;
  thd_->start_cpu_time = my_getcputime();
  statistics_began_us_ = microsecond_interval_timer();
  std::memcpy(&thd_->org_status_var, &thd_->status_var, sizeof(thd_->status_var));
  thd_->select_commands = thd_->update_commands = thd_->other_commands = 0;
}

/// The rows that were read are told to the session first, as at the end of a statement of SQL.
void ServerThread::add_to_user_statistics(handler* file, const char* host) {
  if (file != nullptr) {
    file->update_global_table_stats();
    thd_->update_stats();
  }
  const char* const host_before = std::exchange(thd_->security_ctx->host_or_ip, host);
  const ulonglong start_before = std::exchange(thd_->start_utime, statistics_began_us_);
  thd_->utime_after_query = thd_->utime_after_lock;  // Query_time is of SQL's statements
  thd_->update_all_stats();
  thd_->start_utime = start_before;
  thd_->security_ctx->host_or_ip = host_before;
}

void ServerThread::end_command() {
  if (!invariant(thd_->open_tables == nullptr && thd_->lock == nullptr,
                 "at the end of a command no table is open in it, or locked")) {
    close_thread_tables(thd_);
  }
  thd_->mdl_context.release_statement_locks();
  thd_->release_transactional_locks();
  thd_->transaction->all.reset();
  thd_->transaction->stmt.reset();
  if (thd_->userstat_running) [[unlikely]] {
    add_to_user_statistics(nullptr, thd_->security_ctx->host_or_ip);
  }
  mysql_audit_release(thd_);
  if (thd_->is_error()) {
    clear_diagnostics(thd_);
  }
  if (std::exchange(lex_is_used_, false)) {
    lex_end(thd_->lex);
    thd_->mem_root = session_memory_;
    free_root(session_memory_, MYF(MY_KEEP_PREALLOC));
    lex_start(thd_);  // its memory must outlive the command's
  }
  thd_->mem_root = session_memory_;
  free_root(&command_memory_, MYF(MY_KEEP_PREALLOC));
}

/// What `THD::change_user` resets, but for what a session of ours keeps: its tables with their metadata
/// locks, its transaction, and its identity.
void ServerThread::reset(bool is_cluster_client) {
  if (thd_->has_temporary_tables()) {
    thd_->close_temporary_tables();
  }
  my_hash_reset(&thd_->user_vars);
  my_hash_reset(&thd_->sequences);
  mysql_ull_cleanup(thd_);
  thd_->first_successful_insert_id_in_prev_stmt = 0;
  thd_->first_successful_insert_id_in_prev_stmt_for_binlog = 0;
  thd_->auto_inc_intervals_forced.empty();  // SET insert_id
  thd_->user_time.val = 0;                  // SET timestamp
  seed_random_numbers();                    // SET rand_seed1; what was read of it tells nothing either
  take_over_settings(is_cluster_client);
}

/// As the server does for a new connection. (It reads the numbers of all threads without a lock, too.)
void ServerThread::seed_random_numbers() {
  const auto seed = static_cast<ulong>(my_rnd(&sql_rand) * 0xffffffff);
  my_rnd_init(&thd_->rand, seed + static_cast<ulong>(reinterpret_cast<intptr>(thd_)),
              static_cast<ulong>(my_timer_cycles() + thd_->query_id));
  rand_seed1_ = thd_->rand.seed1;
  rand_seed2_ = thd_->rand.seed2;
}

void ServerThread::wait_for_rows(RowPatience patience, ulong rest_s) {
  if (row_lock_variable_ == nullptr || (row_patience_ == patience && patience != RowPatience::rest)) {
    return;
  }
  const auto seconds = static_cast<longlong>(patience == RowPatience::full     ? row_lock_timeout_s()
                                             : patience == RowPatience::rest   ? rest_s
                                             : patience == RowPatience::second ? 1
                                                                               : 0);
  set_var setting(thd_, OPT_SESSION, row_lock_variable_, &null_clex_str,
                  new (thd_->mem_root) Item_int(thd_, seconds));
  if (setting.check(thd_) == 0 && setting.update(thd_) == 0) {
    row_patience_ = patience;
  }
  thd_->free_items();
  clear_diagnostics(thd_);
}

ulong ServerThread::row_lock_timeout_s() const {
  if (row_lock_variable_ == nullptr) {
    return 0;
  }
  return *reinterpret_cast<const ulong*>(row_lock_variable_->value_ptr(thd_, OPT_GLOBAL, &null_clex_str));
}

}  // namespace rowsocket::mariadb
