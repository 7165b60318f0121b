// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <utility>

#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "mariadb/searched_value.h"
#include "mariadb/server_thread.h"
#include "sql_values/dates.h"
#include "sql_values/whole_number.h"

namespace rowsocket::mariadb {
namespace {

std::atomic<bool> strict_keys{false};

/// On which side of the stored number the searched one lies: more digits than the column has are rounded with
/// no more than a note.
Fit side_of_number(Field* field, const Value& value) {
  my_decimal wanted;
  my_decimal stored;
  str2my_decimal(0, value.data, value.size, &my_charset_utf8mb4_general_ci, &wanted);
  return sql_values::side_of(my_decimal_cmp(&wanted, field->val_decimal(&stored)));
}

Fit side_of_stored(const THD* thd, Field* field, const Value& value) {
  switch (field->cmp_type()) {
    case INT_RESULT:
    case DECIMAL_RESULT:
      return field->real_type() == MYSQL_TYPE_BIT ? Fit::exact : side_of_number(field, value);
    case TIME_RESULT:
      return sql_values::side_of_dropped(
          value.view(), {.is_date = field->type() == MYSQL_TYPE_DATE,
                         .decimals = field->decimals(),
                         .rounds = (thd->variables.sql_mode & MODE_TIME_ROUND_FRACTIONAL) != 0});
    default:
      return Fit::exact;
  }
}

bool is_well_formed(const Field* field, const Value& value, bool raw) {
  const Well_formed_prefix prefix(wire_charset(field, raw), value.data, value.size);
  return prefix.length() == value.size;
}

bool is_number_or_time(const Field* field) {
  switch (field->real_type()) {
    case MYSQL_TYPE_BIT:
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET:
      return false;
    default:
      return !is_string_column(field) && field->cmp_type() != STRING_RESULT &&
             field->cmp_type() != ROW_RESULT;
  }
}

/// How SQL compares a number with text that is none: by the number that the text begins with, or by 0.
Value number_in(const Value& value) {
  const char* end = value.data + value.size;
  const char* from = value.data;
  while (from < end && std::isspace(static_cast<unsigned char>(*from)) != 0) {
    ++from;
  }
  char* stop = const_cast<char*>(end);
  int failure = 0;
  static_cast<void>(my_strtod(from, &stop, &failure));
  return stop == from ? Value("0") : Value(from, static_cast<size_t>(stop - from));
}

/// A TIMESTAMP holds moments only: of a day that is none, the last moment before it, and of one too late the
/// latest that there is.
void store_moment(Field* field, MYSQL_TIME time) {
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
  const int failure = field->store_time_dec(&time, TIME_SECOND_PART_DIGITS);
  constexpr uint last_year = 2038;
  if (failure != 0 && time.year >= last_year) {
    field->store_timestamp(TIMESTAMP_MAX_VALUE, TIME_MAX_SECOND_PART);
  }
}

/// The same for dates and times: what is none is the zero date, or no time at all, and a day that no month
/// has lies behind its last.
Fit store_as_sql_compares_times(THD* thd, Field* field, const Value& value) {
  auto* const text = new (thd->mem_root)
      Item_string(thd, value.data, static_cast<uint>(value.size), &my_charset_utf8mb4_general_ci);
  if (text == nullptr) {
    return Fit::malformed;
  }
  const bool is_time = field->type() == MYSQL_TYPE_TIME;
  const longlong packed = is_time ? text->val_time_packed(thd) : text->val_datetime_packed(thd);
  const longlong wanted = text->null_value ? 0 : packed;
  MYSQL_TIME time;
  unpack_time(wanted, &time, is_time ? MYSQL_TIMESTAMP_TIME : MYSQL_TIMESTAMP_DATETIME);
  field->set_notnull();
  if (field->type() == MYSQL_TYPE_TIMESTAMP) {
    store_moment(field, time);
  } else {
    static_cast<void>(field->store_time_dec(&time, TIME_SECOND_PART_DIGITS));
  }
  const longlong stored = is_time ? field->val_time_packed(thd) : field->val_datetime_packed(thd);
  return stored == wanted ? Fit::exact : stored < wanted ? Fit::above : Fit::below;
}

/// Values that are none of the field's type find what SQL's comparison finds. The server is asked as
/// leniently as for a SELECT.
Fit store_as_sql_compares(THD* thd, Field* field, const Value& value, bool raw) {
  const sql_mode_t sql_mode = thd->variables.sql_mode;
  constexpr sql_mode_t strictness =
      MODE_STRICT_TRANS_TABLES | MODE_STRICT_ALL_TABLES | MODE_NO_ZERO_DATE | MODE_NO_ZERO_IN_DATE;
  thd->variables.sql_mode = (sql_mode & ~strictness) | MODE_INVALID_DATES;
  const bool was_strict = std::exchange(thd->abort_on_warning, false);
  const enum_check_fields checks = std::exchange(thd->count_cuted_fields, CHECK_FIELD_IGNORE);
  Fit fit = Fit::malformed;
  if (field->cmp_type() == TIME_RESULT) {
    fit = store_as_sql_compares_times(thd, field, value);
  } else {
    const Value number = number_in(value);
    static_cast<void>(store_value(thd, field, number, raw));
    fit = side_of_stored(thd, field, number);
  }
  clear_diagnostics(thd);
  thd->variables.sql_mode = sql_mode;
  thd->abort_on_warning = was_strict;
  thd->count_cuted_fields = checks;
  ServerThread::of(thd).note_lenience();
  return fit;
}

/// Copies the value where the field points now into its place in a key image. Unlike key_copy() it takes the
/// bits of a BIT column from there, too.
void copy_key_part(const KEY* key, const KeyPart& part, uchar* image) {
  Field* const field = part.info->field;
  const uint length = part.info->length;
  if (part.is_nullable) {
    *image++ = 0;
  }
  const bool is_variable = (part.info->key_part_flag & (HA_BLOB_PART | HA_VAR_LENGTH_PART)) != 0;
  const uint copied = field->get_key_image(image, length, field->ptr,
                                           (key->flags & HA_SPATIAL) != 0 ? Field::itMBR : Field::itRAW);
  if (copied < length && !is_variable) {
    field->charset()->fill(reinterpret_cast<char*>(image) + copied, length - copied, ' ');
  }
}

void write_integer(uchar* image, uint64_t bits, uint8_t byte_count) {
  for (uint8_t i = 0; i < byte_count; ++i) {
    image[i] = static_cast<uchar>(bits >> (8 * i));
  }
}

/// True if the value has more characters than the part keeps, so that the index alone can not decide.
bool exceeds_prefix(const KeyPart& part, const Value& value, bool raw) {
  CHARSET_INFO* const charset = wire_charset(part.field, raw);
  const size_t characters_kept = part.info->length / part.field->charset()->mbmaxlen;
  return charset->numchars(value.data, value.data + value.size) >= characters_kept;
}

}  // namespace

void set_strict_keys(bool strict) { strict_keys.store(strict, std::memory_order_relaxed); }

Value searched_value(THD* thd, const Field* field, const Value& value,
                     char (&now_text)[MAX_DATE_STRING_REP_LENGTH]) {
  if (value.is_now()) [[unlikely]] {
    return Value(now_as_text(thd, field, now_text));
  }
  const bool is_number = field->cmp_type() == INT_RESULT || field->cmp_type() == DECIMAL_RESULT ||
                         field->cmp_type() == REAL_RESULT;
  return is_number && !value.is_null() && value.size == 0 && field->real_type() != MYSQL_TYPE_BIT ? Value("0")
                                                                                                  : value;
}

Fit store_searched(THD* thd, Field* field, const Value& value, bool raw, Error& error) {
  error = store_value(thd, field, value, raw);
  if (error.ok()) {
    return side_of_stored(thd, field, value);
  }
  switch (error.number) {
    case ER_DATA_TOO_LONG:
      return Fit::above;
    case ER_WARN_DATA_OUT_OF_RANGE:
      return value.view().starts_with('-') ? Fit::below : Fit::above;
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
      // A character that the column's character set lacks: no row has it, and what replaced it sorts before
      // it.
      if (is_string_column(field)) {
        return is_well_formed(field, value, raw) ? Fit::above : Fit::malformed;
      }
      break;
    default:
      break;
  }
  if (strict_keys.load(std::memory_order_relaxed) || !is_number_or_time(field)) {
    return Fit::malformed;
  }
  error = {};
  return store_as_sql_compares(thd, field, value, raw);
}

Fit write_key_part(THD* thd, TABLE* table, const KEY* key, const KeyPart& part, const Value& given, bool raw,
                   uchar* image, Error& error) {
  char now_text[MAX_DATE_STRING_REP_LENGTH];
  const Value value = searched_value(thd, part.field, given, now_text);
  if (value.is_null()) {
    if (!part.is_nullable) {
      return Fit::lower_end;
    }
    std::memset(image, 0, part.info->store_length);
    image[0] = 1;
    return Fit::exact;
  }
  sql_values::WholeNumber number;
  if (part.integer_bytes > 0 && parse(value.view(), number)) [[likely]] {
    uint64_t bits = 0;
    const Fit fit = sql_values::fit(number, {part.integer_bytes, part.is_unsigned}, bits);
    if (part.is_nullable) {
      *image++ = 0;
    }
    write_integer(image, bits, part.integer_bytes);
    return fit;
  }
  const SecondRecord second(table, part.info->field);
  Fit fit = store_searched(thd, part.info->field, value, raw, error);
  if (fit == Fit::malformed) {
    return fit;
  }
  if (fit == Fit::exact && part.is_prefix && exceeds_prefix(part, value, raw)) {
    fit = Fit::above;
  }
  copy_key_part(key, part, image);
  return fit;
}

}  // namespace rowsocket::mariadb
