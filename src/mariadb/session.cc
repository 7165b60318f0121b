// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/row_change.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;
using engine::Interruption;

namespace {

constexpr const char* refused_databases[] = {"mysql", "information_schema", "performance_schema", "sys"};

void session_was_killed(THD* thd) { static_cast<const Session*>(thd->event_scheduler.data)->wake(); }

/// The server tells a connection's scheduler about KILL; ours pokes the worker out of its poll.
scheduler_functions* kill_notification_scheduler() {
  static scheduler_functions functions = [] {
    scheduler_functions copy = *thread_scheduler;
    copy.thd_wait_begin = nullptr;
    copy.thd_wait_end = nullptr;
    copy.post_kill_notification = session_was_killed;
    return copy;
  }();
  return &functions;
}

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool is_valid_name(const std::string& name) {
  if (name.empty() || name.size() > NAME_LEN || std::memchr(name.data(), 0, name.size()) != nullptr) {
    return false;
  }
  return check_table_name(name.c_str(), name.size(), false) == 0;
}

bool is_refused_database(std::string_view name) {
  const std::string lower = lower_case(name);
  return std::any_of(std::begin(refused_databases), std::end(refused_databases), [&](const char* refused) { return lower == refused; });
}

/// Drop entries that nobody uses any more, now and then: clients decide how many names they try.
template <typename Map>
void forget_expired(Map& map, size_t& kept_count) {
  constexpr size_t count_min = 256;
  if (map.size() < std::max(count_min, 2 * kept_count)) {
    return;
  }
  std::erase_if(map, [](const auto& entry) { return entry.second.expired(); });
  kept_count = map.size();
}

/// A key for the maps: names can hold any byte but 0.
std::string map_key(const engine::IndexDescription& description) {
  std::string key;
  for (const std::string* part : {&description.database, &description.table, &description.index, &description.columns,
                                  &description.filter_columns}) {
    key += *part;
    key += '\0';
  }
  key += description.raw ? 'r' : 't';
  return key;
}

}  // namespace

// ---- life of a session

Session::Session(const engine::SessionOptions& options) : options_(options) {
  init_sql_alloc(PSI_NOT_INSTRUMENTED, &turn_memory_, 8192, 8192, MYF(0));
  create_thd();
}

void Session::create_thd() {
  my_thread_init();
  thd_ = new THD(next_thread_id());
  thd_->thread_stack = static_cast<char*>(__builtin_frame_address(0));
  thd_->store_globals();
  thd_->system_thread = SYSTEM_THREAD_GENERIC;
  thd_->set_command(COM_DAEMON);
  thd_->security_ctx->user = my_strdup(PSI_NOT_INSTRUMENTED, "rowsocket", MYF(MY_WME));
  thd_->security_ctx->host_or_ip = "";
  thd_->security_ctx->master_access = NO_ACL;  // read_only concerns us like any user
  thd_->security_ctx->db_access = NO_ACL;
  my_net_init(&thd_->net, nullptr, thd_, MYF(MY_THREAD_SPECIFIC));
  lex_start(thd_);
  thd_->init_for_queries();
  statement_memory_ = thd_->mem_root;

  thd_->variables.binlog_format = BINLOG_FORMAT_ROW;
  thd_->set_current_stmt_binlog_format_row();
  thd_->variables.tx_isolation = ISO_REPEATABLE_READ;
  thd_->tx_isolation = ISO_REPEATABLE_READ;
  thd_->count_cuted_fields = CHECK_FIELD_WARN;
  thd_->abort_on_warning = true;
  if (options_.intent == Intent::write) {
    thd_->variables.option_bits |= OPTION_NOT_AUTOCOMMIT;
    thd_->variables.option_bits &= ~OPTION_AUTOCOMMIT;
    thd_->server_status &= ~SERVER_STATUS_AUTOCOMMIT;
  }
  thd_->event_scheduler.data = this;
  thd_->scheduler = kill_notification_scheduler();
  server_threads.insert(thd_);
}

