// SPDX-License-Identifier: GPL-2.0-only
//
// What an operator can change while RowSocket runs, as one immutable snapshot. Parsers, execution and turns
// read it. How it is published is in server/settings_board.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"

namespace rowsocket {

class Containers;

struct Settings {
  std::string secret_read = {};   ///< empty = reading needs no secret
  std::string secret_write = {};  ///< empty = writing needs the read secret, if there is one
  size_t line_bytes_max = limits::line_bytes_default;
  size_t reply_bytes_max = limits::reply_bytes_default;
  size_t held_bytes_max =
      limits::held_bytes_default;  ///< what a worker's connections may hold in buffers between turns
  uint64_t rows_examined_max = limits::rows_examined_default;  ///< by one request or group; 0 = any number
  uint64_t request_ms_max = limits::request_ms_default;        ///< of a request that walks; 0 = any time
  uint32_t in_values_max = limits::in_list_default;
  uint32_t id_max = limits::index_id_default;                ///< ids are below this
  uint32_t idle_timeout_s = limits::idle_timeout_s_default;  ///< 0 = never
  uint32_t max_connections = limits::connections_default;
  uint32_t account_connections_max = 0;  ///< of one account; 0 = any number
  uint32_t account_requests_max = 0;     ///< of one account, not answered yet; 0 = any number
  size_t account_bytes_max = 0;          ///< the same as held_bytes_max of one account's; 0 = any number
  uint32_t logged_value_bytes_max = limits::logged_value_bytes_default;  ///< 0 = logs show no values
  bool error_detail = false;           ///< replies carry the text for people
  bool needs_account = false;          ///< a client that has named no account may do nothing
  std::string anonymous_account = {};  ///< of clients that have named none, as user@host; empty = none
  bool require_tls = false;            ///< bytes that came over TCP without TLS are refused
  bool allows_flush = false;           ///< a client may ask to empty a table
  bool statistics = true;              ///< requests are counted by table and index
  bool request_times = false;          ///< and it is measured how long each takes
  bool strict = false;                 ///< refuse what is served only because earlier servers did
  /// For protocols that address containers (request/containers.h); nullptr until they were read.
  std::shared_ptr<const Containers> containers = {};
};

}  // namespace rowsocket
