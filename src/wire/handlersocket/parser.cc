// SPDX-License-Identifier: GPL-2.0-only
#include "wire/handlersocket/parser.h"

#include <strings.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "request/making.h"
#include "wire/handlersocket/handlersocket.h"
#include "wire/handlersocket/parse_parts.h"
#include "wire/handlersocket/reply.h"

namespace rowsocket::wire::handlersocket {
namespace {

/// Words with one comma between each two. False if one of them is no option.
bool take_open_options(std::string_view words, Open& open, Scope& scope) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    if (word == "raw") {
      open.names.raw = true;
    } else if (word == "types") {
      open.tells_types = true;
    } else if (word == "detail") {
      static_cast<LineReply&>(*open.reply).tell_detail();
      if (scope.connection != nullptr) {
        scope.connection->with_detail = true;
      }
    } else {
      return false;
    }
    if (word.size() == words.size()) {
      return true;
    }
    words.remove_prefix(word.size() + 1);
    if (words.empty()) {
      return false;
    }
  }
  return true;
}

Request* parse_open(TokenReader& reader, Scope& scope) {
  auto* const open = make_request<Open>(scope);
  if (open == nullptr) {
    return nullptr;
  }
  open->id = clamp_to_32_bits(reader.number());
  if (!reader.ok()) {
    open->id = id_invalid;
  } else if (open->id >= scope.settings.id_max) {
    reader.fail(ErrorCode::unknown_id);
  }
  open->names.database = take_name(reader);
  open->names.table = take_name(reader);
  open->names.index = take_name(reader);
  open->names.columns = take_name(reader);
  open->names.filter_columns = take_name(reader);
  if (!take_open_options(take_name(reader), *open, scope)) {
    reader.fail(ErrorCode::syntax);
  }
  open->mistake = reader.error();
  return open;
}

Request* parse_authenticate(TokenReader& reader, Scope& scope) {
  auto* const authenticate = make_request<Authenticate>(scope);
  if (authenticate == nullptr) {
    return nullptr;
  }
  const std::string_view type = reader.token();
  if (type == "2") {
    authenticate->method = Authenticate::Method::account;
    authenticate->user = reader.value();
  } else if (type != "1") {
    reader.fail(ErrorCode::bad_authentication_type);
  }
  authenticate->password = reader.value();
  if (authenticate->password.is_now() || authenticate->user.is_now()) {
    reader.fail(ErrorCode::syntax);
  }
  authenticate->mistake = reader.error();
  return authenticate;
}

/// A find or an insert. `id_token` begins with a digit.
Request* parse_on_id(std::string_view id_token, TokenReader& reader, Scope& scope) {
  TokenReader id_reader(id_token, scope.arena);
  uint32_t id = clamp_to_32_bits(id_reader.number());
  if (!id_reader.ok()) {
    id = id_invalid;
  }
  const std::string_view operator_token = reader.token();
  if (id >= scope.settings.id_max) {
    reader.fail(ErrorCode::unknown_id);
  }
  if (operator_token == "+") {
    return parse_insert(id, reader, scope);
  }
  if (operator_token == "++") {
    return parse_insert_rows(id, reader, scope);
  }
  return parse_find(id, operator_token, reader, scope);
}

/// The position of the LF that ends the request, among the bytes from `begin` to `end`; npos if it is not
/// there.
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

/// The requests of a web browser begin like this. A web page chooses their bytes, which must not be taken for
/// requests of ours.
bool is_http(std::string_view line) {
  constexpr std::string_view beginnings[] = {"GET ",     "POST ",  "HEAD ",    "PUT ",  "DELETE ",
                                             "OPTIONS ", "PATCH ", "CONNECT ", "TRACE "};
  return (line[0] >= 'C' && line[0] <= 'T' &&
          std::any_of(std::begin(beginnings), std::end(beginnings),
                      [line](auto beginning) { return line.starts_with(beginning); })) ||
         (line.size() >= 5 && (line[0] | 0x20) == 'h' && strncasecmp(line.data(), "Host:", 5) == 0);
}

