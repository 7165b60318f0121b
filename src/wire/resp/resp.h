// SPDX-License-Identifier: GPL-2.0-only
//
// RESP for tables, as docs/protocol/resp.md states it: rows of any table as hashes, and rows of containers
// (request/containers.h) as strings, for clients that speak RESP2 or RESP3. The one object behind
// `resp_protocol` serves every connection and thread.
//
//   *3 $4 HGET $12 shop.user:42 $4 name        the column `name` of a row of shop.user; CR LF behind each
//   $3 Ann
#pragma once

#include "request/protocol.h"

namespace rowsocket::wire::resp {

[[nodiscard]] const Protocol& resp_protocol();

}  // namespace rowsocket::wire::resp
