// SPDX-License-Identifier: GPL-2.0-only
//
// What parsers make in the turn's arena.
#pragma once

#include <charconv>
#include <cstddef>
#include <utility>

#include "base/arena.h"
#include "request/protocol.h"
#include "request/value.h"

namespace rowsocket {

/// A request with its reply; nullptr where memory is refused.
template <typename KindOfRequest, typename KindOfReply, typename... Arguments>
KindOfRequest* make_request(const Parsing& parsing, Arguments&&... of_the_reply) {
  auto* const request = parsing.arena.make<KindOfRequest>();
  auto* const reply = parsing.arena.make<KindOfReply>(parsing.out, std::forward<Arguments>(of_the_reply)...);
  if (request == nullptr || reply == nullptr) [[unlikely]] {
    return nullptr;
  }
  request->reply = reply;
  return request;
}

/// What a parse comes to that has made `request`, or nullptr where memory was refused.
[[nodiscard]] inline Parsed parsed_request(const Request* request, size_t consumed_bytes) {
  if (request == nullptr) [[unlikely]] {
    return {.status = Parsed::Status::fatal,
            .consumed_bytes = consumed_bytes,
            .error = ErrorCode::out_of_memory,
            .why = "sent a request that there is no memory for: it is closed"};
  }
  return {.status = Parsed::Status::request, .consumed_bytes = consumed_bytes, .request = request};
}

/// Requests behind it may be parsed before it is executed, unless it says otherwise itself.
[[nodiscard]] inline Parsed stateless(Parsed parsed) {
  parsed.is_stateless =
      parsed.status == Parsed::Status::request && !changes_what_requests_mean(*parsed.request);
  return parsed;
}

/// A number of 64 bits as text that lives as long as the request; NULL where memory is refused.
template <typename Number>
[[nodiscard]] Value number_value(Arena& arena, Number number) {
  constexpr size_t bytes_max = 20;
  char* const text = arena.allocate(bytes_max);
  if (text == nullptr) {
    return {};
  }
  return {text, static_cast<size_t>(std::to_chars(text, text + bytes_max, number).ptr - text)};
}

}  // namespace rowsocket
