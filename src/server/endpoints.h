// SPDX-License-Identifier: GPL-2.0-only
//
// What the configuration says about addresses, doors, ports and sockets, as open listeners. Each listener has
// its door's protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "net/listener.h"
#include "request/protocol.h"
#include "server/config.h"

namespace rowsocket::server {

struct Endpoint {
  net::Listener listener;
  engine::Intent intent;  ///< which workers serve it
  const Protocol* protocol;
  std::string_view protocol_name;
};

struct Endpoints {
  std::vector<Endpoint> all;
  std::vector<uint32_t> ports;  ///< of each door; 0 = not served over TCP
  std::string notes;            ///< for the log; empty = nothing to tell

  [[nodiscard]] bool serve(engine::Intent intent) const;
};

/// On failure nothing is left open, and `failure` begins with the system variable to change. May throw
/// std::bad_alloc.
[[nodiscard]] bool open_endpoints(const Config& config, Endpoints& endpoints, std::string& failure);

}  // namespace rowsocket::server
