// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "mariadb/diagnostics.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"
#include "mariadb/statement.h"

namespace rowsocket::mariadb {

void Statement::begin(Kind kind) {
  if (!invariant(kind_ == Kind::none && tables_.empty(), "a statement begins when the last one is over")) {
    rollback();
    thd_->transaction_rollback_request = 1;  // what was in it can not be parted from the rest
  }
  kind_ = kind;
  ++number_;
  thd_->reset_for_next_command(true);
  thd_->set_current_stmt_binlog_format_row();  // whatever wsrep_forced_binlog_format made of it
  thd_->set_query_id(next_query_id());
  thd_->set_time();
}

void Statement::begin_request(const OpenTable& table) {
  thd_->set_time();
  if (!table.reads_clock()) [[likely]] {
    return;
  }
  // NOW() in an expression of the table keeps its value as long as the query has the same number. By this
  // number the server also knows which of the open tables are in use.
  const query_id_t before = thd_->query_id;
  thd_->set_query_id(next_query_id());
  for (TABLE* open = thd_->open_tables; open != nullptr; open = open->next) {
    if (open->query_id == before) {
      open->query_id = thd_->query_id;
    }
  }
}

Opening Statement::use(const std::shared_ptr<OpenTable>& table, Error& error) {
  if (!invariant(is_open(), "a table is used in a statement")) {
    error = ErrorCode::cannot_lock_table;
    return Opening::failed;
  }
  const bool writes = table->intent() == engine::Intent::write;
  if (writes && written_ != table.get() && !end_row_events()) {
    error = take_server_error(thd_, ErrorCode::commit_failed);
    return Opening::failed;
  }
  if (!table->is_locked()) {
    make_room();  // a table that is locked must be in the list
    MYSQL_LOCK* const lock_before = thd_->lock;
    if (const Opening opening = table->lock(thd_, error); opening != Opening::ready) {
      thd_->lock = lock_before;
      return opening;
    }
    if (!writes) {
      thd_->lock = lock_before;
    }
    if (std::find(tables_.begin(), tables_.end(), table) == tables_.end()) {
      tables_.push_back(table);
    }
  }
  is_used_ = true;
  if (writes) {
    written_ = table.get();
    thd_->lock = table->server_lock();  // the tables that the binlog describes before the next row event
  }
  return Opening::ready;
}

/// The row events so far go to the binlog's cache, and say that they are complete: those of another table
/// follow.
bool Statement::end_row_events() {
  if (!thd_->binlog_table_maps) {
    return true;
  }
  has_row_events_ = true;
  const bool done = thd_->binlog_flush_pending_rows_event(true, false) == 0 &&
                    thd_->binlog_flush_pending_rows_event(true, true) == 0;
  if (!done) [[unlikely]] {
    ServerThread::of(thd_).note_log_refusal();
  }
  return done;
}

void Statement::end_walks() {
  for (const auto& table : tables_) {
    table->deactivate();
  }
}

void Statement::invalidate_query_cache() {
  for (const auto& table : tables_) {
    if (table->is_locked() && table->intent() == engine::Intent::write) {
      query_cache_invalidate3(thd_, table->table(), 1);
    }
  }
}

bool Statement::is_collected_for_alter() const {
  return std::any_of(tables_.begin(), tables_.end(),
                     [](const auto& table) { return table->is_locked() && table->is_collected_for_alter(); });
}

Error Statement::commit() {
  if (!invariant(is_open(), "a statement is committed that was begun")) {
    return ErrorCode::commit_failed;
  }
  end_walks();
  Error error;
  if (written_ != nullptr) {
    invalidate_query_cache();
    if (!end_row_events()) {
      error = take_server_error(thd_, ErrorCode::sql);  // the cache is full, say: the number says it
    }
  }
  if (!error.ok()) {
    undo();
  } else if (trans_commit_stmt(thd_)) {
    error = take_server_error(thd_, ErrorCode::commit_failed);
  }
  end();
  return error;
}

void Statement::rollback() {
  end_walks();
  if (thd_->transaction->stmt.modified_non_trans_table) {
    invalidate_query_cache();
    static_cast<void>(end_row_events());
  }
  undo();
  clear_diagnostics(thd_);
  end();
}

void Statement::undo() {
  has_undone_events_ = has_undone_events_ || has_row_events();
  is_undone_ = true;
  trans_rollback_stmt(thd_);
}

/// Those of the packages that were called get their first values again where they are called next: as behind
/// a package's first part that failed, the server runs this part anew, with the same variables. All are made
/// anew where one has the type of a table's column, since that may be altered, and where the statement was
/// undone: an error in a handler of the first part leaves the handler behind in them. That takes memory of
/// the package, which ends with it. True if there was such a package.
static bool forget_package_variables(THD* thd, bool is_undone) {
  bool takes_memory = false;
  const auto* routine = reinterpret_cast<const Sroutine_hash_entry*>(thd->lex->sroutines_list.first);
  for (; routine != nullptr; routine = routine->next) {
    const MDL_key& key = routine->mdl_request.key;
    if (key.mdl_namespace() != MDL_key::PACKAGE_BODY) {
      continue;
    }
    const Database_qualified_name name = qualified_name(key);
    sp_head* const body = sp_cache_lookup(&thd->sp_package_body_cache, &name);
    sp_package* const package = body != nullptr ? body->get_package() : nullptr;
    if (package == nullptr || package->m_rcontext == nullptr) {
      continue;
    }
    const bool is_used = std::exchange(package->m_is_instantiated, false);
    if (is_undone || (is_used && (package->m_flags & sp_head::HAS_COLUMN_TYPE_REFS) != 0)) {
      takes_memory = true;
      delete std::exchange(package->m_rcontext, nullptr);
    }
  }
  return takes_memory;
}

/// That its triggers have called, as far as the server forgets them behind a statement: those that are too
/// many, and all where a temporary table was made or dropped, since they are fitted to its columns.
void Statement::forget_routines() {
  for (sp_cache* const routines :
       {thd_->sp_proc_cache, thd_->sp_func_cache, thd_->sp_package_spec_cache, thd_->sp_package_body_cache}) {
    sp_cache_enforce_limit(routines, stored_program_cache_size);
  }
  const bool is_time_to_renew = thd_->query_id % limits::statements_per_package_renewal == 0;
  const bool takes_memory = forget_package_variables(thd_, is_undone_);
  if (std::exchange(thd_->reset_sp_cache, false) || (takes_memory && is_time_to_renew)) {
    thd_->sp_caches_empty();
  }
}

void Statement::end() {
  const bool is_prelocked = thd_->locked_tables_mode != LTM_NONE;
  for (const auto& table : tables_) {
    if (table->is_locked() && !is_prelocked) {
      table->end_statement(thd_);
    }
  }
  if (!is_prelocked) {
    thd_->lock = nullptr;
  }
  if (is_prelocked || thd_->open_tables != nullptr) {
    for (const auto& table : tables_) {
      table->about_to_close();
    }
    close_thread_tables(thd_);
    for (const auto& table : tables_) {
      if (!table->is_kept()) {
        table->forget();
      }
    }
    forget_routines();
    lex_end(thd_->lex);
    lex_start(thd_);
  }
  tables_.clear();
  written_ = nullptr;
  is_used_ = false;
  has_row_events_ = false;
  is_undone_ = false;
  kind_ = Kind::none;
  thd_->cleanup_after_query();
}

}  // namespace rowsocket::mariadb
