// SPDX-License-Identifier: GPL-2.0-only
//
// Adding to a column and subtracting from it, exact over the column's type.
#pragma once

#include "mariadb/row_operation.h"
#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/value.h"
#include "sql_values/operation.h"

namespace rowsocket::mariadb {

/// True for the types that hold whole numbers of at most 64 bits.
[[nodiscard]] bool is_whole_number_column(const Field* field);

/// The error of a sum that the column does not hold.
[[nodiscard]] Error out_of_range(const Field* field);

/// The field has made another number of the one that was stored: the server takes a small number for a year
/// of this or the last century.
[[nodiscard]] bool is_another_year(Field* field, sql_values::Wide stored);

/// Whether the field holds a whole number of 64 bits with a sign. Of floats that is never said.
[[nodiscard]] Error require_whole_number(Field* field);

/// Add the amount to the field (or subtract it) where it points now. Neither is NULL.
[[nodiscard]] Operated add_to_field(THD* thd, Field* field, const Value& amount, sql_values::SumRules rules,
                                    Error& error);

}  // namespace rowsocket::mariadb
