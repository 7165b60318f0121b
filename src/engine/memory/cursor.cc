// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/cursor.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/invariant.h"
#include "engine/memory/server_errors.h"
#include "engine/memory/session.h"
#include "sql_values/order.h"

namespace rowsocket::engine::memory {
namespace {

Error find_columns(const Table& table, std::string_view names, std::vector<size_t>& columns) {
  columns.clear();
  for (size_t left = name_count(names); left > 0; --left) {
    const std::string_view name = names.substr(0, names.find(','));
    const auto column = table.find_column(name);
    if (!column.has_value()) {
      return {ErrorCode::no_such_column, "no column '" + std::string(name) + "'"};
    }
    columns.push_back(*column);
    names.remove_prefix(std::min(name.size() + 1, names.size()));
  }
  return {};
}

}  // namespace

Error MemoryBinding::resolve(const SelectionDescription& description, const std::shared_ptr<Table>& table) {
  table_.reset();
  const auto key_index = table->find_index(description.index);
  if (!key_index.has_value()) {
    return {ErrorCode::no_such_index, "no index '" + description.index + "'"};
  }
  if (std::vector<size_t> unique; !description.unique_columns.empty()) {
    const KeyIndex& index = table->key_index(*key_index);
    if (!find_columns(*table, description.unique_columns, unique).ok() || !index.unique ||
        index.columns != unique) {
      return {ErrorCode::no_such_index,
              "index '" + description.index + "' is not unique over " + description.unique_columns};
    }
  }
  const KeyIndex& index = table->key_index(*key_index);
  if (const size_t parts = description.unique_key_parts;
      parts > 0 && (!index.unique || index.columns.size() != parts)) {
    return {ErrorCode::no_such_index,
            "index '" + description.index + "' is not unique over " + std::to_string(parts) + " columns"};
  }
  if (Error error = find_columns(*table, description.columns, columns_); !error.ok()) {
    return error;
  }
  if (description.key_columns_first) {
    columns_.insert(columns_.begin(), index.columns.begin(), index.columns.end());
  }
  keeps_key_ = description.key_columns_first;
  tells_names_ = description.all_columns;
  if (tells_names_) {
    columns_.resize(table->columns().size());
    std::iota(columns_.begin(), columns_.end(), size_t{0});
  }
  if (Error error = find_columns(*table, description.filter_columns, filter_columns_); !error.ok()) {
    return error;
  }
  if (description.integer_filters &&
      std::any_of(filter_columns_.begin(), filter_columns_.end(), [&table](size_t position) {
        return table->columns()[position].type != ColumnType::integer;
      })) {
    return {ErrorCode::no_such_column, "a filter column is no integer column"};
  }
  key_index_ = *key_index;
  table_ = table;
  return {};
}

bool MemoryBinding::column_types(ColumnTypes& types, size_t bytes_max) const {
  for (const size_t position : columns_) {
    const Column& column = table_->columns()[position];
    types.push_back(column.type == ColumnType::integer ? "bigint(20)"
                                                       : "varchar(" + std::to_string(column.bytes_max) + ")");
    if (types.back().size() > bytes_max) {
      return false;
    }
    bytes_max -= types.back().size();
  }
  return true;
}

void MemoryCursor::start(const MemoryBinding& binding) {
  binding_ = &binding;
  conditions_.clear();
  stands_ = false;
  positions_.clear();
  error_ = {};
}

Error MemoryCursor::set_filters(std::span<const Filter> filters) {
  const MutexLock lock(session_.state().mutex);
  for (const Filter& filter : filters) {
    const size_t column = binding_->filter_columns()[filter.filter_column];
    Cell value;
    const Value wanted = resolved(filter.value);
    if (!wanted.is_null()) {
      value.emplace(wanted.view());
      if (binding_->table()->columns()[column].type == ColumnType::integer &&
          !canonical_integer(wanted.view(), *value)) {
        return {ErrorCode::sql, er_wrong_value, "Incorrect integer value for a filter"};
      }
    }
    conditions_.push_back({filter.mismatch, filter.comparison, column, std::move(value)});
  }
  return {};
}

Value MemoryCursor::resolved(const Value& value) const {
  const State& state = session_.state();
  state.mutex.assume_held();
  return value.is_now() ? Value(state.now) : value;
}

Error MemoryCursor::check_range(const KeyRange& range) const {
  const size_t parts = key_index().columns.size();
  if (range.key.size() > parts || range.end_key.size() > parts) {
    return {ErrorCode::too_many_key_parts, "the index has fewer parts"};
  }
  const auto& columns = binding_->table()->columns();
  if (range.key_operator == KeyOperator::starts_with &&
      (range.key.empty() || columns[key_index().columns[range.key.size() - 1]].type != ColumnType::text)) {
    return {ErrorCode::bad_operator, "only text begins with something"};
  }
  return {};
}

/// False if a value is none of its column's: no number equals, exceeds or precedes what is not one.
bool MemoryCursor::set_end(std::optional<End>& end, std::span<const Value> key, bool inclusive) {
  end.emplace().inclusive = inclusive;
  const auto& columns = binding_->table()->columns();
  for (size_t part = 0; part < key.size(); ++part) {
    Cell& cell = end->key.emplace_back();
    const Value value = resolved(key[part]);
    if (value.is_null()) {
      continue;
    }
    cell.emplace(value.view());
    const bool is_integer = columns[key_index().columns[part]].type == ColumnType::integer;
    if (is_integer && !canonical_integer(value.view(), *cell)) {
      return false;
    }
  }
  return true;
}

/// False if no row can be in the range.
bool MemoryCursor::set_ends(const KeyRange& range) {
  low_.reset();
  high_.reset();
  prefix_.reset();
  goes_back_ = range.reverse;
  std::span<const Value> key = range.key;
  switch (range.key_operator) {
    case KeyOperator::starts_with:
      key = range.key.first(range.key.size() - 1);
      if (range.key.back().is_null()) {
        return false;
      }
      prefix_.emplace(key.size(), resolved(range.key.back()).view());
      [[fallthrough]];
    case KeyOperator::equal:
      return set_end(low_, key, true) && set_end(high_, key, true);
    case KeyOperator::after:
    case KeyOperator::at_or_after:
      return set_end(low_, key, range.key_operator == KeyOperator::at_or_after) &&
             (!range.has_end ||
              set_end(high_, range.end_key, range.end_operator == KeyOperator::at_or_before));
    case KeyOperator::before:
    case KeyOperator::at_or_before:
      goes_back_ = !range.reverse;
      return set_end(high_, key, range.key_operator == KeyOperator::at_or_before) &&
             (!range.has_end || set_end(low_, range.end_key, range.end_operator == KeyOperator::at_or_after));
  }
  return false;
}

bool MemoryCursor::is_in_range(const Entry& entry) const {
  const EntryLess& less = key_index().less;
  const int above_low = low_.has_value() ? less.compare_prefix(entry, low_->key) : 1;
  const int above_high = high_.has_value() ? less.compare_prefix(entry, high_->key) : -1;
  return (above_low > 0 || (above_low == 0 && low_->inclusive)) &&
         (above_high < 0 || (above_high == 0 && high_->inclusive));
}

bool MemoryCursor::has_prefix(const Entry& entry) const {
  if (!prefix_.has_value()) {
    return true;
  }
  const Cell& text = entry.key[prefix_->first];
  return text.has_value() && text->starts_with(prefix_->second);
}

Step MemoryCursor::stand_at(Iterator place) {
  stands_ = false;
  if (place == key_index().entries.end() || !is_in_range(*place)) {
    return Step::end;
  }
  State& state = session_.state();
  state.mutex.assume_held();
  if (state.read_deadlock.happens()) {
    error_ = session_.meet_deadlock();
    return Step::failed;
  }
  if (state.read_fault.happens()) {
    error_ = state.read_fault.error;
    return Step::failed;
  }
  current_ = *place;
  stands_ = true;
  return Step::row;
}

Step MemoryCursor::stand_before(Iterator place) {
  return place == key_index().entries.begin() ? stand_at(key_index().entries.end())
                                              : stand_at(std::prev(place));
}

Step MemoryCursor::seek(const KeyRange& range) {
  const MutexLock lock(session_.state().mutex);
  error_ = check_range(range);
  if (!error_.ok()) {
    return Step::failed;
  }
  const auto& entries = key_index().entries;
  if (!set_ends(range)) {
    return stand_at(entries.end());
  }
  Step step = Step::end;
  if (goes_back_) {
    step = stand_before(high_.has_value() ? entries.lower_bound(Bound{high_->key, high_->inclusive})
                                          : entries.end());
  } else {
    step = stand_at(low_.has_value() ? entries.lower_bound(Bound{low_->key, !low_->inclusive})
                                     : entries.begin());
  }
  return pass_over(step);
}

Step MemoryCursor::advance() {
  const auto& entries = key_index().entries;
  return goes_back_ ? stand_before(entries.lower_bound(current_)) : stand_at(entries.upper_bound(current_));
}

/// Rows of the range's key that do not begin with the prefix are none of the walk's.
Step MemoryCursor::pass_over(Step step) {
  while (step == Step::row && !has_prefix(current_)) {
    step = advance();
  }
  return step;
}

Step MemoryCursor::next() {
  const MutexLock lock(session_.state().mutex);
  return stands_ ? pass_over(advance()) : Step::end;
}

Verdict MemoryCursor::verdict() {
  const MutexLock lock(session_.state().mutex);
  return verdict_of_row(*binding_->table()->row(current_.row));
}

Verdict MemoryCursor::verdict_of_row(const Row& row) const {
  for (const Condition& condition : conditions_) {
    const Cell& cell = row[condition.column];
    const ColumnType type = binding_->table()->columns()[condition.column].type;
    const bool is_unset = !cell.has_value() || *cell == "0";
    if (!sql_values::satisfies(compare(type, cell, condition.value), condition.comparison) &&
        !(is_unset && condition.comparison == Comparison::greater_or_unset)) {
      return verdict_of(condition.mismatch);
    }
  }
  return Verdict::match;
}

uint64_t MemoryCursor::key_shape() const {
  std::string shape;
  for (const size_t position : key_index().columns) {
    const Column& column = binding_->table()->columns()[position];
    shape.append(column.name).push_back(column.type == ColumnType::integer ? '\1' : '\2');
  }
  return std::hash<std::string>()(shape);
}

void MemoryCursor::write_row(ValueWriter& writer) {
  const MutexLock lock(session_.state().mutex);
  if (!invariant(stands_, "a row is told where the cursor stands on one")) {
    return;
  }
  writer.begin_row();
  const Row& row = *binding_->table()->row(current_.row);
  for (const size_t column : binding_->columns()) {
    if (binding_->tells_names()) {
      writer.name(binding_->table()->columns()[column].name);
    }
    if (!row[column].has_value()) {
      writer.null();
    } else if (binding_->table()->columns()[column].type == ColumnType::integer) {
      writer.plain(*row[column]);
    } else {
      writer.text(*row[column]);
    }
  }
}

bool MemoryCursor::change_moves_rows(std::span<const Assignment> assignments) const {
  const auto& parts = key_index().columns;
  return std::any_of(assignments.begin(), assignments.end(), [&](const Assignment& assignment) {
    return std::find(parts.begin(), parts.end(), binding_->columns()[assignment.column]) != parts.end();
  });
}

void MemoryCursor::stand_on(RowNumber number) {
  current_ = binding_->table()->entry_of(key_index(), *binding_->table()->row(number), number);
  stands_ = true;
}

bool MemoryCursor::save_position() {
  positions_.push_back(current_.row);
  return true;
}

Step MemoryCursor::fetch_position(size_t number) {
  const MutexLock lock(session_.state().mutex);
  stands_ = false;
  if (binding_->table()->row(positions_[number]) == nullptr) {
    return Step::end;
  }
  stand_on(positions_[number]);
  return Step::row;
}

}  // namespace rowsocket::engine::memory
