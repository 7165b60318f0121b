// SPDX-License-Identifier: GPL-2.0-only
//
// A protocol for tests only. Nothing outside this folder knows it: this shows that a protocol is a folder.
//
//   OPEN id database table columns   OPENED LF
//   GET id key...                    { ROW key bytes LF values LF | MISS key LF } END LF
//   MISSES id key...                 how many of the keys have no row
//   DROP id key [noreply]            how many rows are gone; with noreply nothing, not even an error
//   SKIP count                       no answer: as many bytes behind the line are dropped
//   QUIT                             the end of the stream
//   an empty line                    no answer
//   any other                        ERROR name LF
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "request/protocol.h"
#include "wire/echo/reply.h"

namespace rowsocket::wire::echo {

/// What is still to be dropped of a connection's input.
struct State final : WireState {
  size_t skip_bytes = 0;
};

/// One line, front to back.
class Line {
 public:
  explicit Line(std::string_view line) : rest_(line) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] size_t words_left() const {
    return at_end() ? 0 : static_cast<size_t>(std::count(rest_.begin(), rest_.end(), ' ')) + 1;
  }

  std::string_view word() {
    const std::string_view taken = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(taken.size() + 1, rest_.size()));
    return taken;
  }
  template <typename Number>
  Number number() {
    Number number = 0;
    const std::string_view digits = word();
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    ok_ = ok_ && end.ec == std::errc() && end.ptr == digits.data() + digits.size();
    return number;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// Each of these is nullptr where memory is refused.

inline Request* refuse(const Parsing& parsing, ErrorCode mistake) {
  auto* const refused = parsing.arena.make<Request>();
  auto* const reply = parsing.arena.make<RefusedReply>(parsing.out);
  if (refused == nullptr || reply == nullptr) {
    return nullptr;
  }
  refused->mistake = mistake;
  refused->reply = reply;
  return refused;
}

/// A find of the row of each key. Its reply is still to be made.
inline Find* find_keys(Line& line, size_t key_count, const Parsing& parsing) {
  auto* const find = parsing.arena.make<Find>();
  const auto keys = parsing.arena.array<Value>(key_count);
  if (find == nullptr || keys.empty()) {
    return nullptr;
  }
  for (Value& key : keys) {
    key = Value(line.word());
  }
  find->range.key = keys.first(1);
  find->list = {.is_given = true, .values = keys};
  find->limit = key_count;
  return find;
}

template <typename KindOfReply, typename... Arguments>
Request* answer(Find* find, const Parsing& parsing, Arguments... arguments) {
  if (find == nullptr) {
    return nullptr;
  }
  find->reply = parsing.arena.make<KindOfReply>(parsing.out, arguments...);
  return find->reply == nullptr ? nullptr : find;
}

inline Request* parse_drop(Line& line, const Parsing& parsing) {
  Find* const find = find_keys(line, 1, parsing);
  if (find == nullptr) {
    return nullptr;
  }
  find->list = {};
  find->change.kind = Change::Kind::remove;
  find->tell = Tell::count;
  const std::string_view option = line.word();
  if (option == "noreply") {
    return answer<SilentReply>(find, parsing);
  }
  find->mistake = option.empty() ? ErrorCode::none : ErrorCode::syntax;
  return answer<ChangedReply>(find, parsing);
}

inline Request* parse_open(Line& line, const Parsing& parsing) {
  auto* const open = parsing.arena.make<Open>();
  auto* const reply = parsing.arena.make<OpenedReply>(parsing.out);
  if (open == nullptr || reply == nullptr) {
    return nullptr;
  }
  open->id = line.number<uint32_t>();
  open->names.database = line.word();
  open->names.table = line.word();
  open->names.columns = line.word();
  if (!line.ok() || open->names.columns.empty() || !line.at_end()) {
    open->mistake = ErrorCode::syntax;
  } else if (open->id >= parsing.settings.id_max) {
    open->mistake = ErrorCode::unknown_id;
  }
  open->reply = reply;
  return open;
}

inline Request* parse_line(std::string_view bytes, const Parsing& parsing) {
  Line line(bytes);
  const std::string_view command = line.word();
  if (command == "OPEN") {
    return parse_open(line, parsing);
  }
  if (command != "GET" && command != "MISSES" && command != "DROP") {
    return refuse(parsing, ErrorCode::unknown_command);
  }
  const auto id = line.number<uint32_t>();
  const size_t key_count = line.words_left();
  if (!line.ok() || id >= parsing.settings.id_max) {
    return refuse(parsing, line.ok() ? ErrorCode::unknown_id : ErrorCode::syntax);
  }
  if (key_count == 0 || key_count > parsing.settings.in_values_max) {
    return refuse(parsing, key_count == 0 ? ErrorCode::no_key_values : ErrorCode::bad_in_list);
  }
  Request* request = nullptr;
  if (command == "DROP") {
    request = parse_drop(line, parsing);
  } else if (Find* const find = find_keys(line, key_count, parsing); command == "GET") {
    request = find == nullptr ? nullptr : answer<RowsReply>(find, parsing, find->list.values);
  } else {
    request = answer<MissesReply>(find, parsing);
    if (find != nullptr) {
      find->selection.has_columns = true;  // none: only whether there is a row counts
    }
  }
  if (request != nullptr) {
    static_cast<Find*>(request)->selection.id = id;
  }
  return request;
}

class EchoProtocol final : public Protocol {
 public:
  [[nodiscard]] std::unique_ptr<WireState> new_state() const override { return std::make_unique<State>(); }

  [[nodiscard]] Parsed parse(std::string_view input, const Parsing& parsing) const override {
    auto& state = static_cast<State&>(*parsing.state);
    if (state.skip_bytes > 0) {
      const size_t dropped_bytes = std::min(state.skip_bytes, input.size());
      state.skip_bytes -= dropped_bytes;
      return {.status = Parsed::Status::nothing, .consumed_bytes = dropped_bytes};
    }
    const size_t line_bytes = input.find('\n', parsing.scanned_bytes);
    if (std::min(line_bytes, input.size()) > parsing.settings.line_bytes_max) {
      return {
          .status = Parsed::Status::fatal, .consumed_bytes = input.size(), .error = ErrorCode::line_too_long};
    }
    if (line_bytes == std::string_view::npos) {
      parsing.scanned_bytes = input.size();
      return {.status = Parsed::Status::need_more};
    }
    return parse_whole_line(input.substr(0, line_bytes), state, parsing);
  }

  void refuse_stream(Buffer& out, const Error& error, const Settings&) const override {
    RefusedReply(out).failed(error);
  }

 private:
  static Parsed parse_whole_line(std::string_view bytes, State& state, const Parsing& parsing) {
    const size_t consumed_bytes = bytes.size() + 1;
    Line line(bytes);
    const std::string_view command = line.word();
    if (command == "QUIT") {
      return {.status = Parsed::Status::hang_up, .consumed_bytes = consumed_bytes};
    }
    if (command == "SKIP") {
      const auto count = line.number<size_t>();
      if (line.ok()) {
        state.skip_bytes = count;
        return {.status = Parsed::Status::nothing, .consumed_bytes = consumed_bytes};
      }
    } else if (bytes.empty()) {
      return {.status = Parsed::Status::nothing, .consumed_bytes = consumed_bytes};
    }
    const Request* const request =
        command == "SKIP" ? refuse(parsing, ErrorCode::syntax) : parse_line(bytes, parsing);
    if (request == nullptr) {
      return {.status = Parsed::Status::fatal,
              .consumed_bytes = consumed_bytes,
              .error = ErrorCode::out_of_memory};
    }
    return {.status = Parsed::Status::request, .consumed_bytes = consumed_bytes, .request = request};
  }
};

[[nodiscard]] inline const Protocol& echo_protocol() {
  static const EchoProtocol protocol;
  return protocol;
}

}  // namespace rowsocket::wire::echo
