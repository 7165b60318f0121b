// SPDX-License-Identifier: GPL-2.0-only
//
// Connections on their way back to a turn loop, from threads that kept them while another thread ran the
// loop. Any thread gives back; the loop's thread does all else.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "server/client_connection.h"

namespace rowsocket::server {

class Returned {
 public:
  /// From now on so many can come back without an allocation. May throw std::bad_alloc.
  void reserve(size_t connection_count) {
    const MutexLock lock(mutex_);
    returned_.reserve(connection_count);
    taken_.reserve(connection_count);
  }
  void give_back(std::span<ClientConnection* const> connections) {
    const MutexLock lock(mutex_);
    returned_.insert(returned_.end(), connections.begin(), connections.end());
  }
  /// Good until the next call.
  [[nodiscard]] std::span<ClientConnection* const> take() {
    taken_.clear();
    const MutexLock lock(mutex_);
    taken_.swap(returned_);
    return taken_;
  }

 private:
  Mutex mutex_;
  std::vector<ClientConnection*> returned_ ROWSOCKET_GUARDED_BY(mutex_);
  std::vector<ClientConnection*> taken_;
};

}  // namespace rowsocket::server
