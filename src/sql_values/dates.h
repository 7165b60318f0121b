// SPDX-License-Identifier: GPL-2.0-only
//
// Dates and times that are searched for, where the column can not hold them as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowsocket::sql_values {

enum class TimeKind : uint8_t { date, datetime, time };

/// True if a column that took the text as a date or time holds all that the text says. False where it may
/// have dropped something (a time of day, further digits of a fraction), and for text in another form than
/// SQL shows. `decimals`: digits of a second's fraction that the column keeps.
[[nodiscard]] bool is_held_whole(std::string_view text, TimeKind kind, size_t decimals);

/// A day that SQL lets stand in a date, such as 30 February or the day 0 of a month. The month is at most 12.
struct Day {
  unsigned year;  ///< at least 1
  unsigned month;
  unsigned day;
};

/// True if there is no such day. Then `day` becomes the last real one before it.
[[nodiscard]] bool move_to_real_day(Day& day);

}  // namespace rowsocket::sql_values
