// SPDX-License-Identifier: GPL-2.0-only
//
// What the parser is made of. parser.cc finds where a request ends and which kind it is; parse_find.cc,
// parse_clauses.cc, parse_insert.cc and parse_group.cc read the rest of each kind. All of them read a line's
// tokens front to back, report the first mistake to the reader, and take no memory for a count before it is
// checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "request/protocol.h"
#include "wire/handlersocket/parser.h"
#include "wire/handlersocket/reply.h"
#include "wire/handlersocket/token_reader.h"

namespace rowsocket::wire::handlersocket {

/// limit and offset are cut to this, so that their sum fits 64 bits. No table has as many rows.
inline constexpr uint64_t row_count_max = std::numeric_limits<int64_t>::max();

/// What the parse of one request, or of one group, may use.
struct Scope {
  const Settings& settings;
  Arena& arena;
  Buffer& out;
  ConnectionState* connection;  ///< nullptr where nothing is to be remembered
  bool with_detail;             ///< errors carry the text for people
  size_t values_left = limits::request_values_max;
};

// Each of these makes a request with its reply. nullptr: memory is refused for them.

Request* parse_find(uint32_t id, std::string_view operator_token, TokenReader& reader, Scope& scope);
/// The rest of a line after `+`.
Request* parse_insert(uint32_t id, TokenReader& reader, Scope& scope);
/// The rest of a line after `++`.
Request* parse_insert_rows(uint32_t id, TokenReader& reader, Scope& scope);
/// Any request but a group. `line` without its line end.
Request* parse_line(std::string_view line, Scope& scope);
/// For a line that is no request, or no request that may stand here.
Request* refuse(ErrorCode mistake, Scope& scope);
/// A whole group; `lines` without its last LF. nullptr if it can not be answered; `error` says why.
Request* parse_group(std::string_view lines, Scope& scope, ErrorCode& error);

/// An object of each kind that says nothing yet.
template <typename Kind>
inline constexpr Kind blank;

template <typename Kind, typename KindOfReply = LineReply, typename... Arguments>
Kind* make_request(Scope& scope, Arguments... of_the_reply) {
  auto* const request = scope.arena.copy_of(blank<Kind>);
  auto* const reply = scope.arena.make<KindOfReply>(scope.out, scope.with_detail, of_the_reply...);
  if (request == nullptr || reply == nullptr) [[unlikely]] {
    return nullptr;
  }
  request->reply = reply;
  return request;
}

// ---- parts of a line

inline uint32_t clamp_to_32_bits(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, std::numeric_limits<uint32_t>::max()));
}

/// An array that `reader` can be failed for. Empty if `count` is 0 or the reader has failed.
template <typename Item>
std::span<Item> take_array(TokenReader& reader, Arena& arena, size_t count) {
  if (!reader.ok() || count == 0) {
    return {};
  }
  const std::span<Item> items = arena.array<Item>(count);
  if (items.empty()) {
    reader.fail(ErrorCode::out_of_memory);
  }
  return items;
}

/// Room for `count` items with a value each, if the request may have as many. `count` has been checked
/// against its own limit.
template <typename Item = Value>
std::span<Item> take_room_for_values(TokenReader& reader, Scope& scope, size_t count) {
  if (count > scope.values_left) {
    reader.fail(ErrorCode::too_many_values);
    return {};
  }
  scope.values_left -= count;
  return take_array<Item>(reader, scope.arena, count);
}

/// The next `count` tokens as values; the missing ones are empty strings.
inline std::span<const Value> take_values(TokenReader& reader, Scope& scope, size_t count) {
  const std::span<Value> values = take_room_for_values(reader, scope, count);
  for (Value& value : values) {
    value = reader.value();
  }
  return values;
}

// In an extension no token may be missing.

/// The next `count` tokens as values.
std::span<const Value> require_values(TokenReader& reader, Scope& scope, size_t count);

inline void require_token(TokenReader& reader) {
  if (!reader.has_token()) {
    reader.fail(ErrorCode::syntax);
  }
}

inline uint64_t require_number(TokenReader& reader) {
  require_token(reader);
  return reader.number();
}

/// A name or a list of names: the bytes as they came. The NULL token is an empty name: clients send it for a
/// name that they leave out.
std::string_view take_name(TokenReader& reader);

/// C columns: these take the place of the opened ones.
void parse_columns(TokenReader& reader, SelectionName& selection);

[[nodiscard]] inline std::optional<KeyOperator> key_operator_of(std::string_view token) {
  const bool with_equal = token.size() == 2 && token[1] == '=';
  if (token.size() != 1 && !with_equal) {
    return std::nullopt;
  }
  switch (token[0]) {
    case '=':
      return with_equal ? std::nullopt : std::optional(KeyOperator::equal);
    case '>':
      return with_equal ? KeyOperator::at_or_after : KeyOperator::after;
    case '<':
      return with_equal ? KeyOperator::at_or_before : KeyOperator::before;
    case '^':
      return with_equal ? std::optional(KeyOperator::starts_with) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// The mistakes that the original notices when it has read the whole line.
struct Mistakes {
  bool bad_operator = false;
  bool no_key_values = false;
  bool bad_modification = false;
};

/// The next clause of a find. False if the next token begins no clause.
bool parse_clause(TokenReader& reader, Scope& scope, Find& find, Mistakes& mistakes);

// ---- lines of a group

/// `line` without the CR that may stand before its LF.
inline std::string_view without_carriage_return(std::string_view line) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

/// Whether the input begins with the first line of a group. While that line is not complete, it makes no
/// difference.
inline bool begins_group(std::string_view input) {
  return input.starts_with('G') &&
         (input.starts_with("G\t") || input.starts_with("G\n") || input.starts_with("G\r\n"));
}
/// Whether the LF at `line_end` ends the last line of a group that begins with the input.
inline bool ends_group(std::string_view input, size_t line_end) {
  return without_carriage_return(input.substr(0, line_end)).ends_with("\nE");
}

}  // namespace rowsocket::wire::handlersocket
