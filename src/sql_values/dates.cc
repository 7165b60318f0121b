// SPDX-License-Identifier: GPL-2.0-only
#include "sql_values/dates.h"

namespace rowsocket::sql_values {
namespace {

unsigned days_in_month(unsigned year, unsigned month) {
  constexpr unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && is_leap_year ? 1 : 0);
}

/// 01:02:03, with no more digits of a fraction than `decimals`.
bool is_time_of_day(std::string_view text, size_t decimals) {
  constexpr size_t size = 8;
  return text.size() >= size && text[2] == ':' && text[5] == ':' &&
         (text.size() == size || (text[size] == '.' && text.size() - size - 1 <= decimals));
}

}  // namespace

bool is_held_whole(std::string_view text, TimeKind kind, size_t decimals) {
  constexpr size_t date_size = 10;  // 2024-02-29
  constexpr size_t time_size = 8;   // 01:02:03
  if (kind == TimeKind::time) {
    const size_t sign = text.starts_with('-') ? 1 : 0;
    const size_t colon = text.find(':');
    return (colon == sign + 2 || colon == sign + 3) && is_time_of_day(text.substr(colon - 2), decimals);
  }
  const bool begins_with_date = text.size() >= date_size && text[4] == '-' && text[7] == '-';
  if (!begins_with_date || text.size() == date_size || kind == TimeKind::date) {
    return begins_with_date && text.size() == date_size;
  }
  return text.size() > date_size + time_size && text[date_size] == ' ' &&
         is_time_of_day(text.substr(date_size + 1), decimals);
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
