// SPDX-License-Identifier: GPL-2.0-only
//
// Inserts: of one row, as the original has it, and of many.
//
//   +  count value...
//   ++ count rows value... [C columns] [I | R | [U positions] [+ positions]] [E]
#include <bitset>

#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

/// Positions in a row's values, of which each stands at most once in the clauses of one insert.
using PositionSet = std::bitset<limits::value_count_max>;

/// U positions, + positions: numbers below `count` with one comma between each two.
std::span<const uint32_t> require_positions(TokenReader& reader, Parsing& parsing, size_t count, PositionSet& seen) {
  require_token(reader);
  const std::string_view list = reader.token();
  const auto position_count = static_cast<size_t>(std::count(list.begin(), list.end(), ',')) + 1;
  if (position_count > count) {
    reader.fail(ErrorCode::syntax);
  }
  const std::span<uint32_t> positions = take_array<uint32_t>(reader, parsing.arena, position_count);
  std::string_view rest = list;
  for (uint32_t& position : positions) {
    const std::string_view digits = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(digits.size() + 1, rest.size()));
    TokenReader number(digits, parsing.arena);
    const uint64_t place = number.number();
    if (digits.empty() || !number.ok() || place >= count || seen.test(static_cast<size_t>(place))) {
      reader.fail(ErrorCode::syntax);
      return {};
    }
    seen.set(static_cast<size_t>(place));
    position = static_cast<uint32_t>(place);
  }
  return positions;
}

/// What is done to the row that a unique key has already. A second, other choice is a mistake; U and + are one.
void choose(TokenReader& reader, Request& request, OnDuplicate on_duplicate, bool was_there) {
  if (was_there || (request.on_duplicate != OnDuplicate::fail && request.on_duplicate != on_duplicate)) {
    reader.fail(ErrorCode::syntax);
  }
  request.on_duplicate = on_duplicate;
}

/// Parse one clause of an insert of rows of `count` values.
void parse_clause(TokenReader& reader, Parsing& parsing, Request& request, size_t count, PositionSet& seen) {
  if (reader.peek() == "C") {
    if (request.has_columns) {
      reader.fail(ErrorCode::syntax);
    }
    parse_columns(reader, request);
    return;
  }
  const std::string_view clause = reader.token();
  if (clause == "I") {
    choose(reader, request, OnDuplicate::keep, request.on_duplicate == OnDuplicate::keep);
  } else if (clause == "R") {
    choose(reader, request, OnDuplicate::replace, request.on_duplicate == OnDuplicate::replace);
  } else if (clause == "U") {
    choose(reader, request, OnDuplicate::update, !request.set_on_duplicate.empty());
    request.set_on_duplicate = require_positions(reader, parsing, count, seen);
  } else if (clause == "+") {
    choose(reader, request, OnDuplicate::update, !request.add_on_duplicate.empty());
    request.add_on_duplicate = require_positions(reader, parsing, count, seen);
  } else if (clause == "E" && !request.rows_alone) {
    request.rows_alone = true;
  } else {
    reader.fail(ErrorCode::syntax);
  }
}

}  // namespace

void parse_insert(TokenReader& reader, Parsing& parsing, Request& request) {
  const uint64_t count = reader.number();
  if (count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
    return;
  }
  request.values = take_values(reader, parsing, static_cast<size_t>(count));
  request.drops_surplus = !parsing.limits.strict;
  if (count == 0) {
    reader.fail(ErrorCode::no_key_values);
  }
}

void parse_insert_rows(TokenReader& reader, Parsing& parsing, Request& request) {
  const uint64_t count = require_number(reader);
  const uint64_t row_count = require_number(reader);
  if (count > limits::value_count_max || row_count > limits::insert_rows_max) {
    reader.fail(ErrorCode::too_many_values);
  } else if (count == 0 || row_count == 0) {
    reader.fail(ErrorCode::no_key_values);
  }
  if (!reader.ok()) {
    return;
  }
  request.row_count = static_cast<uint32_t>(row_count);
  request.reply_outcomes = true;
  request.values = require_values(reader, parsing, static_cast<size_t>(count * row_count));
  PositionSet seen;
  while (!reader.at_end()) {
    parse_clause(reader, parsing, request, static_cast<size_t>(count), seen);
  }
}

}  // namespace rowsocket::wire::handlersocket
