// SPDX-License-Identifier: GPL-2.0-only
//
// Groups: requests that are done together or not at all.
//
//   G [option...] LF { request LF } E LF
//
// All its lines are one Request. A group that is malformed as a whole still has a member for each line, since each line has its
// reply.
#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

/// The first line of `lines`, without its line end; it is removed from `lines`.
std::string_view take_line(std::string_view& lines) {
  const std::string_view line = lines.substr(0, lines.find('\n'));
  lines.remove_prefix(line.size() + 1);
  return without_carriage_return(line);
}

ErrorCode parse_options(std::string_view line, Parsing& parsing, Request& request) {
  TokenReader reader(line, parsing.arena);
  for (reader.token(); reader.has_token();) {
    const std::string_view option = reader.token();
    if (option == "must") {
      request.must_change = true;
    } else if (option == "gtid") {
      request.wants_gtid = true;
    } else {
      return ErrorCode::syntax;
    }
  }
  return ErrorCode::none;
}

void parse_member(std::string_view line, Parsing& parsing, Request& member) {
  const std::string_view command = TokenReader(line, parsing.arena).token();
  if (command == "P" || command == "A" || command == "G") {
    member.parse_error = ErrorCode::not_in_group;
    return;
  }
  parse_line(line, parsing, member);
}

}  // namespace

bool parse_group(std::string_view lines, Parsing& parsing, Request& request) {
  request.kind = RequestKind::group;
  const auto line_count = static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
  const size_t member_count = line_count - 1;  // the last LF stands before the E
  if (member_count > limits::group_lines_max) {
    request.parse_error = ErrorCode::line_too_long;
    return false;
  }
  const std::span<Request> members = parsing.arena.array<Request>(member_count);
  if (members.size() != member_count) {
    request.parse_error = ErrorCode::out_of_memory;
    return false;
  }
  request.members = members;
  request.parse_error = parse_options(take_line(lines), parsing, request);
  if (member_count > limits::group_requests_max) {
    request.parse_error = ErrorCode::too_many_values;
  }
  if (request.parse_error != ErrorCode::none) {
    return true;
  }
  for (Request& member : members) {
    parse_member(take_line(lines), parsing, member);
  }
  return true;
}

}  // namespace rowsocket::wire::handlersocket
