// SPDX-License-Identifier: GPL-2.0-only
//
// The stream of a connection: where a request ends, and which file makes what of it.
#include "wire/resp/resp.h"

#include <algorithm>
#include <memory>

#include "request/making.h"
#include "wire/resp/commands.h"

namespace rowsocket::wire::resp {
namespace {

/// One line, and whatever follows is not looked at: the connection is closed.
class LastReply final : public LineReply {
 public:
  LastReply(Buffer& out, State& state, std::string_view line) : LineReply(out, line), state_(state) {}
  void done() override {
    state_.is_over = true;
    LineReply::done();
  }

 private:
  State& state_;
};

Parsed hang_up(std::string_view input, std::string_view why) {
  return {.status = Parsed::Status::hang_up, .consumed_bytes = input.size(), .why = why};
}

/// What a web browser sends begins or ends so. Its requests carry other people's bytes, which must not be
/// taken for commands.
bool is_http(std::string_view line) {
  return line.starts_with("POST ") || line.starts_with("Host:") || line.ends_with(" HTTP/1.1") ||
         line.ends_with(" HTTP/1.0");
}

/// A line is the last that is answered. What is behind it, at least the last byte, is where the connection is
/// closed.
Parsed say_last(const Scope& scope, std::string_view line, size_t bytes) {
  return parsed_request(for_strangers(make_answer<LastReply>(scope, true, scope.state, line)),
                        std::max(bytes, size_t{2}) - 1);
}

Parsed say_broken(const Scope& scope, std::string_view problem, std::string_view input) {
  const std::string_view parts[] = {"-ERR ", problem};
  const std::string_view line = joined(scope, parts, {});
  return line.empty() ? parsed_request(nullptr, input.size()) : say_last(scope, line, input.size());
}

Parsed parse_whole(const Scope& scope, const Reading& reading, std::string_view input) {
  if (is_http(reading.line)) [[unlikely]] {
    return hang_up(input, "speaks HTTP: it is closed, and nothing that it sent is done");
  }
  const std::string_view name = reading.arguments[0];
  if (is_word(name, "QUIT")) [[unlikely]] {
    return say_last(scope, "+OK", reading.bytes);
  }
  bool handled = false;
  if (Request* const request = make_transaction_command(scope, reading.arguments, handled); handled) {
    return parsed_request(request, reading.bytes - (scope.state.executes ? 1 : 0));
  }
  if (scope.state.collects && (!is_word(name, "RESET") || reading.arguments.size() > 1)) {
    return parsed_request(collect(scope, reading.arguments, input.substr(0, reading.bytes)), reading.bytes);
  }
  // A parse changes the state only between MULTI and EXEC, where none is stateless: so none is ever `later`.
  bool names_rows = false;
  const Parsed parsed = parsed_request(make_command(scope, reading.arguments, names_rows), reading.bytes);
  return names_rows ? stateless(parsed) : parsed;
}

class RespProtocol final : public Protocol {
 public:
  [[nodiscard]] std::unique_ptr<WireState> new_state() const override { return std::make_unique<State>(); }

  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    auto& state = static_cast<State&>(*parsing.state);
    const Scope scope{.parsing = parsing, .state = state};
    if (state.is_over) [[unlikely]] {
      return hang_up(input, {});
    }
    if (state.executes && input.front() == '\n') [[unlikely]] {
      return input.size() == 1 ? Parsed{.status = Parsed::Status::need_more}
                               : parsed_request(end_collecting(scope), 1);
    }
    const Reading reading =
        read_arguments(input, parsing.settings.line_bytes_max, parsing.arena, parsing.scanned_bytes);
    if (reading.status == Reading::Status::need_more) {
      return {.status = Parsed::Status::need_more};
    }
    parsing.scanned_bytes = 0;
    switch (reading.status) {
      case Reading::Status::empty:
        return {.status = Parsed::Status::nothing, .consumed_bytes = reading.bytes};
      case Reading::Status::broken:
        return say_broken(scope, reading.problem, input);
      case Reading::Status::out_of_memory:
        return parsed_request(nullptr, input.size());
      case Reading::Status::whole:
      case Reading::Status::need_more:
        break;
    }
    return parse_whole(scope, reading, input);
  }

  void refuse_stream(Buffer& out, const Error& error, const Settings&) const override {
    append_error(out, error, nullptr);
  }
};

}  // namespace

const Protocol& resp_protocol() {
  static const RespProtocol protocol;
  return protocol;
}

}  // namespace rowsocket::wire::resp
