// SPDX-License-Identifier: GPL-2.0-only
//
// Finds, with what is done to the rows found.
//
//   operator count value... [limit offset [clause...] [modification]]
#include <optional>

#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

/// What the original notices when it has read the whole line.
struct Mistakes {
  bool end_operator = false;
  bool no_end_values = false;
  bool modification = false;
};

std::optional<KeyOperator> key_operator_of(std::string_view token) {
  if (token == "=") {
    return KeyOperator::equal;
  }
  if (token == ">") {
    return KeyOperator::after;
  }
  if (token == ">=") {
    return KeyOperator::at_or_after;
  }
  if (token == "<") {
    return KeyOperator::before;
  }
  if (token == "<=") {
    return KeyOperator::at_or_before;
  }
  if (token == "^=") {
    return KeyOperator::starts_with;
  }
  return std::nullopt;
}

std::optional<Comparison> comparison_of(std::string_view token) {
  if (token == "=") {
    return Comparison::equal;
  }
  if (token == "!=") {
    return Comparison::not_equal;
  }
  if (token == ">") {
    return Comparison::greater;
  }
  if (token == ">=") {
    return Comparison::greater_or_equal;
  }
  if (token == "<") {
    return Comparison::less;
  }
  if (token == "<=") {
    return Comparison::less_or_equal;
  }
  return std::nullopt;
}

Modification modification_of(char byte) {
  switch (byte) {
    case 'U':
      return Modification::update;
    case 'D':
      return Modification::remove;
    case '+':
      return Modification::increment;
    case '-':
      return Modification::decrement;
    default:
      return Modification::none;
  }
}

bool goes_up(KeyOperator key_operator) { return key_operator == KeyOperator::after || key_operator == KeyOperator::at_or_after; }

bool goes_down(KeyOperator key_operator) {
  return key_operator == KeyOperator::before || key_operator == KeyOperator::at_or_before;
}

// --- Clauses

/// @ part count value...
void parse_in_list(TokenReader& reader, Parsing& parsing, Request& request) {
  reader.token();
  request.has_in_list = true;
  request.in_key_part = clamp_to_32_bits(reader.number());
  const uint64_t count = reader.number();
  // A few values may be missing, as in a key. Were it any number, a short line could ask for a million of them.
  if (count == 0 || count > parsing.limits.in_values_max || count > reader.tokens_left_max() + limits::value_count_max) {
    reader.fail(ErrorCode::bad_in_list);
  }
  request.in_values = take_values(reader, parsing, static_cast<size_t>(count));
}

/// @@ count value...
void parse_key_list(TokenReader& reader, Parsing& parsing, Request& request) {
  reader.token();
  request.has_in_list = true;
  request.lists_whole_keys = true;
  const uint64_t count = require_number(reader);
  if (count == 0 || count > parsing.limits.in_values_max) {
    reader.fail(ErrorCode::bad_in_list);
    return;
  }
  request.in_values = require_values(reader, parsing, static_cast<size_t>(count) * request.values.size());
}

/// T operator count value...
void parse_end(TokenReader& reader, Parsing& parsing, Request& request, Mistakes& mistakes) {
  reader.token();
  request.has_end = true;
  require_token(reader);
  const std::optional<KeyOperator> end_operator = key_operator_of(reader.token());
  const uint64_t count = require_number(reader);
  if (count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
    return;
  }
  request.end_values = require_values(reader, parsing, static_cast<size_t>(count));
  request.end_operator = end_operator.value_or(KeyOperator::equal);
  mistakes.end_operator = !(goes_up(request.key_operator) && goes_down(request.end_operator)) &&
                          !(goes_down(request.key_operator) && goes_up(request.end_operator));
  mistakes.no_end_values = count == 0;
}

/// L rows
void parse_limit_per_value(TokenReader& reader, Request& request) {
  reader.token();
  request.limit_per_value = std::min(require_number(reader), row_count_max);
  if (request.limit_per_value == 0) {
    reader.fail(ErrorCode::syntax);
  }
}

bool at_filter(const TokenReader& reader) { return reader.next_begins_with('F') || reader.next_begins_with('W'); }

/// F|W comparison column value
Filter take_filter(TokenReader& reader) {
  Filter filter;
  const std::string_view type = reader.token();
  const std::optional<Comparison> comparison = comparison_of(reader.token());
  if (type.size() != 1 || !comparison) {
    reader.fail(ErrorCode::bad_filter_type);
    return filter;
  }
  filter.stop_at_mismatch = type == "W";
  filter.comparison = *comparison;
  filter.filter_column = clamp_to_32_bits(reader.number());
  filter.value = reader.value();
  return filter;
}

void parse_filters(TokenReader& reader, Parsing& parsing, Request& request) {
  size_t count = 0;
  for (TokenReader ahead = reader; at_filter(ahead); ++count) {
    if (count == limits::filter_count_max) {
      reader.fail(ErrorCode::too_many_values);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      ahead.token();
    }
  }
  const std::span<Filter> filters = take_array<Filter>(reader, parsing.arena, count);
  for (Filter& filter : filters) {
    filter = take_filter(reader);
  }
  request.filters = filters;
}

