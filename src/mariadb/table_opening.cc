// SPDX-License-Identifier: GPL-2.0-only
//
// How a table is opened and closed. What is done with it while it is open is in open_table.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "mariadb/code_traits.h"
#include "mariadb/diagnostics.h"
#include "mariadb/engines.h"
#include "mariadb/galera.h"
#include "mariadb/history_partitions.h"
#include "mariadb/open_table.h"
#include "mariadb/opened_list.h"
#include "mariadb/row_rules.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {
namespace {

/// Opens beside what the statement under way has open and locked, which `open_tables` would close when it
/// fails.
class BesideStatement {
 public:
  explicit BesideStatement(THD* thd)
      : thd_(thd), tables_(thd->open_tables), lock_(std::exchange(thd->lock, nullptr)) {
    thd_->set_open_tables(nullptr);
  }
  ~BesideStatement() {
    thd_->lock = lock_;
    if (tables_ == nullptr) {
      return;
    }
    if (thd_->open_tables == nullptr) {
      thd_->set_open_tables(tables_);
      return;
    }
    TABLE* last = thd_->open_tables;
    while (last->next != nullptr) {
      last = last->next;
    }
    last->next = tables_;
  }
  BesideStatement(const BesideStatement&) = delete;
  BesideStatement& operator=(const BesideStatement&) = delete;

 private:
  THD* thd_;
  TABLE* tables_;
  MYSQL_LOCK* lock_;
};

/// The statement's list of tables begins anew.
void restart_lex(THD* thd) {
  lex_end(thd->lex);
  lex_start(thd);
}

bool lock_names(THD* thd, const ForeignChildren::Tables& tables) {
  return std::all_of(tables.begin(), tables.end(), [thd](const ForeignChildren::Table& table) {
    MDL_request request;
    MDL_REQUEST_INIT(&request, MDL_key::TABLE, table.database.c_str(), table.name.c_str(), MDL_SHARED,
                     MDL_TRANSACTION);
    return !thd->mdl_context.acquire_lock(&request, static_cast<double>(thd->variables.lock_wait_timeout));
  });
}

/// Whether one of the triggers could not be parsed. The server keeps the flag to itself; the arguments of an
/// explicit instantiation may name it nevertheless.
bool has_malformed_trigger(const Table_triggers_list& triggers);
template <bool Table_triggers_list::* flag>
struct MalformedTrigger {
  friend bool has_malformed_trigger(const Table_triggers_list& triggers) { return triggers.*flag; }
};
template struct MalformedTrigger<&Table_triggers_list::m_has_unparseable_trigger>;

}  // namespace

/// The server's own list of what a write reaches. A table that is refused is so before its triggers are
/// looked at.
class OpenTable::Prelocking final : public DML_prelocking_strategy {
 public:
  Prelocking(OpenTable& open, Error& error) : open_(open), error_(error) {}

  bool handle_table(THD* thd, Query_tables_list* context, TABLE_LIST* list, bool* need_prelocking) override {
    if (list == &open_.list_) {
      if (open_.refuse(list->table, error_)) {
        return true;
      }
      if (list->table->triggers != nullptr) {
        list->trg_event_map = open_.events_;  // else it may serve other requests of the statement, too
      }
    }
    if (look_at_triggers(list)) {
      return true;
    }
    const bool failed = DML_prelocking_strategy::handle_table(thd, context, list, need_prelocking);
    put_off_new_partitions(thd, context->query_tables);
    return failed;
  }

  bool handle_routine(THD* thd, Query_tables_list* context, Sroutine_hash_entry* routine, sp_head* code,
                      bool* need_prelocking) override {
    look_at(code);  // the server does not look at what this function returns; `open_list` does
    const bool failed = DML_prelocking_strategy::handle_routine(thd, context, routine, code, need_prelocking);
    put_off_new_partitions(thd, context->query_tables);
    return failed;
  }

 private:
  bool look_at_triggers(const TABLE_LIST* list) {
    Table_triggers_list* const triggers = list->table->triggers;
    for (uint event = 0; triggers != nullptr && event < TRG_EVENT_MAX; ++event) {
      const bool fires = (list->trg_event_map & trg2bit(static_cast<trg_event_type>(event))) != 0;
      for (uint time = 0; fires && time < TRG_ACTION_MAX; ++time) {
        for (const Trigger* one = triggers->get_trigger(event, time); one != nullptr; one = one->next) {
          look_at(one->body);
        }
      }
    }
    return !error_.ok();
  }

