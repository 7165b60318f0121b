// SPDX-License-Identifier: GPL-2.0-only
//
// Opening one table without waiting for anybody: a conflict is an answer, not a wait. For the tables that clients name and for
// those that a write reaches through foreign keys. The metadata lock is explicit: given back with the table, and not by a commit.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// Whether a table is there to be used.
enum class Opening : uint8_t {
  ready,
  wait,       ///< somebody holds a conflicting lock
  recover,    ///< close all tables and try again
  statement,  ///< writes need more than the table: use `open_statement`, for one request
  failed
};

/// Open the table that `list` names; `list.mdl_request` says with which lock.
[[nodiscard]] Opening open_without_waiting(THD* thd, TABLE_LIST& list, Error& error);

/// Close one table and give its metadata lock back. Either may be null.
void close_and_release(THD* thd, TABLE* table, MDL_ticket* ticket);

/// True if the server's last error is that somebody else holds a metadata or table lock.
[[nodiscard]] bool is_lock_conflict(THD* thd);

}  // namespace rowsocket::mariadb
