// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "mariadb/as_in_select.h"
#include "mariadb/conversion.h"
#include "mariadb/searched_time.h"
#include "mariadb/searched_value.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"
#include "mariadb/text_bounds.h"
#include "sql_values/dates.h"
#include "sql_values/whole_number.h"

namespace rowsocket::mariadb {
namespace {

std::atomic<bool> strict_keys{false};

bool is_of_members(const Field* field) {
  return field->real_type() == MYSQL_TYPE_ENUM || field->real_type() == MYSQL_TYPE_SET;
}

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

/// The text in the column's character set. False if that lacks a character of it.
bool in_charset_of(const Field* field, const Value& value, bool raw, String& text) {
  uint failed_characters = 0;
  return !text.copy(value.data, value.size, wire_charset(field, raw), field->charset(), &failed_characters) &&
         failed_characters == 0;
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
  field->store(static_cast<longlong>(nearest), false);
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

/// Of text that is longer than its column, stores what it is without the characters that its collation
/// ignores, if that is equal to it and fits: SQL finds the same with either.
bool store_without_ignored(Field* field, const Value& value, bool raw) {
  CHARSET_INFO* const charset = field->charset();
  StringBuffer<MAX_FIELD_WIDTH> searched;
  StringBuffer<MAX_FIELD_WIDTH> kept(charset);
  return in_charset_of(field, value, raw, searched) && take_without_ignored(charset, searched, kept) &&
         charset->numchars(kept.ptr(), kept.end()) <= field->char_length() &&
         field->store(kept.ptr(), kept.length(), charset) == 0;
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
  const uint copied =
      field->get_key_image(image, length, field->ptr, is_spatial(*key) ? Field::itMBR : Field::itRAW);
  if (copied < length && !is_variable) {
    field->charset()->fill(reinterpret_cast<char*>(image) + copied, length - copied, ' ');
  }
}

/// The member that is the empty text, from 1. 0 if there is none.
uint empty_member(const Field* field) {
  const TYPELIB* const members = members_of(field);
  for (uint i = 0; i < members->count; ++i) {
    if (field->charset()->strnncollsp(members->type_names[i], members->type_lengths[i], "", 0) == 0) {
      return i + 1;
    }
  }
  return 0;
}

/// The numbers of an ENUM or SET that may be shown as the stored one is. The error value of an ENUM is shown
/// as the empty text, and of a SET one often does not see whether it has an empty member. False if one number
/// is.
bool find_both_numbers(Field* field, ulonglong& lesser, ulonglong& greater) {
  const uint member = empty_member(field);
  const auto stored = static_cast<ulonglong>(field->val_int());
  if (field->real_type() == MYSQL_TYPE_SET) {
    const ulonglong bit = member == 0 ? 0 : 1ULL << (member - 1);
    lesser = stored & ~bit;
    greater = stored | bit;
    return bit != 0;
  }
  lesser = 0;
  greater = member;
  return member > 0 && (stored == 0 || stored == member);
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

Error no_order(const Field* field) {
  return Error(ErrorCode::sql, ER_CANT_AGGREGATE_2COLLATIONS,
               std::string("the character set of column '") + field->field_name.str +
                   "' lacks a character of what it is compared with");
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
  const bool is_longer = (fit == Fit::above || fit == Fit::below) && is_string_column(part.field);
  if (is_longer && !part.is_prefix && store_without_ignored(part.info->field, value, raw)) {
    fit = Fit::exact;
  }
  const bool has_place = fit == Fit::exact || fit == Fit::below;
  if (part.is_prefix && has_place && exceeds_prefix(part, value, raw)) {
    fit = Fit::above;
  }
  if (part.is_prefix && part.is_text_apart && fit == Fit::above) {
    // What counts for nothing takes no room in the prefix.
    static_cast<void>(store_without_ignored(part.info->field, value, raw));
  }
  copy_key_part(key, part, image);
  return fit;
}

bool write_both_ends(TABLE* table, const KEY* key, const KeyPart& part, const Value& value, bool raw,
                     bool is_equal, uchar* lesser, uchar* greater) {
  CHARSET_INFO* const charset = part.field->charset();
  StringBuffer<MAX_FIELD_WIDTH> searched;
  StringBuffer<MAX_FIELD_WIDTH> kept(charset);
  if (!in_charset_of(part.field, value, raw, searched) || !take_without_ignored(charset, searched, kept)) {
    return false;
  }
  const size_t characters_max = part.info->length / charset->mbmaxlen;
  TextBounds bounds;
  const bool has_ends = part.is_prefix
                            ? bounds_of_beginning(charset, searched, kept, characters_max, is_equal,
                                                  part.field->real_type() == MYSQL_TYPE_STRING, bounds)
                            : bounds_of_text(charset, kept, characters_max, bounds);
  if (!has_ends) {
    return false;
  }
  Field* const field = part.info->field;
  const SecondRecord second(table, field);
  field->store(bounds.greater.data(), bounds.greater.size(), charset);
  copy_key_part(key, part, greater);
  field->store(bounds.lesser.data(), bounds.lesser.size(), charset);
  copy_key_part(key, part, lesser);
  return true;
}

bool write_both_places(THD* thd, TABLE* table, const KEY* key, const KeyPart& part, uchar* lesser,
                       uchar* greater) {
  Field* const field = part.info->field;
  const SecondRecord second(table, field);
  if (is_of_members(field)) {
    ulonglong lesser_number = 0;
    ulonglong greater_number = 0;
    if (!find_both_numbers(field, lesser_number, greater_number)) [[likely]] {
      return false;
    }
    field->store(static_cast<longlong>(greater_number), true);
    copy_key_part(key, part, greater);
    field->reset();
    if (lesser_number > 0) {
      field->store(static_cast<longlong>(lesser_number), true);
    }
    copy_key_part(key, part, lesser);
    return true;
  }
  TwoMoments both;
  if (!find_both_moments(thd, field, both)) [[likely]] {
    return false;
  }
  field->store_timestamp(both.later, both.fraction);
  copy_key_part(key, part, greater);
  field->store_timestamp(both.earlier, both.fraction);
  copy_key_part(key, part, lesser);
  return true;
}

}  // namespace rowsocket::mariadb