Session::~Session() {
  rollback();
  release_tables();
  server_threads.erase(thd_);
  lex_end(thd_->lex);
  thd_->mem_root = statement_memory_;
  thd_->reset_globals();
  thd_->store_globals();
  delete thd_;
  free_root(&turn_memory_, MYF(0));
  my_thread_end();
}

std::unique_ptr<engine::Session> Engine::create_session(const engine::SessionOptions& options) {
  mysql_mutex_lock(&LOCK_server_started);
  while (!mysqld_server_started && !stopped_.load()) {
    timespec until{};
    set_timespec_nsec(until, 100'000'000);
    mysql_cond_timedwait(&COND_server_started, &LOCK_server_started, &until);
  }
  mysql_mutex_unlock(&LOCK_server_started);
  if (stopped_.load()) {
    return nullptr;
  }
  return std::make_unique<Session>(options);
}

Interruption Session::interruption() const {
  switch (thd_->killed) {
    case KILL_SERVER:
    case KILL_SERVER_HARD:
      return Interruption::stop;
    case KILL_CONNECTION:
    case KILL_CONNECTION_HARD:
    case KILL_SYSTEM_THREAD:
    case KILL_SYSTEM_THREAD_HARD:
      return Interruption::close_connections;
    default:
      return Interruption::none;
  }
}

void Session::clear_interruption() {
  if (interruption() == Interruption::close_connections) {
    thd_->reset_killed();
    thd_->mysys_var->abort = 0;
  }
}

void Session::set_activity(std::string_view activity) {
  // SHOW PROCESSLIST may be reading the one that is shown now.
  activity_shown_ = 1 - activity_shown_;
  char* const place = activity_[activity_shown_];
  const size_t size = std::min(activity.size(), sizeof(activity_[0]) - 1);
  std::memcpy(place, activity.data(), size);
  place[size] = 0;
  thd_proc_info(thd_, place);
}

uint64_t Session::lock_wait_timeout_ms() const { return uint64_t{global_system_variables.lock_wait_timeout} * 1000; }

// ---- indexes and tables

std::shared_ptr<OpenTable> Session::table_named(const engine::IndexDescription& description, Intent intent) {
  std::string key = description.database + '\0' + description.table + '\0' + (intent == Intent::write ? 'w' : 'r');
  forget_expired(tables_, tables_kept_);
  std::weak_ptr<OpenTable>& known = tables_[key];
  std::shared_ptr<OpenTable> table = known.lock();
  if (table == nullptr) {
    table = std::make_shared<OpenTable>(description.database, description.table, intent);
    known = table;
  }
  return table;
}

Begin Session::open_index(const engine::IndexDescription& description, std::shared_ptr<engine::Index>& index, Error& error) {
  engine::IndexDescription names = description;
  if (lower_case_table_names != 0) {
    names.database = lower_case(names.database);
    names.table = lower_case(names.table);
  }
  if (!is_valid_name(names.database) || !is_valid_name(names.table)) {
    error = Error(ErrorCode::cannot_open_table, "not a name");
    return Begin::failed;
  }
  if (is_refused_database(names.database)) {
    error = Error(ErrorCode::cannot_open_table, "system schemas are not served");
    return Begin::failed;
  }
  const std::string key = map_key(names);
  forget_expired(indexes_, indexes_kept_);
  std::shared_ptr<Index> found = indexes_[key].lock();
  const bool is_new = found == nullptr;
  if (is_new) {
    found = std::make_shared<Index>(std::move(names));
  }
  const bool alone = !in_transaction_;
  begin_transaction();
  Index::Side* side = nullptr;
  const Begin begin = make_ready(*found, Intent::read, side, error);
  if (alone) {
    forget_turn();  // nothing was begun in the engine
  }
  if (begin == Begin::ready) {
    indexes_[key] = found;
    index = std::move(found);
  } else if (is_new) {
    indexes_.erase(key);
  }
  return begin;
}

Begin Session::open(OpenTable& table, const std::shared_ptr<OpenTable>& owner, Error& error) {
  thd_->variables.lock_wait_timeout = 0;
  options_.counters->add(Counter::table_opens);
  switch (table.open(thd_, error)) {
    case Opening::ready:
      open_tables_.push_back(owner);
      return Begin::ready;
    case Opening::wait:
    case Opening::recover:
      must_release_ = true;
      return Begin::wait;
    case Opening::failed:
      return Begin::failed;
  }
  return Begin::failed;
}

