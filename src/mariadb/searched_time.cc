// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>

#include "mariadb/as_in_select.h"
#include "mariadb/searched_time.h"
#include "sql_values/dates.h"

namespace rowsocket::mariadb {
namespace {

constexpr my_time_t day_s = 24 * 3600;

my_time_t seconds_of(const MYSQL_TIME& time) {
  constexpr my_time_t seconds_in_minute = 60;
  constexpr my_time_t seconds_in_hour = 3600;
  return static_cast<my_time_t>(calc_daynr(time.year, time.month, time.day)) * day_s +
         static_cast<my_time_t>(time.hour) * seconds_in_hour +
         static_cast<my_time_t>(time.minute) * seconds_in_minute + static_cast<my_time_t>(time.second);
}

/// What the session's clock shows, in seconds.
my_time_t shown_at(THD* thd, my_time_t moment) {
  MYSQL_TIME time;
  thd->variables.time_zone->gmt_sec_to_TIME(&time, moment);
  return seconds_of(time);
}

/// A day before it and a day behind it are moments, too.
bool has_days_beside(my_time_t moment) { return moment >= day_s && moment <= TIMESTAMP_MAX_VALUE - day_s; }

/// The first moment behind a time that the clock has passed over near `moment`.
my_time_t first_behind(THD* thd, my_time_t moment, my_time_t wanted) {
  constexpr my_time_t far_s = 3 * day_s;  // zones have left out a whole day
  my_time_t before = moment - far_s;
  my_time_t behind = moment + far_s;
  while (behind - before > 1) {
    const my_time_t middle = before + (behind - before) / 2;
    (shown_at(thd, middle) > wanted ? behind : before) = middle;
  }
  return behind;
}

/// A TIMESTAMP holds moments only: of a day that is none, the last moment before it, of an hour that the
/// clock passed over, the first moment behind it, and of one too late the latest that there is.
void store_moment(THD* thd, Field* field, MYSQL_TIME time) {
  if (time.year == 0) {
    field->reset();
    return;
  }
  sql_values::Day day = {time.year, time.month, time.day};
  if (sql_values::move_to_real_day(day)) {
    time.year = day.year;
    time.month = day.month;
    time.day = day.day;
    time.hour = 23;
    time.minute = time.second = 59;
    time.second_part = TIME_MAX_SECOND_PART;
  }
  uint warning = 0;
  const my_time_t moment = thd->variables.time_zone->TIME_to_gmt_sec(&time, &warning);
  const my_time_t wanted = seconds_of(time);
  // The warning is not enough: in the system's own zone the server gives it for gaps of an hour only.
  if (moment != 0 && shown_at(thd, moment) != wanted) {
    field->store_timestamp(first_behind(thd, moment, wanted), 0);
    return;
  }
  const int failure = field->store_time_dec(&time, TIME_SECOND_PART_DIGITS);
  constexpr uint last_year = 2038;
  if (failure != 0 && time.year >= last_year) {
    field->store_timestamp(TIMESTAMP_MAX_VALUE, TIME_MAX_SECOND_PART);
  }
}

/// The text as SQL compares it with a date or a time. False without memory.
bool pack_time(THD* thd, bool is_time, const Value& value, longlong& packed) {
  auto* const text = new (thd->mem_root)
      Item_string(thd, value.data, static_cast<uint>(value.size), &my_charset_utf8mb4_general_ci);
  if (text == nullptr) {
    return false;
  }
  packed = is_time ? text->val_time_packed(thd) : text->val_datetime_packed(thd);
  packed = text->null_value ? 0 : packed;
  return true;
}

}  // namespace

Fit store_nearest_time(THD* thd, Field* field, const Value& value) {
  const bool is_time = field->type() == MYSQL_TYPE_TIME;
  longlong wanted = 0;
  if (!pack_time(thd, is_time, value, wanted)) {
    return Fit::malformed;
  }
  MYSQL_TIME time;
  unpack_time(wanted, &time, is_time ? MYSQL_TIMESTAMP_TIME : MYSQL_TIMESTAMP_DATETIME);
  my_datetime_trunc(&time, field->decimals());  // TIME_ROUND_FRACTIONAL would pass over a month 0
  field->set_notnull();
  if (field->type() == MYSQL_TYPE_TIMESTAMP) {
    store_moment(thd, field, time);
  } else {
    static_cast<void>(field->store_time_dec(&time, TIME_SECOND_PART_DIGITS));
  }
  const longlong stored = is_time ? field->val_time_packed(thd) : field->val_datetime_packed(thd);
  return sql_values::side_of(wanted < stored ? -1 : wanted > stored ? 1 : 0);
}

bool is_shown(THD* thd, Field* field, const Value& value) {
  ulong fraction = 0;
  const my_time_t moment = field->get_timestamp(&fraction);
  if (!has_days_beside(moment) || shown_at(thd, moment + day_s) - shown_at(thd, moment - day_s) == 2 * day_s)
      [[likely]] {
    return true;  // the clock does not change here
  }
  const AsInSelect as_in_select(thd);
  longlong wanted = 0;
  return pack_time(thd, false, value, wanted) && wanted == field->val_datetime_packed(thd);
}

bool find_both_moments(THD* thd, const Field* field, TwoMoments& both) {
  const my_time_t moment = field->get_timestamp(&both.fraction);
  if (!has_days_beside(moment)) {
    return false;
  }
  const my_time_t shown = shown_at(thd, moment);
  for (const my_time_t beside : {moment - day_s, moment + day_s}) {
    const my_time_t other = shown - (shown_at(thd, beside) - beside);
    if (other != moment && shown_at(thd, other) == shown) {
      both.earlier = std::min(moment, other);
      both.later = std::max(moment, other);
      return true;
    }
  }
  return false;
}

bool is_shown_twice(THD* thd, const Field* field, const Value& value, longlong& shown) {
  TwoMoments both;
  if (field->type() != MYSQL_TYPE_TIMESTAMP || !find_both_moments(thd, field, both)) [[likely]] {
    return false;
  }
  const AsInSelect as_in_select(thd);
  return pack_time(thd, false, value, shown);
}

}  // namespace rowsocket::mariadb
