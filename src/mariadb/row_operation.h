// SPDX-License-Identifier: GPL-2.0-only
//
// What an operation makes of a column of the row in the table's first record: all operations, for updates and
// for duplicates. The row is written elsewhere (row_change.h), and checked there as after any change.
#pragma once

#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/request.h"
#include "sql_values/operation.h"

namespace rowsocket::mariadb {

using sql_values::Operated;

/// Do the operation to the field. One that was given a new value says so (`set_has_explicit_value`).
[[nodiscard]] Operated operate(THD* thd, TABLE* table, Field* field, Operation asked, const Value& value,
                               bool raw, bool keeps_signs, Error& error);

}  // namespace rowsocket::mariadb
