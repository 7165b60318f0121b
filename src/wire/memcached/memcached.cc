// SPDX-License-Identifier: GPL-2.0-only
//
// The stream of a connection: where a request ends, and which command it is.
#include "wire/memcached/memcached.h"

#include <algorithm>

#include "wire/memcached/parse_parts.h"
#include "wire/memcached/version.h"

namespace rowsocket::wire::memcached {
namespace {

/// The first byte of memcached's binary protocol, and of no command.
constexpr char binary_magic = '\x80';

Parsed goodbye(std::string_view input, std::string_view why) {
  return {.status = Parsed::Status::hang_up, .consumed_bytes = input.size(), .why = why};
}

/// What a web browser sends begins so. Its requests carry other people's bytes, which must not be taken for
/// commands.
bool is_http(std::string_view line) {
  constexpr std::string_view beginnings[] = {"GET ",     "POST ",  "HEAD ",    "PUT ",   "DELETE ",
                                             "OPTIONS ", "PATCH ", "CONNECT ", "TRACE ", "Host:"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [line](auto beginning) { return line.starts_with(beginning); });
}

Request* parse_verbosity(const Scope& scope, Words words) {
  const size_t word_count = words.count_left();
  if (word_count == 0 || word_count > 2) {
    return refuse(scope, "ERROR");
  }
  uint32_t level = 0;
  const bool is_silent = words.end_with_noreply();
  return parse_number(words.next(), level) ? answer(scope, "OK", is_silent)
                                           : for_readers(refuse(scope, bad_format, is_silent), false);
}

/// memcached's further words ask for its slabs, its hash table and so on: of these a table has none.
Request* parse_stats(const Scope& scope, Words words) {
  if (!words.at_end()) {
    const std::string_view word = words.next();
    if (word == "slabs" || word == "items" || word == "sizes" || word == "settings" || word == "conns") {
      return for_readers(answer(scope, "END"));
    }
    constexpr std::string_view no_reset = "CLIENT_ERROR stats are not reset: they are the server's";
    return for_readers(refuse(scope, word == "reset" ? no_reset : "ERROR"));
  }
  auto* const request = make_request<Request, StatsReply>(scope, scope.state, scope.parsing.settings,
                                                          scope.parsing.figures, scope.now_s());
  if (request != nullptr) {
    request->kind = RequestKind::nothing;
  }
  return for_readers(request);
}

struct StoreCommand {
  std::string_view word;
  Store store;
};
constexpr StoreCommand store_commands[] = {{"set", Store::set},         {"add", Store::add},
                                           {"replace", Store::replace}, {"append", Store::append},
                                           {"prepend", Store::prepend}, {"cas", Store::cas}};

Request* parse_other(const Scope& scope, std::string_view command, Words words) {
  if (command == "delete") {
    return parse_delete(scope, words);
  }
  if (command == "incr" || command == "decr") {
    return parse_count(scope, words, command == "decr");
  }
  if (command == "touch") {
    return parse_touch(scope, words);
  }
  if (command == "gat" || command == "gats") {
    return parse_get_and_touch(scope, words, command == "gats");
  }
  if (command == "version") {
    return answer(scope, version_line);
  }
  if (command == "mn") {
    return answer(scope, "MN");
  }
  if (command == "verbosity") {
    return parse_verbosity(scope, words);
  }
  if (command == "stats") {
    return parse_stats(scope, words);
  }
  return refuse(scope, "ERROR");
}

/// A whole line. `input.value` is not known yet.
Parsed parse_line(const Scope& scope, const Input& input) {
  Words words(input.line);
  const std::string_view command = words.next();
  if (command == "get" || command == "gets") {
    return stateless(parsed_request(parse_get(scope, words, command == "gets"), input.line_bytes));
  }
  if (command == "mg") {
    return stateless(parse_meta(scope, command, words, input));
  }
  if (scope.parsing.is_ahead) {
    return {.status = Parsed::Status::later};
  }
  for (const StoreCommand& store : store_commands) {
    if (command == store.word) {
      return parse_store(scope, store.store, words, input);
    }
  }
  if (command.size() == 2 && command[0] == 'm' && command != "mn") {
    return parse_meta(scope, command, words, input);
  }
  if (command == "flush_all") {
    return parse_flush(scope, words, input);
  }
  if (command == "quit") {
    return {.status = Parsed::Status::hang_up, .consumed_bytes = input.line_bytes};
  }
  if (is_http(input.line)) [[unlikely]] {
    return goodbye(input.bytes, "speaks HTTP: it is closed, and nothing that it sent is done");
  }
  return parsed_request(parse_other(scope, command, words), input.line_bytes);
}

class MemcachedProtocol final : public Protocol {
 public:
  [[nodiscard]] std::unique_ptr<WireState> new_state() const override { return std::make_unique<State>(); }

  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    auto& state = static_cast<State&>(*parsing.state);
    if (state.skip_bytes > 0) {
      const auto skipped_bytes = static_cast<size_t>(std::min<uint64_t>(state.skip_bytes, input.size()));
      state.skip_bytes -= skipped_bytes;
      return {.status = Parsed::Status::nothing, .consumed_bytes = skipped_bytes};
    }
    if (input.front() == binary_magic) {
      return goodbye(input, "speaks memcached's binary protocol, which is not served: it is closed");
    }
    // Looking no further than the longest line makes the outcome independent of how the bytes were cut.
    const size_t line_bytes_max = parsing.settings.line_bytes_max;
    const std::string_view searched = input.substr(0, line_bytes_max + 1);
    const size_t end = searched.find('\n', std::min(parsing.scanned_bytes, searched.size()));
    if (end == std::string_view::npos) {
      if (input.size() > line_bytes_max) {
        return {.status = Parsed::Status::fatal,
                .consumed_bytes = input.size(),
                .error = ErrorCode::line_too_long,
                .why = "sent what can not be followed (a line that is too long): it is closed"};
      }
      parsing.scanned_bytes = searched.size();
      return {.status = Parsed::Status::need_more};
    }
    std::string_view line = input.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    // A value may be missing yet: then the line is found again, which is at the front.
    parsing.scanned_bytes = 0;
    return parse_line({.parsing = parsing, .state = state},
                      {.bytes = input, .line = line, .line_bytes = end + 1});
  }

  void refuse_stream(Buffer& out, const Error& error, const Settings&) const override {
    if (error.code == ErrorCode::line_too_long) {
      out.append("CLIENT_ERROR line too long\r\n");
    } else {
      append_error(out, error, nullptr);
    }
  }
};

}  // namespace

const Protocol& memcached_protocol() {
  static const MemcachedProtocol protocol;
  return protocol;
}

}  // namespace rowsocket::wire::memcached
