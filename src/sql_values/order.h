// SPDX-License-Identifier: GPL-2.0-only
//
// Whether a row is wanted, once its value is ordered to the one that it is compared with. An order is less
// than, equal to or greater than 0 as the row's value is before, equal to or after. Inline: a walk asks for
// each row.
#pragma once

#include "request/request.h"

namespace rowsocket::sql_values {

/// Of a filter. What `greater_or_unset` takes for unset, the engine knows.
[[nodiscard]] constexpr bool satisfies(int order, Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::not_equal:
      return order != 0;
    case Comparison::less:
      return order < 0;
    case Comparison::less_or_equal:
      return order <= 0;
    case Comparison::greater:
    case Comparison::greater_or_unset:
      return order > 0;
    case Comparison::greater_or_equal:
      return order >= 0;
  }
  return false;
}

/// Of one end of a range. `starts_with` is no matter of order.
[[nodiscard]] constexpr bool satisfies(int order, KeyOperator key_operator) {
  switch (key_operator) {
    case KeyOperator::equal:
      return order == 0;
    case KeyOperator::after:
      return order > 0;
    case KeyOperator::at_or_after:
      return order >= 0;
    case KeyOperator::before:
      return order < 0;
    case KeyOperator::at_or_before:
      return order <= 0;
    case KeyOperator::starts_with:
      break;
  }
  return false;
}

}  // namespace rowsocket::sql_values