  void look_at(sp_head* code) {
    if (code == nullptr || !error_.ok()) {
      return;
    }
    try {
      const CodeTraits traits = traits_of(*code);
      if (traits.refused != nullptr) [[unlikely]] {
        error_ = Error(ErrorCode::cannot_open_table, std::string("the trigger or routine ") + code->m_db.str +
                                                         "." + code->m_name.str + " names " + traits.refused);
      }
      open_.code_.add(traits);
    } catch (const std::bad_alloc&) {  // the server's code is between us and who would catch it
      error_ = ErrorCode::out_of_memory;
    }
  }

  OpenTable& open_;
  Error& error_;
};

/// Decided on what was opened: a name can be written in several ways (`#mysql50#`), and be another thing than
/// a moment ago.
bool OpenTable::refuse(const TABLE* table, Error& error) const {
  std::string reason;
  std::string engine;
  if (is_system_table(table)) {
    reason = "system schemas are not served";
  } else if (table->s->table_type == TABLE_TYPE_SEQUENCE) {
    reason = "a sequence is not served";
  } else if (is_of_older_versioning(table)) {
    reason = "its history is as an older MariaDB has made it: mariadb-upgrade, or ALTER TABLE ... FORCE";
  } else if (!is_engine_served(table, engine)) {
    reason = "its storage engine is not in rowsocket_engines: " + engine;
  } else if (intent_ == engine::Intent::write) {
    if (table->versioned(VERS_TRX_ID)) {
      reason = "tables versioned by transaction are not written to, since their history would not be kept";
    } else if (has_vector_index(table)) {
      reason = "tables with a vector index are not written to";
    } else if (table->s->period.name.str != nullptr) {
      reason = "tables with an application-time period are not written to";
    } else if (!Galera::replicates(table)) {
      reason = "its engine is not replicated by Galera";
    }
  }
  if (!reason.empty()) {
    error = Error(ErrorCode::cannot_open_table, database_ + "." + name_ + ": " + reason);
  }
  return !reason.empty();
}

void OpenTable::expect(const engine::Demand& demand) {
  using engine::Demand;
  const auto bit = [&demand](Demand::Kind kind, trg_event_type event) -> uint8 {
    return (demand.kinds & kind) != 0 ? trg2bit(event) : 0;
  };
  const uint8 any = trg2bit(TRG_EVENT_INSERT) | trg2bit(TRG_EVENT_UPDATE) | trg2bit(TRG_EVENT_DELETE);
  const uint8 told = bit(Demand::inserts, TRG_EVENT_INSERT) | bit(Demand::updates, TRG_EVENT_UPDATE) |
                     bit(Demand::deletes, TRG_EVENT_DELETE);
  events_ = told != 0 ? told : any;
}

void OpenTable::name_in_list() {
  const LEX_CSTRING database = {database_.c_str(), database_.size()};
  const LEX_CSTRING name = {name_.c_str(), name_.size()};
  const bool for_write = intent_ == engine::Intent::write;
  list_.init_one_table(&database, &name, nullptr, for_write ? TL_WRITE : TL_READ);
  list_.open_type = OT_BASE_ONLY;
  list_.i_s_requested_object = OPEN_TABLE_ONLY;  // a view is an error, not something to parse
  if (for_write) {
    list_.trg_event_map = trg2bit(TRG_EVENT_INSERT) | trg2bit(TRG_EVENT_UPDATE) | trg2bit(TRG_EVENT_DELETE);
    list_.for_insert_data = true;
  }
}

/// As a statement of SQL opens its tables.
bool OpenTable::open_list(THD* thd, Error& error) {
  LEX* const lex = thd->lex;
  if (thd->db.str == nullptr || database_ != thd->db.str) {
    enter_database(thd, {database_.c_str(), database_.size()});  // expressions are prepared on the way
  }
  restart_lex(thd);
  lex->sql_command = intent_ == engine::Intent::write ? SQLCOM_UPDATE : SQLCOM_SELECT;
  name_in_list();
  lex->query_tables = &list_;
  list_.prev_global = &lex->query_tables;
  lex->query_tables_last = &list_.next_global;
  put_off_new_partitions(thd, &list_);
  code_ = {};
  Prelocking prelocking(*this, error);
  TABLE_LIST* first = &list_;
  // That the last partition for history is full is a warning.
  const bool was_strict = std::exchange(thd->abort_on_warning, false);
  thd->variables.binlog_format = ServerThread::binlog_format_of_code();
  const bool failed = open_tables(thd, &first, &table_count_, 0, &prelocking) || list_.table == nullptr;
  thd->variables.binlog_format = BINLOG_FORMAT_ROW;
  thd->abort_on_warning = was_strict;
  const UserVariables variables = user_variables_of(&list_);  // of those that are refused, too
  if (variables != UserVariables::none) [[unlikely]] {
    ServerThread::of(thd).note_kept_variables();
  }
  if (failed || !error.ok() || refuse(list_.table, error)) {
    return false;
  }
  if (variables == UserVariables::used) [[unlikely]] {
    error = Error(ErrorCode::cannot_open_table,
                  database_ + "." + name_ +
                      ": its expressions, or those of a table that triggers use, have a user variable");
    return false;
  }
  return number_tables(thd, &list_);
}

