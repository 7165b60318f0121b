// SPDX-License-Identifier: GPL-2.0-only
//
// What an operator can set. Inside MariaDB the fields are system variables `rowsocket_*`
// (mariadb/variables_table.h); docs/operating.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "request/settings.h"
#include "server/protocols.h"

namespace rowsocket::server {

struct Config {
  // In force from start to stop.
  std::string address = "127.0.0.1,::1";  ///< comma-separated numeric addresses; "*" = all, IPv4 and IPv6
  bool tcp = true;                        ///< false = unix sockets only
  std::vector<Door> doors = registered_doors();
  std::string containers = {};  ///< the table of containers, as database.table; empty = there are none
  uint32_t threads_read = 0;    ///< 0 = as many as cores
  /// 0 = a quarter of the cores; as many as cores where no port serves reads only
  uint32_t threads_write = 0;
  uint32_t threads_max = limits::all_threads_default;  ///< workers and stand-ins together
  bool may_use_io_uring = true;                        ///< see net/send_ring.h
  bool is_drill = false;                               ///< for tests: see drill.h

  // Can change while RowSocket runs.
  Settings settings = {};
};

}  // namespace rowsocket::server
