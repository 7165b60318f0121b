// SPDX-License-Identifier: GPL-2.0-only
//
// What a cursor does to rows; how it reaches them is in cursor.cc.
#include <charconv>
#include <mutex>
#include <utility>

#include "engine/memory/cursor.h"
#include "engine/memory/session.h"

namespace rowsocket::engine::memory {
namespace {

constexpr int er_out_of_range = 1264;
constexpr int er_no_default = 1364;
constexpr int er_truncated_wrong_value = 1292;
constexpr int ha_duplicate_key = 121;
constexpr int ha_no_record = 132;
constexpr int ha_no_id_left = 167;

int64_t number_of(std::string_view canonical) {
  int64_t number = 0;
  std::from_chars(canonical.data(), canonical.data() + canonical.size(), number);
  return number;
}

bool crosses_zero(int64_t before, int64_t after) { return (before < 0 && after > 0) || (before > 0 && after < 0); }

}  // namespace

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
    return {ErrorCode::sql, er_truncated_wrong_value, "Truncated incorrect integer value for column '" + target.name + "'"};
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

Error MemoryCursor::generate_id(Row& row, RowOutcome& outcome) {
  Table& table = *index_->table();
  for (size_t column = 0; column < row.size(); ++column) {
    if (!table.columns()[column].auto_increment) {
      continue;
    }
    outcome.has_id = true;
    if (!row[column].has_value() || row[column] == "0") {
      if (!table.has_next_id()) {
        return {ErrorCode::engine, ha_no_id_left, "no AUTO_INCREMENT value is left"};
      }
      const int64_t generated = table.next_id();
      row[column] = std::to_string(generated);
      outcome.id = static_cast<uint64_t>(generated);
    } else {
      table.note_id(number_of(*row[column]));
    }
  }
  return {};
}

void MemoryCursor::tell_id(const Row& row, RowOutcome& outcome) const {
  const auto& columns = index_->table()->columns();
  for (size_t column = 0; column < row.size(); ++column) {
    if (columns[column].auto_increment) {
      const int64_t id = number_of(*row[column]);
      outcome.id = static_cast<uint64_t>(id);
      outcome.id_is_negative = id < 0;
    }
  }
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
  tell_id(row, outcome);
  return row == before ? Error() : write(number, std::move(row));
}

Error MemoryCursor::insert_row(const RowToInsert& insert, RowOutcome& outcome) {
  const std::scoped_lock lock(session_.state().mutex);
  Table& table = *index_->table();
  outcome.rows_affected = 1;
  outcome.has_id = false;
  outcome.id = 0;
  outcome.id_is_negative = false;
  Row row(table.columns().size());
  if (Error error = complete(row, insert.values); !error.ok()) {
    return error;
  }
  if (Error error = generate_id(row, outcome); !error.ok()) {
    return error;
  }
  while (const auto duplicate = table.duplicate_of(row, std::nullopt)) {
    switch (insert.on_duplicate) {
      case OnDuplicate::fail:
        return {ErrorCode::engine, ha_duplicate_key, "duplicate key"};
      case OnDuplicate::keep:
        outcome.rows_affected = 0;
        tell_id(*table.row(*duplicate), outcome);
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
