// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/cursor.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <utility>

#include "engine/memory/session.h"

namespace rowsocket::engine::memory {
namespace {

constexpr int er_out_of_range = 1264;
constexpr int er_no_default = 1364;
constexpr int er_wrong_value = 1366;
constexpr int ha_duplicate_key = 121;
constexpr int ha_no_record = 132;

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

int64_t number_of(std::string_view canonical) {
  int64_t number = 0;
  std::from_chars(canonical.data(), canonical.data() + canonical.size(), number);
  return number;
}

bool crosses_zero(int64_t before, int64_t after) { return (before < 0 && after > 0) || (before > 0 && after < 0); }

}  // namespace

Error MemoryIndex::resolve(const std::shared_ptr<Table>& table) {
  table_.reset();
  const auto key_index = table->find_index(description().index);
  if (!key_index.has_value()) {
    return {ErrorCode::no_such_index, "no index '" + description().index + "'"};
  }
  if (Error error = find_columns(*table, description().columns, columns_); !error.ok()) {
    return error;
  }
  if (Error error = find_columns(*table, description().filter_columns, filter_columns_); !error.ok()) {
    return error;
  }
  key_index_ = *key_index;
  table_ = table;
  return {};
}

void MemoryCursor::start(const MemoryIndex& index) {
  index_ = &index;
  conditions_.clear();
  stands_ = false;
  positions_.clear();
  error_ = {};
}

Error MemoryCursor::set_filters(std::span<const Filter> filters) {
  const std::scoped_lock lock(session_.state().mutex);
  for (const Filter& filter : filters) {
    const size_t column = index_->filter_columns()[filter.filter_column];
    Cell value;
    if (!filter.value.is_null()) {
      value.emplace(filter.value.view());
      if (index_->table()->columns()[column].type == ColumnType::integer && !canonical_integer(filter.value.view(), *value)) {
        return {ErrorCode::sql, er_wrong_value, "Incorrect integer value for a filter"};
      }
    }
    conditions_.push_back({filter.stop_at_mismatch, filter.comparison, column, std::move(value)});
  }
  return {};
}

bool MemoryCursor::convert_key(std::span<const Value> key) {
  key_.clear();
  const auto& columns = index_->table()->columns();
  for (size_t part = 0; part < key.size(); ++part) {
    Cell& cell = key_.emplace_back();
    if (key[part].is_null()) {
      continue;
    }
    cell.emplace(key[part].view());
    const bool is_integer = columns[key_index().columns[part]].type == ColumnType::integer;
    if (is_integer && !canonical_integer(key[part].view(), *cell)) {
      return false;
    }
  }
  return true;
}

bool MemoryCursor::goes_back() const {
  return key_operator_ == KeyOperator::before || key_operator_ == KeyOperator::at_or_before;
}

Step MemoryCursor::stand_at(Iterator place) {
  stands_ = false;
  const KeyIndex& index = key_index();
  if (place == index.entries.end() || (key_operator_ == KeyOperator::equal && index.less.compare_prefix(*place, key_) != 0)) {
    return Step::end;
  }
  if (session_.state().read_deadlock.happens()) {
    error_ = session_.lose_transaction();
    return Step::failed;
  }
  if (session_.state().read_fault.happens()) {
    error_ = session_.state().read_fault.error;
    return Step::failed;
  }
  current_ = *place;
  stands_ = true;
  return Step::row;
}

Step MemoryCursor::stand_before(Iterator place) {
  return place == key_index().entries.begin() ? stand_at(key_index().entries.end()) : stand_at(std::prev(place));
}

Step MemoryCursor::seek(KeyOperator key_operator, std::span<const Value> key) {
  const std::scoped_lock lock(session_.state().mutex);
  key_operator_ = key_operator;
  if (key.size() > key_index().columns.size()) {
    error_ = Error(ErrorCode::too_many_key_parts, "the index has fewer parts");
    return Step::failed;
  }
  if (!convert_key(key)) {
    return stand_at(key_index().entries.end());  // no number equals, exceeds or precedes what is not one
  }
  const bool behind = key_operator == KeyOperator::after || key_operator == KeyOperator::at_or_before;
  const auto place = key_index().entries.lower_bound(Bound{key_, behind});
  return goes_back() ? stand_before(place) : stand_at(place);
}

Step MemoryCursor::next() {
  const std::scoped_lock lock(session_.state().mutex);
  if (!stands_) {
    return Step::end;
  }
  const auto& entries = key_index().entries;
  return goes_back() ? stand_before(entries.lower_bound(current_)) : stand_at(entries.upper_bound(current_));
}

Verdict MemoryCursor::verdict() {
  const std::scoped_lock lock(session_.state().mutex);
  const Row& row = *index_->table()->row(current_.row);
  for (const Condition& condition : conditions_) {
    const ColumnType type = index_->table()->columns()[condition.column].type;
    if (!satisfies(compare(type, row[condition.column], condition.value), condition.comparison)) {
      return condition.stop_at_mismatch ? Verdict::stop : Verdict::skip;
    }
  }
  return Verdict::match;
}

void MemoryCursor::write_row(ValueWriter& writer) {
  const std::scoped_lock lock(session_.state().mutex);
  const Row& row = *index_->table()->row(current_.row);
  for (const size_t column : index_->columns()) {
    if (!row[column].has_value()) {
      writer.null();
    } else if (index_->table()->columns()[column].type == ColumnType::integer) {
      writer.plain(*row[column]);
    } else {
      writer.text(*row[column]);
    }
  }
}

bool MemoryCursor::update_moves_rows(size_t new_value_count) const {
  const auto& parts = key_index().columns;
  const auto& columns = index_->columns();
  const auto changed_end = columns.begin() + static_cast<ptrdiff_t>(std::min(new_value_count, columns.size()));
  return std::find_first_of(parts.begin(), parts.end(), columns.begin(), changed_end) != parts.end();
}

bool MemoryCursor::save_position() {
  positions_.push_back(current_.row);
  return true;
}

Step MemoryCursor::fetch_position(size_t number) {
  const std::scoped_lock lock(session_.state().mutex);
  const Row* const row = index_->table()->row(positions_[number]);
  if (row == nullptr) {
    stands_ = false;
    return Step::end;
  }
  current_ = index_->table()->entry_of(key_index(), *row, positions_[number]);
  stands_ = true;
  return Step::row;
}

Error MemoryCursor::write(RowNumber number, Row row) {
  if (index_->table()->has_duplicate(row, number)) {
    return {ErrorCode::engine, ha_duplicate_key, "duplicate key"};
  }
  return session_.change(index_->table(), number, std::move(row));
}

Error MemoryCursor::update_row(std::span<const Value> new_values) {
  const std::scoped_lock lock(session_.state().mutex);
  const Row* const before = index_->table()->row(current_.row);
  if (before == nullptr) {
    return {ErrorCode::engine, ha_no_record, "the row is gone"};
  }
  Row row = *before;
  for (size_t value = 0; value < new_values.size(); ++value) {
    const size_t column = index_->columns()[value];
    if (Error error = index_->table()->convert(column, new_values[value], row[column]); !error.ok()) {
      return error;
    }
  }
  return write(current_.row, std::move(row));
}

Error MemoryCursor::add_to_row(std::span<const Value> amounts, bool decrement, bool& changed) {
  const std::scoped_lock lock(session_.state().mutex);
  changed = false;
  Row row = *index_->table()->row(current_.row);
  for (size_t value = 0; value < amounts.size(); ++value) {
    const size_t column = index_->columns()[value];
    if (amounts[value].is_null() || !row[column].has_value()) {
      continue;
    }
    const Column& target = index_->table()->columns()[column];
    std::string amount;
    if (target.type != ColumnType::integer || !canonical_integer(amounts[value].view(), amount)) {
      return {ErrorCode::sql, er_wrong_value, "Incorrect integer value for column '" + target.name + "'"};
    }
    int64_t number = 0;
    int64_t sum = 0;
    const bool parsed = std::from_chars(amount.data(), amount.data() + amount.size(), number).ec == std::errc();
    const int64_t old = number_of(*row[column]);
    if (!parsed || (decrement ? __builtin_sub_overflow(old, number, &sum) : __builtin_add_overflow(old, number, &sum))) {
      return {ErrorCode::sql, er_out_of_range, "Out of range value for column '" + target.name + "'"};
    }
    if (decrement && crosses_zero(old, sum)) {
      return {};
    }
    row[column] = std::to_string(sum);
  }
  changed = true;
  return write(current_.row, std::move(row));
}

Error MemoryCursor::delete_row() {
  const std::scoped_lock lock(session_.state().mutex);
  return session_.change(index_->table(), current_.row, std::nullopt);
}

/// Values for the first columns of the index, defaults for the others.
Error MemoryCursor::complete(Row& row, std::span<const Value> values) {
  const Table& table = *index_->table();
  std::vector<bool> given(table.columns().size(), false);
  for (size_t value = 0; value < values.size(); ++value) {
    const size_t column = index_->columns()[value];
    given[column] = true;
    if (table.columns()[column].auto_increment && values[value].is_null()) {
      continue;
    }
    if (Error error = table.convert(column, values[value], row[column]); !error.ok()) {
      return error;
    }
  }
  for (size_t column = 0; column < given.size(); ++column) {
    const Column& target = table.columns()[column];
    if (given[column] || target.auto_increment) {
      continue;
    }
    if (target.default_value.has_value()) {
      row[column] = *target.default_value;
    } else if (!target.nullable) {
      return {ErrorCode::sql, er_no_default, "Field '" + target.name + "' doesn't have a default value"};
    }
  }
  return {};
}

Error MemoryCursor::insert_row(std::span<const Value> values, bool& has_id, uint64_t& id) {
  const std::scoped_lock lock(session_.state().mutex);
  Table& table = *index_->table();
  has_id = false;
  id = 0;
  Row row(table.columns().size());
  if (Error error = complete(row, values); !error.ok()) {
    return error;
  }
  for (size_t column = 0; column < row.size(); ++column) {
    if (!table.columns()[column].auto_increment) {
      continue;
    }
    has_id = true;
    if (!row[column].has_value() || row[column] == "0") {
      const int64_t generated = table.next_id();
      row[column] = std::to_string(generated);
      id = static_cast<uint64_t>(generated);
    } else {
      table.note_id(number_of(*row[column]));
    }
  }
  return write(table.next_row_number(), std::move(row));
}

}  // namespace rowsocket::engine::memory
