// SPDX-License-Identifier: GPL-2.0-only
//
// The doors of RowSocket: what the configuration says about addresses, ports and sockets, as open listeners. This is also where a
// listener gets its protocol.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request/protocol.h"
#include "engine/engine.h"
#include "net/listener.h"
#include "server/config.h"

namespace rowsocket::server {

struct Endpoint {
  net::Listener listener;
  engine::Intent intent;  ///< which workers serve it
  const Protocol* protocol;
};

struct Endpoints {
  std::vector<Endpoint> all;
  uint32_t port_read = 0;  ///< 0 = not served over TCP
  uint32_t port_write = 0;
  std::string notes;  ///< for the log; empty = nothing to tell

  [[nodiscard]] bool serve(engine::Intent intent) const;
};

/// On failure nothing is left open, and `failure` begins with the system variable to change. May throw std::bad_alloc.
[[nodiscard]] bool open_endpoints(const Config& config, Endpoints& endpoints, std::string& failure);

}  // namespace rowsocket::server
