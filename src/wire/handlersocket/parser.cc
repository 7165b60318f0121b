// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/parser.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/limits.h"
#include "wire/handlersocket/token_reader.h"

namespace rowsocket::wire::handlersocket {
namespace {

/// limit and offset are cut to this, so that their sum fits 64 bits. No table has as many rows.
constexpr uint64_t row_count_max = std::numeric_limits<int64_t>::max();

uint32_t clamp_to_32_bits(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, std::numeric_limits<uint32_t>::max()));
}

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

/// The next `count` tokens as values; the missing ones are empty strings. `count` has been checked against its limit.
std::span<const Value> take_values(TokenReader& reader, Arena& arena, size_t count) {
  if (!reader.ok() || count == 0) {
    return {};
  }
  const std::span<Value> values = arena.array<Value>(count);
  if (values.empty()) {
    reader.fail(ErrorCode::out_of_memory);
  }
  for (Value& value : values) {
    value = reader.value();
  }
  return values;
}

/// A name or a list of names: the bytes as they came. The NULL token is an empty name (clients send it for what they leave out).
std::string_view take_name(TokenReader& reader) {
  const std::string_view token = reader.token();
  if (token == null_token) {
    return {};
  }
  if (token.find('\0') != std::string_view::npos) {
    reader.fail(ErrorCode::syntax);  // no name has it, and who passes names on as C strings would see another name
  }
  return token;
}

void parse_open_index(TokenReader& reader, const ParseLimits& limits, Request& request) {
  request.kind = RequestKind::open_index;
  request.index_id = clamp_to_32_bits(reader.number());
  if (!reader.ok()) {
    request.index_id = index_id_invalid;
    return;
  }
  if (request.index_id >= limits.index_id_max) {
    reader.fail(ErrorCode::unknown_index_id);
    return;
  }
  request.open.database = take_name(reader);
  request.open.table = take_name(reader);
  request.open.index = take_name(reader);
  request.open.columns = take_name(reader);
  request.open.filter_columns = take_name(reader);
  const std::string_view option = take_name(reader);
  request.open.raw = option == "raw";
  if (!option.empty() && !request.open.raw) {
    reader.fail(ErrorCode::syntax);
  }
}

void parse_authenticate(TokenReader& reader, Request& request) {
  request.kind = RequestKind::authenticate;
  if (reader.token() == "1") {
    request.authentication_type = 1;
    request.secret = reader.value();
  }
}

