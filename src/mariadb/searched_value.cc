// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstring>
#include <utility>

#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "mariadb/searched_value.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {
namespace {

std::atomic<bool> strict_keys{false};

/// The number's bits in two's complement if the column can hold it; else which side it lies on.
Fit fit_integer(const Integer& number, bool overflow, const KeyPart& part, uint64_t& bits) {
  const unsigned bit_count = part.integer_bytes * 8U;
  const uint64_t signed_max = (uint64_t{1} << (bit_count - 1)) - 1;
  const uint64_t max = part.is_unsigned ? signed_max * 2 + 1 : signed_max;
  const uint64_t negative_max = part.is_unsigned ? 0 : signed_max + 1;
  const bool is_negative = number.is_negative && (overflow || number.magnitude > 0);
  if (is_negative) {
    if (overflow || number.magnitude > negative_max) {
      bits = ~negative_max + 1;
      return Fit::below;
    }
    bits = ~number.magnitude + 1;
    return Fit::exact;
  }
  if (overflow || number.magnitude > max) {
    bits = max;
    return Fit::above;
  }
  bits = number.magnitude;
  return Fit::exact;
}

bool is_negative_text(const Value& value) { return value.size > 0 && value.data[0] == '-'; }

/// On which side of the stored number the searched one lies: more digits than the column has are rounded with
/// no more than a note.
Fit side_of_number(Field* field, const Value& value) {
  my_decimal wanted;
  my_decimal stored;
  str2my_decimal(0, value.data, value.size, &my_charset_utf8mb4_general_ci, &wanted);
  const int side = my_decimal_cmp(&wanted, field->val_decimal(&stored));
  return side == 0 ? Fit::exact : side < 0 ? Fit::below : Fit::above;
}

/// The same for dates and times, whose surplus digits are cut or, as sql_mode says, rounded: fractions of a
/// second, and the time of day where the column is a date.
Fit side_of_time(const THD* thd, const Field* field, const Value& value) {
  std::string_view surplus = value.view();
  const bool is_date = field->type() == MYSQL_TYPE_DATE;
  if (is_date) {
    surplus.remove_prefix(std::min(surplus.find_first_of(" T"), surplus.size()));
  } else {
    const size_t point = surplus.find('.');
    surplus.remove_prefix(point == std::string_view::npos
                              ? surplus.size()
                              : std::min(point + 1 + field->decimals(), surplus.size()));
  }
  if (surplus.find_first_of("123456789") == std::string_view::npos) {
    return Fit::exact;
  }
  const bool is_rounded_up =
      !is_date && (thd->variables.sql_mode & MODE_TIME_ROUND_FRACTIONAL) != 0 && surplus[0] >= '5';
  return is_negative_text(value) != is_rounded_up ? Fit::below : Fit::above;
}

Fit side_of_stored(const THD* thd, Field* field, const Value& value) {
  switch (field->cmp_type()) {
    case INT_RESULT:
    case DECIMAL_RESULT:
      return field->real_type() == MYSQL_TYPE_BIT ? Fit::exact : side_of_number(field, value);
    case TIME_RESULT:
      return side_of_time(thd, field, value);
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
  constexpr uint days_in_month[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (time.year == 0) {
    field->reset();
    return;
  }
  const bool is_leap_year = calc_days_in_year(time.year) == 366;
  const auto days_in = [&](uint month) {
    return days_in_month[month - 1] + (month == 2 && is_leap_year ? 1 : 0);
  };
  const bool is_no_day = time.month == 0 || time.day == 0 || time.day > days_in(time.month);
  if (time.month == 0 || (time.month == 1 && time.day == 0)) {
    --time.year;
    time.month = 12;
    time.day = 31;
  } else if (is_no_day) {
    time.month -= time.day == 0 ? 1 : 0;
    time.day = days_in(time.month);
  }
  if (is_no_day) {
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

bool parse_integer(std::string_view text, Integer& number, bool& overflow) {
  overflow = false;
  const char* from = text.data();
  const char* const end = from + text.size();
  number.is_negative = from != end && *from == '-';
  if (from != end && (*from == '-' || *from == '+')) {
    ++from;
  }
  const auto [stop, failure] = std::from_chars(from, end, number.magnitude);
  if (stop != end || from == end) {
    return false;
  }
  overflow = failure == std::errc::result_out_of_range;
  return true;
}

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
      return is_negative_text(value) ? Fit::below : Fit::above;
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
  Integer number;
  bool overflow = false;
  if (part.integer_bytes > 0 && parse_integer(value.view(), number, overflow)) [[likely]] {
    uint64_t bits = 0;
    const Fit fit = fit_integer(number, overflow, part, bits);
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
