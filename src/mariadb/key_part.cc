// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cstring>

#include "mariadb/conversion.h"
#include "mariadb/key_part.h"
#include "mariadb/searched_time.h"
#include "mariadb/searched_value.h"
#include "mariadb/server_differences.h"
#include "mariadb/text_bounds.h"
#include "sql_values/whole_number.h"

namespace rowsocket::mariadb {
namespace {

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
