// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <utility>

#include "mariadb/diagnostics.h"
#include "mariadb/table_opening.h"

namespace rowsocket::mariadb {

bool is_lock_conflict(THD* thd) {
  if (!thd->get_stmt_da()->is_error()) {
    return false;
  }
  const uint number = thd->get_stmt_da()->sql_errno();
  return number == ER_LOCK_WAIT_TIMEOUT || number == ER_LOCK_DEADLOCK;
}

Opening open_without_waiting(THD* thd, TABLE_LIST& list, Error& error) {
  // The session takes the protection against global read locks by itself, per transaction.
  Open_table_context context(thd, MYSQL_OPEN_SKIP_SCOPED_MDL_LOCK);
  if (!open_table(thd, &list, &context) && list.table != nullptr) {
    return Opening::ready;
  }
  if (list.mdl_request.ticket != nullptr) {
    thd->mdl_context.release_lock(std::exchange(list.mdl_request.ticket, nullptr));
  }
  const bool recoverable = context.can_recover_from_failed_open();
  const bool conflict = is_lock_conflict(thd);
  error = take_server_error(thd, ErrorCode::cannot_open_table);
  if (conflict) {
    return Opening::wait;
  }
  if (recoverable) {
    // Discovery, repair, or a reopening of everything; none of them is worth holding other tables for.
    return context.recover_from_failed_open() ? Opening::failed : Opening::recover;
  }
  return Opening::failed;
}

void close_and_release(THD* thd, TABLE* table, MDL_ticket* ticket) {
  for (TABLE** place = &thd->open_tables; table != nullptr && *place != nullptr; place = &(*place)->next) {
    if (*place == table) {
      close_thread_table(thd, place);
      break;
    }
  }
  if (ticket != nullptr) {
    thd->mdl_context.release_lock(ticket);
  }
}

}  // namespace rowsocket::mariadb
