// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>

#include "mariadb/as_in_select.h"
#include "mariadb/conversion.h"
#include "mariadb/searched_time.h"
#include "mariadb/searched_value.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"
#include "sql_values/dates.h"

namespace rowsocket::mariadb {
namespace {

std::atomic<bool> strict_keys{false};

bool is_well_formed(const Field* field, const Value& value, bool raw) {
  const Well_formed_prefix prefix(wire_charset(field, raw), value.data, value.size);
  return prefix.length() == value.size;
}

/// How SQL compares a number with text: by the number that the text begins with, or by 0.
struct Number {
  Value text;
  double value;
  bool is_beyond_all;  ///< of what any column can hold; `value` is the largest or least DOUBLE
};

Number number_in(const Value& value) {
  const char* end = value.data + value.size;
  const char* from = value.data;
  while (from < end && std::isspace(static_cast<unsigned char>(*from)) != 0) {
    ++from;
  }
  char* stop = const_cast<char*>(end);
  int failure = 0;
  const double number = my_strtod(from, &stop, &failure);
  const bool is_beyond_all = failure != 0 && (number > 1 || number < -1);
  return {stop == from ? Value("0") : Value(from, static_cast<size_t>(stop - from)), number, is_beyond_all};
}

/// On which side of the stored number the searched one lies: more digits than the column has are rounded with
/// no more than a note.
Fit side_of_number(Field* field, const Value& value) {
  my_decimal wanted;
  my_decimal stored;
  str2my_decimal(0, value.data, value.size, &my_charset_utf8mb4_general_ci, &wanted);
  return sql_values::side_of(my_decimal_cmp(&wanted, field->val_decimal(&stored)));
}

/// The same for FLOAT and DOUBLE. What a FLOAT shows is to find it again, so the searched number is rounded
/// as the column's are. (SQL compares as DOUBLE: there, 0.1 does not find what it shows as 0.1.)
Fit side_of_real(Field* field, double wanted) {
  const double stored = field->val_real();
  if (field->real_type() == MYSQL_TYPE_FLOAT && std::abs(wanted) <= std::numeric_limits<float>::max()) {
    wanted = static_cast<float>(wanted);
  }
  return wanted == stored ? Fit::exact : wanted < stored ? Fit::below : Fit::above;
}

/// The order of the searched text to the stored one, as SQL compares them. False if the column's character
/// set lacks a character of the searched one.
bool order_to_stored(Field* field, const Value& value, bool raw, int& order) {
  StringBuffer<MAX_FIELD_WIDTH> searched;
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  if (!in_charset_of(field, value, raw, searched)) {
    return false;
  }
  const String* const stored = field->val_str(&buffer);
  order = field->charset()->strnncollsp(searched.ptr(), searched.length(), stored->ptr(), stored->length());
  return true;
}

/// SQL compares ENUM and SET as text. A number or members in another order are stored, but are no text that a
/// row can have.
Fit side_of_members(Field* field, const Value& value, bool raw) {
  int order = 0;
  return order_to_stored(field, value, raw, order) && order == 0 ? Fit::exact : Fit::unordered;
}

/// Of text that its column took a part of. What was dropped may count for nothing (spaces, often), or stand
/// before nothing (a control character, where SQL compares as if spaces stood behind the shorter text).
Fit side_of_text(Field* field, const Value& value, bool raw) {
  int order = 0;
  return order_to_stored(field, value, raw, order) ? sql_values::side_of(order) : Fit::unordered;
}

bool loses_spaces_that_count(const Field* field, const Value& value) {
  return is_trimmed_char(field) && value.view().ends_with(' ');
}

/// As SQL, which makes a year of the text, and compares numbers only where it can not.
Fit store_nearest_year(Field* field, const Value& value) {
  constexpr int first_year = 1901;  // but for the year 0000
  constexpr int last_year = 2155;
  if (field->store(value.data, value.size, &my_charset_utf8mb4_general_ci) == 0) {
    return Fit::exact;
  }
  const double wanted = number_in(value).value;
  const double nearest = wanted < first_year ? 0 : std::min<double>(std::trunc(wanted), last_year);
  if (nearest == 0) {
    field->store(STRING_WITH_LEN("0000"), &my_charset_utf8mb4_general_ci);  // a YEAR(2) takes 0 for 2000
  } else {
    field->store(static_cast<longlong>(nearest), false);
  }
  return sql_values::side_of(wanted < nearest ? -1 : wanted > nearest ? 1 : 0);
}

Fit store_nearest_number(THD* thd, Field* field, const Value& value, bool raw) {
  const Number number = number_in(value);
  if (field->cmp_type() == REAL_RESULT) {
    field->store(number.value);
    return side_of_real(field, number.value);
  }
  if (number.is_beyond_all) {
    field->store(number.value);
    return number.value < 0 ? Fit::below : Fit::above;
  }
  bool is_noted = false;
  static_cast<void>(store_as_sql(thd, field, number.text, raw, is_noted));
  return side_of_number(field, number.text);
}

/// The value that a row can have which is the nearest to the searched one, as SQL compares it.
Fit store_nearest(THD* thd, Field* field, const Value& value, bool raw) {
  const AsInSelect as_in_select(thd);
  field->set_notnull();
  if (is_of_members(field)) {
    bool is_noted = false;
    static_cast<void>(store_as_sql(thd, field, value, raw, is_noted));
    return side_of_members(field, value, raw);
  }
  if (field->type() == MYSQL_TYPE_YEAR) {
    return store_nearest_year(field, value);
  }
  switch (field->cmp_type()) {
    case TIME_RESULT:
      return store_nearest_time(thd, field, value);
    case STRING_RESULT:
      return Fit::unordered;  // UUID, INET6: SQL makes NULL of it
    default:
      return store_nearest_number(thd, field, value, raw);
  }
}

/// On which side of what the field has taken the searched value lies.
Fit side_of_stored(THD* thd, Field* field, const Value& value, bool raw) {
  switch (field->real_type()) {
    case MYSQL_TYPE_BIT:
    case MYSQL_TYPE_YEAR:  // 70 is 1970
      return Fit::exact;
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET:
      return side_of_members(field, value, raw);
    default:
      break;
  }
  switch (field->cmp_type()) {
    case INT_RESULT:
    case DECIMAL_RESULT:
      return side_of_number(field, value);
    case REAL_RESULT:
      return side_of_real(field, number_in(value).value);
    case TIME_RESULT: {
      const bool is_taken = sql_values::is_held_whole(value.view(), time_kind(field), field->decimals()) &&
                            (field->type() != MYSQL_TYPE_TIMESTAMP || is_shown(thd, field, value));
      return is_taken ? Fit::exact : store_nearest(thd, field, value, raw);
    }
    default:
      return Fit::exact;
  }
}

}  // namespace

void set_strict_keys(bool strict) { strict_keys.store(strict, std::memory_order_relaxed); }

Value searched_value(THD* thd, const Field* field, const Value& value,
                     char (&now_text)[MAX_DATE_STRING_REP_LENGTH]) {
  if (value.is_now()) [[unlikely]] {
    return Value(now_as_text(thd, field, now_text));
  }
  if (value.is_null() || value.size > 0) [[likely]] {
    return value;
  }
  const bool is_number = field->cmp_type() == INT_RESULT || field->cmp_type() == DECIMAL_RESULT ||
                         field->cmp_type() == REAL_RESULT;
  if (!is_number || field->real_type() == MYSQL_TYPE_BIT || is_of_members(field)) {
    return value;
  }
  return field->type() == MYSQL_TYPE_YEAR ? Value("0000") : Value("0");
}

Fit store_searched(THD* thd, Field* field, const Value& value, bool raw, Error& error) {
  bool is_noted = false;
  error = store_as_sql(thd, field, value, raw, is_noted);
  const bool is_text = is_string_column(field);
  if (error.ok()) {
    if (!is_text) {
      return side_of_stored(thd, field, value, raw);
    }
    const bool is_stored =
        holds_whole_text(field, value, raw, is_noted) && !loses_spaces_that_count(field, value);
    return is_stored ? Fit::exact : side_of_text(field, value, raw);
  }
  switch (error.number) {
    case ER_DATA_TOO_LONG:
      error = {};
      return is_text ? side_of_text(field, value, raw) : Fit::above;
    case ER_WARN_DATA_OUT_OF_RANGE:
      error = {};
      return store_nearest(thd, field, value, raw);
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
      if (is_text && is_well_formed(field, value, raw)) {
        error = {};
        return Fit::unordered;  // no row has a character that the column's character set lacks
      }
      break;
    default:
      break;
  }
  const bool is_compared = !is_text && field->real_type() != MYSQL_TYPE_BIT &&
                           field->real_type() != MYSQL_TYPE_GEOMETRY && field->cmp_type() != ROW_RESULT;
  if (strict_keys.load(std::memory_order_relaxed) || !is_compared) {
    return Fit::malformed;
  }
  error = {};
  const Fit fit = store_nearest(thd, field, value, raw);
  if (!is_of_members(field) || fit != Fit::exact) {  // the error value of an ENUM is shown as an empty text
    ServerThread::of(thd).note_lenience();
  }
  return fit;
}

bool in_charset_of(const Field* field, const Value& value, bool raw, String& text) {
  uint failed_characters = 0;
  return !text.copy(value.data, value.size, wire_charset(field, raw), field->charset(), &failed_characters) &&
         failed_characters == 0;
}

Error no_order(const Field* field) {
  return Error(ErrorCode::sql, ER_CANT_AGGREGATE_2COLLATIONS,
               std::string("the character set of column '") + field->field_name.str +
                   "' lacks a character of what it is compared with");
}

}  // namespace rowsocket::mariadb
