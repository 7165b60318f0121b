// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/dates.h"

#include <algorithm>

namespace rowsocket::sql_values {
namespace {

unsigned days_in_month(unsigned year, unsigned month) {
  constexpr unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && is_leap_year ? 1 : 0);
}

}  // namespace

Fit side_of_dropped(std::string_view text, TimeColumn column) {
  std::string_view dropped = text;
  if (column.is_date) {
    dropped.remove_prefix(std::min(dropped.find_first_of(" T"), dropped.size()));
  } else {
    const size_t point = std::min(dropped.find('.'), dropped.size());
    dropped.remove_prefix(std::min(point + 1 + column.decimals, dropped.size()));
  }
  if (dropped.find_first_of("123456789") == std::string_view::npos) {
    return Fit::exact;
  }
  const bool is_rounded_away_from_0 = !column.is_date && column.rounds && dropped[0] >= '5';
  return text.starts_with('-') != is_rounded_away_from_0 ? Fit::below : Fit::above;
}

bool move_to_real_day(Day& day) {
  if (day.month == 0 || (day.month == 1 && day.day == 0)) {
    day = {day.year - 1, 12, 31};
    return true;
  }
  if (day.day > 0 && day.day <= days_in_month(day.year, day.month)) {
    return false;
  }
  day.month -= day.day == 0 ? 1 : 0;
  day.day = days_in_month(day.year, day.month);
  return true;
}

}  // namespace rowsocket::sql_values
