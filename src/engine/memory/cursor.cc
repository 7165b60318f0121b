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
    const Value wanted = resolved(filter.value);
    if (!wanted.is_null()) {
      value.emplace(wanted.view());
      if (index_->table()->columns()[column].type == ColumnType::integer && !canonical_integer(wanted.view(), *value)) {
        return {ErrorCode::sql, er_wrong_value, "Incorrect integer value for a filter"};
      }
    }
    conditions_.push_back({filter.stop_at_mismatch, filter.comparison, column, std::move(value)});
  }
  return {};
}

Value MemoryCursor::resolved(const Value& value) const { return value.is_now() ? Value(session_.state().now) : value; }

Error MemoryCursor::check_range(const KeyRange& range) const {
  const auto is_lower = [](KeyOperator end) { return end == KeyOperator::after || end == KeyOperator::at_or_after; };
  const auto is_upper = [](KeyOperator end) { return end == KeyOperator::before || end == KeyOperator::at_or_before; };
  const size_t parts = key_index().columns.size();
  if (range.key.size() > parts || range.end_key.size() > parts) {
    return {ErrorCode::too_many_key_parts, "the index has fewer parts"};
  }
  const bool faces = (is_lower(range.key_operator) && is_upper(range.end_operator)) ||
                     (is_upper(range.key_operator) && is_lower(range.end_operator));
  if (range.has_end && (!faces || range.end_key.empty())) {
    return {ErrorCode::bad_operator, "a range has a lower and an upper end"};
  }
  const auto& columns = index_->table()->columns();
  if (range.key_operator == KeyOperator::starts_with &&
      (range.key.empty() || columns[key_index().columns[range.key.size() - 1]].type != ColumnType::text)) {
    return {ErrorCode::bad_operator, "only text begins with something"};
  }
  return {};
}

