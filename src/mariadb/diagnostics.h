// SPDX-License-Identifier: GPL-2.0-only
//
// From the server's ways to report an error (a handler's code, the THD's diagnostics area) to `Error`.
#pragma once

#include <string_view>

#include "request/error.h"

class THD;
class handler;

namespace rowsocket::mariadb {

/// The error that stands in the THD's diagnostics area, which is emptied, as a `fallback` with its number.
/// That the request was interrupted is `sql`, whatever it was that failed for it; if the server or the
/// plugin stops, `shutting_down`.
[[nodiscard]] Error take_server_error(THD* thd, ErrorCode fallback);

/// The same, where tables were to be opened.
[[nodiscard]] Error take_error_of_opening(THD* thd);

/// What to answer when `thd->killed` was found set between two rows: by a KILL, by a limit of the server
/// (max_statement_time, max_session_mem_used), by a shutdown.
[[nodiscard]] Error interruption_error(THD* thd);

/// True if the server interrupts the THD since a statement took more than max_session_mem_used.
[[nodiscard]] bool took_too_much_memory(const THD* thd);

/// A storage engine's error (HA_ERR_*), with the text that SQL would give.
[[nodiscard]] Error engine_error(THD* thd, handler* file, int handler_code);

/// True if the error, which came from SQL code, is that another session keeps a row or the AUTO_INCREMENT of
/// a table locked, or the table whose column gives a variable its type, or that the wait for it gave way: a
/// trigger met it. What a trigger SIGNALs under the same number is none.
[[nodiscard]] bool waited_for_row(THD* thd, const Error& error);

/// Forget errors and warnings, and a kill that only marks a bad value (strict mode).
void clear_diagnostics(THD* thd);
/// Forget what GET DIAGNOSTICS could tell a trigger, and @@warning_count: a request is a statement of its
/// own, and the one before it may have been another client's.
void forget_conditions(THD* thd);

}  // namespace rowsocket::mariadb
