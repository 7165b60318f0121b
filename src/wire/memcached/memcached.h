// SPDX-License-Identifier: GPL-2.0-only
//
// memcached's text protocol, with its meta commands, on the tables of containers (request/containers.h), as
// docs/protocol/memcached.md states it. The one object behind `memcached_protocol` serves every connection
// and thread.
//
//   get user:42 CR LF                          the row of the key user:42 of the container `default`
//   VALUE user:42 0 3 CR LF Ann CR LF END CR LF
#pragma once

#include "request/protocol.h"

namespace rowsocket::wire::memcached {

[[nodiscard]] const Protocol& memcached_protocol();

}  // namespace rowsocket::wire::memcached
