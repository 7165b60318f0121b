// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/session.h"

#include <algorithm>
#include <utility>

#include "engine/memory/server_errors.h"

namespace rowsocket::engine::memory {
namespace {

Error deadlock_error() {
  return Error(ErrorCode::engine, ha_deadlock, "Deadlock found when trying to get lock")
      .because(Reason::conflict);
}

}  // namespace

MemorySession::MemorySession(State& state, const SessionOptions& options)
    : state_(state), options_(options), selections_(selections_for(options)), cursor_(*this) {
  state_.sessions.push_back(this);
}

MemorySession::~MemorySession() {
  rollback();
  const MutexLock lock(state_.mutex);
  std::erase(state_.sessions, this);
  state_.stops = state_.stops && !state_.sessions.empty();
  state_.session_ended.notify_all();
}

Begin MemorySession::open_selection(const SelectionDescription& description,
                                    std::shared_ptr<Selection>& selection, Error& error) {
  MutexLock lock(state_.mutex);
  const auto table = state_.table(description.database + "." + description.table);
  if (table == nullptr) {
    error = Error(ErrorCode::cannot_open_table, "no table " + description.database + "." + description.table);
    return Begin::failed;
  }
  if (const Begin begin = await_table(lock, *table, error); begin != Begin::ready) {
    return begin;
  }
  take_table(table);
  std::shared_ptr<Selection> opened = selections_->find_or_add(description);
  error = binding_of(*opened).resolve(description, table);
  if (!error.ok()) {
    return Begin::failed;
  }
  selection = std::move(opened);
  return Begin::ready;
}

/// Not resolved where the session has not met the selection before.
MemoryBinding& MemorySession::binding_of(const Selection& selection) {
  MemoryBinding* const known = bindings_.find(selection);
  if (known != nullptr) {
    return *known;
  }
  MemoryBinding& added = bindings_.add(selection);
  added.kept.count_in(kept_bytes_);
  added.kept.set(state_.kept_bytes_per_selection.load());
  return added;
}

/// Why a request can not begin, as far as that does not depend on other sessions.
Begin MemorySession::refuse(const Selection& selection, Intent intent, Error& error) {
  if (intent != Intent::read && options_.intent == Intent::read) {
    error = Error(ErrorCode::read_only);
    return Begin::failed;
  }
  if (lost_) {
    error = deadlock_error();
    return Begin::failed;
  }
  MemoryBinding& binding = binding_of(selection);
  std::shared_ptr<Table> table = binding.table();
  if (table == nullptr || table->dropped) {
    const SelectionDescription& description = selection.description();
    table = state_.table(description.database + "." + description.table);
    error = table == nullptr ? Error(ErrorCode::cannot_open_table, "the table is gone")
                             : binding.resolve(description, table);
    if (!error.ok()) {
      return Begin::failed;
    }
  }
  if (intent != Intent::read && state_.commit_first_at_write > 0) {
    --state_.commit_first_at_write;
    if (state_.commit_first_at_write == 0) {
      return Begin::commit_first;
    }
  }
  if (intent != Intent::read && !table->has_transactions()) {
    if (group_mark_.has_value()) {
      error = Error(ErrorCode::no_transactions);
      return Begin::failed;
    }
    if (has_written_ && !did_lasting_work_) {
      return Begin::commit_first;
    }
  }
  return Begin::ready;
}

Begin MemorySession::begin_request(Selection& selection, const Use& use, Cursor*& cursor, Error& error) {
  const Intent intent = use.intent;
  MutexLock lock(state_.mutex);
  Begin begin = refuse(selection, intent, error);
  const MemoryBinding& binding = binding_of(selection);
  if (begin == Begin::ready) {
    const std::shared_ptr<Table> table = binding.table();
    begin = await_table(lock, *table, error);
  }
  if (begin == Begin::ready) {
    begin = acquire(lock, error);
  }
  if (begin == Begin::ready) {
    begin = refuse(selection, intent, error);  // while it waited the table may have been replaced
  }
  if (begin == Begin::ready) {
    take_table(binding.table());
    in_request_ = true;
    request_mark_ = undo_.size();
    if (intent != Intent::read) {
      has_written_ = true;
      written_tables_.push_back(binding.table());
    }
    did_lasting_work_ = did_lasting_work_ || (intent != Intent::read && !binding.table()->has_transactions());
    rows_outlive_ =
        rows_outlive_ || (intent != Intent::read && state_.parts_rows_from_trigger(*binding.table()));
    cursor_.start(binding);
    cursor = &cursor_;
    if (const auto action = take_next_wait(); action != nullptr) {
      lock.unlock();
      action();
      lock.lock();
    }
    announce(Wait::over);
  }
  return begin;
}

void MemorySession::begin_inserts(std::vector<GeneratedId>&& earlier) {
  const MutexLock lock(state_.mutex);
  earlier_ids_ = std::move(earlier);
}

/// It gives none itself: what it was told to say.
std::vector<GeneratedId> MemorySession::generated_ids() const {
  const MutexLock lock(state_.mutex);
  return earlier_ids_.empty() ? state_.generated_ids : earlier_ids_;
}

void MemorySession::announce(Wait what) const {
  if (options_.on_wait) {
    options_.on_wait(what);
  }
}

/// What the next request is to wait for; announced, where that was asked for.
std::function<void()> MemorySession::take_next_wait() {
  std::function<void()> action = std::exchange(state_.on_next_request, nullptr);
  if (action != nullptr && state_.is_next_announced) {
    announce(Wait::lock);
  }
  if (state_.is_on_disk) {
    announce(Wait::disk);
  }
  return action;
}

Admittance MemorySession::admittance_of(const Entrance& entrance) {
  std::function<Admittance(const Entrance&)> admit;
  {
    const MutexLock lock(state_.mutex);
    admit = state_.admit;
  }
  return admit == nullptr ? Admittance::granted : admit(entrance);
}

Error MemorySession::end_request() {
  const MutexLock lock(state_.mutex);
  in_request_ = false;
  return lost_ ? deadlock_error() : Error();
}

void MemorySession::abandon_request() {
  const MutexLock lock(state_.mutex);
  in_request_ = false;
  undo_failure(request_mark_);
}

bool MemorySession::transaction_lost() const {
  const MutexLock lock(state_.mutex);
  return lost_;
}

Error MemorySession::loss() const { return deadlock_error(); }

void MemorySession::lose_transaction() {
  const MutexLock lock(state_.mutex);
  lost_ = true;
}

bool MemorySession::did_lasting_work() const {
  const MutexLock lock(state_.mutex);
  return did_lasting_work_ || goes_on_;
}

bool MemorySession::commits_each_row() const {
  const MutexLock lock(state_.mutex);
  return rows_outlive_;
}

bool MemorySession::is_lost_by_failure() const {
  const MutexLock lock(state_.mutex);
  return lost_by_failure_;
}

bool MemorySession::wants_commit() const {
  const MutexLock lock(state_.mutex);
  return did_lasting_work_ || goes_on_ || (!undo_.empty() && state_.changes_want_commit());
}

void MemorySession::set_patient(bool patient) {
  const MutexLock lock(state_.mutex);
  patient_ = patient;
  waited_ms_ = 0;
}

void MemorySession::note_waited(uint64_t waited_ms) {
  const MutexLock lock(state_.mutex);
  waited_ms_ = waited_ms;
}

Begin MemorySession::begin_group(std::span<const GroupMember> members, size_t& failed_member, Error& error) {
  MutexLock lock(state_.mutex);
  group_mark_ = undo_.size();
  for (size_t number = 0; number < members.size(); ++number) {
    const Selection& selection = *members[number].selection;
    Begin begin = refuse(selection, members[number].use.intent, error);
    if (begin == Begin::ready) {
      const std::shared_ptr<Table> table = binding_of(selection).table();
      begin = await_table(lock, *table, error);
    }
    if (begin != Begin::ready) {
      failed_member = number;
      group_mark_.reset();
      return begin;
    }
  }
  return Begin::ready;
}

Error MemorySession::end_group() {
  const MutexLock lock(state_.mutex);
  const auto mark = std::exchange(group_mark_, std::nullopt);
  if (state_.group_end_fault.happens()) {
    undo_down_to(std::min(mark.value_or(undo_.size()), undo_.size()));
    return state_.group_end_fault.error;
  }
  return lost_ ? deadlock_error() : Error();
}

void MemorySession::abandon_group() {
  const MutexLock lock(state_.mutex);
  undo_failure(group_mark_.value_or(undo_.size()));
  group_mark_.reset();
}

Error MemorySession::commit() {
  if (const auto action = take_commit_action()) {
    action();  // others may use the engine meanwhile
  }
  const MutexLock lock(state_.mutex);
  commits_ = false;
  gtid_.clear();
  group_mark_.reset();
  Error error = lost_ ? deadlock_error() : Error();
  if (std::exchange(commit_is_stopped_, false)) {
    error = interruption_error();
  }
  if (error.ok() && !undo_.empty() && state_.commit_fault.happens()) {
    error = state_.commit_fault.error;
  }
  if (!error.ok()) {
    undo_down_to(0);
  } else if (!undo_.empty()) {
    work_in_commits_us_ += state_.left_to_commits_us;
    gtid_ = "0-1-" + std::to_string(++state_.commits_with_changes);
  }
  undo_.clear();
  forget_transaction();
  return error;
}

Error MemorySession::commit_and_go_on() {
  Error error = commit();
  release_tables();
  const MutexLock lock(state_.mutex);
  goes_on_ = error.ok();
  return error;
}

void MemorySession::rollback() {
  const MutexLock lock(state_.mutex);
  undo_down_to(0);
  in_request_ = false;
  group_mark_.reset();
  forget_transaction();
}

void MemorySession::forget_transaction() {
  lost_ = lost_by_failure_ = false;
  has_written_ = false;
  written_tables_.clear();
  did_lasting_work_ = rows_outlive_ = false;
  goes_on_ = false;
  release();
}

uint64_t MemorySession::lock_wait_timeout_ms() const {
  const MutexLock lock(state_.mutex);
  return state_.lock_wait_timeout_ms;
}

Interruption MemorySession::interruption() const {
  MutexLock lock(state_.mutex);
  const Interruption seen = interruption_;
  if (const auto action = std::exchange(state_.on_next_interruption_look, nullptr)) {
    lock.unlock();
    action();
    lock.lock();
  }
  return seen;
}

void MemorySession::clear_interruption() {
  const MutexLock lock(state_.mutex);
  if (interruption_ == Interruption::close_connections) {
    interruption_ = Interruption::none;
  }
}

void MemorySession::set_activity(std::string_view activity) {
  const MutexLock lock(state_.mutex);
  activity_ = activity;
}

void MemorySession::wake() const {
  if (options_.wake) {
    options_.wake();
  }
}

Error MemorySession::change(const std::shared_ptr<Table>& table, RowNumber number, std::optional<Row> after) {
  state_.mutex.assume_held();
  if (const auto action = std::exchange(state_.on_next_write, nullptr)) {
    action();
  }
  if (state_.write_deadlock.happens()) {
    return meet_deadlock();
  }
  if (state_.write_fault.happens()) {
    return state_.write_fault.error;
  }
  if (table->has_transactions()) {
    const Row* const before = table->row(number);
    undo_.push_back({table, number, before == nullptr ? std::nullopt : std::optional<Row>(*before)});
  }
  if (after.has_value()) {
    table->put(number, std::move(*after));
  } else {
    table->erase(number);
  }
  return {};
}

Error MemorySession::meet_deadlock() {
  state_.mutex.assume_held();
  undo_down_to(0);
  lost_ = true;
  return deadlock_error();
}

void MemorySession::undo_in_copy(const Table& table, std::map<RowNumber, Row>& rows) const {
  state_.mutex.assume_held();
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    if (undo->table.get() != &table) {
      continue;
    }
    if (undo->before.has_value()) {
      rows[undo->number] = *undo->before;
    } else {
      rows.erase(undo->number);
    }
  }
}

void MemorySession::undo_down_to(size_t undo_count) {
  while (undo_.size() > undo_count) {
    Undo& undo = undo_.back();
    if (undo.before.has_value()) {
      undo.table->put(undo.number, std::move(*undo.before));
    } else {
      undo.table->erase(undo.number);
    }
    undo_.pop_back();
  }
}

/// Of a request, or group, that fails.
void MemorySession::undo_failure(size_t undo_count) {
  if (state_.failures_lose_transaction && undo_.size() > undo_count) {
    lost_ = lost_by_failure_ = true;
  }
  undo_down_to(std::min(undo_count, undo_.size()));
}

void MemorySession::take_table(const std::shared_ptr<Table>& table) {
  if (holds(table)) {
    return;
  }
  held_tables_.push_back(table);
  if (options_.counters != nullptr) {
    options_.counters->add(Counter::table_opens);
  }
}

void MemorySession::give_back(const std::shared_ptr<Table>& table) {
  std::erase(held_tables_, table);
  if (options_.counters != nullptr) {
    options_.counters->add(Counter::metadata_lock_releases);
  }
}

}  // namespace rowsocket::engine::memory
