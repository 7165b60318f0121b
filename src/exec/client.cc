// SPDX-License-Identifier: GPL-2.0-only
#include "exec/client.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/limits.h"

namespace rowsocket::exec {

engine::Selection* RecentSelections::add(SharedSelection selection, size_t count_max,
                                         RetiredSelections& retired) {
  if (selections_.size() < count_max) {
    selections_.push_back(std::move(selection));
  } else {
    retired.push_back(selections_.front());
    std::rotate(selections_.begin(), selections_.begin() + 1, selections_.end());
    selections_.back() = std::move(selection);
  }
  return selections_.back().get();
}

size_t RecentSelections::held_bytes() const {
  return std::accumulate(
      selections_.begin(), selections_.end(), size_t{0},
      [](size_t sum, const SharedSelection& selection) { return sum + selection->held_bytes(); });
}

RecentSelections RecentSelections::in(engine::OpenedSelections& list) const {
  RecentSelections found;
  found.selections_.reserve(selections_.size());
  for (const SharedSelection& selection : selections_) {
    found.selections_.push_back(list.find_or_add(selection->description()));
  }
  return found;
}

void RecentSelections::retire_all(RetiredSelections& retired) {
  retired.insert(retired.end(), selections_.begin(), selections_.end());
  selections_.clear();
}

void Client::set_selection(uint32_t id, SharedSelection selection, RetiredSelections& retired) {
  if (id >= opened_.size()) {
    opened_.resize(size_t{id} + 1);
  }
  Opened& opened = opened_[id];
  size_t gone_bytes = opened.with_columns.held_bytes();
  opened.with_columns.retire_all(retired);
  held_bytes_ -= std::exchange(gone_bytes, 0);
  if (opened.selection != nullptr) {
    retired.push_back(opened.selection);
    gone_bytes = opened.selection->held_bytes();
  }
  held_bytes_ = held_bytes_ - gone_bytes + selection->held_bytes();
  opened.selection = std::move(selection);
}

void Client::forget_selections() {
  held_bytes_ = 0;
  std::vector<Opened>().swap(opened_);  // its memory, too
  named_ = {};
}

void Client::move_selections(engine::OpenedSelections& list) {
  std::vector<Opened> opened;
  opened.reserve(opened_.size());
  for (const Opened& one : opened_) {
    SharedSelection selection =
        one.selection == nullptr ? nullptr : list.find_or_add(one.selection->description());
    opened.push_back({std::move(selection), one.with_columns.in(list)});
  }
  RecentSelections named = named_.in(list);
  opened_.swap(opened);
  named_ = std::move(named);
}

/// Whatever `recent` is, what it holds counts.
engine::Selection* Client::remember(RecentSelections& recent, SharedSelection selection, size_t count_max,
                                    RetiredSelections& retired) {
  const size_t before_bytes = recent.held_bytes();
  engine::Selection* const added = recent.add(std::move(selection), count_max, retired);
  held_bytes_ = held_bytes_ - before_bytes + recent.held_bytes();
  return added;
}

engine::Selection* Client::selection_with_columns(uint32_t id, std::string_view columns) const {
  return opened_[id].with_columns.find([columns](const auto& names) { return names.columns == columns; });
}

engine::Selection* Client::remember_columns(uint32_t id, SharedSelection selection,
                                            RetiredSelections& retired) {
  return remember(opened_[id].with_columns, std::move(selection), limits::column_lists_per_index, retired);
}

engine::Selection* Client::selection_named(const SelectionNames& names, std::string_view columns) const {
  return named_.find([&](const engine::SelectionDescription& description) {
    return description.table == names.table && description.columns == columns &&
           description.index == names.index && description.database == names.database &&
           description.filter_columns == names.filter_columns && description.raw == names.raw &&
           description.unique_columns == names.unique_columns &&
           description.unique_key_parts == names.unique_key_parts &&
           description.key_columns_first == names.key_columns_first &&
           description.integer_filters == names.integer_filters &&
           description.walked_in_steps == names.walked_in_steps &&
           description.all_columns == names.all_columns;
  });
}

engine::Selection* Client::remember_names(SharedSelection selection, RetiredSelections& retired) {
  return remember(named_, std::move(selection), limits::selections_per_client, retired);
}

}  // namespace rowsocket::exec
