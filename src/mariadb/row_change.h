// SPDX-License-Identifier: GPL-2.0-only
//
// Updating and deleting one row through the handler API, with what the SQL layer does around it: strict
// conversion, ON UPDATE columns, generated columns, constraints, triggers, history. Row events for the binlog
// come from the handler itself, once it is prepared.
#pragma once

#include <cstdint>
#include <span>

#include "mariadb/binding.h"
#include "request/error.h"
#include "request/request.h"

namespace rowsocket::mariadb {

/// Once per request, before the first change: the handler and the column sets are ready for it and for its
/// row events.
[[nodiscard]] int prepare_update(TABLE* table);
[[nodiscard]] int prepare_delete(TABLE* table);

/// The current row stands in the table's first record. See engine::Cursor::change_row.
[[nodiscard]] Error change_row(THD* thd, const Binding& binding, TABLE* table,
                               std::span<const Assignment> assignments, bool keeps_signs, bool raw,
                               bool& changed);
/// A change would give the row another key than the one that names it.
[[nodiscard]] Error other_key(const Binding& binding);
/// `deleted` is false where a trigger keeps the row.
[[nodiscard]] Error delete_row(THD* thd, TABLE* table, bool& deleted);

/// The first record has another key, in the index of the binding, than the second.
[[nodiscard]] bool has_other_key(const Binding& binding, TABLE* table);

/// What became of a row that was to change.
enum class Written : uint8_t {
  kept,  ///< by a trigger, as it was
  same,  ///< it has its new values already
  changed
};

/// Write the changed first record over the row kept in the second. The fields that were set say so
/// (`set_has_explicit_value`). `is_upsert`: an insert met the row.
[[nodiscard]] Error write_update(THD* thd, TABLE* table, bool is_upsert, Written& written);

}  // namespace rowsocket::mariadb
