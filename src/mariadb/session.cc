// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;
using engine::Interruption;

namespace {

/// innodb_lock_wait_timeout; nullptr in a server without InnoDB.
sys_var* find_row_lock_variable() {
  mysql_prlock_rdlock(&LOCK_system_variables_hash);
  sys_var* const variable = intern_find_sys_var(STRING_WITH_LEN("innodb_lock_wait_timeout"));
  mysql_prlock_unlock(&LOCK_system_variables_hash);
  return variable;
}

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
  return std::any_of(std::begin(refused_databases), std::end(refused_databases),
                     [&](const char* refused) { return lower == refused; });
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
  for (const std::string* part :
       {&description.database, &description.table, &description.index, &description.columns, &description.filter_columns}) {
    key += *part;
    key += '\0';
  }
  key += description.raw ? 'r' : 't';
  return key;
}

}  // namespace

// ---- life of a session

Session::Session(Engine& engine, const engine::SessionOptions& options) : engine_(engine), options_(options) {
  init_sql_alloc(PSI_NOT_INSTRUMENTED, &turn_memory_, 8192, 8192, MYF(0));
  create_thd();
  const std::lock_guard guard(engine_.mutex_);
  engine_.sessions_.push_back(this);
  // A server that shuts down has told those that it knew by then, and waits for all.
  if (engine_.stopped_.load() || abort_loop) {
    kill();
  }
}

void Session::kill() { thd_->awake(KILL_SERVER); }

void Session::create_thd() {
  my_thread_init();
  thd_ = new THD(next_thread_id());
  thd_->thread_stack = static_cast<char*>(__builtin_frame_address(0));
  thd_->store_globals();
  thd_->system_thread = SYSTEM_THREAD_GENERIC;
  thd_->set_command(COM_SLEEP);  // KILL does not find daemons
  thd_->security_ctx->user = my_strdup(PSI_NOT_INSTRUMENTED, "rowsocket", MYF(MY_WME));
  strmake_buf(thd_->security_ctx->priv_user, "rowsocket");  // what CURRENT_USER() says
  thd_->security_ctx->host_or_ip = "";
  thd_->security_ctx->master_access = NO_ACL;  // read_only concerns us like any user
  thd_->security_ctx->db_access = NO_ACL;
  my_net_init(&thd_->net, nullptr, thd_, MYF(MY_THREAD_SPECIFIC));
  lex_start(thd_);
  thd_->init_for_queries();
  statement_memory_ = thd_->mem_root;

  thd_->variables.wsrep_on = false;  // galera_ turns it on
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
  row_lock_variable_ = find_row_lock_variable();
  wait_for_rows(true);
  thd_->event_scheduler.data = this;
  thd_->scheduler = kill_notification_scheduler();
  server_threads.insert(thd_);
  galera_.attach(thd_);
}

Session::~Session() {
  {
    const std::lock_guard guard(engine_.mutex_);
    std::erase(engine_.sessions_, this);
    engine_.session_ended_.notify_all();
  }
  rollback();
  release_tables();
  galera_.detach();
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
  return std::make_unique<Session>(*this, options);
}

