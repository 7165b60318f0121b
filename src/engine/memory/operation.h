// SPDX-License-Identifier: GPL-2.0-only
//
// What an operation makes of one cell. Pure functions over a table's columns: rows, locks and transactions
// are the cursor's business.
#pragma once

#include <cstddef>

#include "engine/memory/table.h"

namespace rowsocket::engine::memory {

/// Do the operation to the cell, which is one of this column of the table. On an error the cell is as it was.
/// `value` is no Value::now().
[[nodiscard]] Error operate(const Table& table, size_t column, Operation operation, const Value& value,
                            Cell& cell);

/// True if the operation has carried a number across zero. What was only set has carried nothing.
[[nodiscard]] bool changes_sign(Operation operation, const Cell& before, const Cell& after);

}  // namespace rowsocket::engine::memory
