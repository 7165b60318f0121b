// SPDX-License-Identifier: GPL-2.0-only
//
// What the SQL layer does around the change of a row: generated columns, constraints, triggers.
#pragma once

#include <initializer_list>

#include "mariadb/server_headers.h"
#include "request/error.h"

namespace rowsocket::mariadb {

class NamedColumns;

/// Assigning to a generated column is an error, as in strict SQL.
[[nodiscard]] Error refuse_generated(const Field* field);

/// Where a column's new value goes: with BEFORE triggers, a twin that may be NULL until they have run.
[[nodiscard]] Field* field_to_fill(TABLE* table, const Field* field);

/// Before new values are put into a row that was read: nothing was given yet, and nothing in it is NULL that
/// may not be.
void begin_new_values(TABLE* table);

/// Once per request: what finds the duplicates of unique keys over BLOBs. Returns a handler error or 0.
[[nodiscard]] int prepare_unique_checks(TABLE* table);

/// Once per request: what a statement of SQL that does this would say of the table. InnoDB asks: in a table
/// with history it marks every index entry as deleted where a row may be deleted, also of a row that is
/// changed.
void set_events(TABLE* table, std::initializer_list<trg_event_type> events);

/// Once per request, where expressions of the table may ask for DATABASE(): it is the table's own, as in a
/// session of SQL that works with this database.
void enter_database(const TABLE* table);
/// The same where expressions are prepared: in an opening, before it is known whether there are any.
void enter_database(THD* thd, const LEX_CSTRING& database);

/// Before each row that is written. The handler remembers the row that was in the way of a unique hash key.
/// In READ COMMITTED it looks for such a row, and forgets the old one, only after the row was written. So if
/// the write fails for another key, the handler would name the old row and its key.
void forget_duplicate(const TABLE* table);

/// The generated columns, from the row's other values as they are now.
[[nodiscard]] Error generate_columns(THD* thd, TABLE* table);
/// Constraints, after all of the row's values are in place.
[[nodiscard]] Error check_constraints(THD* thd, TABLE* table);

/// A BEFORE trigger sees the generated columns of the new row. What the trigger sets may change these
/// columns, so the caller generates them again. `skips` tells that a trigger wants the row left as it is.
/// `named` is of an update.
[[nodiscard]] Error run_before_triggers(THD* thd, TABLE* table, trg_event_type event, bool old_row_is_second,
                                        bool& skips, NamedColumns* named = nullptr);
[[nodiscard]] Error run_after_triggers(THD* thd, TABLE* table, trg_event_type event, bool old_row_is_second,
                                       NamedColumns* named = nullptr);

/// Tell the transaction of a change that can not be rolled back.
void mark_changed(THD* thd, TABLE* table);

}  // namespace rowsocket::mariadb
