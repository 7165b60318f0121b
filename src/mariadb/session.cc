// SPDX-License-Identifier: GPL-2.0-only
//
// A session's life, and its tables. Its requests and the transaction around them are in session_requests.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;
using engine::Interruption;

namespace {

/// As the server does it where table names have no case.
void to_lower_case(std::string& name) {
  std::string lower(name.size() * system_charset_info->casedn_multiply() + 1, '\0');
  lower.resize(system_charset_info->casedn(name.data(), name.size(), lower.data(), lower.size()));
  name = std::move(lower);
}

bool is_valid_name(const std::string& name) {
  if (name.empty() || name.size() > NAME_LEN || std::memchr(name.data(), 0, name.size()) != nullptr) {
    return false;
  }
  // The prefix of names from old servers is another way to write a name, with a metadata lock of its own.
  return !name.starts_with(MYSQL50_TABLE_NAME_PREFIX) &&
         check_table_name(name.c_str(), name.size(), false) == 0;
}

/// Drop entries that nobody uses any more, now and then: clients decide how many names they try.
template <typename Map>
void forget_expired(Map& map, size_t& kept_count) {
  if (map.size() < std::max<size_t>(limits::names_cleared_min, 2 * kept_count)) {
    return;
  }
  std::erase_if(map, [](const auto& entry) { return entry.second.expired(); });
  kept_count = map.size();
}

void wake_session(void* session) { static_cast<const Session*>(session)->wake(); }
void announce_wait(void* session) { static_cast<const Session*>(session)->announce_wait(); }

}  // namespace

// ---- life

Session::Session(Engine& engine, const engine::SessionOptions& options)
    : engine_(engine),
      options_(options),
      thread_(options.intent, {this, wake_session, mariadb::announce_wait}),
      thd_(thread_.thd()),
      selections_(engine::selections_for(options)) {
  galera_.attach(thd_);
  statement_.attach(thd_);
  const MutexLock lock(engine_.mutex_);
  engine_.sessions_.push_back(this);
  // A server that shuts down has told those that it knew by then, and waits for all.
  if (engine_.stopped_.load() || abort_loop) {
    kill();
  }
}