/// @ part count value...
void parse_in_list(TokenReader& reader, const ParseLimits& limits, Arena& arena, Request& request) {
  reader.token();
  request.has_in_list = true;
  request.in_key_part = clamp_to_32_bits(reader.number());
  const uint64_t count = reader.number();
  // A few values may be missing, as in a key. Were it any number, a short line could ask for a million of them.
  if (count == 0 || count > limits.in_values_max || count > reader.tokens_left_max() + limits::value_count_max) {
    reader.fail(ErrorCode::bad_in_list);
  }
  request.in_values = take_values(reader, arena, static_cast<size_t>(count));
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

void parse_filters(TokenReader& reader, Arena& arena, Request& request) {
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
  if (count == 0) {
    return;
  }
  const std::span<Filter> filters = arena.array<Filter>(count);
  if (filters.empty()) {
    reader.fail(ErrorCode::out_of_memory);
    return;
  }
  for (Filter& filter : filters) {
    filter = take_filter(reader);
  }
  request.filters = filters;
}

/// modification value... False if there is no such modification.
bool parse_modification(TokenReader& reader, Arena& arena, Request& request) {
  const std::string_view token = reader.token();
  if (token.empty()) {
    return true;  // none: the original takes this for a plain find, and ignores what follows
  }
  request.modification = modification_of(token[0]);
  request.return_rows_before = token.size() == 2 && token[1] == '?';
  if (request.modification == Modification::none || token.size() != (request.return_rows_before ? 2U : 1U)) {
    request.modification = Modification::none;
    return false;
  }
  if (request.modification == Modification::remove) {
    return true;
  }
  const size_t count = reader.tokens_left(size_t{limits::value_count_max} + 1);
  if (count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
  }
  request.new_values = take_values(reader, arena, count);
  return true;
}

/// What follows a find's key values.
void parse_find_options(TokenReader& reader, const ParseLimits& limits, Arena& arena, Request& request,
                        bool& modification_known) {
  request.limit = std::clamp(reader.number(), uint64_t{1}, row_count_max);
  request.offset = std::min(reader.number(), row_count_max);
  if (reader.next_is("@")) {
    parse_in_list(reader, limits, arena, request);
  }
  parse_filters(reader, arena, request);
  if (!reader.at_end()) {
    modification_known = parse_modification(reader, arena, request);
  }
}

/// A find or an insert. `id_token` begins with a digit.
void parse_on_index(std::string_view id_token, TokenReader& reader, const ParseLimits& limits, Arena& arena, Request& request) {
  TokenReader id_reader(id_token, arena);
  request.index_id = clamp_to_32_bits(id_reader.number());
  if (!id_reader.ok()) {
    request.index_id = index_id_invalid;
  }
  const std::string_view operator_token = reader.token();
  const bool is_insert = operator_token == "+";
  const bool is_sql = operator_token == "S";  // reserved by the original, and never built
  const std::optional<KeyOperator> key_operator = key_operator_of(operator_token);
  request.kind = is_insert ? RequestKind::insert : RequestKind::find;
  request.key_operator = key_operator.value_or(KeyOperator::equal);
  if (request.index_id >= limits.index_id_max) {
    reader.fail(ErrorCode::unknown_index_id);
    return;
  }
  const uint64_t value_count = reader.number();
  if (value_count > limits::value_count_max) {
    reader.fail(ErrorCode::too_many_values);
    return;
  }
  request.values = take_values(reader, arena, static_cast<size_t>(value_count));
  bool modification_known = true;
  if (!is_insert && !reader.at_end()) {
    parse_find_options(reader, limits, arena, request, modification_known);
  }
  // These the original notices when it has read the whole line, in this order.
  if (!is_insert && !is_sql && !key_operator) {
    reader.fail(ErrorCode::bad_operator);
  } else if (value_count == 0) {
    reader.fail(ErrorCode::no_key_values);
  } else if (is_sql) {
    reader.fail(ErrorCode::not_implemented);
  } else if (!modification_known) {
    reader.fail(ErrorCode::bad_modification);
  } else if (request.has_in_list && request.in_key_part >= value_count) {
    reader.fail(ErrorCode::too_many_key_parts);
  }
}

/// `line` without its line end.
void parse_line(std::string_view line, const ParseLimits& limits, Arena& arena, Request& request) {
  TokenReader reader(line, arena);
  const std::string_view command = reader.token();
  if (!command.empty() && command[0] >= '0' && command[0] <= '9') {
    parse_on_index(command, reader, limits, arena, request);
  } else if (command == "P") {
    parse_open_index(reader, limits, request);
  } else if (command == "A") {
    parse_authenticate(reader, request);
  } else {
    reader.fail(ErrorCode::unknown_command);
  }
  request.parse_error = reader.error();
}

}  // namespace

Parsed parse_request(std::string_view input, const ParseLimits& limits, Arena& arena, size_t& scanned_bytes, Request& request) {
  // The LF may stand right after the longest line allowed. Looking no further makes the outcome independent of how the bytes were
  // cut.
  const bool line_is_full = input.size() > limits.line_bytes_max;
  const size_t searched_end = line_is_full ? limits.line_bytes_max + 1 : input.size();
  const size_t searched_begin = std::min(scanned_bytes, searched_end);
  const void* const found =
      searched_begin == searched_end ? nullptr : std::memchr(input.data() + searched_begin, '\n', searched_end - searched_begin);
  if (found == nullptr) {
    scanned_bytes = searched_end;
    if (!line_is_full) {
      return {Parsed::Status::need_more, 0};
    }
    request = Request{};
    request.parse_error = ErrorCode::line_too_long;
    return {Parsed::Status::fatal, input.size()};
  }
  const auto line_bytes = static_cast<size_t>(static_cast<const char*>(found) - input.data());
  std::string_view line = input.substr(0, line_bytes);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  request = Request{};
  parse_line(line, limits, arena, request);
  scanned_bytes = 0;
  return {Parsed::Status::request, line_bytes + 1};
}

}  // namespace rowsocket::wire::handlersocket
