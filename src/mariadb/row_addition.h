// SPDX-License-Identifier: GPL-2.0-only
//
// Adding to a column and subtracting from it, exact over the column's type.
#pragma once

#include "mariadb/row_operation.h"
#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/value.h"

namespace rowsocket::mariadb {

/// True for the types that hold whole numbers of at most 64 bits.
[[nodiscard]] bool is_whole_number_column(const Field* field);

/// Add the amount to the field (or subtract it) where it points now. Neither is NULL. `refused`: with
/// `keeps_signs`, the sum would be on the other side of zero.
[[nodiscard]] Operated add_to_field(THD* thd, Field* field, const Value& amount, bool subtracts,
                                    bool keeps_signs, Error& error);

}  // namespace rowsocket::mariadb
