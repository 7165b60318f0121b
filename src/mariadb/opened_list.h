// SPDX-License-Identifier: GPL-2.0-only
//
// What a list of tables that was opened together has in it: the table that a request names, and what its
// triggers and foreign keys reach. A list's `table` that is nullptr is not open.
#pragma once

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// Those with a value of the session, for the statement under way. The opening has prepared them, too, maybe
/// for another account; without a cleaning in between, some (IN) write behind their memory. As where the
/// server opens a table, what is odd in them is a warning, whatever the SQL mode says. False where the server
/// says an error.
[[nodiscard]] bool prepare_expressions(THD* thd, TABLE* table);

/// As SQL does in setup_tables. In an expression, the columns of a table without a number count as constants:
/// what was computed with one row may be kept for the next one. False where the server says an error.
[[nodiscard]] bool number_tables(THD* thd, TABLE_LIST* list);

/// Expressions with a value of the session are prepared anew for each statement, and some take memory of the
/// TABLE for that each time: an IN list of constants 20 to 30 bytes for each member. So behind one of many
/// statements such a table does not go back to the table cache.
void renew_at_times(THD* thd, TABLE_LIST* list);

/// Triggers of what was opened call stored functions or procedures.
[[nodiscard]] bool calls_routines(const LEX& lex);
/// Another number where a table was altered, flushed or made anew.
[[nodiscard]] uint64_t versions_of(const TABLE_LIST* list);

/// Of a write's tables: one that it may change, and that keeps the change after a rollback. (So does a
/// sequence, but a number that is missing does no harm.)
[[nodiscard]] bool keeps_changes(const TABLE_LIST* list);

/// The first table keeps its rows after a rollback, and was opened with one that does not, and that its
/// triggers may change.
[[nodiscard]] bool parts_with_others(const TABLE_LIST* list);

/// An engine that takes part in transactions, but has no first phase of a commit.
[[nodiscard]] bool has_engine_of_one_phase(const TABLE_LIST* list);

/// Beside InnoDB, no other engine that is served has a first phase of a commit.
[[nodiscard]] bool is_rocksdb(const TABLE* table);
[[nodiscard]] bool has_rocksdb(const TABLE_LIST* list);

/// In READ COMMITTED, before the tables are locked in another isolation: InnoDB closes the transaction's
/// snapshot, if an earlier statement has left one (SELECT ... INTO in a trigger reads from one), and opens
/// none when it locks them (11.8 does where a transaction begins in SERIALIZABLE; what others commit is an
/// error then).
void begin_without_snapshot(THD* thd, const TABLE_LIST* list, enum_tx_isolation isolation);

/// An ALTER TABLE goes on online, and collects what the statement under way has done in a table. (Not in
/// 10.11.)
[[nodiscard]] bool is_collected_for_alter(const TABLE_LIST* list);

/// One was opened for what triggers do, or functions that they call.
[[nodiscard]] bool uses_tables_in_code(const TABLE_LIST* list);

/// A default or a generated column of the table takes the time.
[[nodiscard]] bool reads_clock(const TABLE* table);

/// Of expressions of tables. An expression keeps the variable of the session that has opened the table first,
/// and writes to it for others, also when that session has ended.
enum class UserVariables : uint8_t {
  none,
  kept,  ///< a default that is not evaluated has one
  used   ///< so has a generated column, or a default that a change, a generated column or code may use
};
[[nodiscard]] UserVariables user_variables_of(const TABLE_LIST* list);

/// A write may change tables of several storage engines that have transactions. The first one is opened.
[[nodiscard]] bool writes_several_engines(const TABLE_LIST* list);

/// A write may change a full-text index of InnoDB.
[[nodiscard]] bool writes_fulltext(const TABLE_LIST* list);

}  // namespace rowsocket::mariadb
