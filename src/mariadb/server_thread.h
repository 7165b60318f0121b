// SPDX-License-Identifier: GPL-2.0-only
//
// A THD of ours, from its making to its end, and what the server does at both ends of each command of a
// connection (`dispatch_command`). To the server a turn is a command.
//
// Made, used and ended on one thread; `kill` is called from others.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "engine/engine.h"
#include "mariadb/awake.h"
#include "mariadb/global_settings.h"
#include "mariadb/random_numbers.h"
#include "mariadb/row_waits.h"
#include "mariadb/server_headers.h"
#include "mariadb/user_statistics.h"

namespace rowsocket::mariadb {

/// Throws where max_session_mem_used is below what a THD itself takes: the server, which then ends the
/// statement under way, crashes while it makes the first one. A new connection of SQL does that, too.
[[nodiscard]] THD* make_thd(my_thread_id id);

/// Of sessions that act in RowSocket's own name.
inline constexpr const char* own_name = "rowsocket";

class ServerThread {
 public:
  struct Owner {
    void* object;
    /// Called, from any thread, when the THD was killed.
    void (*woken)(void* object);
    /// Called on the THD's thread, which may hold latches of InnoDB or mutexes of the server: the THD is
    /// about to wait, or has waited.
    void (*on_wait)(void* object, engine::Wait what);
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
  [[nodiscard]] RandomNumbers& random_numbers() { return random_numbers_; }
  [[nodiscard]] UserStatistics& user_statistics() { return user_statistics_; }
  [[nodiscard]] RowWaits& row_waits() { return row_waits_; }
  [[nodiscard]] const RowWaits& row_waits() const { return row_waits_; }

  /// Routines that triggers of the table call for some events, by their key, have met tables of these
  /// versions last. From now on it is these.
  [[nodiscard]] bool routines_have_met(std::string key, uint64_t versions);

  /// A value was taken that SQL takes with a warning only.
  void note_lenience() { noted_.lenience = true; }
  [[nodiscard]] bool take_lenience() { return std::exchange(noted_.lenience, false); }

  /// The binlog, or what a Galera node has in its place, did not take an event of a row: its cache is full,
  /// say.
  void note_log_refusal() { noted_.log_refusal = true; }
  [[nodiscard]] bool take_log_refusal() { return std::exchange(noted_.log_refusal, false); }

  /// From here on memory of the THD is the command's. `goes_on`: with the request of the last command, so a
  /// KILL QUERY since then is meant for it.
  void begin_command(bool is_cluster_client, bool goes_on);
  /// No table is locked or open in `thd->open_tables`.
  void end_command();
  /// `thd->lex` was used since `begin_command`.
  void note_lex_use() { memory_.lex_is_used = true; }
  /// What a statement whose code reads tables is opened with, and its code runs with: by it the server
  /// decides whether what is read by SELECT ... INTO, or by a cursor, is locked. For SQL it is where the
  /// server may log statements instead of rows.
  [[nodiscard]] static ulong binlog_format_of_code() {
    return global_system_variables.binlog_format == BINLOG_FORMAT_ROW ? BINLOG_FORMAT_ROW
                                                                      : BINLOG_FORMAT_MIXED;
  }
  /// Triggers or defaults run until `end_code`.
  void begin_code();
  void end_code() { thd_->variables.binlog_format = BINLOG_FORMAT_ROW; }
  /// Between statements: what triggers and defaults left in the session is not there for the next client.
  void forget_what_code_left(bool is_cluster_client) {
    if (noted_.other_code) [[unlikely]] {
      noted_.other_code = false;
      reset(is_cluster_client);
    }
  }

  /// An expression of a table that was opened has a user variable, and keeps its place in this session.
  void note_kept_variables() { keeps_variables_ = true; }

  /// Whether the statements of a writing session's transaction read from one snapshot (REPEATABLE READ), or
  /// each from its own.
  void share_snapshot(bool shares);

  /// Whether max_session_mem_used holds: for what a request does itself, and for nothing else. What the
  /// worker keeps for all of its clients, and what it does between two requests, is no request's fault.
  void limit_memory(bool limits) { thd_->variables.max_mem_used = limits ? memory_.max_bytes : LONGLONG_MAX; }
  /// How long a request may take whose timer is set next, in microseconds; 0 = as the server says.
  void limit_time(uint64_t own_us) {
    const uint64_t us = own_us != 0 ? own_us : statement_us_max_;
    if (thd_->variables.max_statement_time != us) [[unlikely]] {
      thd_->variables.max_statement_time = us;
      thd_->variables.max_statement_time_double = static_cast<double>(us) / 1e6;
    }
  }

  /// End what it is doing, at once if it waits for a lock, and stop. From any thread, while this lives. A
  /// soft KILL would not end a commit's wait for a semi-synchronous replica, and keep the server's own from
  /// it.
  void kill() {
    is_stopped_.store(true, std::memory_order_relaxed);
    awake(thd_, KILL_SERVER_HARD);
  }
  /// The same of what it is doing alone. Between two commands nothing happens. Who asks is not kept waiting,
  /// and asks again as long as it matters.
  void stop(const engine::Work& work);
  // See engine::Session.
  void work_for(const engine::Presence* client);
  void work_for_request();
  [[nodiscard]] engine::Work work() const {
    const MutexLock lock(stops_);
    return work_;
  }
  [[nodiscard]] bool was_stopped() const;
  void forget_stop();
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
  /// Hears of each error and warning before the handlers of a trigger do, which may keep it from us.
  class Listener final : public Internal_error_handler {
   public:
    bool handle_condition(THD* thd, uint number, const char* state, Sql_condition::enum_warning_level* level,
                          const char* text, Sql_condition** condition) override;
  };

  static void was_killed(THD* thd);
  static void begins_to_wait(THD* thd, int what);
  static void has_waited(THD* thd);
  static scheduler_functions* notifying_scheduler();
  static THD* begin_thread();
  void take_over_settings(bool is_cluster_client);
  void reset(bool is_cluster_client);
  void forget_user_variables();
  void forget_stop_of_earlier_work() ROWSOCKET_REQUIRES(stops_);

  struct Memory {
    explicit Memory(THD* thd);

    MEM_ROOT* of_session;  ///< the THD's own, between commands
    MEM_ROOT of_command;
    bool lex_is_used = false;            ///< `thd->lex`, by the command
    ulonglong max_bytes = LONGLONG_MAX;  ///< max_session_mem_used
  };
  /// What happened since it was last asked.
  struct Noted {
    bool lenience = false;
    bool log_refusal = false;
    bool other_code = false;
  };

  engine::Intent intent_;
  Owner owner_;
  THD* thd_;
  GlobalSettings settings_;
  Memory memory_;
  RandomNumbers random_numbers_;
  UserStatistics user_statistics_;
  RowWaits row_waits_;
  Listener listener_;
  Noted noted_;
  std::unordered_map<std::string, uint64_t> routines_have_met_;
  uint64_t statement_us_max_ = 0;  ///< max_statement_time of the server
  bool shares_snapshot_ = false;
  bool keeps_variables_ = false;
  std::atomic<bool> is_stopped_{false};  ///< the server, or the plugin, stops
  mutable Mutex stops_;                  ///< taken before the server's own
  engine::Work work_ ROWSOCKET_GUARDED_BY(stops_);
  bool was_told_to_stop_ ROWSOCKET_GUARDED_BY(stops_) = false;  ///< by `stop`, and not since then
};

}  // namespace rowsocket::mariadb
