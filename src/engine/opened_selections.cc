// SPDX-License-Identifier: GPL-2.0-only
#include "engine/opened_selections.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace rowsocket::engine {
namespace {

size_t bytes_of(const SelectionDescription& names) {
  constexpr size_t selection_bytes = 512;
  const size_t text_bytes = names.database.size() + names.table.size() + names.index.size() +
                            names.columns.size() + names.filter_columns.size() + names.unique_columns.size();
  constexpr size_t copies = 3;  // the description, the key, and the key in the list
  return selection_bytes + copies * text_bytes;
}

/// Names can hold any byte but 0.
std::string key_of(const SelectionDescription& description) {
  const std::array parts{&description.database, &description.table,          &description.index,
                         &description.columns,  &description.filter_columns, &description.unique_columns};
  std::string rest{description.raw ? 'r' : 't', description.key_columns_first ? 'k' : '-',
                   description.integer_filters ? 'i' : '-', description.walked_in_steps ? 's' : '-',
                   description.all_columns ? '*' : '-'};
  rest += std::to_string(description.unique_key_parts) + '/' + std::to_string(description.account);
  // Exactly, since the key stays: it is as long as a client's line, and appending could double that.
  std::string key;
  key.reserve(std::accumulate(parts.begin(), parts.end(), parts.size() + rest.size(),
                              [](size_t sum, const std::string* part) { return sum + part->size(); }));
  for (const std::string* part : parts) {
    key += *part;
    key += '\0';
  }
  return key += rest;
}

size_t hash_of_table(const SelectionDescription& description) {
  const std::hash<std::string_view> hash;
  return 31 * hash(description.database) + hash(description.table);
}

/// Behind the names stands the account.
size_t hash_of_names(std::string_view key) {
  return std::hash<std::string_view>()(key.substr(0, key.rfind('/')));
}

}  // namespace

Selection::Selection(std::shared_ptr<OpenedSelections> opened, SelectionDescription description,
                     std::string key, uint32_t slot, uint64_t serial)
    : opened_(std::move(opened)),
      description_(std::move(description)),
      key_(std::move(key)),
      column_count_(name_count(description_.columns) +
                    (description_.key_columns_first ? description_.unique_key_parts : 0)),
      filter_column_count_(name_count(description_.filter_columns)),
      held_bytes_(bytes_of(description_)),
      slot_(slot),
      serial_(serial),
      table_hash_(hash_of_table(description_)),
      names_hash_(hash_of_names(key_)) {}

Selection::~Selection() { opened_->forget(*this); }

std::shared_ptr<Selection> OpenedSelections::find_or_add(const SelectionDescription& description) {
  std::string key = key_of(description);
  std::shared_ptr<Selection> selection;  // outlives the lock, which its end would take
  const MutexLock lock(mutex_);
  Known& known = by_key_[key];
  selection = known.selection.lock();
  if (selection != nullptr) {
    return selection;
  }
  if (free_slots_.empty()) {
    free_slots_.reserve(serials_.size() + 1);
    serials_.push_back(0);
    free_slots_.push_back(static_cast<uint32_t>(serials_.size() - 1));
  }
  const uint32_t slot = free_slots_.back();
  selection =
      std::make_shared<Selection>(shared_from_this(), description, std::move(key), slot, ++last_serial_);
  free_slots_.pop_back();
  serials_[slot] = last_serial_;
  known = {selection, last_serial_};
  held_bytes_.fetch_add(selection->held_bytes(), std::memory_order_relaxed);
  return selection;
}

/// Another of the same description may have come since the last user of this one left.
void OpenedSelections::forget(const Selection& selection) {
  const MutexLock lock(mutex_);
  if (serials_[selection.slot()] != selection.serial()) {
    return;  // it was never entered: no memory
  }
  const auto known = by_key_.find(selection.key_);
  if (known != by_key_.end() && known->second.serial == selection.serial()) {
    by_key_.erase(known);
  }
  serials_[selection.slot()] = 0;
  free_slots_.push_back(selection.slot());
  held_bytes_.fetch_sub(selection.held_bytes(), std::memory_order_relaxed);
  gone_count_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<uint64_t> OpenedSelections::serials() const {
  const MutexLock lock(mutex_);
  return serials_;
}

}  // namespace rowsocket::engine
