// SPDX-License-Identifier: GPL-2.0-only
//
// Connections whose first request waits for a lock, in the order in which they are tried again. One owner,
// one thread. Allocates in `reserve` only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/client_connection.h"

namespace rowsocket::server {

class Parked {
 public:
  /// May throw std::bad_alloc.
  void reserve(size_t connection_count) { connections_.reserve(connection_count); }

  /// By its `retry_at_ms`. A connection that another thread had may be due before others.
  void add(ClientConnection& connection) {
    const auto behind = std::upper_bound(
        connections_.begin(), connections_.end(), connection.retry_at_ms,
        [](uint64_t at_ms, const ClientConnection* one) { return at_ms < one->retry_at_ms; });
    connections_.insert(behind, &connection);
  }
  /// Those that are due are not parked any more. Calls `retry` for each.
  template <typename Retry>
  void take_due(uint64_t now_ms, const Retry& retry) {
    const auto end = std::find_if(connections_.begin(), connections_.end(),
                                  [now_ms](const auto* one) { return one->retry_at_ms > now_ms; });
    std::for_each(connections_.begin(), end, [&retry](ClientConnection* one) { retry(*one); });
    connections_.erase(connections_.begin(), end);
  }
  /// When the next one is due; UINT64_MAX if there is none.
  [[nodiscard]] uint64_t next_ms() const {
    return connections_.empty() ? UINT64_MAX : connections_.front()->retry_at_ms;
  }
  void forget_closed() {
    std::erase_if(connections_, [](const ClientConnection* one) { return one->is_closed(); });
  }

 private:
  std::vector<ClientConnection*> connections_;
};

}  // namespace rowsocket::server
