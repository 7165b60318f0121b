// SPDX-License-Identifier: GPL-2.0-only
#include "server/protocols.h"

// Declared here, so that a protocol needs no include beside its line.
#define ROWSOCKET_DOOR(name, folder, access, default_port, what) \
  namespace rowsocket::wire::folder {                            \
  const Protocol& folder##_protocol();                           \
  }
ROWSOCKET_DOORS
#undef ROWSOCKET_DOOR

namespace rowsocket::server {

std::vector<Door> registered_doors() {
  return {
#define ROWSOCKET_DOOR(name, folder, access, default_port, what) \
  {#name, #folder, &wire::folder::folder##_protocol(), engine::Intent::access, default_port},
      ROWSOCKET_DOORS
#undef ROWSOCKET_DOOR
  };
}

}  // namespace rowsocket::server
