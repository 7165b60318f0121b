// SPDX-License-Identifier: GPL-2.0-only
//
// The SQL mode may have come to forbid what a column has by default: a zero date.
#pragma once

#include "mariadb/server_headers.h"
// The server's headers come first.
#include "request/error.h"
#include "request/request.h"

namespace rowsocket::mariadb {

/// The row to insert takes no such default; its own values are known as explicit ones. As in SQL, the default
/// of a column is not looked at that can be set otherwise: by a trigger before the insert, or to the time of
/// the change where the row is there already.
[[nodiscard]] Error refuse_forbidden_defaults(THD* thd, TABLE* table, OnDuplicate on_duplicate);

}  // namespace rowsocket::mariadb
