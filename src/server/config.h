// SPDX-License-Identifier: GPL-2.0-only
//
// What an operator can set. Inside MariaDB each field is a system variable `rowsocket_<field>`; docs/operating.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/limits.h"

namespace rowsocket::server {

struct Config {
  std::string address = "127.0.0.1,::1";  ///< comma-separated numeric addresses; "*" = all, IPv4 and IPv6
  uint32_t port_read = 9998;              ///< TCP; 0 = a free port
  uint32_t port_write = 9999;             ///< TCP; 0 = a free port; the same as port_read = one port that serves both
  bool tcp = true;                        ///< false = unix sockets only
  std::string socket_read;                ///< path of a unix socket; empty = none
  std::string socket_write;
  uint32_t threads_read = 0;   ///< 0 = as many as cores
  uint32_t threads_write = 0;  ///< 0 = a quarter of the cores; as many as cores where no port serves reads only
  uint32_t idle_timeout_s = limits::idle_timeout_s_default;  ///< 0 = never
  uint32_t max_connections = limits::connections_default;
  size_t max_line_bytes = limits::line_bytes_default;
  size_t max_reply_bytes = limits::reply_bytes_default;
  size_t max_held_bytes = limits::held_bytes_default;
  uint32_t max_in_values = limits::in_list_default;
  uint32_t max_indexes = limits::index_id_default;
  std::string secret_read;
  std::string secret_write;
  bool error_detail = false;
  bool strict = false;
};

}  // namespace rowsocket::server
