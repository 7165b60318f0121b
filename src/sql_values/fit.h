// SPDX-License-Identifier: GPL-2.0-only
//
// A searched value may be one that no row can have: out of its column's range, too long, a date that is none.
// Then the nearest value that a row can have takes its place. This file is about the side on which the
// searched value lies.
#pragma once

#include <cstdint>

namespace rowsocket::sql_values {

/// Where the searched value lies, seen from the one that took its place.
enum class Fit : uint8_t {
  exact,
  below,
  above,
  lower_end,  ///< before every value of the column; nothing took its place
  unordered,  ///< no comparison with it is true; nothing took its place
  malformed   ///< not a value of the column's type
};

/// `order` is less than, equal to or greater than 0, as the searched value is to the one that took its place.
[[nodiscard]] constexpr Fit side_of(int order) {
  return order == 0 ? Fit::exact : order < 0 ? Fit::below : Fit::above;
}

/// `order` is that of a row's value to the one that took the place. Returns the order of the row's value to
/// the searched one.
[[nodiscard]] constexpr int order_to_searched(int order, Fit fit) {
  if (order != 0 || fit == Fit::exact) {
    return order;
  }
  return fit == Fit::above ? -1 : 1;
}

}  // namespace rowsocket::sql_values
