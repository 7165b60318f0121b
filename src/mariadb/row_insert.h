// SPDX-License-Identifier: GPL-2.0-only
//
// Inserting one row through the handler API, with what the SQL layer does around it: strict conversion,
// defaults, generated columns, constraints, triggers, AUTO_INCREMENT, and what is to be done where a unique
// key has the row already.
#pragma once

#include "engine/engine.h"
#include "mariadb/binding.h"

namespace rowsocket::mariadb {

/// Once per request, before the first insert. All of its rows do the same about duplicates.
[[nodiscard]] int prepare_insert(TABLE* table, OnDuplicate on_duplicate);
/// After the request's last insert: the handler forgets what it was told for it.
void end_inserts(TABLE* table, OnDuplicate on_duplicate);

class GeneratedIds;

/// See engine::Cursor::insert_row; the row that is told stands in the table's first record. `filters` gives
/// the verdict on the row in that record.
[[nodiscard]] Error insert_row(THD* thd, const Binding& binding, TABLE* table, const engine::RowToInsert& row,
                               bool raw, engine::Cursor& filters, GeneratedIds& ids, RowOutcome& outcome);

}  // namespace rowsocket::mariadb