Parsed fatal(std::string_view input, ErrorCode error) {
  const bool lacks_memory = error == ErrorCode::out_of_memory;
  return {.status = Parsed::Status::fatal,
          .consumed_bytes = input.size(),
          .error = error,
          .why = lacks_memory ? "sent a request that there is no memory for: it is closed"
                              : "sent what can not be followed (a line that is too long): it is closed"};
}

}  // namespace

Request* refuse(ErrorCode mistake, Scope& scope) {
  auto* const refused = make_request<Request>(scope);
  if (refused != nullptr) {
    refused->mistake = mistake;
  }
  return refused;
}

Request* parse_line(std::string_view line, Scope& scope) {
  TokenReader reader(line, scope.arena);
  const std::string_view command = reader.token();
  if (!command.empty() && command[0] >= '0' && command[0] <= '9') {
    return parse_on_id(command, reader, scope);
  }
  if (command == "P") {
    return parse_open(reader, scope);
  }
  if (command == "A") {
    return parse_authenticate(reader, scope);
  }
  return refuse(line == "E" ? ErrorCode::not_in_group : ErrorCode::unknown_command, scope);
}

Parsed parse_request(std::string_view input, const Parsing& parsing) {
  // The LF may stand right after the longest request allowed. Looking no further makes the outcome
  // independent of how the bytes were cut.
  const size_t line_bytes_max = parsing.settings.line_bytes_max;
  const bool is_on_id = !input.empty() && input[0] >= '0' && input[0] <= '9';
  if (parsing.is_ahead && !is_on_id) {
    return {.status = Parsed::Status::later};
  }
  const bool is_group = begins_group(input);
  const bool is_full = input.size() > line_bytes_max;
  const size_t searched_end = is_full ? line_bytes_max + 1 : input.size();
  const size_t request_bytes =
      find_end(input, is_group, std::min(parsing.scanned_bytes, searched_end), searched_end);
  if (request_bytes == std::string_view::npos && !is_full) {
    parsing.scanned_bytes = searched_end;
    return {.status = Parsed::Status::need_more};
  }
  parsing.scanned_bytes = 0;
  if (request_bytes == std::string_view::npos) {
    return fatal(input, ErrorCode::line_too_long);
  }
  const std::string_view lines = input.substr(0, request_bytes);
  if (request_bytes > 0 && input[0] > '9' && is_http(lines)) [[unlikely]] {
    return {.status = Parsed::Status::hang_up,
            .consumed_bytes = input.size(),
            .why = "speaks HTTP: it is closed, and nothing that it sent is done"};
  }
  auto* const connection = static_cast<ConnectionState*>(parsing.state);
  Scope scope{
      .settings = parsing.settings,
      .arena = parsing.arena,
      .out = parsing.out,
      .connection = connection,
      .with_detail = parsing.settings.error_detail || (connection != nullptr && connection->with_detail)};
  ErrorCode error = ErrorCode::out_of_memory;
  const Request* const request =
      is_group ? parse_group(lines, scope, error) : parse_line(without_carriage_return(lines), scope);
  if (request == nullptr) [[unlikely]] {
    return fatal(input, error);
  }
  const Parsed parsed = parsed_request(request, request_bytes + 1);
  return is_on_id ? stateless(parsed) : parsed;
}

namespace {

class HandlersocketProtocol final : public Protocol {
 public:
  [[nodiscard]] bool uses_time() const override { return false; }
  [[nodiscard]] std::unique_ptr<WireState> new_state() const override {
    return std::make_unique<ConnectionState>();
  }

  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    return parse_request(input, parsing);
  }

  void refuse_stream(Buffer& out, const Error& error, const Settings& settings) const override {
    LineReply(out, settings.error_detail).failed(error);
  }
};

}  // namespace

const Protocol& handlersocket_protocol() {
  static const HandlersocketProtocol protocol;
  return protocol;
}

}  // namespace rowsocket::wire::handlersocket
