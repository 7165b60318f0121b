// SPDX-License-Identifier: GPL-2.0-only
//
// A row that is in the way of one that is inserted: they have a unique key in common. The table's first
// record is the new row, its second takes the one that is there.
#pragma once

#include "engine/engine.h"
#include "mariadb/binding.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

[[nodiscard]] bool is_duplicate(int handler_code);

/// Read the row that has the key, where it is needed (`must_read`). And where the engine names another key
/// than the request does: that may be another key of the same row. Returns 0, a handler error, or
/// `handler_code` if it is another row than the one that the request names.
[[nodiscard]] int look_at_duplicate(THD* thd, const Binding& binding, TABLE* table,
                                    const engine::RowToInsert& row, uint key_number, bool must_read,
                                    int handler_code);

/// Delete the row that was read; the first record keeps the new one. As in SQL, a BEFORE trigger that wants
/// it left only keeps the AFTER triggers from running: the new row has to go somewhere.
[[nodiscard]] Error delete_duplicate(THD* thd, TABLE* table);

}  // namespace rowsocket::mariadb
