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
  size_t largest_bytes = 0;
  for (const auto& connection : connections_) {
    const size_t held_bytes = connection->held_bytes + connection->client.held_bytes();
    if (!connection->is_closed() && held_bytes > largest_bytes) {
      largest = connection.get();
      largest_bytes = held_bytes;
    }
  }
  return largest;
}

}  // namespace rowsocket::server
