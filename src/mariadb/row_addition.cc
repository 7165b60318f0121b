// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <cmath>

#include "mariadb/binding.h"
#include "mariadb/conversion.h"
#include "mariadb/diagnostics.h"
#include "mariadb/row_addition.h"

namespace rowsocket::mariadb {
namespace {

using Wide = __int128;

struct SumRules {
  bool subtracts;
  bool keeps_signs;
};

Error out_of_range(const Field* field) {
  return Error(ErrorCode::sql, ER_WARN_DATA_OUT_OF_RANGE,
               std::string("out of range for column '") + field->field_name.str + "'");
}

/// A whole number from text, wide enough that a 64-bit column plus it can not wrap.
bool parse_amount(const Value& amount, Wide& number) {
  const Value text = amount;
  size_t i = 0;
  bool negative = false;
  if (i < text.size && (text.data[i] == '-' || text.data[i] == '+')) {
    negative = text.data[i++] == '-';
  }
  constexpr size_t digits_max = 30;
  if (i == text.size || text.size - i > digits_max) {
    return false;
  }
  number = 0;
  for (; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') {
      return false;
    }
    number = number * 10 + (text.data[i] - '0');
  }
  number = negative ? -number : number;
  return true;
}

/// True if a sum carries the value over zero.
template <typename Number>
bool crosses_zero(const Number& before, const Number& after) {
  return (before < 0 && after > 0) || (before > 0 && after < 0);
}

Operated outcome(THD* thd, Error& error) {
  if (thd->is_error()) {
    error = take_server_error(thd, ErrorCode::sql);
    return Operated::failed;
  }
  return Operated::done;
}

Operated add_integer(THD* thd, Field* field, Wide before, const Value& amount, SumRules rules, Error& error) {
  Wide delta = 0;
  if (!parse_amount(amount, delta)) {
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE,
                  "'" + std::string(amount.view()) + "' is not a whole number");
    return Operated::failed;
  }
  const Wide after = rules.subtracts ? before - delta : before + delta;
  if (rules.keeps_signs && crosses_zero(before, after)) {
    return Operated::refused;
  }
  const bool fits_signed = after >= LONGLONG_MIN && after <= LONGLONG_MAX;
  const bool fits_unsigned = after >= 0 && after <= static_cast<Wide>(ULONGLONG_MAX);
  if (!fits_signed && !fits_unsigned) {
    error = out_of_range(field);
    return Operated::failed;
  }
  field->store(static_cast<longlong>(after), after > LONGLONG_MAX);
  return outcome(thd, error);
}

Operated add_decimal(THD* thd, Field* field, const Value& amount, SumRules rules, Error& error) {
  my_decimal before_buffer;
  my_decimal delta;
  my_decimal after;
  const my_decimal* const before = field->val_decimal(&before_buffer);
  const char* end = amount.data + amount.size;
  char* stop = const_cast<char*>(end);
  if (amount.size == 0 || internal_str2dec(amount.data, &delta, &stop, 0) != 0 || stop != end) {
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE,
                  "'" + std::string(amount.view()) + "' is not a decimal number");
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
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE,
                  "'" + std::string(amount.view()) + "' is not a number");
    return Operated::failed;
  }
  const double before = field->val_real();
  const double after = rules.subtracts ? before - delta : before + delta;
  if (rules.keeps_signs && crosses_zero(before, after)) {
    return Operated::refused;
  }
  if (!std::isfinite(after)) {
    error = out_of_range(field);
    return Operated::failed;
  }
  field->store(after);
  return outcome(thd, error);
}

/// Text columns count where they hold a whole number, as some old users have it.
Operated add_text(THD* thd, Field* field, const Value& amount, SumRules rules, Error& error) {
  StringBuffer<64> buffer;
  const String* const text = field->val_str(&buffer);
  Wide before = 0;
  if (!parse_amount(Value(text->ptr(), text->length()), before)) {
    error = Error(ErrorCode::sql, ER_TRUNCATED_WRONG_VALUE,
                  std::string("column '") + field->field_name.str + "' holds no whole number");
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

Operated add_to_field(THD* thd, Field* field, const Value& amount, bool subtracts, bool keeps_signs,
                      Error& error) {
  const SumRules rules = {subtracts, keeps_signs};
  if (is_string_column(field)) {
    return add_text(thd, field, amount, rules, error);
  }
  if (is_whole_number_column(field)) {
    const longlong bits = field->val_int();
    const bool is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
    return add_integer(thd, field, is_unsigned ? static_cast<Wide>(static_cast<ulonglong>(bits)) : bits,
                       amount, rules, error);
  }
  switch (field->real_type()) {
    case MYSQL_TYPE_NEWDECIMAL:
      return add_decimal(thd, field, amount, rules, error);
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
      return add_real(thd, field, amount, rules, error);
    default:
      error = Error(ErrorCode::bad_modification,
                    std::string("column '") + field->field_name.str + "' is not a number");
      return Operated::failed;
  }
}

}  // namespace rowsocket::mariadb
