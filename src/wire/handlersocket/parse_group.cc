// SPDX-License-Identifier: GPL-2.0-only
//
// Groups: requests that are done together or not at all.
//
//   G [option...] LF { request LF } E LF
//
// All lines of a group are one Request. A group that is malformed as a whole still has a member for each
// line, because each line has its reply.
#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {
namespace {

/// The first line of `lines`, without its line end; it is removed from `lines`.
std::string_view take_line(std::string_view& lines) {
  const std::string_view line = lines.substr(0, lines.find('\n'));
  lines.remove_prefix(line.size() + 1);
  return without_carriage_return(line);
}

ErrorCode parse_options(std::string_view line, Scope& scope, Group& group, GroupReply& reply) {
  TokenReader reader(line, scope.arena);
  for (reader.token(); reader.has_token();) {
    const std::string_view option = reader.token();
    if (option == "must") {
      group.must_change = true;
    } else if (option == "gtid") {
      group.wants_gtid = true;
      reply.expect_gtid();
    } else {
      return ErrorCode::syntax;
    }
  }
  return ErrorCode::none;
}

Request* parse_member(std::string_view line, Scope& scope) {
  const std::string_view command = TokenReader(line, scope.arena).token();
  if (command == "P" || command == "A" || command == "G") {
    return refuse(ErrorCode::not_in_group, scope);
  }
  return parse_line(line, scope);
}

}  // namespace

Request* parse_group(std::string_view lines, Scope& scope, ErrorCode& error) {
  const auto line_count = static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
  const size_t member_count = line_count - 1;  // the last LF stands before the E
  if (member_count > limits::group_lines_max) {
    error = ErrorCode::line_too_long;
    return nullptr;
  }
  error = ErrorCode::out_of_memory;
  auto* const group = make_request<Group, GroupReply>(scope, member_count);
  if (group == nullptr) {
    return nullptr;
  }
  group->mistake = parse_options(take_line(lines), scope, *group, static_cast<GroupReply&>(*group->reply));
  if (member_count > limits::group_requests_max) {
    group->mistake = ErrorCode::too_many_values;
  }
  if (group->mistake != ErrorCode::none) {
    return group;
  }
  const std::span<Request*> members = scope.arena.array<Request*>(member_count);
  if (members.size() != member_count) {
    return nullptr;
  }
  for (Request*& member : members) {
    member = parse_member(take_line(lines), scope);
    if (member == nullptr) {
      return nullptr;
    }
  }
  group->members = members;
  return group;
}

}  // namespace rowsocket::wire::handlersocket
