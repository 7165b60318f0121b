// SPDX-License-Identifier: GPL-2.0-only
//
// What a cursor does to rows; how it reaches them is in cursor.cc.
#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/memory/cursor.h"
#include "engine/memory/server_errors.h"
#include "engine/memory/session.h"

namespace rowsocket::engine::memory {
namespace {

int64_t number_of(std::string_view canonical) {
  int64_t number = 0;
  std::from_chars(canonical.data(), canonical.data() + canonical.size(), number);
  return number;
}

Error other_key() { return {ErrorCode::sql, er_wrong_value, "the row of this key has no other key"}; }

Error duplicate_key() {
  return Error(ErrorCode::engine, ha_duplicate_key, "duplicate key").because(Reason::duplicate);
}

}  // namespace

Error MemoryCursor::write(RowNumber number, Row row) {
  if (binding_->table()->duplicate_of(row, number).has_value()) {
    return duplicate_key();
  }
  return session_.change(binding_->table(), number, std::move(row));
}

Operated MemoryCursor::assign(Row& row, const Assignment& assignment, bool keeps_signs, Error& error) const {
  const size_t column = binding_->columns()[assignment.column];
  return operate(*binding_->table(), column, assignment.operation, resolved(assignment.value), keeps_signs,
                 row[column], error);
}

Error MemoryCursor::change_row(std::span<const Assignment> assignments, bool keeps_signs, bool& changed) {
  const MutexLock lock(session_.state().mutex);
  changed = false;
  const Row* const before = binding_->table()->row(current_.row);
  if (before == nullptr) {
    return {ErrorCode::engine, ha_no_record, "the row is gone"};
  }
  Row row = *before;
  for (const Assignment& assignment : assignments) {
    Error error;
    if (assign(row, assignment, keeps_signs, error) != Operated::done) {
      return error;  // none where the row is refused
    }
  }
  if (binding_->keeps_key() && has_other_key(*before, row)) {
    return other_key();
  }
  Error error = write(current_.row, std::move(row));
  changed = error.ok();
  return error;
}

Error MemoryCursor::delete_row(bool& deleted) {
  const MutexLock lock(session_.state().mutex);
  Error error = session_.change(binding_->table(), current_.row, std::nullopt);
  deleted = error.ok();
  return error;
}

/// Values for the first columns of the index, defaults for the others.
Error MemoryCursor::complete(Row& row, std::span<const Value> values) {
  const Table& table = *binding_->table();
  std::vector<bool> given(table.columns().size(), false);
  for (size_t value = 0; value < values.size(); ++value) {
    const size_t column = binding_->columns()[value];
    given[column] = true;
    if (table.columns()[column].auto_increment && values[value].is_null()) {
      continue;
    }
    Error error;
    const Assignment assignment = {static_cast<uint32_t>(value), Operation::set, values[value]};
    if (assign(row, assignment, false, error) == Operated::failed) {
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

bool MemoryCursor::has_other_key(const Row& before, const Row& after) const {
  const Table& table = *binding_->table();
  const KeyIndex& index = key_index();
  return std::any_of(index.columns.begin(), index.columns.end(), [&](size_t column) {
    return compare(table.columns()[column].type, before[column], after[column]) != 0;
  });
}

/// The first values are a key that names the row: the row has it.
Error MemoryCursor::check_named_key(const Row& row, std::span<const Value> values) const {
  const Table& table = *binding_->table();
  const KeyIndex& index = key_index();
  Row named = row;
  for (size_t part = 0; part < index.columns.size() && part < values.size(); ++part) {
    const size_t column = index.columns[part];
    if (Error error = table.convert(column, values[part], named[column]); !error.ok()) {
      return error;
    }
    if (table.columns()[column].auto_increment && named[column].value_or("0") == "0") {
      return {ErrorCode::sql, er_truncated, "a number that is to be made names no row"};
    }
  }
  return has_other_key(named, row) ? other_key() : Error();
}

Error MemoryCursor::check_whole_numbers(const Row& row, std::span<const DuplicateChange> changes) const {
  for (const DuplicateChange& change : changes) {
    const size_t column = binding_->columns()[change.position];
    if (change.operation == Operation::add_whole) {
      if (Error error = require_whole_number(*binding_->table(), column, row[column]); !error.ok()) {
        return error;
      }
    }
  }
  return {};
}

Error MemoryCursor::generate_id(Row& row, RowOutcome& outcome) {
  Table& table = *binding_->table();
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
  const auto& columns = binding_->table()->columns();
  for (size_t column = 0; column < row.size(); ++column) {
    if (columns[column].auto_increment) {
      const int64_t id = number_of(*row[column]);
      outcome.id = static_cast<uint64_t>(id);
      outcome.id_is_negative = id < 0;
    }
  }
}

Error MemoryCursor::change_duplicate(RowNumber number, const RowToInsert& insert, RowOutcome& outcome) {
  const Row before = *binding_->table()->row(number);
  outcome.rows_affected = 0;
  tell_id(before, outcome);
  const bool matches = !insert.filters_duplicates || verdict_of_row(before) == Verdict::match;
  if (!matches && insert.mismatch_changes.empty()) {
    return {};
  }
  Row row = before;
  for (const DuplicateChange& change : matches ? insert.duplicate_changes : insert.mismatch_changes) {
    Error error;
    const Assignment assignment = {change.position, change.operation, insert.values[change.position]};
    if (assign(row, assignment, false, error) == Operated::failed) {
      return error;
    }
  }
  if (row == before) {
    return {};
  }
  outcome.rows_affected = 2;
  tell_id(row, outcome);
  return write(number, std::move(row));
}

void MemoryCursor::order_by_key(std::span<const Value> values, size_t value_count,
                                std::span<uint32_t> order) {
  const MutexLock lock(session_.state().mutex);
  const Table& table = *binding_->table();
  std::vector<Entry> keys(order.size());
  for (size_t row = 0; row < keys.size(); ++row) {
    for (size_t part = 0; part < key_index().columns.size() && part < value_count; ++part) {
      Cell& cell = keys[row].key.emplace_back();
      if (!table.convert(key_index().columns[part], values[row * value_count + part], cell).ok()) {
        return;
      }
    }
  }
  std::stable_sort(order.begin(), order.end(), [this, &keys](uint32_t left, uint32_t right) {
    return key_index().less(keys[left], keys[right]);
  });
}

Error MemoryCursor::insert_row(const RowToInsert& row, RowOutcome& outcome) {
  const MutexLock lock(session_.state().mutex);
  stands_ = false;
  RowNumber number = 0;
  Error error = insert(row, outcome, number);
  if (error.ok() && row.tells_row) {
    stand_on(number);
  }
  return error;
}

/// `number` is that of the row that is there afterwards.
Error MemoryCursor::insert(const RowToInsert& insert, RowOutcome& outcome, RowNumber& number) {
  Table& table = *binding_->table();
  outcome.rows_affected = 1;
  outcome.has_id = false;
  outcome.id = 0;
  outcome.id_is_negative = false;
  Row row(table.columns().size());
  if (Error error = complete(row, insert.values); !error.ok()) {
    return error;
  }
  if (Error error = check_whole_numbers(row, insert.duplicate_changes); !error.ok()) {
    return error;
  }
  if (insert.names_row) {
    if (Error error = check_named_key(row, insert.values); !error.ok()) {
      return error;
    }
  }
  if (Error error = generate_id(row, outcome); !error.ok()) {
    return error;
  }
  size_t key_index = 0;
  while (const auto duplicate = table.duplicate_of(row, std::nullopt, &key_index)) {
    number = *duplicate;
    if (insert.names_row && key_index != binding_->key_index()) {
      return duplicate_key();
    }
    switch (insert.on_duplicate) {
      case OnDuplicate::fail:
        return duplicate_key();
      case OnDuplicate::keep:
        outcome.rows_affected = 0;
        tell_id(*table.row(number), outcome);
        return {};
      case OnDuplicate::change:
        return change_duplicate(number, insert, outcome);
      case OnDuplicate::replace:
        outcome.rows_affected = 2;
        if (Error error = session_.change(binding_->table(), number, std::nullopt); !error.ok()) {
          return error;
        }
        break;
    }
  }
  number = table.next_row_number();
  const Cell first_value = row[0];
  Error error = write(number, std::move(row));
  return error.ok() ? run_trigger(first_value) : error;
}

/// Behind the insert of a row.
Error MemoryCursor::run_trigger(const Cell& first_value) {
  State& state = session_.state();
  state.mutex.assume_held();
  const std::string& name = binding_->table()->copies_to();
  const auto other = name.empty() ? nullptr : state.table(name);
  if (other == nullptr) {
    return {};
  }
  Row copy(other->columns().size());
  copy[0] = first_value;
  return other->duplicate_of(copy, std::nullopt).has_value()
             ? duplicate_key()
             : session_.change(other, other->next_row_number(), std::move(copy));
}

}  // namespace rowsocket::engine::memory