/// A session that is killed while it opens a table leaves the table's triggers behind as malformed. The next
/// session that takes the table out of the cache meets them. True if there were such: the tables will not go
/// back to the cache.
bool OpenTable::drop_malformed_triggers(THD* thd) {
  bool found = false;
  for (TABLE* table = thd->open_tables; table != nullptr; table = table->next) {
    if (table->triggers != nullptr && has_malformed_trigger(*table->triggers)) [[unlikely]] {
      table->mark_table_for_reopen();
      found = true;
    }
  }
  return found;
}

/// Afterwards nothing of the list is open, and no lock is left that was not held before.
void OpenTable::close_list(THD* thd, const MDL_savepoint& before) {
  drop_malformed_triggers(thd);
  close_thread_tables(thd);
  thd->mdl_context.rollback_to_savepoint(before);
  restart_lex(thd);
}

Opening OpenTable::fail_to_open(THD* thd, const MDL_savepoint& before, Error& error) {
  const bool conflict = error.ok() && is_lock_conflict(thd);
  if (error.ok()) {
    error = take_error_of_opening(thd);
  }
  close_list(thd, before);
  clear_diagnostics(thd);
  return conflict ? Opening::wait : Opening::failed;
}

/// False where the list was not opened; then nothing of it is open but what `fail_to_open` closes.
bool OpenTable::open_whole_list(THD* thd, const MDL_savepoint& before, Error& error) {
  for (uint32_t tries_left = limits::malformed_triggers_tries; tries_left > 0; --tries_left) {
    if (!open_list(thd, error)) {
      return false;
    }
    clear_diagnostics(thd);
    if (!drop_malformed_triggers(thd)) [[likely]] {
      break;
    }
    if (thd->killed != NOT_KILLED || Galera::is_aborted(thd)) {
      return false;  // it is this session that was interrupted
    }
    if (tries_left > 1) {  // else they are malformed for good: a change of the table fails, as in SQL
      close_list(thd, before);
    }
  }
  return true;
}

Opening OpenTable::open(THD* thd, bool alone_in_statement, NewHistory new_history, Error& error) {
  const BesideStatement beside(thd);
  const MDL_savepoint before = thd->mdl_context.mdl_savepoint();
  error = {};
  try {
    if (!open_whole_list(thd, before, error) || !renew_routines(thd, before, error)) [[unlikely]] {
      return fail_to_open(thd, before, error);
    }
    if (new_history != NewHistory::ignore && alone_in_statement && needs_new_partition(thd, &list_))
        [[unlikely]] {
      if (new_history == NewHistory::report) {
        close_list(thd, before);
        return Opening::new_partition;
      }
      if (const Opening added = add_history_partition(thd, before, error); added != Opening::ready) {
        return added;
      }
    }
    if (intent_ == engine::Intent::write && !find_all_children(thd, before, error)) [[unlikely]] {
      return fail_to_open(thd, before, error);
    }
    return check_opened(thd, alone_in_statement, before);
  } catch (const std::bad_alloc&) {
    error = ErrorCode::out_of_memory;
    return fail_to_open(thd, before, error);
  }
}

/// The tables of the list are open, before and after. Where one of them was altered since the last opening,
/// the routines that triggers call may be fitted to its old columns: the server forgets them only with the
/// session, and ours do not end with a client.
bool OpenTable::renew_routines(THD* thd, const MDL_savepoint& before, Error& error) {
  if (!calls_routines(*thd->lex)) [[likely]] {
    return true;
  }
  std::string key(list_.table->s->table_cache_key.str, list_.table->s->table_cache_key.length);
  key.push_back(static_cast<char>(events_));
  if (ServerThread::of(thd).routines_have_met(std::move(key), versions_of(&list_))) {
    return true;
  }
  close_list(thd, before);
  thd->sp_caches_clear();
  return open_whole_list(thd, before, error);
}

/// The tables of the list are open, before and after. With the names of missing children locked, no ALTER
/// TABLE is at its end in one of them, until the transaction ends: then they are found, or are none any more.
bool OpenTable::find_all_children(THD* thd, const MDL_savepoint& before, Error& error) {
  ForeignChildren::Tables locked;
  for (;;) {
    const ForeignChildren::Tables missing = children_.missing(ForeignChildren::in(thd, &list_), locked);
    if (missing.empty()) [[likely]] {
      return true;
    }
    close_list(thd, before);
    locked.insert(locked.end(), missing.begin(), missing.end());
    if (!lock_names(thd, locked) || !open_whole_list(thd, thd->mdl_context.mdl_savepoint(), error)) {
      return false;
    }
  }
}

