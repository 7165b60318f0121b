// SPDX-License-Identifier: GPL-2.0-only
#include "server/connection_table.h"

#include <utility>

namespace rowsocket::server {

ClientConnection& ConnectionTable::add(std::unique_ptr<ClientConnection> connection) {
  connection->slot = connections_.size();
  connections_.push_back(std::move(connection));
  return *connections_.back();
}

void ConnectionTable::remove(ClientConnection& connection) {
  held_bytes_ -= connection.held_bytes;
  const size_t slot = connection.slot;
  if (slot + 1 != connections_.size()) {
    connections_[slot].swap(connections_.back());
    connections_[slot]->slot = slot;
  }
  connections_.pop_back();
}

ClientConnection* ConnectionTable::largest_holder() const {
  ClientConnection* largest = nullptr;
  for (const auto& connection : connections_) {
    if (!connection->is_closed() && connection->held_bytes > (largest == nullptr ? 0 : largest->held_bytes)) {
      largest = connection.get();
    }
  }
  return largest;
}

}  // namespace rowsocket::server
