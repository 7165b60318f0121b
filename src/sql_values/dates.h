// SPDX-License-Identifier: GPL-2.0-only
//
// Dates and times that are searched for, where the column can not hold them as they are.
#pragma once

#include <cstddef>
#include <string_view>

#include "sql_values/fit.h"

namespace rowsocket::sql_values {

/// How a column of dates or times stores text that says more than it can hold.
struct TimeColumn {
  bool is_date;     ///< it drops the time of day
  size_t decimals;  ///< digits of a second's fraction that it keeps
  bool rounds;      ///< instead of cutting off further digits
};

/// On which side of the stored value the text's lies, because of what the column has dropped: digits of a
/// second's fraction, or the time of day. `text` is a date or time.
[[nodiscard]] Fit side_of_dropped(std::string_view text, TimeColumn column);

/// A day that SQL lets stand in a date, such as 30 February or the day 0 of a month. The month is at most 12.
struct Day {
  unsigned year;  ///< at least 1
  unsigned month;
  unsigned day;
};

/// True if there is no such day. Then `day` becomes the last real one before it.
[[nodiscard]] bool move_to_real_day(Day& day);

}  // namespace rowsocket::sql_values
