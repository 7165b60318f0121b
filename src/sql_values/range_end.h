// SPDX-License-Identifier: GPL-2.0-only
//
// What an operator means once another key stands in the place of the one that was asked for: the nearest key
// that a row can have, or the beginning that an index keeps of a longer key.
#pragma once

#include "request/request.h"
#include "sql_values/fit.h"

namespace rowsocket::sql_values {

struct RangeEnd {
  KeyOperator key_operator = KeyOperator::equal;
  bool finds_nothing = false;
};

/// The end that gives the same rows with the nearest key as `key_operator` gives with the searched one. `fit`
/// is that of the key's last part, and not `exact`. `is_descending`: the index has this part in descending
/// order. `has_parts`: the nearest key has any part, the last one included.
[[nodiscard]] RangeEnd end_at_nearest(KeyOperator key_operator, Fit fit, bool is_descending, bool has_parts);

/// The operator that gives all rows that an index can not decide about, since it keeps only the beginning of
/// the key: those with the same beginning. They are to be compared in full.
[[nodiscard]] KeyOperator with_same_beginning(KeyOperator key_operator);

}  // namespace rowsocket::sql_values
