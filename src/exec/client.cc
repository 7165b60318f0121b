// SPDX-License-Identifier: GPL-2.0-only
#include "exec/client.h"

#include <algorithm>
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
  opened.with_columns.retire_all(retired);
  if (opened.index != nullptr) {
    retired.push_back(opened.index);
  }
  opened.index = std::move(index);
}

engine::Index* Client::index_with_columns(uint32_t id, std::string_view columns) const {
  return opened_[id].with_columns.find([columns](const auto& names) { return names.columns == columns; });
}

engine::Index* Client::remember_columns(uint32_t id, SharedIndex index, RetiredIndexes& retired) {
  return opened_[id].with_columns.add(std::move(index), limits::column_lists_per_index, retired);
}

engine::Index* Client::index_of(const SelectionNames& names, std::string_view columns) const {
  return named_.find([&](const engine::IndexDescription& description) {
    return description.table == names.table && description.columns == columns &&
           description.index == names.index && description.database == names.database &&
           description.filter_columns == names.filter_columns && description.raw == names.raw;
  });
}

engine::Index* Client::remember_names(SharedIndex index, RetiredIndexes& retired) {
  return named_.add(std::move(index), limits::selections_per_client, retired);
}

}  // namespace rowsocket::exec