Begin Session::make_ready(Index& index, Intent intent, Index::Side*& side, Error& error) {
  side = intent == Intent::write ? &index.write : &index.read;
  if (side->open == nullptr) {
    side->open = table_named(index.description(), intent);
  }
  OpenTable& table = *side->open;
  if (!table.is_open()) {
    if (const Begin begin = open(table, side->open, error); begin != Begin::ready) {
      return begin;
    }
  }
  if (side->binding.generation != table.generation()) {
    table.deactivate();
    error = side->binding.resolve(index.description(), table);
    if (!error.ok()) {
      return Begin::failed;
    }
  }
  return Begin::ready;
}

void Session::close(OpenTable& table) {
  table.close(thd_);
  options_.counters->add(Counter::metadata_lock_releases);
}

void Session::yield_tables() {
  if (must_release_) {
    release_tables();
    return;
  }
  for (size_t i = 0; i < open_tables_.size();) {
    if (open_tables_[i]->is_wanted_by_others()) {
      close(*open_tables_[i]);
      open_tables_[i] = std::move(open_tables_.back());
      open_tables_.pop_back();
    } else {
      ++i;
    }
  }
}

void Session::release_tables() {
  must_release_ = false;
  for (const auto& table : open_tables_) {
    close(*table);
  }
  open_tables_.clear();
}

// ---- requests

void Session::begin_transaction() {
  if (in_transaction_) {
    return;
  }
  in_transaction_ = true;
  if (thd_->killed == KILL_QUERY || thd_->killed == KILL_QUERY_HARD) {
    thd_->reset_kill_query();  // there was no query of ours to kill
  }
  thd_->mem_root = &turn_memory_;
  thd_->set_query_id(next_query_id());
  thd_->set_time();
  thd_->variables.lock_wait_timeout = 0;
  thd_->variables.time_zone = global_system_variables.time_zone;
  thd_->variables.sql_mode = global_system_variables.sql_mode | MODE_STRICT_TRANS_TABLES | MODE_STRICT_ALL_TABLES;
}

Begin Session::protect_from_backup(const OpenTable& table, Error& error) {
  const TABLE_SHARE* const share = table.table()->s;
  bool& has_protection = has_backup_protection_[share->online_backup ? 1 : 0];
  if (has_protection) {
    return Begin::ready;
  }
  MDL_request request;
  MDL_REQUEST_INIT(&request, MDL_key::BACKUP, "", "", share->online_backup ? MDL_BACKUP_TRANS_DML : MDL_BACKUP_DML, MDL_STATEMENT);
  if (thd_->mdl_context.try_acquire_lock(&request)) {
    error = take_server_error(thd_, ErrorCode::cannot_lock_table);
    return Begin::failed;
  }
  has_protection = request.ticket != nullptr;
  return has_protection ? Begin::ready : Begin::wait;
}

Begin Session::begin_request(engine::Index& index, Intent intent, engine::Cursor*& cursor, Error& error) {
  if (intent == Intent::write && options_.intent == Intent::read) {
    error = Error(ErrorCode::read_only);
    return Begin::failed;
  }
  begin_transaction();
  auto& own_index = static_cast<Index&>(index);
  Index::Side* side = nullptr;
  if (const Begin begin = make_ready(own_index, intent, side, error); begin != Begin::ready) {
    return begin;
  }
  OpenTable& table = *side->open;
  if (intent == Intent::write) {
    thd_->set_time();  // a statement of its own, with its own CURRENT_TIMESTAMP
    if (const Begin begin = protect_from_backup(table, error); begin != Begin::ready) {
      return begin;
    }
  }
  if (!table.is_locked()) {
    switch (table.lock(thd_, error)) {
      case Opening::ready:
        break;
      case Opening::failed:
        return Begin::failed;
      default:
        return Begin::wait;
    }
  }
  request_table_ = &table;
  request_changes_ = intent == Intent::write;
  thd_->lock = request_changes_ ? table.server_lock() : nullptr;
  cursor_.begin(thd_, table, side->binding, index.description().raw);
  cursor = &cursor_;
  return Begin::ready;
}

