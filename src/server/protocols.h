// SPDX-License-Identifier: GPL-2.0-only
//
// The protocols that are served, and their ports. A protocol is a folder under src/wire and a line here. The
// system variables, the status variables and the listeners are made from these lines.
//
//   ROWSOCKET_DOOR(name, folder, access, default port, what it serves)
//
//     name     of rowsocket_port_<name>, rowsocket_socket_<name> and Rowsocket_port_<name>
//     folder   src/wire/<folder>; its namespace has `const Protocol& <folder>_protocol()`
//     access   what the door's clients may do at most, and which workers serve them: read or write
//     default  a port, or port_off: not served over TCP, unless the operator gives it a port
//
// A protocol may have several doors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "request/protocol.h"

// clang-format off
#define ROWSOCKET_DOORS                                            \
  ROWSOCKET_DOOR(read, handlersocket, read, 9998, "reads")         \
  ROWSOCKET_DOOR(write, handlersocket, write, 9999, "reads and writes") \
  ROWSOCKET_DOOR(memcached, memcached, write, server::port_off, "the memcached protocol") \
  ROWSOCKET_DOOR(resp, resp, write, server::port_off, "RESP for tables")
// clang-format on

namespace rowsocket::server {

/// No port: the door is not there over TCP.
inline constexpr uint32_t port_off = 65536;

/// Where clients of a protocol come in: a TCP port and a unix socket.
struct Door {
  std::string_view name;
  std::string_view protocol_name;
  const Protocol* protocol;
  engine::Intent intent;  ///< read or write
  uint32_t port;  ///< 0 = a free port, or port_off; two doors of one protocol with the same port are one
  std::string socket = {};  ///< path of a unix socket; empty = none; two doors with the same are one
};

/// Where each of the doors above stands among `registered_doors`: door_read, door_write, ...
enum RegisteredDoor : size_t {
#define ROWSOCKET_DOOR(name, folder, access, default_port, what) door_##name,
  ROWSOCKET_DOORS
#undef ROWSOCKET_DOOR
      door_count
};

/// All of them, at their default ports. May throw std::bad_alloc.
[[nodiscard]] std::vector<Door> registered_doors();

}  // namespace rowsocket::server
