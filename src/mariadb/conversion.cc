// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <mysys_err.h>

#include <cstdio>
#include <string>

#include "mariadb/binding.h"
#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "sql_values/dates.h"
#include "sql_values/digits.h"

namespace rowsocket::mariadb {
namespace {

/// SQL drops digits of a second's fraction without a word. Whatever else it drops of a date or time it tells.
bool holds_fraction(const Field* field, const Value& value) {
  MYSQL_TIME time;
  MYSQL_TIME_STATUS status;
  const bool fails =
      field->type() == MYSQL_TYPE_TIME
          ? str_to_DDhhmmssff(value.data, value.size, &time, TIME_MAX_HOUR, &status)
          : str_to_datetime_or_date(value.data, value.size, &time, C_TIME_INVALID_DATES, &status);
  unsigned long step = 1;  // in microseconds, of what the column keeps
  for (uint digits = field->decimals(); digits < TIME_SECOND_PART_DIGITS; ++digits) {
    step *= 10;
  }
  return !fails && time.second_part % step == 0;
}

/// Of a value that the field has taken: false if it has altered it. `is_noted`: SQL has a note about that.
bool holds_whole(const Field* field, const Value& value, bool raw, bool is_noted) {
  switch (field->real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR:
      return !sql_values::has_digits_beyond(value.view(), 0);
    case MYSQL_TYPE_NEWDECIMAL:
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
      return keeps_digits(field, value.view());
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_DATETIME2:
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_TIMESTAMP2:
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_TIME2:
      return sql_values::is_held_whole(value.view(), time_kind(field), field->decimals()) ||
             (!is_noted && holds_fraction(field, value));
    default:
      return !is_string_column(field) || holds_whole_text(field, value, raw, is_noted);
  }
}

}  // namespace

std::string_view now_as_text(THD* thd, const Field* field, char (&text)[MAX_DATE_STRING_REP_LENGTH]) {
  MYSQL_TIME now;
  thd->variables.time_zone->gmt_sec_to_TIME(&now, thd->query_start());
  now.second_part = thd->query_start_sec_part();
  thd->used |= THD::TIME_ZONE_USED;
  switch (field->type()) {
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE:
      now.time_type = MYSQL_TIMESTAMP_DATE;
      return {text, static_cast<size_t>(my_date_to_str(&now, text))};
    case MYSQL_TYPE_TIME:
      now.time_type = MYSQL_TIMESTAMP_TIME;
      now.year = now.month = now.day = 0;
      return {text, static_cast<size_t>(my_time_to_str(&now, text, field->decimals()))};
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP:
      return {text, static_cast<size_t>(my_datetime_to_str(&now, text, field->decimals()))};
    case MYSQL_TYPE_YEAR:
      return {text, static_cast<size_t>(std::snprintf(text, sizeof(text), "%04u", now.year))};
    default:
      break;
  }
  if (field->cmp_type() == STRING_RESULT) {
    return {text, static_cast<size_t>(my_datetime_to_str(&now, text, 0))};
  }
  return {text, static_cast<size_t>(std::snprintf(text, sizeof(text), "%04u%02u%02u%02u%02u%02u", now.year,
                                                  now.month, now.day, now.hour, now.minute,
                                                  static_cast<unsigned>(now.second)))};
}

CHARSET_INFO* wire_charset(const Field* field, bool raw) {
  if (raw || field->charset() == &my_charset_bin || field->real_type() == MYSQL_TYPE_BIT) {
    return field->charset() == &my_charset_bin || raw ? field->charset() : &my_charset_bin;
  }
  return &my_charset_utf8mb4_general_ci;
}

sql_values::TimeKind time_kind(const Field* field) {
  switch (field->type()) {
    case MYSQL_TYPE_DATE:
      return sql_values::TimeKind::date;
    case MYSQL_TYPE_TIME:
      return sql_values::TimeKind::time;
    default:
      return sql_values::TimeKind::datetime;
  }
}

bool fits_char(const Field* field, std::string_view text, CHARSET_INFO* charset) {
  const size_t characters_max = field->char_length();
  if (field->real_type() != MYSQL_TYPE_STRING || text.size() <= characters_max || !field->has_charset())
      [[likely]] {
    return true;
  }
  const size_t size = charset->lengthsp(text.data(), text.size());
  return charset->numchars(text.data(), text.data() + size) <= characters_max;
}

bool holds_whole_text(const Field* field, const Value& value, bool raw, bool is_noted) {
  return !is_noted && fits_char(field, value.view(), wire_charset(field, raw));
}

bool keeps_digits(const Field* field, std::string_view number) {
  return field->decimals() >= FLOATING_POINT_DECIMALS ||
         !sql_values::has_digits_beyond(number, field->decimals());
}

Error not_held_whole(const Field* field) {
  const std::string column = std::string("column '") + field->field_name.str + "'";
  return is_string_column(field)
             ? Error(ErrorCode::sql, ER_DATA_TOO_LONG, "too long for " + column)
             : Error(ErrorCode::sql, WARN_DATA_TRUNCATED, column + " can not hold all of it");
}

Error take_storing_error(THD* thd, Field* field) {
  if (thd->get_stmt_da()->sql_errno() == EE_OUTOFMEMORY) {
    field->free();  // a TEXT or BLOB would go by the size of memory that it has given back
  }
  return take_server_error(thd, ErrorCode::sql);
}

Error store_value(THD* thd, Field* field, const Value& value, bool raw) {
  bool is_noted = false;
  Error error = store_as_sql(thd, field, value, raw, is_noted);
  if (!error.ok() || value.is_null() || value.is_now() || holds_whole(field, value, raw, is_noted)) {
    return error;
  }
  return not_held_whole(field);
}

Error store_as_sql(THD* thd, Field* field, const Value& value, bool raw, bool& is_noted) {
  is_noted = false;
  if (value.is_null()) {
    if (!field->maybe_null() && field->type() == MYSQL_TYPE_TIMESTAMP) {
      field->set_time();  // as in SQL
      return {};
    }
    if (!field->maybe_null() && field != field->table->next_number_field) {
      return Error(ErrorCode::sql, ER_BAD_NULL_ERROR,
                   std::string("column '") + field->field_name.str + "' cannot be NULL");
    }
    field->set_null();
    field->reset();
    return {};
  }
  field->set_notnull();
  if (value.is_now()) [[unlikely]] {
    char text[MAX_DATE_STRING_REP_LENGTH];
    if (field->type() == MYSQL_TYPE_TIMESTAMP || field->type() == MYSQL_TYPE_DATETIME) {
      field->set_time();  // exactly what DEFAULT CURRENT_TIMESTAMP stores
      return {};
    }
    return store_as_sql(thd, field, Value(now_as_text(thd, field, text)), false, is_noted);
  }
  is_noted = field->store(value.data, value.size, wire_charset(field, raw)) != 0;
  if (thd->is_error()) [[unlikely]] {
    return take_storing_error(thd, field);
  }
  if (is_noted) [[unlikely]] {
    clear_diagnostics(thd);
  }
  return {};
}

}  // namespace rowsocket::mariadb
