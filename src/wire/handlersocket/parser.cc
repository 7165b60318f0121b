// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/parser.h"

#include <strings.h>

#include <algorithm>
#include <cstring>

#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

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
    if (request.secret.is_now()) {
      reader.fail(ErrorCode::syntax);
    }
  }
}

/// A find or an insert. `id_token` begins with a digit.
void parse_on_index(std::string_view id_token, TokenReader& reader, Parsing& parsing, Request& request) {
  TokenReader id_reader(id_token, parsing.arena);
  request.index_id = clamp_to_32_bits(id_reader.number());
  if (!id_reader.ok()) {
    request.index_id = index_id_invalid;
  }
  const std::string_view operator_token = reader.token();
  const bool inserts_row = operator_token == "+";
  const bool inserts_rows = operator_token == "++";
  request.kind = inserts_row || inserts_rows ? RequestKind::insert : RequestKind::find;
  if (request.index_id >= parsing.limits.index_id_max) {
    reader.fail(ErrorCode::unknown_index_id);
  } else if (inserts_row) {
    parse_insert(reader, parsing, request);
  } else if (inserts_rows) {
    parse_insert_rows(reader, parsing, request);
  } else {
    parse_find(operator_token, reader, parsing, request);
  }
}

/// As `request = Request{}`, which the compiler makes a slow string instruction of: a call of memcpy saves a third of a find's
/// parse.
void clear(Request& request) {
  static const Request blank;
  size_t byte_count = sizeof(Request);
  asm("" : "+r"(byte_count));  // hides that it is constant
  std::memcpy(&request, &blank, byte_count);
}

/// The position of the LF that ends the request, among the bytes from `begin` to `end`; npos if it is not there.
size_t find_end(std::string_view input, bool is_group, size_t begin, size_t end) {
  while (begin < end) {
    const void* const found = std::memchr(input.data() + begin, '\n', end - begin);
    if (found == nullptr) {
      break;
    }
    const auto line_end = static_cast<size_t>(static_cast<const char*>(found) - input.data());
    if (!is_group || ends_group(input, line_end)) {
      return line_end;
    }
    begin = line_end + 1;
  }
  return std::string_view::npos;
}

/// What a web browser sends begins so. Its requests carry other people's bytes, which must not be taken for requests of ours.
bool is_http(std::string_view line) {
  constexpr std::string_view beginnings[] = {"GET ",     "POST ",  "HEAD ",    "PUT ",  "DELETE ",
                                             "OPTIONS ", "PATCH ", "CONNECT ", "TRACE "};
  return (line[0] >= 'C' && line[0] <= 'T' &&
          std::any_of(std::begin(beginnings), std::end(beginnings),
                      [line](auto beginning) { return line.starts_with(beginning); })) ||
         (line.size() >= 5 && (line[0] | 0x20) == 'h' && strncasecmp(line.data(), "Host:", 5) == 0);
}

}  // namespace

void parse_line(std::string_view line, Parsing& parsing, Request& request) {
  TokenReader reader(line, parsing.arena);
  const std::string_view command = reader.token();
  if (!command.empty() && command[0] >= '0' && command[0] <= '9') {
    parse_on_index(command, reader, parsing, request);
  } else if (command == "P") {
    parse_open_index(reader, parsing.limits, request);
  } else if (command == "A") {
    parse_authenticate(reader, request);
  } else {
    reader.fail(line == "E" ? ErrorCode::not_in_group : ErrorCode::unknown_command);
  }
  request.parse_error = reader.error();
}

Parsed parse_request(std::string_view input, const ParseLimits& limits, Arena& arena, size_t& scanned_bytes, Request& request) {
  // The LF may stand right after the longest request allowed. Looking no further makes the outcome independent of how the bytes
  // were cut.
  const bool is_group = begins_group(input);
  const bool is_full = input.size() > limits.line_bytes_max;
  const size_t searched_end = is_full ? limits.line_bytes_max + 1 : input.size();
  const size_t request_bytes = find_end(input, is_group, std::min(scanned_bytes, searched_end), searched_end);
  if (request_bytes == std::string_view::npos && !is_full) {
    scanned_bytes = searched_end;
    return {Parsed::Status::need_more, 0};
  }
  scanned_bytes = 0;
  clear(request);
  if (request_bytes == std::string_view::npos) {
    request.parse_error = ErrorCode::line_too_long;
    return {Parsed::Status::fatal, input.size()};
  }
  Parsing parsing{.limits = limits, .arena = arena};
  if (request_bytes > 0 && input[0] > '9' && is_http(input.substr(0, request_bytes))) [[unlikely]] {
    return {Parsed::Status::foreign, input.size()};
  }
  if (!is_group) [[likely]] {
    parse_line(without_carriage_return(input.substr(0, request_bytes)), parsing, request);
  } else if (!parse_group(input.substr(0, request_bytes), parsing, request)) {
    return {Parsed::Status::fatal, input.size()};
  }
  return {Parsed::Status::request, request_bytes + 1};
}

}  // namespace rowsocket::wire::handlersocket