/// Writes hold their table's lock for the request only, and so do reads of engines that lock tables.
void Session::unlock_request_tables() {
  if (request_table_ == nullptr) {
    return;
  }
  TABLE* const table = request_table_->table();
  if (cursor_.is_prepared_to_change()) {
    table->file->ha_release_auto_increment();
    table->next_number_field = nullptr;
    table->auto_increment_field_not_null = false;
  }
  if (request_changes_ || request_table_->has_table_lock()) {
    request_table_->unlock(thd_);
  } else if (table->file->inited == handler::RND) {
    table->file->ha_index_or_rnd_end();
  }
  thd_->lock = nullptr;
  request_table_ = nullptr;
}

Error Session::end_request() {
  if (request_table_ == nullptr) {
    return {};
  }
  Error error;
  if (request_changes_) {
    TABLE* const table = request_table_->table();
    request_table_->deactivate();
    if (table->file->inited == handler::RND) {
      table->file->ha_index_or_rnd_end();
    }
    query_cache_invalidate3(thd_, table, 1);
    const bool binlog_failed = thd_->binlog_flush_pending_rows_event(true, false) != 0 || thd_->binlog_flush_pending_rows_event(true, true) != 0;
    thd_->reset_binlog_for_next_statement();
    if (thd_->transaction->stmt.modified_non_trans_table) {
      thd_->transaction->all.modified_non_trans_table = true;
    }
    if (binlog_failed) {
      error = take_server_error(thd_, ErrorCode::commit_failed);
      trans_rollback_stmt(thd_);
    } else if (trans_commit_stmt(thd_)) {
      error = take_server_error(thd_, ErrorCode::commit_failed);
    }
  }
  unlock_request_tables();
  return error;
}

void Session::abandon_request() {
  if (request_table_ == nullptr) {
    return;
  }
  TABLE* const table = request_table_->table();
  if (request_changes_) {
    request_table_->deactivate();
    if (table->file->inited == handler::RND) {
      table->file->ha_index_or_rnd_end();
    }
    trans_rollback_stmt(thd_);
    thd_->reset_binlog_for_next_statement();
  }
  clear_diagnostics(thd_);
  unlock_request_tables();
}

// ---- turns

void Session::unlock_read_tables() {
  for (const auto& table : open_tables_) {
    table->unlock(thd_);
  }
}

void Session::forget_turn() {
  in_transaction_ = false;
  if (has_backup_protection_[0] || has_backup_protection_[1]) {
    thd_->mdl_context.release_statement_locks();
    has_backup_protection_[0] = has_backup_protection_[1] = false;
  }
  thd_->transaction_rollback_request = 0;
  cursor_.forget_snapshot();
  thd_->transaction->all.reset();
  thd_->transaction->stmt.reset();
  thd_->mem_root = statement_memory_;
  free_root(&turn_memory_, MYF(MY_KEEP_PREALLOC));
  if (thd_->is_error()) {
    clear_diagnostics(thd_);
  }
}

Error Session::commit() {
  if (!in_transaction_) {
    return {};
  }
  // From here on we wait as SQL does, for who blocks commits.
  thd_->variables.lock_wait_timeout = global_system_variables.lock_wait_timeout;
  bool failed = trans_commit_stmt(thd_);
  if (options_.intent == Intent::write) {
    failed = trans_commit(thd_) || failed;
  }
  Error error;
  if (failed) {
    error = take_server_error(thd_, ErrorCode::commit_failed);
    trans_rollback_stmt(thd_);
    trans_rollback(thd_);
  }
  unlock_read_tables();
  forget_turn();
  return error;
}

void Session::rollback() {
  if (!in_transaction_) {
    return;
  }
  abandon_request();
  trans_rollback_stmt(thd_);
  trans_rollback(thd_);
  unlock_read_tables();
  forget_turn();
}

}  // namespace rowsocket::mariadb
