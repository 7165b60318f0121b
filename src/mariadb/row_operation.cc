// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <string>

#include "mariadb/binding.h"
#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "mariadb/row_addition.h"
#include "mariadb/row_operation.h"
#include "mariadb/row_rules.h"

namespace rowsocket::mariadb {
namespace {

Operated fail(Error& error, Error why) {
  error = std::move(why);
  return Operated::failed;
}

std::string quoted(const Field* field) { return std::string("column '") + field->field_name.str + "'"; }

Operated set(THD* thd, TABLE* table, const Field* field, const Value& value, bool raw, Error& error) {
  error = store_value(thd, field_to_fill(table, field), value, raw);
  return error.ok() ? Operated::done : Operated::failed;
}

/// The field's value as a number from 0 to 2^64 - 1; false if it is none.
bool read_counter(Field* field, uint64_t& number) {
  if (field->is_null()) {
    return false;
  }
  if (!is_string_column(field)) {
    const longlong bits = field->val_int();
    number = static_cast<uint64_t>(bits);
    return bits >= 0 || (field->flags & UNSIGNED_FLAG) != 0;
  }
  StringBuffer<64> buffer;
  const String* const text = field->val_str(&buffer);
  StringBuffer<64> digits;
  uint failed_characters = 0;
  return !digits.copy(text->ptr(), text->length(), field->charset(), &my_charset_latin1,
                      &failed_characters) &&
         sql_values::parse_counter({digits.ptr(), digits.length()}, number);
}

/// As memcached's incr and decr.
Operated count(THD* thd, Field* field, bool down, const Value& amount, Error& error) {
  const bool has_digits = is_whole_number_column(field) && field->type() != MYSQL_TYPE_BIT;
  if (!is_string_column(field) && !has_digits) {
    return fail(error, {ErrorCode::bad_modification, quoted(field) + " is neither a whole number nor text"});
  }
  uint64_t before = 0;
  uint64_t delta = 0;
  if (!read_counter(field, before)) {
    return fail(error, {ErrorCode::not_a_number, quoted(field) + " holds no number from 0 to 2^64 - 1"});
  }
  if (!sql_values::parse_counter(amount.view(), delta)) {
    return fail(error, {ErrorCode::not_a_number, "the amount is no number from 0 to 2^64 - 1"});
  }
  const uint64_t after = sql_values::count(before, delta, down);
  field->store(static_cast<longlong>(after), true);
  if (thd->is_error()) {
    return fail(error, take_server_error(thd, ErrorCode::sql));
  }
  return is_another_year(field, after) ? fail(error, out_of_range(field)) : Operated::done;
}

/// The value in the field's own character set.
Error convert(const Field* field, const Value& value, bool raw, String& converted) {
  CHARSET_INFO* const from = wire_charset(field, raw);
  uint failed_characters = 0;
  if (converted.copy(value.data, value.size, from, field->charset(), &failed_characters)) {
    return ErrorCode::out_of_memory;
  }
  return failed_characters == 0 ? Error()
                                : Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
                                        "not text that " + quoted(field) + " can hold");
}

/// Bytes of binary columns, characters of text. What is joined to NULL is all there is.
Operated join(THD* thd, Field* field, bool prepends, const Value& given, bool raw, Error& error) {
  if (!is_string_column(field)) {
    return fail(error, {ErrorCode::bad_modification, quoted(field) + " is not text"});
  }
  char now_text[MAX_DATE_STRING_REP_LENGTH];
  const Value value = given.is_now() ? Value(now_as_text(thd, field, now_text)) : given;
  StringBuffer<MAX_FIELD_WIDTH> added;
  if (error = convert(field, value, raw, added); !error.ok()) {
    return Operated::failed;
  }
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  const String empty("", 0, field->charset());
  const String* const there = field->is_null() ? &empty : field->val_str(&buffer);
  const size_t bytes = size_t{there->length()} + added.length();
  if (bytes > thd->variables.max_allowed_packet) {  // as in SQL
    return fail(error, {ErrorCode::sql, ER_WARN_ALLOWED_PACKET_OVERFLOWED, "longer than max_allowed_packet"});
  }
  // In memory of its own: what is there may lie where the field stores.
  StringBuffer<MAX_FIELD_WIDTH> joined(field->charset());
  const String& front = prepends ? added : *there;
  const String& back = prepends ? *there : added;
  if (joined.reserve(bytes) || joined.append(front) || joined.append(back)) {
    return fail(error, ErrorCode::out_of_memory);
  }
  field->set_notnull();
  const int truncation = field->store(joined.ptr(), joined.length(), field->charset());
  if (thd->is_error()) {
    return fail(error, take_storing_error(thd, field));
  }
  // SQL drops white space with a note, and behind a CHAR without one.
  if (truncation != 0 || !fits_char(field, {joined.ptr(), joined.length()}, field->charset())) {
    clear_diagnostics(thd);
    return fail(error, not_held_whole(field));
  }
  return Operated::done;
}

}  // namespace

Operated operate(THD* thd, TABLE* table, Field* field, Operation asked, const Value& value, bool raw,
                 bool keeps_signs, Error& error) {
  if (sql_values::changes_nothing(asked, value.is_null(), field->is_null())) {
    return Operated::done;
  }
  if (error = refuse_generated(field); !error.ok()) {
    return Operated::failed;
  }
  if (asked == Operation::add_whole) {  // what is no number is told by the sum
    if (Error before = require_whole_number(field); before.reason == Reason::out_of_range) {
      return fail(error, std::move(before));
    }
  }
  Operated operated = Operated::failed;
  switch (asked) {
    case Operation::set:
      operated = set(thd, table, field, value, raw, error);
      break;
    case Operation::add:
    case Operation::subtract:
    case Operation::add_from_zero:
    case Operation::add_whole:
      operated = add_to_field(thd, field, value, {asked == Operation::subtract, keeps_signs}, error);
      break;
    case Operation::add_wrapping:
    case Operation::subtract_to_zero:
      operated = count(thd, field, asked == Operation::subtract_to_zero, value, error);
      break;
    case Operation::append:
    case Operation::prepend:
      operated = join(thd, field, asked == Operation::prepend, value, raw, error);
      break;
  }
  if (operated == Operated::done && asked == Operation::add_whole) {
    error = require_whole_number(field);
    operated = error.ok() ? Operated::done : Operated::failed;
  }
  if (operated == Operated::done) {
    field->set_has_explicit_value();
  }
  return operated;
}

}  // namespace rowsocket::mariadb