Session::~Session() {
  {
    const MutexLock lock(engine_.mutex_);
    std::erase(engine_.sessions_, this);
    engine_.session_ended_.notify_all();
  }
  rollback();
  release_tables();
  galera_.detach();
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
  // Most are done with their turn long before.
  constexpr std::chrono::milliseconds grace(limits::last_turn_ms);
  const auto end = std::chrono::steady_clock::now() + grace;
  MutexLock lock(mutex_);
  while (!sessions_.empty() && session_ended_.wait_until(lock, end) == std::cv_status::no_timeout) {
  }
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

uint64_t Session::lock_wait_timeout_ms() const {
  return uint64_t{global_system_variables.lock_wait_timeout} * 1000;
}

uint64_t Session::row_lock_wait_timeout_ms() const { return uint64_t{thread_.row_lock_timeout_s()} * 1000; }

// ---- tables

std::shared_ptr<OpenTable> Session::table_named(const engine::SelectionDescription& description,
                                                Intent intent) {
  std::string key =
      description.database + '\0' + description.table + '\0' + (intent == Intent::read ? 'r' : 'w');
  forget_expired(tables_, tables_kept_);
  std::weak_ptr<OpenTable>& known = tables_[key];
  std::shared_ptr<OpenTable> table = known.lock();
  if (table == nullptr) {
    table = std::make_shared<OpenTable>(description.database, description.table,
                                        intent == Intent::read ? intent : Intent::write);
    known = table;
  }
  return table;
}

BoundSelection::Side& Session::side_of(const engine::Selection& selection, Intent intent) {
  BoundSelection* bound = bound_.find(selection);
  if (bound == nullptr) [[unlikely]] {
    bound = &bound_.add(selection);
  }
  BoundSelection::Side& side = intent == Intent::read ? bound->read : bound->write;
  if (side.open == nullptr) [[unlikely]] {
    side.open = table_named(selection.description(), intent);
  }
  return side;
}

Begin Session::open_selection(const engine::SelectionDescription& description,
                              std::shared_ptr<engine::Selection>& selection, Error& error) {
  engine::SelectionDescription names = description;
  if (lower_case_table_names != 0) {
    to_lower_case(names.database);
    to_lower_case(names.table);
  }
  if (!is_valid_name(names.database) || !is_valid_name(names.table)) {
    error = Error(ErrorCode::cannot_open_table, "not a name");
    return Begin::failed;
  }
  std::shared_ptr<engine::Selection> found = selections_->find_or_add(names);
  const bool alone = !in_transaction_;
  begin_transaction();
  BoundSelection::Side* side = nullptr;
  Begin begin = make_ready(*found, Intent::read, side, error);
  if (alone) {
    end_transaction();  // nothing was begun in the engine
  }
  if (begin == Begin::failed && galera_.is_open() && (galera_.has_lost() || thd_->killed == KILL_QUERY_HARD))
      [[unlikely]] {
    begin = Begin::wait;  // DDL of the cluster interrupted it
  }
  if (begin == Begin::ready) {
    selection = std::move(found);
  }
  return begin;
}

/// The selection's table is open, and the names are resolved against it.
Begin Session::make_ready(const engine::Selection& selection, Intent intent, BoundSelection::Side*& side,
                          Error& error) {
  side = &side_of(selection, intent);
  OpenTable& table = *side->open;
  if (table.is_open() && !table.is_locked() && table.lacks_children()) [[unlikely]] {
    close_parent(table);
  }
  if (!table.is_open()) {
    if (const Begin begin = open(side->open, error); begin != Begin::ready) {
      return begin;
    }
  }
  if (side->binding.generation != table.generation()) {
    table.deactivate();
    error = side->binding.resolve(selection.description(), table);
  }
  return error.ok() ? Begin::ready : Begin::failed;
}

Begin Session::open(const std::shared_ptr<OpenTable>& table, Error& error) {
  be_patient_with(*table);
  thread_.note_lex_use();
  if (table->needs_own_statement() && group_ != Group::one_statement) {
    end_shared_statement();
  }
  options_.counters->add(Counter::table_opens);
  Opening opening = table->open(thd_, statement_.is_empty(), NewHistory::report, error);
  if (opening == Opening::own_statement && group_ != Group::one_statement) {
    end_shared_statement();
    opening = table->open(thd_, statement_.is_empty(), NewHistory::report, error);
  }
  if (opening == Opening::new_partition) [[unlikely]] {
    opening = open_with_new_history(*table, error);
  }
  thd_proc_info(thd_, activity_[activity_shown_]);  // open_tables has put its own in this place
  switch (opening) {
    case Opening::ready:
      break;
    case Opening::wait:
      must_release_ = true;
      return Begin::wait;
    case Opening::own_statement:  // of a group's member
      return Begin::commit_first;
    case Opening::new_partition:
    case Opening::failed:
      return Begin::failed;
  }
  if (table->is_kept()) {
    shelf_.push_back(table);
  } else {
    if (!statement_.is_open()) {
      statement_.begin(table->needs_own_statement() ? Statement::Kind::own : Statement::Kind::shared);
    }
    statement_.take(table);
  }
  return Begin::ready;
}

/// The table's history needs a new partition. Who keeps the table in use for long is not waited for with each
/// request.
Opening Session::open_with_new_history(OpenTable& table, Error& error) {
  const auto now = std::chrono::steady_clock::now();
  if (now < no_new_history_until_) {
    return table.open(thd_, statement_.is_empty(), NewHistory::ignore, error);
  }
  release_tables();
  const Opening opening = table.open(thd_, statement_.is_empty(), NewHistory::add, error);
  const auto done = std::chrono::steady_clock::now();
  if (done - now >= std::chrono::milliseconds(limits::new_history_long_ms)) {
    no_new_history_until_ = done + std::chrono::milliseconds(limits::new_history_pause_ms);
  }
  return opening;
}

void Session::close(OpenTable& table) {
  table.close(thd_, in_transaction_ ? transaction_ : 0);
  options_.counters->add(Counter::metadata_lock_releases);
}

/// A table on the shelf has become the parent of a foreign key: it is opened again with its children.
void Session::close_parent(OpenTable& table) {
  close(table);
  std::erase_if(shelf_, [&table](const auto& kept) { return kept.get() == &table; });
}

/// Before a table is opened or locked.
void Session::be_patient_with(const OpenTable& table) {
  if (does_lasting_work_) {
    release_idle_tables(table);
  }
  thd_->variables.lock_wait_timeout = lock_patience_s();
}

/// Before the session waits in place, for a request that did lasting work: tables that it waits for nothing
/// in are others'. What the transaction has changed stays locked until it ends. (It is no group, so its finds
/// share no snapshot.)
void Session::release_idle_tables(const OpenTable& wanted) {
  std::erase_if(shelf_, [&](const auto& table) {
    if (table->is_locked() || table.get() == &wanted) {
      return false;
    }
    if (table->intent() == Intent::read) {
      table->forget_use();
    }
    close(*table);
    return true;
  });
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
  for (size_t i = 0; i < shelf_.size();) {
    if (shelf_[i]->is_wanted_by_others()) {
      close(*shelf_[i]);
      shelf_[i] = std::move(shelf_.back());
      shelf_.pop_back();
    } else {
      ++i;
    }
  }
}

void Session::release_tables() {
  must_release_ = false;
  for (const auto& table : shelf_) {
    close(*table);
  }
  shelf_.clear();
  forget_gone_selections();
}

void Session::forget_gone_selections() {
  try {
    bound_.forget_gone(*selections_);
  } catch (const std::bad_alloc&) {
    // They are forgotten another time.
  }
}

}  // namespace rowsocket::mariadb
