// SPDX-License-Identifier: GPL-2.0-only
//
// A request as a person reads it in the host's logs:
//
//   ROWSOCKET FIND d.t PRIMARY = 42 LIMIT 1 COLUMNS a, b
//   ROWSOCKET UPDATE d.t by_name >= 'x' AND <= 'y' WHERE a = 5 SET b = b + 1 LIMIT 10
//   ROWSOCKET INSERT d.t (id, a) VALUES (1, 'one'), (2, NULL)
//   ROWSOCKET GROUP 2: FIND d.t PRIMARY = 1 LIMIT 1; DELETE d.t PRIMARY = 1 LIMIT 1
//
// It is one line of UTF-8: other bytes, and characters that end lines, are escaped. Values are cut, or left
// out, and there is a bound to the whole. Secrets and passwords are not in it, nor the names of clients that
// log in. Written for people: no program should have to read it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "exec/client.h"
#include "request/request.h"

namespace rowsocket::exec {

/// `selections`: one of a find or an insert, those of a group's members, or fewer, where they are not known
/// (yet): then the client's own say what its ids mean. Of each value `value_bytes_max` bytes are shown; 0 =
/// none is. May throw std::bad_alloc.
[[nodiscard]] std::string text_of(const Request& request, const Client& client,
                                  std::span<engine::Selection* const> selections, size_t value_bytes_max);

/// Of the table that it is about; empty where there is none, or several may be, and where what the client
/// says can be the name of none: it is no line of text, or too long.
[[nodiscard]] std::string_view database_of(const Request& request, const Client& client,
                                           std::span<engine::Selection* const> selections);

}  // namespace rowsocket::exec
