// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "mariadb/binding.h"
#include "mariadb/diagnostics.h"
#include "mariadb/galera.h"
#include "mariadb/open_table.h"

namespace rowsocket::mariadb {
namespace {

/// History that moves on to the next partition, which may have to be made first.
bool keeps_history_in_steps(const TABLE* table) {
  const partition_info* const partitions = table->part_info;
  return partitions != nullptr && partitions->part_type == VERSIONING_PARTITION &&
         (partitions->vers_info->limit > 0 || partitions->vers_info->interval.is_set());
}

/// Writes need more than the table: what its triggers use, the sequences of its defaults, the right partition for its history.
bool is_written_to_by_statements(const TABLE* table) {
  return table->triggers != nullptr || table->internal_tables != nullptr || keeps_history_in_steps(table);
}

}  // namespace

OpenTable::OpenTable(std::string database, std::string name, engine::Intent intent)
    : database_(std::move(database)), name_(std::move(name)), intent_(intent) {}

OpenTable::~OpenTable() { DBUG_ASSERT(table_ == nullptr); }

bool OpenTable::refuse(Error& error) const {
  const char* reason = nullptr;
  if (table_->s->table_type == TABLE_TYPE_SEQUENCE) {
    reason = "a sequence is not served";
  } else if (table_->file->ht->db_type == DB_TYPE_MRG_MYISAM) {
    reason = "a MERGE table is not served; its parts are";
  } else if (intent_ == engine::Intent::write) {
    if (table_->versioned(VERS_TRX_ID)) {
      reason = "tables versioned by transaction are not written to, since their history would not be kept";
    } else if (table_->s->period.name.str != nullptr) {
      reason = "tables with an application-time period are not written to";
    } else if (!Galera::replicates(table_)) {
      reason = "its engine is not replicated by Galera";
    }
  }
  if (reason != nullptr) {
    error = Error(ErrorCode::cannot_open_table, database_ + "." + name_ + ": " + reason);
  }
  return reason != nullptr;
}

void OpenTable::name_in_list() {
  const LEX_CSTRING database = {database_.c_str(), database_.size()};
  const LEX_CSTRING name = {name_.c_str(), name_.size()};
  list_.init_one_table(&database, &name, nullptr, intent_ == engine::Intent::write ? TL_WRITE : TL_READ);
  list_.open_type = OT_BASE_ONLY;
}

Opening OpenTable::open(THD* thd, Error& error) {
  const bool for_write = intent_ == engine::Intent::write;
  name_in_list();
  // Explicit: given back table by table, by us, and not by a commit.
  MDL_REQUEST_INIT(&list_.mdl_request, MDL_key::TABLE, database_.c_str(), name_.c_str(),
                   for_write ? MDL_SHARED_WRITE : MDL_SHARED_READ, MDL_EXPLICIT);
  list_.i_s_requested_object = OPEN_TABLE_ONLY;  // a view is an error, not something to parse

  // An INSERT, since anything else may add a partition for history, which is up to open_statement.
  thd->lex->sql_command = for_write ? SQLCOM_INSERT : SQLCOM_SELECT;
  if (const Opening opening = open_without_waiting(thd, list_, error); opening != Opening::ready) {
    return opening;
  }
  table_ = list_.table;
  ticket_ = list_.mdl_request.ticket;
  table_->reginfo.lock_type = for_write ? TL_WRITE : TL_READ;
  ++generation_;
  if (refuse(error)) {
    close(thd);
    return Opening::failed;
  }
  if (for_write && is_written_to_by_statements(table_)) {
    needs_statement_ = true;
    close(thd);
    return Opening::statement;
  }
  const Opening children = for_write ? follow_foreign_keys(thd, error) : Opening::ready;
  if (children != Opening::ready) {
    close(thd);
  }
  return children;
}

Opening OpenTable::follow_foreign_keys(THD* thd, Error& error) {
  if (std::exchange(children_query_id_, thd->query_id) == thd->query_id) {
    return Opening::ready;
  }
  thd->lex->sql_command = SQLCOM_UPDATE;  // what the children's locks are for
  const Opening opening = children_.open(thd, table_, error);
  if (opening != Opening::ready) {
    children_query_id_ = 0;
  }
  return opening;
}

Opening OpenTable::open_statement(THD* thd, Error& error) {
  LEX* const lex = thd->lex;
  lex_end(lex);
  lex_start(thd);
  lex->sql_command = SQLCOM_UPDATE;
  name_in_list();
  list_.trg_event_map = trg2bit(TRG_EVENT_INSERT) | trg2bit(TRG_EVENT_UPDATE) | trg2bit(TRG_EVENT_DELETE);
  lex->query_tables = &list_;
  list_.prev_global = &lex->query_tables;
  lex->query_tables_last = &list_.next_global;
  list_.for_insert_data = true;
  thd->abort_on_warning = false;  // that the last partition for history is full is a warning
  const bool failed = open_and_lock_tables(thd, &list_, false, MYSQL_OPEN_IGNORE_ENGINE_STATS) || list_.table == nullptr;
  thd->abort_on_warning = true;
  if (failed) {
    const bool conflict = is_lock_conflict(thd);
    error = take_server_error(thd, ErrorCode::cannot_open_table);
    return conflict ? Opening::wait : Opening::failed;
  }
  table_ = list_.table;
  lock_ = thd->lock;
  needs_statement_ = is_written_to_by_statements(table_);
  ++generation_;
  return Opening::ready;
}

void OpenTable::close_statement(THD* thd) {
  deactivate();
  table_ = nullptr;
  lock_ = nullptr;
  close_thread_tables(thd);
}

void OpenTable::close(THD* thd) {
  if (table_ == nullptr) {
    return;
  }
  unlock(thd);
  children_.close(thd);
  children_query_id_ = 0;
  close_and_release(thd, std::exchange(table_, nullptr), std::exchange(ticket_, nullptr));
}

Opening OpenTable::lock(THD* thd, Error& error) {
  thd->lex->sql_command = intent_ == engine::Intent::write ? SQLCOM_UPDATE : SQLCOM_SELECT;
  lock_ = mysql_lock_tables(thd, &table_, 1, 0);
  if (lock_ == nullptr) {
    const bool conflict = is_lock_conflict(thd);
    error = take_server_error(thd, ErrorCode::cannot_lock_table);
    if (!conflict && error.number != 0 && error.code != ErrorCode::shutting_down) {
      error.code = ErrorCode::sql;  // read_only and the like: the number says it
    }
    return conflict ? Opening::wait : Opening::failed;
  }
  return Opening::ready;
}

void OpenTable::unlock(THD* thd) {
  deactivate();
  if (lock_ == nullptr) {
    return;
  }
  mysql_unlock_tables(thd, std::exchange(lock_, nullptr));
  if (intent_ == engine::Intent::write && table_->s->long_unique_table) {
    table_->file->ha_reset();  // what looks up the duplicates of long values lives in the turn's memory
  }
}

bool OpenTable::changes_rows_atomically() const {
  const bool is_one_change = table_->file->ht->db_type == DB_TYPE_INNODB && !table_->versioned() && !table_->s->long_unique_table;
  // With both off InnoDB may collect the rows for an empty table, and find the duplicates when the statement ends.
  const bool checks_each_row =
      (table_->in_use->variables.option_bits & (OPTION_NO_FOREIGN_KEY_CHECKS | OPTION_RELAXED_UNIQUE_CHECKS)) == 0;
  return is_one_change && checks_each_row && !needs_statement_;
}

int OpenTable::activate(const Binding& binding, bool with_key_columns) {
  if (active_ == &binding && active_with_key_columns_ == with_key_columns) {
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
  active_ = &binding;
  active_with_key_columns_ = with_key_columns;
  return 0;
}

void OpenTable::deactivate() {
  if (table_ == nullptr) {
    return;
  }
  table_->file->ha_index_or_rnd_end();  // nothing where neither was begun
  if (std::exchange(active_, nullptr) != nullptr) {
    table_->file->ha_end_keyread();
  }
}

}  // namespace rowsocket::mariadb
