// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/memory_engine.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/memory/server_errors.h"
#include "engine/memory/session.h"
#include "engine/memory/state.h"

namespace rowsocket::engine::memory {

Column integer(std::string name) { return {.name = std::move(name), .type = ColumnType::integer}; }

Column text(std::string name, size_t bytes_max) { return {.name = std::move(name), .bytes_max = bytes_max}; }

Column auto_increment(std::string name) {
  return {.name = std::move(name), .type = ColumnType::integer, .auto_increment = true};
}

Column nullable(Column column) {
  column.nullable = true;
  return column;
}

Column with_default(Column column, Cell value) {
  column.default_value = std::move(value);
  return column;
}

MemoryEngine::MemoryEngine() : state_(std::make_unique<State>()) {}

MemoryEngine::~MemoryEngine() = default;

std::unique_ptr<Session> MemoryEngine::create_session(const SessionOptions& options) {
  const MutexLock lock(state_->mutex);
  if (state_->refuses_sessions || state_->stops) {
    return nullptr;
  }
  return std::make_unique<MemorySession>(*state_, options);
}

namespace {

/// Number 2 is of the user "", number 3 of a user with one letter, and so on.
class MemoryIdentity final : public Identity {
 public:
  explicit MemoryIdentity(std::string user) : user_(std::move(user)) {}
  [[nodiscard]] uint64_t number() const override { return first_account + user_.size(); }
  [[nodiscard]] std::string account_name() const override { return user_; }

 private:
  std::string user_;
};

class MemoryAuthenticator final : public Authenticator {
 public:
  explicit MemoryAuthenticator(std::function<bool(const Credentials&)> accepts)
      : accepts_(std::move(accepts)) {}
  std::shared_ptr<Identity> log_in(const Credentials& credentials, Error& why) override {
    if (!accepts_(credentials)) {
      return nullptr;
    }
    if (credentials.has_room && !credentials.has_room(credentials.user)) {
      why = ErrorCode::too_many_connections;
      return nullptr;
    }
    return std::make_shared<MemoryIdentity>(credentials.user);
  }

