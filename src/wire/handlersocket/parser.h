// SPDX-License-Identifier: GPL-2.0-only
//
// Requests: bytes to `Request`. A pure function over the receive buffer: it stores nothing, allocates from the arena alone, and
// checks every count against its limit, and against the bytes that are there, before it allocates.
//
//   P id database table index columns [filter_columns [raw]]
//   A type secret
//   id + count value...
//   id ++ count rows value... [clause...]
//   id operator count value... [limit offset [clause...] [modification value...]]
//   G [option...] LF { one of the lines on an id, LF } E
//
// A request that is wrong is still a request: it takes its line, and `Request::parse_error` says what is wrong, in the order in
// which the original HandlerSocket notices it. What a wrong request carries besides kind and index_id has no meaning.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/protocol.h"

namespace rowsocket::wire::handlersocket {

/// `Request::index_id` where the token is no number, or none of 32 bits. No limit allows it.
inline constexpr uint32_t index_id_invalid = static_cast<uint32_t>(-1);

/// Protocol::parse. Fatal only for a line or a group of more than `line_bytes_max` bytes (its last LF not counted), and for a
/// group of so many lines, or so little memory, that its lines can not be answered one by one.
[[nodiscard]] Parsed parse_request(std::string_view input, const ParseLimits& limits, Arena& arena, size_t& scanned_bytes,
                                   Request& request);

}  // namespace rowsocket::wire::handlersocket
