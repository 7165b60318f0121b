// SPDX-License-Identifier: GPL-2.0-only
//
// The clauses of a find, in any order, each at most once:
//
//   @ part count value...          the values that one key part takes in turn
//   @@ count value...              whole keys
//   T operator count value...      the other end of a range
//   R                              the opposite order
//   L rows                         a limit for each key of a list
//   F|W comparison column value    filters, one behind the other
//   C columns                      other columns than the opened ones
#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

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

void parse_in_list(TokenReader& reader, Scope& scope, KeyList& list) {
  reader.token();
  list.is_given = true;
  list.part = clamp_to_32_bits(reader.number());
  const uint64_t count = reader.number();
  // A few values may be missing, as in a key. If any number could be missing, a short line could ask for a
  // million values.
  if (count == 0 || count > scope.settings.in_values_max ||
      count > reader.tokens_left_max() + limits::value_count_max) {
    reader.fail(ErrorCode::bad_in_list);
  }
  list.values = take_values(reader, scope, static_cast<size_t>(count));
}

void parse_key_list(TokenReader& reader, Scope& scope, KeyList& list, size_t key_size) {
  reader.token();
  list.is_given = true;
  list.holds_whole_keys = true;
  const uint64_t count = require_number(reader);
  if (count == 0 || count > scope.settings.in_values_max) {
    reader.fail(ErrorCode::bad_in_list);
    return;
  }
  list.values = require_values(reader, scope, static_cast<size_t>(count) * key_size);
}

void parse_end(TokenReader& reader, Scope& scope, KeyRange& range, Mistakes& mistakes) {
  reader.token();
  range.has_end = true;
  require_token(reader);
  const std::optional<KeyOperator> end_operator = key_operator_of(reader.token());
  const uint64_t count = require_number(reader);
  if (count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
    return;
  }
  range.end_key = require_values(reader, scope, static_cast<size_t>(count));
  range.end_operator = end_operator.value_or(KeyOperator::equal);
  mistakes.bad_operator = mistakes.bad_operator || !end_operator;
  mistakes.no_key_values = mistakes.no_key_values || count == 0;
}

void parse_limit_per_key(TokenReader& reader, KeyList& list) {
  reader.token();
  list.row_limit_per_key = std::min(require_number(reader), row_count_max);
  if (list.row_limit_per_key == 0) {
    reader.fail(ErrorCode::syntax);
  }
}

bool at_filter(const TokenReader& reader) { return reader.next_byte() == 'F' || reader.next_byte() == 'W'; }

Filter take_filter(TokenReader& reader) {
  Filter filter;
  const std::string_view type = reader.token();
  const std::optional<Comparison> comparison = comparison_of(reader.token());
  if (type.size() != 1 || !comparison) {
    reader.fail(ErrorCode::bad_filter_type);
    return filter;
  }
  filter.mismatch = type == "W" ? Mismatch::stop : Mismatch::skip;
  filter.comparison = *comparison;
  filter.filter_column = clamp_to_32_bits(reader.number());
  filter.value = reader.value();
  return filter;
}

std::span<const Filter> take_filters(TokenReader& reader, Scope& scope) {
  size_t count = 0;
  for (TokenReader ahead = reader; at_filter(ahead); ++count) {
    if (count == limits::filter_count_max) {
      reader.fail(ErrorCode::too_many_values);
      return {};
    }
    for (int i = 0; i < 4; ++i) {
      ahead.token();
    }
  }
  const std::span<Filter> filters = take_array<Filter>(reader, scope.arena, count);
  for (Filter& filter : filters) {
    filter = take_filter(reader);
  }
  return filters;
}

void at_most_once(TokenReader& reader, bool was_there) {
  if (was_there) {
    reader.fail(ErrorCode::syntax);
  }
}

/// A clause with a letter, or @@, for its word. False if the next token only begins with the letter.
bool parse_lettered_clause(char letter, TokenReader& reader, Scope& scope, Find& find, Mistakes& mistakes) {
  const std::string_view word = reader.peek();
  if (word == "@@") {
    at_most_once(reader, find.list.is_given);
    parse_key_list(reader, scope, find.list, find.range.key.size());
    return true;
  }
  if (word.size() != 1) {
    return false;
  }
  switch (letter) {
    case '@':
      at_most_once(reader, find.list.is_given);
      parse_in_list(reader, scope, find.list);
      break;
    case 'T':
      at_most_once(reader, find.range.has_end);
      parse_end(reader, scope, find.range, mistakes);
      break;
    case 'R':
      at_most_once(reader, find.range.reverse);
      reader.token();
      find.range.reverse = true;
      break;
    case 'L':
      at_most_once(reader, find.list.row_limit_per_key != 0);
      parse_limit_per_key(reader, find.list);
      break;
    default:
      at_most_once(reader, find.selection.has_columns);
      parse_columns(reader, find.selection);
  }
  return true;
}

}  // namespace

bool parse_clause(TokenReader& reader, Scope& scope, Find& find, Mistakes& mistakes) {
  const char letter = reader.next_byte();
  switch (letter) {
    case 'F':
    case 'W':
      at_most_once(reader, !find.filters.empty());
      find.filters = take_filters(reader, scope);
      return true;
    case '@':
    case 'T':
    case 'R':
    case 'L':
    case 'C':
      return parse_lettered_clause(letter, reader, scope, find, mistakes);
    default:
      return false;
  }
}

}  // namespace rowsocket::wire::handlersocket
