// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstdio>

#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"

namespace rowsocket::mariadb {

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

Error store_value(THD* thd, Field* field, const Value& value, bool raw) {
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
    return store_value(thd, field, Value(now_as_text(thd, field, text)), false);
  }
  const int truncation = field->store(value.data, value.size, wire_charset(field, raw));
  if (thd->is_error()) [[unlikely]] {
    return take_server_error(thd, ErrorCode::sql);
  }
  if (truncation != 0) [[unlikely]] {
    // A note: trailing spaces, or more fraction digits than the column has, as in SQL.
    clear_diagnostics(thd);
  }
  return {};
}

}  // namespace rowsocket::mariadb
