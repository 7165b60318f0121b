// SPDX-License-Identifier: GPL-2.0-only
//
// The connections of a worker, for readers on other threads. The worker takes the lock where a connection
// comes or goes, and at no other time. Readers hold it while they copy a few connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/mutex.h"
#include "server/connection_figures.h"

namespace rowsocket::server {

struct ClientConnection;

class Roster {
 public:
  // For the worker.
  /// Its figures may be read from now on, until it is removed. It takes the place of one with its number,
  /// which has left for its handshake, and may be removed later. May throw std::bad_alloc.
  void add(ClientConnection& connection);
  void remove(const ClientConnection& connection);
  /// nullptr if there is none with this number.
  [[nodiscard]] ClientConnection* find(uint64_t number) const;

  // For any thread.
  /// Append the figures of those with the next numbers behind `number`, at most `count_max`. `thread` is the
  /// one that serves the worker. Returns whether there may be more. May throw std::bad_alloc.
  [[nodiscard]] bool copy_behind(uint64_t number, size_t count_max, uint64_t now_ms, uint64_t thread,
                                 std::vector<ConnectionFigures>& figures) const;

 private:
  mutable Mutex mutex_;
  std::map<uint64_t, ClientConnection*> by_number_ ROWSOCKET_GUARDED_BY(mutex_);
};

}  // namespace rowsocket::server
