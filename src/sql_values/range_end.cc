// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/range_end.h"

namespace rowsocket::sql_values {

RangeEnd end_at_nearest(KeyOperator key_operator, Fit fit, bool is_descending, bool has_parts) {
  if (key_operator == KeyOperator::equal) {
    return {key_operator, true};
  }
  const bool goes_beyond = fit == Fit::unordered;  // what is equal in the parts before it is passed over
  const bool searched_is_after = (fit == Fit::above) != is_descending;
  const KeyOperator moved =
      goes_up(key_operator)
          ? (searched_is_after || goes_beyond ? KeyOperator::after : KeyOperator::at_or_after)
          : (searched_is_after && !goes_beyond ? KeyOperator::at_or_before : KeyOperator::before);
  // Without a part to go by, the key stands before or after all rows.
  return {moved, !has_parts && (moved == KeyOperator::before || moved == KeyOperator::after)};
}

KeyOperator with_same_beginning(KeyOperator key_operator) {
  switch (key_operator) {
    case KeyOperator::after:
      return KeyOperator::at_or_after;
    case KeyOperator::before:
      return KeyOperator::at_or_before;
    default:
      return key_operator;
  }
}

}  // namespace rowsocket::sql_values
