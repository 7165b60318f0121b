// SPDX-License-Identifier: GPL-2.0-only
//
// What an operation makes of one cell. Pure functions over a table's columns: rows, locks and transactions
// are the cursor's business.
#pragma once

#include <cstddef>

#include "engine/memory/table.h"
#include "sql_values/operation.h"

namespace rowsocket::engine::memory {

using sql_values::Operated;

/// Whether the cell holds a whole number of 64 bits with a sign, or NULL.
[[nodiscard]] Error require_whole_number(const Table& table, size_t column, const Cell& cell);

/// Do the operation to the cell, which is one of this column of the table. Unless it is done, the cell is as
/// it was. `value` is no Value::now().
[[nodiscard]] Operated operate(const Table& table, size_t column, Operation asked, const Value& value,
                               bool keeps_signs, Cell& cell, Error& error);

}  // namespace rowsocket::engine::memory