/// The tables of the list are open, before and after.
Opening OpenTable::add_history_partition(THD* thd, const MDL_savepoint& before, Error& error) {
  // It holds up all sessions that want the table and, without stand-ins, all clients of this worker.
  const ulong timeout_s = global_system_variables.lock_wait_timeout;
  NewPartitions partitions(thd, std::min<ulong>(timeout_s, limits::new_history_patience_s));
  const bool claimed = partitions.claim(&list_);
  close_list(thd, before);
  thd->lex->sql_command = SQLCOM_UPDATE;
  if (thd->is_error() || (claimed && !partitions.add())) {
    return fail_to_open(thd, before, error);
  }
  clear_diagnostics(thd);
  return open_whole_list(thd, before, error) ? Opening::ready : fail_to_open(thd, before, error);
}

/// What is open now, and whether it can be used in the statement under way.
Opening OpenTable::check_opened(THD* thd, bool alone_in_statement, const MDL_savepoint& before) {
  TABLE* const table = list_.table;
  needs_own_statement_ =
      intent_ == engine::Intent::write &&
      (table->triggers != nullptr || table->internal_tables != nullptr || keeps_history_in_steps(table));
  does_lasting_work_ = intent_ == engine::Intent::write && (keeps_changes(&list_) || code_.files);
  rows_outlive_transaction_ = does_lasting_work_ && parts_with_others(&list_);
  rules_out_two_phases_ = has_engine_of_one_phase(&list_);
  is_innodb_ = table->file->partition_ht()->db_type == DB_TYPE_INNODB;
  shows_removed_entries_ = is_rocksdb(table);
  triggers_show_removed_entries_ = needs_own_statement_ && has_rocksdb(list_.next_global);
  triggers_use_tables_ = needs_own_statement_ && uses_tables_in_code(list_.next_global);
  reads_clock_ = mariadb::reads_clock(table);
  changes_fulltext_ = writes_fulltext(&list_);
  changes_several_engines_ = writes_several_engines(&list_);
  if (needs_own_statement_ && !alone_in_statement) {
    close_list(thd, before);
    return Opening::own_statement;
  }
  // Left by the SQL query that used this table last; each new query decides it anew.
  table->all_partitions_pruned_away = false;
  is_kept_ = !needs_own_statement_ && table_count_ == 1 && !thd->lex->requires_prelocking();
  if (!is_kept_) {
    fixed_partitions_.fix(&list_);
  }
  table_ = table;
  ++generation_;
  if (is_kept_) {
    keep(thd);
  }
  return Opening::ready;
}

/// As SQL's HANDLER takes a table out of the statement that opened it.
void OpenTable::keep(THD* thd) {
  thd->set_open_tables(nullptr);
  table_->next = nullptr;
  list_.mdl_request.ticket = table_->mdl_ticket;
  thd->mdl_context.set_lock_duration(table_->mdl_ticket, MDL_EXPLICIT);
}

void OpenTable::close(THD* thd, uint64_t transaction) {
  if (table_ == nullptr) {
    return;
  }
  if (!invariant(is_kept_ && lock_ == nullptr, "a table is given back that is kept open and not locked")) {
    return;  // its statement closes it
  }
  MDL_ticket* const ticket = table_->mdl_ticket;
  const bool stays_locked = used_in_transaction_ == transaction;
  const bool has_copy = stays_locked && copy_lock(thd, *ticket);
  const BesideStatement beside(thd);
  thd->set_open_tables(std::exchange(table_, nullptr));
  close_thread_table(thd, &thd->open_tables);
  if (stays_locked && !has_copy) [[unlikely]] {
    thd->mdl_context.set_lock_duration(ticket, MDL_TRANSACTION);  // the lock itself stays
    return;
  }
  thd->mdl_context.release_lock(ticket);
}

/// Hold the table's metadata lock a second time, to the end of the transaction. False if memory is refused.
bool OpenTable::copy_lock(THD* thd, const MDL_ticket& ticket) const {
  MDL_request request;
  MDL_REQUEST_INIT(&request, MDL_key::TABLE, database_.c_str(), name_.c_str(), ticket.get_type(),
                   MDL_TRANSACTION);
  const bool is_refused = thd->mdl_context.try_acquire_lock(&request);
  return !is_refused && invariant(request.ticket != nullptr, "a lock that is held is to be had again");
}

}  // namespace rowsocket::mariadb
