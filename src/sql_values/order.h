// SPDX-License-Identifier: GPL-2.0-only
//
// Which rows an operator wants. An `order` is less than, equal to or greater than 0, as a row's value is to
// the one that it is compared with. Inline: a walk asks for each row.
#pragma once

#include "request/request.h"

namespace rowsocket::sql_values {

/// Of a filter. The engine knows what is unset for `greater_or_unset`.
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

/// Of one end of a range. No order decides about `starts_with`.
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
