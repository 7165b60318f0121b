// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "mariadb/binding.h"
#include "mariadb/diagnostics.h"
#include "mariadb/engines.h"
#include "mariadb/galera.h"
#include "mariadb/history_partitions.h"
#include "mariadb/open_table.h"

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

/// Of the tables that a write opened: one that it may change, and that keeps the change after a rollback. (So
/// does a sequence, but nobody misses a number.)
bool keeps_changes(const TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    const TABLE* const table = list->table;
    if (table != nullptr && list->lock_type >= TL_FIRST_WRITE &&
        table->s->table_type != TABLE_TYPE_SEQUENCE && !table->file->has_transactions_and_rollback()) {
      return true;
    }
  }
  return false;
}

/// An engine that takes part in transactions, but has no first phase of a commit.
bool has_engine_of_one_phase(const TABLE_LIST* list) {
  for (; list != nullptr; list = list->next_global) {
    if (list->table != nullptr) {
      const handlerton* const engine = list->table->file->partition_ht();
      if (engine->commit != nullptr && engine->prepare == nullptr) {
        return true;
      }
    }
  }
  return false;
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

bool is_lock_conflict(THD* thd) {
  if (!thd->get_stmt_da()->is_error()) {
    return false;
  }
  const uint number = thd->get_stmt_da()->sql_errno();
  return number == ER_LOCK_WAIT_TIMEOUT || number == ER_LOCK_DEADLOCK;
}

/// The server's own list of what a write reaches. A table that is refused is so before its triggers are
/// looked at.
class OpenTable::Prelocking final : public DML_prelocking_strategy {
 public:
  Prelocking(const OpenTable& open, Error& error) : open_(open), error_(error) {}

  bool handle_table(THD* thd, Query_tables_list* context, TABLE_LIST* list, bool* need_prelocking) override {
    if (list == &open_.list_ && open_.refuse(list->table, error_)) {
      return true;
    }
    const bool failed = DML_prelocking_strategy::handle_table(thd, context, list, need_prelocking);
    put_off_new_partitions(thd, context->query_tables);
    return failed;
  }

  bool handle_routine(THD* thd, Query_tables_list* context, Sroutine_hash_entry* routine, sp_head* code,
                      bool* need_prelocking) override {
    const bool failed = DML_prelocking_strategy::handle_routine(thd, context, routine, code, need_prelocking);
    put_off_new_partitions(thd, context->query_tables);
    return failed;
  }

 private:
  const OpenTable& open_;
  Error& error_;
};

OpenTable::OpenTable(std::string database, std::string name, engine::Intent intent)
    : database_(std::move(database)), name_(std::move(name)), intent_(intent) {}

OpenTable::~OpenTable() { DBUG_ASSERT(table_ == nullptr); }

/// Decided on what was opened: a name can be written in several ways (`#mysql50#`), and be another thing than
/// a moment ago.
bool OpenTable::refuse(const TABLE* table, Error& error) const {
  const char* reason = nullptr;
  std::string engine;
  if (is_system_table(table)) {
    reason = "system schemas are not served";
  } else if (table->s->table_type == TABLE_TYPE_SEQUENCE) {
    reason = "a sequence is not served";
  } else if (!is_engine_served(table, engine)) {
    reason = "its storage engine is not in rowsocket_engines: ";
  } else if (intent_ == engine::Intent::write) {
    if (table->versioned(VERS_TRX_ID)) {
      reason = "tables versioned by transaction are not written to, since their history would not be kept";
    } else if (table->s->period.name.str != nullptr) {
      reason = "tables with an application-time period are not written to";
    } else if (!Galera::replicates(table)) {
      reason = "its engine is not replicated by Galera";
    }
  }
  if (reason != nullptr) {
    error = Error(ErrorCode::cannot_open_table, database_ + "." + name_ + ": " + reason + engine);
  }
  return reason != nullptr;
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
  restart_lex(thd);
  lex->sql_command = intent_ == engine::Intent::write ? SQLCOM_UPDATE : SQLCOM_SELECT;
  name_in_list();
  lex->query_tables = &list_;
  list_.prev_global = &lex->query_tables;
  lex->query_tables_last = &list_.next_global;
  put_off_new_partitions(thd, &list_);
  Prelocking prelocking(*this, error);
  TABLE_LIST* first = &list_;
  // That the last partition for history is full is a warning.
  const bool was_strict = std::exchange(thd->abort_on_warning, false);
  const bool failed = open_tables(thd, &first, &table_count_, 0, &prelocking) || list_.table == nullptr;
  thd->abort_on_warning = was_strict;
  return !failed && !refuse(list_.table, error);
}

/// Who is killed while it opens a table leaves the table's triggers behind as malformed, for whoever takes
/// the table out of the cache next. True if there were such: the tables will not go back to the cache.
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
    error = take_server_error(thd, ErrorCode::cannot_open_table);
  }
  close_list(thd, before);
  clear_diagnostics(thd);
  return conflict ? Opening::wait : Opening::failed;
}

