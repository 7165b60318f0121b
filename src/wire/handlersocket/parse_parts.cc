// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/parse_parts.h"

namespace rowsocket::wire::handlersocket {

std::span<const Value> require_values(TokenReader& reader, Scope& scope, size_t count) {
  if (count > reader.tokens_left_max()) {
    reader.fail(ErrorCode::syntax);
  }
  const std::span<Value> values = take_room_for_values(reader, scope, count);
  for (Value& value : values) {
    require_token(reader);
    value = reader.value();
  }
  return values;
}

std::string_view take_name(TokenReader& reader) {
  const std::string_view token = reader.token();
  if (token == null_token) {
    return {};
  }
  if (token.find('\0') != std::string_view::npos) {
    // No name has it. Code that takes names as C strings would see another name.
    reader.fail(ErrorCode::syntax);
  }
  return token;
}

void parse_columns(TokenReader& reader, SelectionName& selection) {
  reader.token();
  selection.has_columns = true;
  require_token(reader);
  selection.columns = take_name(reader);
}

}  // namespace rowsocket::wire::handlersocket
