// SPDX-License-Identifier: GPL-2.0-only
//
// A session's life, and how it opens tables. Its requests and the transaction around them are in
// session_requests.cc and session_transaction.cc.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/invariant.h"
#include "base/limits.h"
#include "base/memory.h"
#include "mariadb/diagnostics.h"
#include "mariadb/login.h"
#include "mariadb/session.h"

namespace rowsocket::mariadb {

using engine::Begin;
using engine::Intent;
using engine::Interruption;

namespace {

void wake_session(void* session) { static_cast<const Session*>(session)->wake(); }
void announce_wait(void* session, engine::Wait what) {
  static_cast<const Session*>(session)->announce_wait(what);
}

}  // namespace

// ---- life

Session::Session(Engine& engine, const engine::SessionOptions& options)
    : engine_(engine),
      options_(options),
      thread_(options.intent, {this, wake_session, mariadb::announce_wait}),
      thd_(thread_.thd()),
      opened_(engine::selections_for(options)),
      shelf_(thd_, options.counters, *opened_, engine.children_),
      transaction_(thd_),
      request_(thread_),
      rights_(thd_),
      gtid_(thd_),
      semi_sync_(thd_),
      activity_(thd_),
      trail_(thd_) {
  galera_.attach(thd_);
  const MutexLock lock(engine_.mutex_);
  engine_.sessions_.push_back(this);
  // A server that shuts down has told the sessions that it knew by then, and waits for all.
  if (engine_.stopped_.load() || abort_loop) {
    kill();
  }
}

Session::~Session() {
  {
    const MutexLock lock(engine_.mutex_);
    const size_t erased_count = std::erase(engine_.sessions_, this);
    static_cast<void>(invariant(erased_count == 1, "a session stands in the engine's list, once"));
    engine_.session_ended_.notify_all();
  }
  rollback();
  release_tables();
  galera_.detach();
}

/// False if it never will serve.
bool Engine::wait_for_server() const {
  mysql_mutex_lock(&LOCK_server_started);
  while (!mysqld_server_started && !stopped_.load()) {
    timespec until{};
    set_timespec_nsec(until, 100'000'000);
    mysql_cond_timedwait(&COND_server_started, &LOCK_server_started, &until);
  }
  mysql_mutex_unlock(&LOCK_server_started);
  return !stopped_.load();
}

std::unique_ptr<engine::Session> Engine::create_session(const engine::SessionOptions& options) {
  return wait_for_server() ? std::make_unique<Session>(*this, options) : nullptr;
}

std::unique_ptr<engine::Authenticator> Engine::create_authenticator() {
  return wait_for_server() ? make_authenticator() : nullptr;
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
  if (thread_.is_stopped()) {
    return Interruption::stop;
  }
  switch (thd_->killed) {
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
    thread_.forget_kill();
  }
}

uint64_t Session::lock_wait_timeout_ms() const {
  return uint64_t{global_system_variables.lock_wait_timeout} * 1000;
}

uint64_t Session::row_lock_wait_timeout_ms() const {
  return uint64_t{thread_.row_waits().timeout_s()} * 1000;
}

// ---- tables

Begin Session::open_selection(const engine::SelectionDescription& description,
                              std::shared_ptr<engine::Selection>& selection, Error& error) {
  engine::SelectionDescription names = description;
  if (!follow_naming_rules(names)) {
    error = Error(ErrorCode::cannot_open_table, "not a name");
    return Begin::failed;
  }
  std::shared_ptr<engine::Selection> found = opened_->find_or_add(names);
  const bool alone = !transaction_.is_under_way();
  begin_transaction();
  BoundSelection::Side* side = nullptr;
  Begin begin = Begin::failed;
  if (error = rights_.become(description.account); error.ok()) {
    const LeavesAccount afterwards(rights_);
    begin = make_ready(*found, Intent::read, side, error);
  }
  if (alone) {
    end_transaction();  // nothing was begun in the engine
  }
  if (begin == Begin::failed && (galera_.has_lost() || is_interrupted_by_cluster())) [[unlikely]] {
    begin = Begin::wait;
  }
  if (begin == Begin::ready) {
    selection = std::move(found);
  }
  return begin;
}

/// DDL of the cluster interrupts whoever opens a table that it is about to change. It need not abort a
/// transaction for that. The table is then one to be waited for.
bool Session::is_interrupted_by_cluster() const {
  return galera_.is_open() && thd_->killed == KILL_QUERY_HARD && !galera_.has_lost();
}

/// The selection's table is open, the names are resolved against it, and its account may use it so. The THD
/// acts as that account.
Begin Session::make_ready(const engine::Selection& selection, const engine::Use& use,
                          BoundSelection::Side*& side, Error& error) {
  const engine::SelectionDescription& names = selection.description();
  side = &shelf_.side_of(selection, use.intent);
  const bool may_use = names.account == engine::own_account || rights_.is_known(side->allowed, use.demand);
  if (!may_use) {
    if (error = rights_.check_table(names, use.demand); !error.ok()) {
      return Begin::failed;
    }
  }
  OpenTable& table = *side->open;
  if (table.is_open() && !table.is_locked() && table.lacks_children()) [[unlikely]] {
    shelf_.give_back(table, transaction_.number());
  }
  if (!table.is_open()) {
    table.expect(use.demand);
    if (const Begin begin = open(side->open, error); begin != Begin::ready) {
      return begin;
    }
  }
  const bool reads_past =
      use.intent == Intent::read && thd_->variables.vers_asof_timestamp.type == SYSTEM_TIME_AS_OF;
  if (side->binding.generation != table.generation() || side->binding.reads_past != reads_past) {
    if (opened_->hold_too_much()) [[unlikely]] {
      shelf_.forget_others(&selection);
    }
    table.deactivate();
    error = side->binding.resolve(names, table, reads_past);
    shelf_.note_resolved(selection);
  }
  if (!may_use && error.ok()) {
    error = rights_.check_columns(names, use.demand, side->binding);
    if (error.ok()) {
      error = rights_.check_sequences(names, use.demand, table.table());
    }
    side->allowed = error.ok() ? rights_.allowed(names, use.demand, table.table()) : Allowed();
  }
  return error.ok() ? Begin::ready : Begin::failed;
}

Begin Session::open(const std::shared_ptr<OpenTable>& table, Error& error) {
  Statement& statement = transaction_.statement();
  thd_->variables.lock_wait_timeout = patience_.for_tables_s(goes_on_);
  thread_.note_lex_use();
  if (table->needs_own_statement() && !transaction_.in_group_of_one_statement()) {
    transaction_.end_shared_statement();
  }
  options_.counters->add(Counter::table_opens);
  shelf_.make_room();  // what is open stands on the shelf, or is a statement's
  statement.make_room();
  Opening opening = table->open(thd_, statement.is_empty(), NewHistory::report, error);
  if (opening == Opening::own_statement && !transaction_.in_group_of_one_statement()) {
    transaction_.end_shared_statement();
    opening = table->open(thd_, statement.is_empty(), NewHistory::report, error);
  }
  if (opening == Opening::new_partition) [[unlikely]] {
    opening = open_with_new_history(*table, error);
  }
  activity_.show();  // open_tables has put its own in this place
  switch (opening) {
    case Opening::ready:
      break;
    case Opening::wait:
      shelf_.note_conflict();
      return Begin::wait;
    case Opening::own_statement:  // of a group's member
      return Begin::commit_first;
    case Opening::new_partition:
    case Opening::failed:
      return Begin::failed;
  }
  if (table->is_kept()) {
    shelf_.keep(table);
  } else {
    if (!statement.is_open()) {
      statement.begin(table->needs_own_statement() ? Statement::Kind::own : Statement::Kind::shared);
    }
    statement.take(table);
  }
  return Begin::ready;
}

/// The table's history needs a new partition. A client of SQL that keeps the table in use for long is not
/// waited for with each request.
Opening Session::open_with_new_history(OpenTable& table, Error& error) {
  const auto began = std::chrono::steady_clock::now();
  const bool is_empty = transaction_.statement().is_empty();
  if (!patience_.tries_new_history(began)) {
    return table.open(thd_, is_empty, NewHistory::ignore, error);
  }
  release_tables();
  const Opening opening = table.open(thd_, is_empty, NewHistory::add, error);
  patience_.note_new_history(began, std::chrono::steady_clock::now());
  return opening;
}

bool Session::find_place(const engine::Selection& selection, engine::TablePlace& place) {
  static_cast<void>(engine::Session::find_place(selection, place));
  std::string index;
  if (!shelf_.find_index_name(selection, index)) {
    return false;
  }
  place.index = std::move(index);
  return true;
}

void Session::release_read_tables() {
  transaction_.end_shared_statement();  // as the commit does first
  shelf_.give_back_readers();
}

void Session::yield_tables() {
  if (galera_.is_open()) [[unlikely]] {
    rollback();  // a request that waits has begun a transaction and done nothing
    shelf_.note_conflict();
    patience_.forget_cluster_abort();
  }
  shelf_.yield(transaction_.number());
}

void Session::forget_selections() {
  const bool is_much = shelf_.kept_bytes() >= limits::kept_bytes_min;
  shelf_.forget_others(nullptr);
  if (is_much) {
    give_back_freed_memory();
  }
}

void Session::release_tables() {
  shelf_.give_back_all(transaction_.number());
  shelf_.forget_gone(*opened_);
}

}  // namespace rowsocket::mariadb
