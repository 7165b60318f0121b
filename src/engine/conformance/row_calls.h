// SPDX-License-Identifier: GPL-2.0-only
//
// The suite's only calls of Cursor's changing functions: whoever changes their form changes these few lines.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace rowsocket::engine::conformance {

/// What an insert is to do besides inserting. Positions are those of columns in the index's description.
struct Duplicates {
  OnDuplicate action = OnDuplicate::fail;
  std::vector<uint32_t> set = {};
  std::vector<uint32_t> add = {};
  bool only_where_filters_match = false;
  bool tells_row = false;
  std::vector<uint32_t> set_where_they_do_not = {};
  std::vector<uint32_t> count = {};  ///< as `add`, of whole numbers
  bool names_row = false;
};

/// The same operation for the first columns.
inline std::vector<Assignment> to_first_columns(Operation operation, std::span<const Value> values) {
  std::vector<Assignment> assignments;
  for (const Value& value : values) {
    assignments.push_back({static_cast<uint32_t>(assignments.size()), operation, value});
  }
  return assignments;
}

/// Set the first columns of the current row. Nothing refuses that, so a success has changed the row.
inline Error set_columns(Cursor& cursor, std::span<const Value> values) {
  bool changed = false;
  Error error = cursor.change_row(to_first_columns(Operation::set, values), false, changed);
  EXPECT_EQ(changed, error.ok());
  return error;
}

/// Delete the current row. No trigger keeps it, so a success has deleted it.
inline Error delete_row(Cursor& cursor) {
  bool deleted = false;
  Error error = cursor.delete_row(deleted);
  EXPECT_EQ(deleted, error.ok());
  return error;
}

/// Add to the first columns of the current row, or subtract and keep the signs. `changed`: the row was not
/// refused.
inline Error add_to_columns(Cursor& cursor, std::span<const Value> amounts, bool decrement, bool& changed) {
  const Operation operation = decrement ? Operation::subtract : Operation::add;
  return cursor.change_row(to_first_columns(operation, amounts), decrement, changed);
}

inline Error insert_row(Cursor& cursor, std::span<const Value> values, const Duplicates& duplicates,
                        RowOutcome& outcome) {
  std::vector<DuplicateChange> changes;
  for (const uint32_t position : duplicates.set) {
    changes.push_back({position, Operation::set});
  }
  for (const uint32_t position : duplicates.add) {
    changes.push_back({position, Operation::add});
  }
  for (const uint32_t position : duplicates.count) {
    changes.push_back({position, Operation::add_whole});
  }
  std::vector<DuplicateChange> mismatch_changes;
  for (const uint32_t position : duplicates.set_where_they_do_not) {
    mismatch_changes.push_back({position, Operation::set});
  }
  return cursor.insert_row({.values = values,
                            .on_duplicate = duplicates.action,
                            .duplicate_changes = changes,
                            .filters_duplicates = duplicates.only_where_filters_match,
                            .mismatch_changes = mismatch_changes,
                            .names_row = duplicates.names_row,
                            .tells_row = duplicates.tells_row},
                           outcome);
}

/// Whether setting the first columns may bring a row into the walk again.
inline bool setting_moves_rows(const Cursor& cursor, std::span<const Value> values) {
  return cursor.change_moves_rows(to_first_columns(Operation::set, values));
}

}  // namespace rowsocket::engine::conformance
