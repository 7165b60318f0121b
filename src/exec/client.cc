// SPDX-License-Identifier: GPL-2.0-only
#include "exec/client.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace rowsocket::exec {

namespace {

size_t bytes_of(const std::shared_ptr<engine::Index>& index) { return index == nullptr ? 0 : index->held_bytes(); }

}  // namespace

void Client::set_index(uint32_t id, std::shared_ptr<engine::Index> index) {
  if (id >= indexes_.size()) {
    indexes_.resize(size_t{id} + 1);
  }
  if (id < with_columns_.size()) {
    for (const auto& remembered : with_columns_[id]) {
      held_bytes_ -= bytes_of(remembered);
    }
    with_columns_[id].clear();
  }
  held_bytes_ = held_bytes_ - bytes_of(indexes_[id]) + bytes_of(index);
  indexes_[id] = std::move(index);
}

void Client::forget_indexes() {
  held_bytes_ = 0;
  indexes_.clear();
  with_columns_.clear();
}

const std::shared_ptr<engine::Index>* Client::index_with_columns(uint32_t id, std::string_view columns) const {
  if (id < with_columns_.size()) {
    for (const auto& index : with_columns_[id]) {
      if (index->description().columns == columns) {
        return &index;
      }
    }
  }
  return nullptr;
}

const std::shared_ptr<engine::Index>& Client::remember_columns(uint32_t id, std::shared_ptr<engine::Index> index) {
  if (id >= with_columns_.size()) {
    with_columns_.resize(size_t{id} + 1);
  }
  auto& remembered = with_columns_[id];
  const size_t new_bytes = bytes_of(index);
  if (remembered.size() == limits::column_lists_per_index) {
    held_bytes_ -= bytes_of(remembered.front());
    std::rotate(remembered.begin(), remembered.begin() + 1, remembered.end());
    remembered.back() = std::move(index);
  } else {
    remembered.push_back(std::move(index));
  }
  held_bytes_ += new_bytes;
  return remembered.back();
}

}  // namespace rowsocket::exec
