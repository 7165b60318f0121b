// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/operation.h"

#include <string>
#include <string_view>
#include <utility>

#include "engine/memory/server_errors.h"

namespace rowsocket::engine::memory {

using sql_values::Sum;
using sql_values::SumRules;
using sql_values::Wide;

namespace {

Operated fail(Error& error, Error why) {
  error = std::move(why);
  return Operated::failed;
}

Operated convert(const Table& table, size_t column, std::string_view text, Cell& cell, Error& error) {
  error = table.convert(column, Value(text), cell);
  return error.ok() ? Operated::done : Operated::failed;
}

Error no_number(const Column& column) {
  return Error(ErrorCode::sql, er_truncated_wrong_value,
               "Truncated incorrect integer value for column '" + column.name + "'")
      .because(Reason::no_number);
}

Error out_of_range(const Column& column) {
  return Error(ErrorCode::sql, er_out_of_range, "Out of range value for column '" + column.name + "'")
      .because(Reason::out_of_range);
}

std::string text_of(Wide number) {
  return number < 0 ? std::to_string(static_cast<int64_t>(number))
                    : std::to_string(static_cast<uint64_t>(number));
}

Operated add(const Table& table, size_t column, SumRules rules, const Value& amount, Cell& cell,
             Error& error) {
  const Column& target = table.columns()[column];
  Wide before = 0;
  Wide delta = 0;
  Wide after = 0;
  if (target.type != ColumnType::integer || !sql_values::parse_amount(amount.view(), delta) ||
      !sql_values::parse_amount(*cell, before)) {
    return fail(error, no_number(target));
  }
  switch (sql_values::add(before, delta, rules, after)) {
    case Sum::crosses_zero:
      return Operated::refused;
    case Sum::out_of_range:
      return fail(error, out_of_range(target));
    case Sum::fits:
      break;
  }
  const Operated operated = convert(table, column, text_of(after), cell, error);
  error.reason = operated == Operated::failed ? Reason::out_of_range : error.reason;
  return operated;
}

Operated count(const Table& table, size_t column, bool down, const Value& amount, Cell& cell, Error& error) {
  uint64_t before = 0;
  uint64_t delta = 0;
  if (!cell.has_value() || !sql_values::parse_counter(*cell, before)) {
    return fail(error, {ErrorCode::not_a_number,
                        "column '" + table.columns()[column].name + "' holds no number from 0 to 2^64 - 1"});
  }
  if (!sql_values::parse_counter(amount.view(), delta)) {
    return fail(error, {ErrorCode::not_a_number, "the amount is no number from 0 to 2^64 - 1"});
  }
  return convert(table, column, std::to_string(sql_values::count(before, delta, down)), cell, error);
}

Operated join(const Table& table, size_t column, std::string_view front, std::string_view back, Cell& cell,
              Error& error) {
  const Column& target = table.columns()[column];
  if (target.type != ColumnType::text) {
    return fail(error, {ErrorCode::bad_modification, "column '" + target.name + "' is not text"});
  }
  return convert(table, column, std::string(front).append(back), cell, error);
}

}  // namespace

Error require_whole_number(const Table& table, size_t column, const Cell& cell) {
  const Column& target = table.columns()[column];
  Wide number = 0;
  if (cell.has_value() && !sql_values::parse_amount(*cell, number)) {
    return no_number(target);
  }
  return number < INT64_MIN || number > INT64_MAX ? out_of_range(target) : Error();
}

Operated operate(const Table& table, size_t column, Operation asked, const Value& value, bool keeps_signs,
                 Cell& cell, Error& error) {
  if (asked == Operation::add_whole) {
    // What is no number is told by the sum.
    if (Error before = require_whole_number(table, column, cell); before.reason == Reason::out_of_range) {
      return fail(error, std::move(before));
    }
    Cell counted = cell;
    Operated operated = operate(table, column, Operation::add_from_zero, value, keeps_signs, counted, error);
    if (operated == Operated::done) {
      error = require_whole_number(table, column, counted);
      operated = error.ok() ? Operated::done : Operated::failed;
    }
    if (operated == Operated::done) {
      cell = std::move(counted);
    }
    return operated;
  }
  if (sql_values::changes_nothing(asked, value.is_null(), !cell.has_value())) {
    return Operated::done;
  }
  const Operation operation = sql_values::without_null(asked, !cell.has_value());
  const std::string there = cell.value_or("");
  switch (operation) {
    case Operation::set:
      error = table.convert(column, value, cell);
      return error.ok() ? Operated::done : Operated::failed;
    case Operation::add:
    case Operation::subtract:
    case Operation::add_from_zero:  // these are one of the others by now
    case Operation::add_whole:
      return add(table, column, {operation == Operation::subtract, keeps_signs}, value, cell, error);
    case Operation::add_wrapping:
    case Operation::subtract_to_zero:
      return count(table, column, operation == Operation::subtract_to_zero, value, cell, error);
    case Operation::append:
      return join(table, column, there, value.view(), cell, error);
    case Operation::prepend:
      return join(table, column, value.view(), there, cell, error);
  }
  return Operated::failed;
}

}  // namespace rowsocket::engine::memory