/// Parse the next clause. False if what comes next is none.
bool parse_clause(TokenReader& reader, Parsing& parsing, Request& request, Mistakes& mistakes) {
  const auto at_most_once = [&reader](bool was_there) {
    if (was_there) {
      reader.fail(ErrorCode::syntax);
    }
  };
  const std::string_view clause = reader.peek();
  if (at_filter(reader)) {
    at_most_once(!request.filters.empty());
    parse_filters(reader, parsing, request);
    return true;
  }
  if (clause == "@@") {
    at_most_once(request.has_in_list);
    parse_key_list(reader, parsing, request);
    return true;
  }
  switch (clause.size() == 1 ? clause[0] : '\0') {
    case '@':
      at_most_once(request.has_in_list);
      parse_in_list(reader, parsing, request);
      return true;
    case 'T':
      at_most_once(request.has_end);
      parse_end(reader, parsing, request, mistakes);
      return true;
    case 'R':
      at_most_once(request.reverse);
      reader.token();
      request.reverse = true;
      return true;
    case 'L':
      at_most_once(request.limit_per_value != 0);
      parse_limit_per_value(reader, request);
      return true;
    case 'C':
      at_most_once(request.has_columns);
      parse_columns(reader, request);
      return true;
    default:
      return false;
  }
}

// --- Modifications

/// What a find with a modification replies, by what stands after the modification's letter. None if it can not stand there.
std::optional<FindReply> reply_of(Modification modification, std::string_view suffix) {
  if (suffix.empty()) {
    return FindReply::count;
  }
  if (suffix == "?") {
    return FindReply::rows;
  }
  if (suffix == "!" && modification != Modification::remove) {
    return FindReply::rows_after;
  }
  return std::nullopt;
}

/// What is added or subtracted. Clients send empty tokens for columns that they leave alone.
std::span<const Value> take_amounts(TokenReader& reader, Parsing& parsing, size_t count, Request& request) {
  const std::span<Value> amounts = take_room_for_values(reader, parsing, count);
  for (Value& amount : amounts) {
    amount = reader.value();
    if (!parsing.limits.strict && amount.view().empty() && !amount.is_null() && !amount.is_now()) {
      amount = Value();
      request.is_lenient = true;
    }
  }
  return amounts;
}

/// modification value... False if there is no such modification.
bool parse_modification(TokenReader& reader, Parsing& parsing, Request& request) {
  const std::string_view token = reader.token();
  if (token.empty()) {
    return true;  // none: the original takes this for a plain find, and ignores what follows
  }
  if (token == "#") {
    request.reply = FindReply::count;
    return true;
  }
  const Modification modification = modification_of(token[0]);
  const std::optional<FindReply> reply = reply_of(modification, token.substr(1));
  if (modification == Modification::none || !reply) {
    return false;
  }
  request.modification = modification;
  request.reply = *reply;
  if (modification == Modification::remove) {
    return true;
  }
  const size_t count = reader.tokens_left(size_t{limits::value_count_max} + 1);
  if (count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
  }
  request.new_values =
      modification == Modification::update ? take_values(reader, parsing, count) : take_amounts(reader, parsing, count, request);
  request.drops_surplus = !parsing.limits.strict && !request.has_columns;
  if (modification != Modification::update &&
      std::any_of(request.new_values.begin(), request.new_values.end(), [](const Value& amount) { return amount.is_now(); })) {
    reader.fail(ErrorCode::syntax);
  }
  return true;
}

/// What follows a find's key values.
void parse_options(TokenReader& reader, Parsing& parsing, Request& request, Mistakes& mistakes) {
  const uint64_t limit = reader.number();
  request.offset = std::min(reader.number(), row_count_max);
  while (!reader.at_end() && parse_clause(reader, parsing, request, mistakes)) {
  }
  if (request.limit_per_value != 0 && !request.has_in_list) {
    reader.fail(ErrorCode::syntax);
  }
  if (!reader.at_end()) {
    mistakes.modification = !parse_modification(reader, parsing, request);
  }
  const bool counts_rows = request.modification == Modification::none && request.reply == FindReply::count;
  request.limit = counts_rows && limit == 0 ? row_count_max : std::clamp(limit, uint64_t{1}, row_count_max);
}

}  // namespace

void parse_find(std::string_view operator_token, TokenReader& reader, Parsing& parsing, Request& request) {
  const bool is_sql = operator_token == "S";  // reserved by the original, and never built
  const std::optional<KeyOperator> key_operator = key_operator_of(operator_token);
  request.key_operator = key_operator.value_or(KeyOperator::equal);
  const uint64_t value_count = reader.number();
  if (value_count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
    return;
  }
  request.values = take_values(reader, parsing, static_cast<size_t>(value_count));
  Mistakes mistakes;
  if (!reader.at_end()) {
    parse_options(reader, parsing, request, mistakes);
  }
  // These the original notices when it has read the whole line, in this order.
  if (!is_sql && (!key_operator || mistakes.end_operator)) {
    reader.fail(ErrorCode::bad_operator);
  } else if (value_count == 0 || mistakes.no_end_values) {
    reader.fail(ErrorCode::no_key_values);
  } else if (is_sql) {
    reader.fail(ErrorCode::not_implemented);
  } else if (mistakes.modification) {
    reader.fail(ErrorCode::bad_modification);
  } else if (request.has_in_list && !request.lists_whole_keys && request.in_key_part >= value_count) {
    reader.fail(ErrorCode::too_many_key_parts);
  }
}

}  // namespace rowsocket::wire::handlersocket