void Engine::interrupt_sessions() {
  stopped_.store(true);
  constexpr std::chrono::milliseconds grace(300);  // most are done with their turn long before
  std::unique_lock lock(mutex_);
  session_ended_.wait_for(lock, grace, [this] { return sessions_.empty(); });
  for (Session* const session : sessions_) {
    session->kill();
  }
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

/// How long opening a table waits, in seconds: not at all, but for a transaction that the cluster aborted. It holds nothing, and
/// mostly it was aborted for the table's DDL, which holds up writes on the whole cluster.
ulong Session::lock_patience_s() const {
  constexpr ulong replay_patience_s = 10;
  return replays_in_cluster_ ? std::min<ulong>(global_system_variables.lock_wait_timeout, replay_patience_s) : 0;
}

uint64_t Session::row_lock_wait_timeout_ms() const {
  if (row_lock_variable_ == nullptr) {
    return 0;
  }
  return uint64_t{*reinterpret_cast<const ulong*>(row_lock_variable_->value_ptr(thd_, OPT_GLOBAL, &null_clex_str))} * 1000;
}

/// How long InnoDB waits for a row: a second, in the order of those who wait, which is long enough for a hot row; or not at all.
void Session::wait_for_rows(bool wait) {
  if (row_lock_variable_ == nullptr || waits_for_rows_ == wait) {
    return;
  }
  set_var setting(thd_, OPT_SESSION, row_lock_variable_, &null_clex_str, new (thd_->mem_root) Item_int(thd_, wait ? 1LL : 0LL));
  if (setting.check(thd_) == 0 && setting.update(thd_) == 0) {
    waits_for_rows_ = wait;
  }
  thd_->free_items();
  clear_diagnostics(thd_);
}

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
  end_statement();
  const bool alone = !in_transaction_;
  begin_transaction();
  Index::Side* side = nullptr;
  Begin begin = make_ready(*found, Intent::read, side, error);
  if (alone) {
    forget_turn();  // nothing was begun in the engine
  }
  if (begin == Begin::failed && galera_.is_open() && (galera_.has_lost() || thd_->killed == KILL_QUERY_HARD)) [[unlikely]] {
    begin = Begin::wait;  // DDL of the cluster interrupted it
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
  thd_->variables.lock_wait_timeout = lock_patience_s();
  options_.counters->add(Counter::table_opens);
  switch (table.open(thd_, error)) {
    case Opening::ready:
      open_tables_.push_back(owner);
      return Begin::ready;
    case Opening::statement:
      return open_statement(table, error);
    case Opening::wait:
    case Opening::recover:
      must_release_ = true;
      return Begin::wait;
    case Opening::failed:
      return Begin::failed;
  }
  return Begin::failed;
}

Begin Session::open_statement(OpenTable& table, Error& error) {
  unlock_read_tables();
  release_tables();  // the end of the statement closes whatever is open
  thd_->variables.lock_wait_timeout = lock_patience_s();
  options_.counters->add(Counter::table_opens);
  had_statement_ = true;
  thd_->set_query_id(next_query_id());  // InnoDB remembers a child's open table for as long as the query's id stays
  const Opening opening = table.open_statement(thd_, error);
  request_is_statement_ = opening == Opening::ready;
  return opening == Opening::ready ? Begin::ready : opening == Opening::wait ? Begin::wait : Begin::failed;
}

OpenTable& Session::table_of(Index& index, Intent intent) {
  std::shared_ptr<OpenTable>& open = intent == Intent::write ? index.write.open : index.read.open;
  if (open == nullptr) {
    open = table_named(index.description(), intent);
  }
  return *open;
}

Begin Session::make_ready(Index& index, Intent intent, Index::Side*& side, Error& error) {
  side = intent == Intent::write ? &index.write : &index.read;
  OpenTable& table = table_of(index, intent);
  if (!table.is_open()) {
    const Begin begin = table.needs_statement() ? open_statement(table, error) : open(table, side->open, error);
    if (begin != Begin::ready) {
      return begin;
    }
  } else if (intent == Intent::write) {
    if (const Opening opening = table.follow_foreign_keys(thd_, error); opening != Opening::ready) [[unlikely]] {
      must_release_ = true;
      return opening == Opening::failed ? Begin::failed : Begin::wait;
    }
  }
  if (side->binding.generation != table.generation()) {
    table.deactivate();
    error = side->binding.resolve(index.description(), table);
    if (!error.ok()) {
      if (std::exchange(request_is_statement_, false)) {
        table.close_statement(thd_);
      }
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
  if (galera_.is_open()) [[unlikely]] {
    rollback();  // a request that waits has begun a transaction and done nothing
    must_release_ = true;
    replays_in_cluster_ = false;
  }
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

}  // namespace rowsocket::mariadb