/// False if a value is none of its column's: no number equals, exceeds or precedes what is not one.
bool MemoryCursor::set_end(std::optional<End>& end, std::span<const Value> key, bool inclusive) {
  end.emplace().inclusive = inclusive;
  const auto& columns = index_->table()->columns();
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
             (!range.has_end || set_end(high_, range.end_key, range.end_operator == KeyOperator::at_or_before));
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
  return (above_low > 0 || (above_low == 0 && low_->inclusive)) && (above_high < 0 || (above_high == 0 && high_->inclusive));
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

Step MemoryCursor::seek(const KeyRange& range) {
  const std::scoped_lock lock(session_.state().mutex);
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
    step = stand_before(high_.has_value() ? entries.lower_bound(Bound{high_->key, high_->inclusive}) : entries.end());
  } else {
    step = stand_at(low_.has_value() ? entries.lower_bound(Bound{low_->key, !low_->inclusive}) : entries.begin());
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
  const std::scoped_lock lock(session_.state().mutex);
  return stands_ ? pass_over(advance()) : Step::end;
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
  if (index_->table()->duplicate_of(row, number).has_value()) {
    return {ErrorCode::engine, ha_duplicate_key, "duplicate key"};
  }
  return session_.change(index_->table(), number, std::move(row));
}

Error MemoryCursor::set_value(Row& row, size_t position, const Value& value) const {
  const size_t column = index_->columns()[position];
  return index_->table()->convert(column, resolved(value), row[column]);
}

Error MemoryCursor::update_row(std::span<const Value> new_values) {
  const std::scoped_lock lock(session_.state().mutex);
  const Row* const before = index_->table()->row(current_.row);
  if (before == nullptr) {
    return {ErrorCode::engine, ha_no_record, "the row is gone"};
  }
  Row row = *before;
  for (size_t position = 0; position < new_values.size(); ++position) {
    if (Error error = set_value(row, position, new_values[position]); !error.ok()) {
      return error;
    }
  }
  return write(current_.row, std::move(row));
}

/// NULL stays. `refused`: the value would cross zero, and stays as well.
Error MemoryCursor::add_value(Row& row, size_t position, const Value& amount, bool decrement, bool& refused) const {
  const size_t column = index_->columns()[position];
  if (amount.is_null() || !row[column].has_value()) {
    return {};
  }
  const Column& target = index_->table()->columns()[column];
  std::string canonical;
  if (target.type != ColumnType::integer || !canonical_integer(amount.view(), canonical)) {
    return {ErrorCode::sql, er_wrong_value, "Incorrect integer value for column '" + target.name + "'"};
  }
  int64_t number = 0;
  int64_t sum = 0;
  const bool parsed = std::from_chars(canonical.data(), canonical.data() + canonical.size(), number).ec == std::errc();
  const int64_t old = number_of(*row[column]);
  if (!parsed || (decrement ? __builtin_sub_overflow(old, number, &sum) : __builtin_add_overflow(old, number, &sum))) {
    return {ErrorCode::sql, er_out_of_range, "Out of range value for column '" + target.name + "'"};
  }
  refused = decrement && crosses_zero(old, sum);
  if (!refused) {
    row[column] = std::to_string(sum);
  }
  return {};
}

Error MemoryCursor::add_to_row(std::span<const Value> amounts, bool decrement, bool& changed) {
  const std::scoped_lock lock(session_.state().mutex);
  changed = false;
  Row row = *index_->table()->row(current_.row);
  for (size_t position = 0; position < amounts.size(); ++position) {
    bool refused = false;
    if (Error error = add_value(row, position, amounts[position], decrement, refused); !error.ok() || refused) {
      return error;
    }
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
    if (Error error = set_value(row, value, values[value]); !error.ok()) {
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

void MemoryCursor::generate_id(Row& row, RowOutcome& outcome) {
  Table& table = *index_->table();
  for (size_t column = 0; column < row.size(); ++column) {
    if (!table.columns()[column].auto_increment) {
      continue;
    }
    outcome.has_id = true;
    if (!row[column].has_value() || row[column] == "0") {
      const int64_t generated = table.next_id();
      row[column] = std::to_string(generated);
      outcome.id = static_cast<uint64_t>(generated);
    } else {
      table.note_id(number_of(*row[column]));
    }
  }
}

uint64_t MemoryCursor::id_of(const Row& row) const {
  const auto& columns = index_->table()->columns();
  for (size_t column = 0; column < row.size(); ++column) {
    if (columns[column].auto_increment) {
      return static_cast<uint64_t>(number_of(*row[column]));
    }
  }
  return 0;
}

Error MemoryCursor::update_duplicate(RowNumber number, const RowToInsert& insert, RowOutcome& outcome) {
  const Row before = *index_->table()->row(number);
  Row row = before;
  for (const uint32_t position : insert.set_on_duplicate) {
    if (Error error = set_value(row, position, insert.values[position]); !error.ok()) {
      return error;
    }
  }
  for (const uint32_t position : insert.add_on_duplicate) {
    bool refused = false;
    if (Error error = add_value(row, position, insert.values[position], false, refused); !error.ok()) {
      return error;
    }
  }
  outcome.rows_affected = row == before ? 0 : 2;
  outcome.id = id_of(row);
  return row == before ? Error() : write(number, std::move(row));
}

Error MemoryCursor::insert_row(const RowToInsert& insert, RowOutcome& outcome) {
  const std::scoped_lock lock(session_.state().mutex);
  Table& table = *index_->table();
  outcome.rows_affected = 1;
  outcome.has_id = false;
  outcome.id = 0;
  Row row(table.columns().size());
  if (Error error = complete(row, insert.values); !error.ok()) {
    return error;
  }
  generate_id(row, outcome);
  while (const auto duplicate = table.duplicate_of(row, std::nullopt)) {
    switch (insert.on_duplicate) {
      case OnDuplicate::fail:
        return {ErrorCode::engine, ha_duplicate_key, "duplicate key"};
      case OnDuplicate::keep:
        outcome.rows_affected = 0;
        outcome.id = id_of(*table.row(*duplicate));
        return {};
      case OnDuplicate::update:
        return update_duplicate(*duplicate, insert, outcome);
      case OnDuplicate::replace:
        outcome.rows_affected = 2;
        if (Error error = session_.change(index_->table(), *duplicate, std::nullopt); !error.ok()) {
          return error;
        }
        break;
    }
  }
  return write(table.next_row_number(), std::move(row));
}

}  // namespace rowsocket::engine::memory
