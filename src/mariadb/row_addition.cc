// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cmath>
#include <string>
#include <string_view>

#include "mariadb/binding.h"
#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "mariadb/row_addition.h"

namespace rowsocket::mariadb {

Error out_of_range(const Field* field) {
  return Error(ErrorCode::sql, ER_WARN_DATA_OUT_OF_RANGE,
               std::string("out of range for column '") + field->field_name.str + "'")
      .because(Reason::out_of_range);
}

bool is_another_year(Field* field, sql_values::Wide stored) {
  return field->real_type() == MYSQL_TYPE_YEAR && field->val_int() != stored;
}

namespace {

using sql_values::Sum;
using sql_values::SumRules;
using sql_values::Wide;

Error no_number(std::string_view what) {
  return Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE, what).because(Reason::no_number);
}

Operated not_stored(Sum sum, const Field* field, Error& error) {
  if (sum == Sum::crosses_zero) {
    return Operated::refused;
  }
  error = out_of_range(field);
  return Operated::failed;
}

Operated outcome(THD* thd, Error& error) {
  if (thd->is_error()) {
    error = take_server_error(thd, ErrorCode::sql);
    if (error.number == ER_WARN_DATA_OUT_OF_RANGE || error.number == ER_DATA_TOO_LONG) {
      error.reason = Reason::out_of_range;
    }
    return Operated::failed;
  }
  return Operated::done;
}

Operated add_integer(THD* thd, Field* field, Wide before, const Value& amount, SumRules rules, Error& error) {
  Wide delta = 0;
  if (!sql_values::parse_amount(amount.view(), delta)) {
    error = no_number("'" + std::string(amount.view()) + "' is not a whole number");
    return Operated::failed;
  }
  Wide after = 0;
  if (const Sum sum = sql_values::add(before, delta, rules, after); sum != Sum::fits) {
    return not_stored(sum, field, error);
  }
  field->store(static_cast<longlong>(after), after > LONGLONG_MAX);
  const Operated stored = outcome(thd, error);
  if (stored == Operated::done && is_another_year(field, after)) {
    error = out_of_range(field);
    return Operated::failed;
  }
  return stored;
}

Operated add_decimal(THD* thd, Field* field, const Value& amount, SumRules rules, Error& error) {
  my_decimal before_buffer;
  my_decimal delta;
  my_decimal after;
  const my_decimal* const before = field->val_decimal(&before_buffer);
  const char* end = amount.data + amount.size;
  char* stop = const_cast<char*>(end);
  if (amount.size == 0 || internal_str2dec(amount.data, &delta, &stop, 0) != 0 || stop != end) {
    error = no_number("'" + std::string(amount.view()) + "' is not a decimal number");
    return Operated::failed;
  }
  if (!keeps_digits(field, amount.view())) {
    error = not_held_whole(field);
    return Operated::failed;
  }
  const int overflow =
      rules.subtracts ? my_decimal_sub(0, &after, before, &delta) : my_decimal_add(0, &after, before, &delta);
  if (overflow != 0) {
    error = out_of_range(field);
    return Operated::failed;
  }
  const bool changes_sign =
      !my_decimal_is_zero(before) && !my_decimal_is_zero(&after) && before->sign() != after.sign();
  if (rules.keeps_signs && changes_sign) {
    return Operated::refused;
  }
  field->store_decimal(&after);
  return outcome(thd, error);
}

Operated add_real(THD* thd, Field* field, const Value& amount, SumRules rules, Error& error) {
  char* end = const_cast<char*>(amount.data + amount.size);
  int conversion_error = 0;
  const double delta = my_strtod(amount.data, &end, &conversion_error);
  if (amount.size == 0 || conversion_error != 0 || end != amount.data + amount.size ||
      !std::isfinite(delta)) {
    error = no_number("'" + std::string(amount.view()) + "' is not a number");
    return Operated::failed;
  }
  if (!keeps_digits(field, amount.view())) {
    error = not_held_whole(field);
    return Operated::failed;
  }
  const double before = field->val_real();
  double after = 0;
  if (const Sum sum = sql_values::add(before, delta, rules, after); sum != Sum::fits) {
    return not_stored(sum, field, error);
  }
  field->store(after);
  return outcome(thd, error);
}

Error no_whole_number(const Field* field) {
  return no_number(std::string("column '") + field->field_name.str + "' holds no whole number");
}

/// The digits of a text, whatever its character set.
bool read_whole_text(Field* field, Wide& number) {
  StringBuffer<64> buffer;
  StringBuffer<64> digits;
  const String* const text = field->val_str(&buffer);
  uint failed_characters = 0;
  return !digits.copy(text->ptr(), text->length(), field->charset(), &my_charset_latin1,
                      &failed_characters) &&
         sql_values::parse_amount({digits.ptr(), digits.length()}, number);
}

/// Text columns count where they hold a whole number, as some old users have it.
Operated add_text(THD* thd, Field* field, const Value& amount, SumRules rules, Error& error) {
  Wide before = 0;
  if (!read_whole_text(field, before)) {
    error = no_whole_number(field);
    return Operated::failed;
  }
  return add_integer(thd, field, before, amount, rules, error);
}

}  // namespace

bool is_whole_number_column(const Field* field) {
  switch (field->real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_BIT:
    case MYSQL_TYPE_YEAR:
      return true;
    default:
      return false;
  }
}

Error require_whole_number(Field* field) {
  if (field->is_null()) {
    return {};  // counts as 0
  }
  if (is_string_column(field)) {
    Wide number = 0;
    if (!read_whole_text(field, number)) {
      return no_whole_number(field);
    }
    return number < INT64_MIN || number > INT64_MAX ? out_of_range(field) : Error();
  }
  if (field->real_type() == MYSQL_TYPE_NEWDECIMAL) {
    my_decimal buffer;
    longlong number = 0;
    switch (decimal2longlong(field->val_decimal(&buffer), &number)) {
      case E_DEC_OK:
        return {};
      case E_DEC_OVERFLOW:
        return out_of_range(field);
      default:
        return no_whole_number(field);
    }
  }
  if (!is_whole_number_column(field) || field->real_type() == MYSQL_TYPE_BIT) {
    return no_whole_number(field);
  }
  const bool is_beyond = (field->flags & UNSIGNED_FLAG) != 0 && field->val_int() < 0;
  return is_beyond ? out_of_range(field) : Error();
}

namespace {

bool holds_numbers(const Field* field) {
  switch (field->real_type()) {
    case MYSQL_TYPE_NEWDECIMAL:
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
      return true;
    default:
      return is_string_column(field) || is_whole_number_column(field);
  }
}

}  // namespace

Operated add_to_field(THD* thd, Field* field, const Value& amount, SumRules rules, Error& error) {
  if (!holds_numbers(field)) {
    error = Error(ErrorCode::bad_modification,
                  std::string("column '") + field->field_name.str + "' is not a number");
    return Operated::failed;
  }
  if (field->is_null()) {  // which counts as 0 where it is not to stay
    field->set_notnull();
    field->store(0LL, false);
  }
  if (is_string_column(field)) {
    return add_text(thd, field, amount, rules, error);
  }
  if (is_whole_number_column(field)) {
    const longlong bits = field->val_int();
    const bool is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
    return add_integer(thd, field, is_unsigned ? static_cast<Wide>(static_cast<ulonglong>(bits)) : bits,
                       amount, rules, error);
  }
  return field->real_type() == MYSQL_TYPE_NEWDECIMAL ? add_decimal(thd, field, amount, rules, error)
                                                     : add_real(thd, field, amount, rules, error);
}

}  // namespace rowsocket::mariadb
