// SPDX-License-Identifier: GPL-2.0-only
//
// The suite's only calls of Cursor's changing functions: whoever changes their form changes these few lines.
#pragma once

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
};

/// Set the first columns of the current row.
inline Error set_columns(Cursor& cursor, std::span<const Value> values) { return cursor.update_row(values); }

/// Add to the first columns of the current row, or subtract and keep the signs. `changed`: the row was not
/// refused.
inline Error add_to_columns(Cursor& cursor, std::span<const Value> amounts, bool decrement, bool& changed) {
  return cursor.add_to_row(amounts, decrement, changed);
}

inline Error insert_row(Cursor& cursor, std::span<const Value> values, const Duplicates& duplicates,
                        RowOutcome& outcome) {
  return cursor.insert_row({values, duplicates.action, duplicates.set, duplicates.add}, outcome);
}

/// Whether setting the first columns may bring a row into the walk again.
inline bool setting_moves_rows(const Cursor& cursor, std::span<const Value> values) {
  return cursor.update_moves_rows(values.size());
}

}  // namespace rowsocket::engine::conformance
