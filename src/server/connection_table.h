// SPDX-License-Identifier: GPL-2.0-only
//
// The connections of one worker: owns them, and knows what their buffers hold together. One owner, one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "server/client_connection.h"

namespace rowsocket::server {

class ConnectionTable {
 public:
  /// May throw std::bad_alloc; then nothing changed.
  ClientConnection& add(std::unique_ptr<ClientConnection> connection);
  /// Destroys it, which closes its socket.
  void remove(ClientConnection& connection);

  [[nodiscard]] size_t size() const { return connections_.size(); }
  [[nodiscard]] const std::vector<std::unique_ptr<ClientConnection>>& all() const { return connections_; }

  /// Count anew what this connection's buffers hold.
  void count_held_bytes(ClientConnection& connection) {
    const size_t held_bytes = connection.stream.held_bytes();
    held_bytes_ = held_bytes_ - connection.held_bytes + held_bytes;
    connection.held_bytes = held_bytes;
  }
  [[nodiscard]] size_t held_bytes() const { return held_bytes_; }
  /// Who holds most; nullptr if nobody holds anything. Looks at all of them.
  [[nodiscard]] ClientConnection* largest_holder() const;

 private:
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  size_t held_bytes_ = 0;
};

}  // namespace rowsocket::server
