// SPDX-License-Identifier: GPL-2.0-only
//
// One connection as an administrator sees it, from any thread: a copy, a moment old.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exec/account.h"
#include "net/transport.h"
#include "request/protocol.h"

namespace rowsocket::server {

enum class Doing : uint8_t {
  idle,        ///< the client has asked nothing
  reading,     ///< a part of a request has come
  queued,      ///< requests have come, and others of the worker go first
  executing,   ///< its request is executed
  committing,  ///< its replies wait for the commit
  waiting,     ///< its request waits for a lock, or for the server to check a password
  sending,     ///< its replies are on their way, or it does not take them
  closing      ///< it is told why nothing more is executed
};
[[nodiscard]] std::string_view name_of(Doing doing);

struct ConnectionFigures {
  uint64_t number;
  const Protocol* protocol;
  std::string_view protocol_name;
  exec::Access port_access;
  uint64_t account;     ///< see engine::Identity; 0 = it has named none
  uint64_t log_number;  ///< see engine::Identity
  std::string peer;
  net::Encryption encryption;
  uint64_t connected_ms;  ///< for so long
  uint64_t idle_ms;       ///< so long since bytes last came or went, or a request ran
  uint64_t requests;      ///< that were answered
  uint64_t bytes_received;
  uint64_t bytes_sent;
  uint64_t held_bytes;
  Doing doing;
  uint64_t thread;  ///< the host's number of the thread that serves it
};

}  // namespace rowsocket::server
