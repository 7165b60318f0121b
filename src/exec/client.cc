// SPDX-License-Identifier: GPL-2.0-only
#include "exec/client.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/limits.h"

namespace rowsocket::exec {

Access initial_access(Access port_access, const Settings& settings) {
  const bool write_is_open = settings.secret_write.empty() && settings.secret_read.empty();
  if (port_access == Access::write && write_is_open) {
    return Access::write;
  }
  // A write port whose only secret is the one for reading asks for it before anything else.
  return settings.secret_read.empty() ? Access::read : Access::none;
}

engine::Index* RecentIndexes::add(SharedIndex index, size_t count_max, RetiredIndexes& retired) {
  if (indexes_.size() < count_max) {
    indexes_.push_back(std::move(index));
  } else {
    retired.push_back(indexes_.front());
    std::rotate(indexes_.begin(), indexes_.begin() + 1, indexes_.end());
    indexes_.back() = std::move(index);
  }
  return indexes_.back().get();
}

size_t RecentIndexes::held_bytes() const {
  return std::accumulate(indexes_.begin(), indexes_.end(), size_t{0},
                         [](size_t sum, const SharedIndex& index) { return sum + index->held_bytes(); });
}

void RecentIndexes::retire_all(RetiredIndexes& retired) {
  retired.insert(retired.end(), indexes_.begin(), indexes_.end());
  indexes_.clear();
}

Client::Client(Access port_access, Access granted) : port_access_(port_access), granted_(granted) {}

void Client::set_index(uint32_t id, SharedIndex index, RetiredIndexes& retired) {
  if (id >= opened_.size()) {
    opened_.resize(size_t{id} + 1);
  }
  Opened& opened = opened_[id];
  size_t gone_bytes = opened.with_columns.held_bytes();
  opened.with_columns.retire_all(retired);
  held_bytes_ -= std::exchange(gone_bytes, 0);
  if (opened.index != nullptr) {
    retired.push_back(opened.index);
    gone_bytes = opened.index->held_bytes();
  }
  held_bytes_ = held_bytes_ - gone_bytes + index->held_bytes();
  opened.index = std::move(index);
}

void Client::forget_indexes() {
  held_bytes_ = 0;
  std::vector<Opened>().swap(opened_);  // its memory, too
  named_ = {};
}

/// Whatever `recent` is, what it holds counts.
engine::Index* Client::remember(RecentIndexes& recent, SharedIndex index, size_t count_max,
                                RetiredIndexes& retired) {
  const size_t before_bytes = recent.held_bytes();
  engine::Index* const added = recent.add(std::move(index), count_max, retired);
  held_bytes_ = held_bytes_ - before_bytes + recent.held_bytes();
  return added;
}

engine::Index* Client::index_with_columns(uint32_t id, std::string_view columns) const {
  return opened_[id].with_columns.find([columns](const auto& names) { return names.columns == columns; });
}

engine::Index* Client::remember_columns(uint32_t id, SharedIndex index, RetiredIndexes& retired) {
  return remember(opened_[id].with_columns, std::move(index), limits::column_lists_per_index, retired);
}

engine::Index* Client::index_of(const SelectionNames& names, std::string_view columns) const {
  return named_.find([&](const engine::IndexDescription& description) {
    return description.table == names.table && description.columns == columns &&
           description.index == names.index && description.database == names.database &&
           description.filter_columns == names.filter_columns && description.raw == names.raw;
  });
}

engine::Index* Client::remember_names(SharedIndex index, RetiredIndexes& retired) {
  return remember(named_, std::move(index), limits::selections_per_client, retired);
}

}  // namespace rowsocket::exec
