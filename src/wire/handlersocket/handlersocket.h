// SPDX-License-Identifier: GPL-2.0-only
//
// The HandlerSocket line protocol, as docs/protocol/handlersocket.md states it: one line per request, one
// line per reply. The one object behind `handlersocket_protocol` has no state, and serves every connection
// and thread.
//
//   5 HT = HT 1 HT 42 LF            find, in the index opened as 5, the row whose first key part is 42
//   0 HT 2 HT 42 HT Ann LF          one row of two columns
#pragma once

#include "request/protocol.h"

namespace rowsocket::wire::handlersocket {

[[nodiscard]] const Protocol& handlersocket_protocol();

}  // namespace rowsocket::wire::handlersocket