 private:
  std::function<bool(const Credentials&)> accepts_;
};

}  // namespace

std::unique_ptr<Authenticator> MemoryEngine::create_authenticator() {
  return accepts_ ? std::make_unique<MemoryAuthenticator>(accepts_) : nullptr;
}

void MemoryEngine::drop_account(uint64_t number) {
  const MutexLock lock(state_->mutex);
  state_->dropped_accounts.insert(number);
}

void MemoryEngine::tell(Trail* trail) {
  const MutexLock lock(state_->mutex);
  state_->trail = trail;
}

void MemoryEngine::interrupt_sessions() {
  constexpr std::chrono::milliseconds grace(100);  // most are done with their turn long before
  {
    MutexLock lock(state_->mutex);
    const auto end = std::chrono::steady_clock::now() + grace;
    while (!state_->sessions.empty() &&
           state_->session_ended.wait_until(lock, end) == std::cv_status::no_timeout) {
    }
    if (state_->sessions.empty()) {
      return;
    }
    state_->stops = true;
  }
  interrupt(Interruption::stop);
}

void MemoryEngine::create_table(std::string_view name, TableDefinition definition) {
  const MutexLock lock(state_->mutex);
  auto& slot = state_->tables[std::string(name)];
  if (slot != nullptr) {
    slot->dropped = true;
  }
  slot = std::make_shared<Table>(std::move(definition));
}

void MemoryEngine::drop_table(std::string_view name) {
  const MutexLock lock(state_->mutex);
  const auto found = state_->tables.find(name);
  if (found != state_->tables.end()) {
    found->second->dropped = true;
    state_->tables.erase(found);
  }
}

bool MemoryEngine::insert(std::string_view name, const Row& row) {
  const MutexLock lock(state_->mutex);
  const auto table = state_->table(name);
  if (table == nullptr || row.size() != table->columns().size()) {
    return false;
  }
  Row stored(row.size());
  for (size_t column = 0; column < row.size(); ++column) {
    const Value value = row[column].has_value() ? Value(std::string_view(*row[column])) : Value();
    if (!table->convert(column, value, stored[column]).ok()) {
      return false;
    }
    if (table->columns()[column].auto_increment) {
      table->note_id(std::stoll(*stored[column]));
    }
  }
  if (table->duplicate_of(stored, std::nullopt).has_value()) {
    return false;
  }
  table->put(table->next_row_number(), std::move(stored));
  return true;
}

std::vector<Row> MemoryEngine::rows(std::string_view name) const {
  const MutexLock lock(state_->mutex);
  const auto table = state_->table(name);
  if (table == nullptr) {
    return {};
  }
  auto committed = table->rows();
  for (const MemorySession* session : state_->sessions) {
    session->undo_in_copy(*table, committed);
  }
  std::vector<Row> result;
  for (auto& [number, row] : committed) {
    result.push_back(std::move(row));
  }
  if (table->key_index_count() > 0) {
    const KeyIndex& order = table->key_index(0);
    std::stable_sort(result.begin(), result.end(), [&](const Row& left, const Row& right) {
      return order.less(table->entry_of(order, left, 0), table->entry_of(order, right, 0));
    });
  }
  return result;
}

namespace {

/// An error as an engine would give it: what its number says of its reason.
Error with_reason(Error error) {
  switch (error.number) {
    case ha_duplicate_key:
      return std::move(error).because(Reason::duplicate);
    case ha_lock_wait_timeout:
      return std::move(error).because(Reason::row_locked);
    case ha_deadlock:
    case er_lock_wait_timeout:
    case er_lock_deadlock:
      return std::move(error).because(Reason::conflict);
    default:
      return error;
  }
}

}  // namespace

void MemoryEngine::fail_commit(Error error, uint32_t times) {
  const MutexLock lock(state_->mutex);
  state_->commit_fault = {1, times, with_reason(std::move(error))};
}

void MemoryEngine::fail_group_end(Error error) {
  const MutexLock lock(state_->mutex);
  state_->group_end_fault = {1, 1, with_reason(std::move(error))};
}

void MemoryEngine::fail_write(uint32_t nth, Error error) {
  const MutexLock lock(state_->mutex);
  state_->write_fault = {nth, 1, with_reason(std::move(error))};
}

void MemoryEngine::lose_transaction_at_write(uint32_t nth, uint32_t times) {
  const MutexLock lock(state_->mutex);
  state_->write_deadlock = {nth, times, {}};
}

void MemoryEngine::lose_transaction_at_read(uint32_t nth, uint32_t times) {
  const MutexLock lock(state_->mutex);
  state_->read_deadlock = {nth, times, {}};
}

void MemoryEngine::fail_read(uint32_t nth, Error error) {
  const MutexLock lock(state_->mutex);
  state_->read_fault = {nth, 1, with_reason(std::move(error))};
}

void MemoryEngine::set_busy(std::string_view name, bool busy) {
  const MutexLock lock(state_->mutex);
  if (const auto table = state_->table(name)) {
    table->busy = busy;
    table->busy_since = std::this_thread::get_id();
    state_->lock_released.notify_all();
  }
}

void MemoryEngine::set_lock_wait_timeout_ms(uint64_t milliseconds) {
  const MutexLock lock(state_->mutex);
  state_->lock_wait_timeout_ms = milliseconds;
}

void MemoryEngine::set_row_patience_ms(uint64_t milliseconds) {
  const MutexLock lock(state_->mutex);
  state_->row_patience_ms = milliseconds;
}

void MemoryEngine::await_patient_wait() {
  MutexLock lock(state_->mutex);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (state_->patient_waits == 0 &&
         state_->wait_began.wait_until(lock, end) == std::cv_status::no_timeout) {
  }
}

void MemoryEngine::on_next_write(std::function<void()> action) {
  const MutexLock lock(state_->mutex);
  state_->on_next_write = std::move(action);
}

void MemoryEngine::on_next_commit(std::function<void()> action) {
  const MutexLock lock(state_->mutex);
  state_->on_next_commit = std::move(action);
}

void MemoryEngine::on_next_interruption_look(std::function<void()> action) {
  const MutexLock lock(state_->mutex);
  state_->on_next_interruption_look = std::move(action);
}

void MemoryEngine::set_generated_ids(std::vector<GeneratedId> ids) {
  const MutexLock lock(state_->mutex);
  state_->generated_ids = std::move(ids);
}

void MemoryEngine::ask_to_commit_first(uint32_t nth_write) {
  const MutexLock lock(state_->mutex);
  state_->commit_first_at_write = nth_write;
}

void MemoryEngine::on_next_request(std::function<void()> action, bool is_announced) {
  const MutexLock lock(state_->mutex);
  state_->on_next_request = std::move(action);
  state_->is_next_announced = is_announced;
}

void MemoryEngine::admit_by(std::function<Admittance(const Entrance&)> admit) {
  const MutexLock lock(state_->mutex);
  state_->admit = std::move(admit);
}

void MemoryEngine::find_places_by(std::function<bool(TablePlace&)> find) {
  const MutexLock lock(state_->mutex);
  state_->find_place = std::move(find);
}

void MemoryEngine::keep_of_selections(size_t bytes_each) {
  state_->kept_bytes_per_selection.store(bytes_each);
}

void MemoryEngine::lie_on_disk(bool is_on_disk) {
  const MutexLock lock(state_->mutex);
  state_->is_on_disk = is_on_disk;
}

void MemoryEngine::leave_to_commits(uint64_t us) {
  const MutexLock lock(state_->mutex);
  state_->left_to_commits_us = us;
}

void MemoryEngine::lose_transaction_by_failures() {
  const MutexLock lock(state_->mutex);
  state_->failures_lose_transaction = true;
}

void MemoryEngine::make_transactions_long() {
  const MutexLock lock(state_->mutex);
  state_->transactions_are_long = true;
}

void MemoryEngine::set_now(std::string text) {
  const MutexLock lock(state_->mutex);
  state_->now = std::move(text);
}

void MemoryEngine::interrupt(Interruption interruption) {
  const MutexLock lock(state_->mutex);
  for (MemorySession* session : state_->sessions) {
    session->interrupt(interruption);
    session->wake();
  }
  state_->lock_released.notify_all();
}

void MemoryEngine::interrupt_those_under_way(Interruption interruption) {
  const MutexLock lock(state_->mutex);
  for (MemorySession* session : state_->sessions) {
    if (session->is_under_way()) {
      session->interrupt(interruption);
      session->wake();
    }
  }
  state_->lock_released.notify_all();
}

void MemoryEngine::refuse_sessions() {
  const MutexLock lock(state_->mutex);
  state_->refuses_sessions = true;
}

uint64_t MemoryEngine::snapshots_expired() const {
  const MutexLock lock(state_->mutex);
  return state_->snapshots_expired;
}

uint64_t MemoryEngine::commits_with_changes() const {
  const MutexLock lock(state_->mutex);
  return state_->commits_with_changes;
}

uint64_t MemoryEngine::stops_forgotten() const {
  const MutexLock lock(state_->mutex);
  return state_->stops_forgotten;
}

size_t MemoryEngine::session_count() const {
  const MutexLock lock(state_->mutex);
  return state_->sessions.size();
}

size_t MemoryEngine::sessions_holding_tables() const {
  const MutexLock lock(state_->mutex);
  return static_cast<size_t>(
      std::count_if(state_->sessions.begin(), state_->sessions.end(),
                    [](const MemorySession* session) { return session->holds_tables_locked(); }));
}

size_t MemoryEngine::patient_sessions() const {
  const MutexLock lock(state_->mutex);
  return static_cast<size_t>(
      std::count_if(state_->sessions.begin(), state_->sessions.end(),
                    [](const MemorySession* session) { return session->is_patient(); }));
}

bool MemoryEngine::is_held(std::string_view name) const {
  const MutexLock lock(state_->mutex);
  const auto table = state_->table(name);
  return std::any_of(state_->sessions.begin(), state_->sessions.end(),
                     [&table](const MemorySession* session) { return session->holds(table); });
}

std::vector<std::string> MemoryEngine::activities() const {
  const MutexLock lock(state_->mutex);
  std::vector<std::string> texts;
  for (const MemorySession* session : state_->sessions) {
    texts.push_back(session->activity());
  }
  return texts;
}

}  // namespace rowsocket::engine::memory