Opening OpenTable::open(THD* thd, bool alone_in_statement, NewHistory new_history, Error& error) {
  const BesideStatement beside(thd);
  const MDL_savepoint before = thd->mdl_context.mdl_savepoint();
  error = {};
  if (!open_list(thd, error)) {
    return fail_to_open(thd, before, error);
  }
  clear_diagnostics(thd);
  if (drop_malformed_triggers(thd)) [[unlikely]] {
    close_list(thd, before);
    if (!open_list(thd, error)) {  // where they are still malformed, a change of the table fails, as in SQL
      return fail_to_open(thd, before, error);
    }
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
  return settle(thd, alone_in_statement, before);
}

/// The tables of the list are open, before and after.
Opening OpenTable::add_history_partition(THD* thd, const MDL_savepoint& before, Error& error) {
  // It holds up all clients, and all who want the table.
  const ulong timeout_s = global_system_variables.lock_wait_timeout;
  NewPartitions partitions(thd, std::min<ulong>(timeout_s, limits::new_history_patience_s));
  const bool claimed = partitions.claim(&list_);
  close_list(thd, before);
  thd->lex->sql_command = SQLCOM_UPDATE;
  if (thd->is_error() || (claimed && !partitions.add())) {
    return fail_to_open(thd, before, error);
  }
  clear_diagnostics(thd);
  if (!open_list(thd, error)) {
    return fail_to_open(thd, before, error);
  }
  clear_diagnostics(thd);
  return Opening::ready;
}

/// What is open now, and whether it can be used in the statement under way.
Opening OpenTable::settle(THD* thd, bool alone_in_statement, const MDL_savepoint& before) {
  TABLE* const table = list_.table;
  needs_own_statement_ =
      intent_ == engine::Intent::write &&
      (table->triggers != nullptr || table->internal_tables != nullptr || keeps_history_in_steps(table));
  does_lasting_work_ = intent_ == engine::Intent::write && keeps_changes(&list_);
  rules_out_two_phases_ = has_engine_of_one_phase(&list_);
  is_innodb_ = table->file->partition_ht()->db_type == DB_TYPE_INNODB;
  if (needs_own_statement_ && !alone_in_statement) {
    close_list(thd, before);
    return Opening::own_statement;
  }
  // Left by the SQL query that used this table last; each new query decides it anew.
  table->all_partitions_pruned_away = false;
  table_ = table;
  ++generation_;
  is_kept_ = !needs_own_statement_ && table_count_ == 1 && !thd->lex->requires_prelocking();
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
  DBUG_ASSERT(is_kept_ && lock_ == nullptr);
  MDL_ticket* const ticket = table_->mdl_ticket;
  if (used_in_transaction_ == transaction) {
    MDL_request request;
    MDL_REQUEST_INIT(&request, MDL_key::TABLE, database_.c_str(), name_.c_str(), ticket->get_type(),
                     MDL_TRANSACTION);
    static_cast<void>(thd->mdl_context.try_acquire_lock(&request));  // a copy of the one that is held
  }
  const BesideStatement beside(thd);
  thd->set_open_tables(std::exchange(table_, nullptr));
  close_thread_table(thd, &thd->open_tables);
  thd->mdl_context.release_lock(ticket);
}

void OpenTable::forget() {
  table_ = nullptr;
  lock_ = nullptr;
  active_binding_ = 0;
}

bool OpenTable::lacks_children() const {
  return intent_ == engine::Intent::write && is_kept_ && table_->file->referenced_by_foreign_key();
}

Opening OpenTable::lock(THD* thd, Error& error) {
  const bool for_write = intent_ == engine::Intent::write;
  thd->lock = nullptr;
  thd->lex->sql_command = for_write ? SQLCOM_UPDATE : SQLCOM_SELECT;
  if (!needs_own_statement_) {
    // The children of foreign keys are locked as the statement's own: no statement runs inside of this one.
    thd->lex->query_tables_own_last = nullptr;
  }
  const bool failed =
      (is_kept_ && table_->vcol_fix_expr(thd)) ||
      lock_tables(thd, &list_, table_count_, for_write ? 0 : MYSQL_OPEN_IGNORE_LOGGING_FORMAT);
  if (failed) {
    const bool conflict = is_lock_conflict(thd);
    error = take_server_error(thd, ErrorCode::cannot_lock_table);
    if (!conflict && error.number != 0 && error.code != ErrorCode::shutting_down) {
      error.code = ErrorCode::sql;  // read_only and the like: the number says it
    }
    if (thd->lock != nullptr) {
      mysql_unlock_tables(thd, std::exchange(thd->lock, nullptr));
    }
    if (is_kept_) {
      table_->vcol_cleanup_expr(thd);
      table_->file->ha_reset();
    }
    return conflict ? Opening::wait : Opening::failed;
  }
  lock_ = thd->lock;
  return Opening::ready;
}

// What close_thread_tables does for a table, without giving it back to the table cache.
void OpenTable::end_statement(THD* thd) {
  mysql_unlock_tables(thd, std::exchange(lock_, nullptr));
  if (!is_kept_) {
    return;
  }
  table_->vcol_cleanup_expr(thd);
  table_->file->update_global_table_stats();
  table_->file->update_global_index_stats();
  free_field_buffers_larger_than(table_, MAX_TDC_BLOB_SIZE);
  table_->file->ha_reset();
}

bool OpenTable::changes_rows_atomically() const {
  const bool is_one_change =
      table_->file->ht->db_type == DB_TYPE_INNODB && !table_->versioned() && !table_->s->long_unique_table;
  // With both off InnoDB may collect the rows for an empty table, and find the duplicates when the statement
  // ends.
  const bool checks_each_row = (table_->in_use->variables.option_bits &
                                (OPTION_NO_FOREIGN_KEY_CHECKS | OPTION_RELAXED_UNIQUE_CHECKS)) == 0;
  return is_one_change && checks_each_row && !needs_own_statement_;
}

int OpenTable::activate(const Binding& binding, bool with_key_columns) {
  if (active_binding_ == binding.serial && active_with_key_columns_ == with_key_columns) {
    return 0;
  }
  deactivate();
  binding.use_columns(table_, with_key_columns);
  handler* const file = table_->file;
  if (binding.covering) {
    file->ha_start_keyread(binding.key_number);
  }
  const int handler_code = file->ha_index_init(binding.key_number, true);
  if (handler_code != 0) {
    file->ha_end_keyread();
    return handler_code;
  }
  active_binding_ = binding.serial;
  active_with_key_columns_ = with_key_columns;
  return 0;
}

void OpenTable::deactivate() {
  if (table_ == nullptr) {
    return;
  }
  table_->file->ha_index_or_rnd_end();  // nothing where neither was begun
  if (std::exchange(active_binding_, 0) != 0) {
    table_->file->ha_end_keyread();
  }
}

}  // namespace rowsocket::mariadb
