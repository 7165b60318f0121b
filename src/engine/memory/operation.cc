// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/operation.h"

#include <charconv>
#include <string>
#include <string_view>

namespace rowsocket::engine::memory {
namespace {

constexpr int er_out_of_range = 1264;
constexpr int er_truncated_wrong_value = 1292;

/// Text as a number of the type; false if it is none, or beyond the type's ends.
template <typename Number>
bool parse(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

Error out_of_range(const Column& column) {
  return {ErrorCode::sql, er_out_of_range, "Out of range value for column '" + column.name + "'"};
}

Error add(const Column& column, bool subtracts, const Value& amount, Cell& cell) {
  std::string canonical;
  if (column.type != ColumnType::integer || !canonical_integer(amount.view(), canonical)) {
    return {ErrorCode::sql, er_truncated_wrong_value,
            "Truncated incorrect integer value for column '" + column.name + "'"};
  }
  int64_t before = 0;
  int64_t delta = 0;
  int64_t after = 0;
  if (!parse(*cell, before) || !parse(canonical, delta) ||
      (subtracts ? __builtin_sub_overflow(before, delta, &after)
                 : __builtin_add_overflow(before, delta, &after))) {
    return out_of_range(column);
  }
  cell = std::to_string(after);
  return {};
}

/// As memcached's incr and decr: over 64 bits without a sign.
Error count(const Table& table, size_t column, bool subtracts, const Value& amount, Cell& cell) {
  uint64_t before = 0;
  uint64_t delta = 0;
  const std::string& name = table.columns()[column].name;
  if (!cell.has_value() || !parse(*cell, before)) {
    return {ErrorCode::not_a_number, "column '" + name + "' holds no number from 0 to 2^64 - 1"};
  }
  if (!parse(amount.view(), delta)) {
    return {ErrorCode::not_a_number, "the amount is no number from 0 to 2^64 - 1"};
  }
  const uint64_t after = !subtracts ? before + delta : (delta < before ? before - delta : 0);
  const std::string text = std::to_string(after);
  return table.convert(column, Value(std::string_view(text)), cell);
}

Error join(const Table& table, size_t column, const Value& front, const Value& back, Cell& cell) {
  const Column& target = table.columns()[column];
  if (target.type != ColumnType::text) {
    return {ErrorCode::bad_modification, "column '" + target.name + "' is not text"};
  }
  const std::string text = std::string(front.view()).append(back.view());
  return table.convert(column, Value(std::string_view(text)), cell);
}

}  // namespace

Error operate(const Table& table, size_t column, Operation operation, const Value& value, Cell& cell) {
  if (operation == Operation::set) {
    return table.convert(column, value, cell);
  }
  if (value.is_null()) {
    return {};
  }
  const Value there = cell.has_value() ? Value(std::string_view(*cell)) : Value();
  switch (operation) {
    case Operation::add:
    case Operation::subtract:
      return there.is_null() ? Error()
                             : add(table.columns()[column], operation == Operation::subtract, value, cell);
    case Operation::add_wrapping:
    case Operation::subtract_to_zero:
      return count(table, column, operation == Operation::subtract_to_zero, value, cell);
    case Operation::append:
      return join(table, column, there, value, cell);
    case Operation::prepend:
      return join(table, column, value, there, cell);
    case Operation::set:
      break;
  }
  return {};
}

bool changes_sign(Operation operation, const Cell& before, const Cell& after) {
  if ((operation != Operation::add && operation != Operation::subtract) || !before.has_value() ||
      !after.has_value()) {
    return false;
  }
  const Cell zero = "0";
  return compare(ColumnType::integer, before, zero) * compare(ColumnType::integer, after, zero) < 0;
}

}  // namespace rowsocket::engine::memory
