// SPDX-License-Identifier: GPL-2.0-only
//
// Requests: bytes to one of the structures of request/request.h. A pure function over the receive buffer: it
// stores nothing, allocates from the arena alone, and checks every count against its limit, and against the
// bytes that are there, before it allocates.
//
//   P id database table index columns [filter_columns [option[,option...]]]
//   A type secret
//   id + count value...
//   id ++ count rows value... [clause...]
//   id operator count value... [limit offset [clause...] [modification value...]]
//   G [option...] LF { one of the lines on an id, LF } E
//
// A request that is wrong is still a request: it takes its line, and `Request::mistake` says what is wrong,
// in the order in which the original HandlerSocket notices it. Of a wrong request only kind, id and reply
// have a meaning. exec decides what a line means: whether a key part is there, whether the ends of a range
// face each other.
#pragma once

#include <string_view>

#include "request/protocol.h"

namespace rowsocket::wire::handlersocket {

/// The id where the token is no number, or none of 32 bits. No limit allows it.
inline constexpr uint32_t id_invalid = static_cast<uint32_t>(-1);

/// What is remembered of a connection: an open_index has asked for texts for people.
struct ConnectionState final : WireState {
  bool with_detail = false;
};

/// Protocol::parse. Without a state, what is asked for a connection is forgotten. Fatal only for a line or a
/// group of more than `line_bytes_max` bytes (its last LF not counted), for a group of so many lines that
/// they can not be answered one by one, and where memory is refused for the request itself.
[[nodiscard]] Parsed parse_request(std::string_view input, const Parsing& parsing);

}  // namespace rowsocket::wire::handlersocket
