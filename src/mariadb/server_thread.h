// SPDX-License-Identifier: GPL-2.0-only
//
// A THD of ours, from its making to its end, and what the server does at both ends of each command of a
// connection (`dispatch_command`). To the server a turn is a command.
//
// Made, used and ended on one thread; `kill` is called from others.
#pragma once

#include <atomic>
#include <utility>

#include "base/mutex.h"
#include "engine/engine.h"
#include "mariadb/global_settings.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// Throws where max_session_mem_used is below what a THD itself takes: the server, which then ends the
/// statement under way, crashes while it makes the first one. A new connection of SQL does that, too.
[[nodiscard]] THD* make_thd(my_thread_id id);

class ServerThread {
 public:
  struct Owner {
    void* object;
    /// Called, from any thread, when the THD was killed.
    void (*woken)(void* object);
    /// Called on the THD's thread, which may hold latches of InnoDB or mutexes of the server: the THD is
    /// about to wait.
    void (*about_to_wait)(void* object, engine::Wait what);
  };

  ServerThread(engine::Intent intent, const Owner& owner);
  ~ServerThread();
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  [[nodiscard]] THD* thd() const { return thd_; }
  /// That of a THD of ours.
  [[nodiscard]] static ServerThread& of(const THD* thd) {
    return *static_cast<ServerThread*>(thd->event_scheduler.data);
  }

  /// A value was taken that SQL takes with a warning only.
  void note_lenience() { took_lenience_ = true; }
  [[nodiscard]] bool take_lenience() { return std::exchange(took_lenience_, false); }

  /// The binlog, or what a Galera node has in its place, did not take an event of a row: its cache is full,
  /// say.
  void note_log_refusal() { log_refused_ = true; }
  [[nodiscard]] bool take_log_refusal() { return std::exchange(log_refused_, false); }

  /// From here on memory of the THD is the command's. `goes_on`: with the request of the last command, so a
  /// KILL QUERY since then is meant for it.
  void begin_command(bool is_cluster_client, bool goes_on);
  /// No table is locked or open in `thd->open_tables`.
  void end_command();
  /// `thd->lex` was used since `begin_command`.
  void note_lex_use() { lex_is_used_ = true; }
  /// Triggers or defaults run from now on.
  void note_other_code() { other_code_ran_ = true; }
  /// Between statements: what triggers and defaults left in the session is not there for the next client.
  void forget_what_code_left(bool is_cluster_client) {
    if (other_code_ran_) [[unlikely]] {
      other_code_ran_ = false;
      reset(is_cluster_client);
    }
  }

  /// While `userstat` is on: what was done since the command began, or since the last call, counts for the
  /// account that the THD acts as, and for its client's host. What turns share is nobody's.
  void count_for_account(handler* file, const char* host) {
    if (thd_->userstat_running) [[unlikely]] {
      add_to_user_statistics(file, host);
      begin_user_statistics();
    }
  }

  /// Another client may come now: what RAND() gives it has nothing to do with what it gave the one before.
  void forget_random_numbers() {
    if (thd_->rand.seed1 != rand_seed1_ || thd_->rand.seed2 != rand_seed2_) [[unlikely]] {
      seed_random_numbers();
    }
  }

  /// Whether the statements of a writing session's transaction read from one snapshot (REPEATABLE READ), or
  /// each from its own.
  void share_snapshot(bool shares);

  /// Whether max_session_mem_used holds: for what a request does itself, and for nothing else. What the
  /// worker keeps for all of its clients, and what it does between two requests, is no request's fault.
  void limit_memory(bool limits) { thd_->variables.max_mem_used = limits ? memory_max_bytes_ : LONGLONG_MAX; }

  /// How long to wait for a row that another transaction has locked: not at all, a second, what is left of
  /// the time that the server's settings say (`rest_s`), or all of that time. Only for engines that have
  /// innodb_lock_wait_timeout.
  enum class RowPatience : uint8_t { none, second, rest, full };
  void wait_for_rows(RowPatience patience, ulong rest_s = 0);
  [[nodiscard]] RowPatience row_patience() const { return row_patience_; }
  /// innodb_lock_wait_timeout of the server, in seconds; 0 in a server without InnoDB.
  [[nodiscard]] ulong row_lock_timeout_s() const;

  /// Whether a wait for a row ends where another session waits for a metadata lock that this one holds. What
  /// is under way must not be of the kind that no rollback takes back.
  void may_give_way(bool may) {
    may_give_way_ = may;
    gave_way_.store(false);
  }
  /// That has happened, since it was allowed.
  [[nodiscard]] bool gave_way() const { return gave_way_.load(); }
  /// Look whether it is time for that. From any thread.
  void give_way();

  /// End what it is doing, at once if it waits for a lock, and stop. From any thread, while this lives. A
  /// soft KILL would not end a commit's wait for a semi-synchronous replica, and keep the server's own from
  /// it.
  void kill() {
    is_stopped_.store(true, std::memory_order_relaxed);
    thd_->awake(KILL_SERVER_HARD);
  }
  /// The same of what it is doing alone. Between two commands nothing happens.
  void stop_request() { thd_->awake(KILL_QUERY); }
  /// It was told to end altogether: not the request alone.
  [[nodiscard]] bool is_killed() const { return thd_->killed >= KILL_CONNECTION; }
  /// A KILL is to be no more than a KILL QUERY. What stops the session stays.
  void weaken_kill();
  /// What the THD was told to end is over, or obeyed. What stops the session stays.
  void forget_kill();
  /// max_statement_time ended a request that was over already: the server's timer has a thread of its own.
  void forget_late_timeout() {
    if (thd_->killed == KILL_TIMEOUT) [[unlikely]] {
      forget_kill();
    }
  }
  /// It was told to stop, whatever code of the server made of that since.
  [[nodiscard]] bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }

 private:
  static void was_killed(THD* thd);
  static void begins_to_wait(THD* thd, int what);
  static void has_waited(THD* thd);
  void note_row_wait(bool waits);
  static scheduler_functions* notifying_scheduler();
  void create();
  void take_over_settings(bool is_cluster_client);
  void reset(bool is_cluster_client);
  void seed_random_numbers();
  void begin_user_statistics();
  void add_to_user_statistics(handler* file, const char* host);

  engine::Intent intent_;
  Owner owner_;
  THD* thd_ = nullptr;
  GlobalSettings settings_;
  MEM_ROOT* session_memory_ = nullptr;  ///< the THD's own, between commands
  MEM_ROOT command_memory_;
  ulonglong memory_max_bytes_ = LONGLONG_MAX;  ///< max_session_mem_used
  sys_var* row_lock_variable_ = nullptr;       ///< innodb_lock_wait_timeout
  RowPatience row_patience_ = RowPatience::full;
  Mutex row_wait_mutex_;  ///< the wait does not end while another thread decides that it should
  bool waits_for_row_ ROWSOCKET_GUARDED_BY(row_wait_mutex_) = false;
  bool may_give_way_ = false;
  std::atomic<bool> gave_way_{false};
  std::atomic<bool> is_stopped_{false};  ///< the server, or the plugin, stops
  /// As the THD was seeded last: it has others when RAND() was called, or was told where to begin.
  ulong rand_seed1_ = 0;
  ulong rand_seed2_ = 0;
  ulonglong statistics_began_us_ = 0;  ///< of the server's clock
  bool shares_snapshot_ = false;
  bool took_lenience_ = false;
  bool log_refused_ = false;
  bool lex_is_used_ = false;
  bool other_code_ran_ = false;
};

}  // namespace rowsocket::mariadb
