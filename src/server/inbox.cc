// SPDX-License-Identifier: GPL-2.0-only
#include "server/inbox.h"

#include <exception>
#include <utility>

#include "server/client_connection.h"

namespace rowsocket::server {

Inbox::Inbox() = default;
Inbox::~Inbox() = default;

bool Inbox::offer(Arrival& arrival) { return offer(arrival, 1); }
bool Inbox::offer_back(Arrival& arrival) { return offer(arrival, 0); }

bool Inbox::offer(Arrival& arrival, uint32_t newly_counted) {
  try {
    const MutexLock lock(mutex_);
    if (!open_) {
      return false;
    }
    arrivals_.push_back(std::move(arrival));
    connection_count_.fetch_add(newly_counted, std::memory_order_relaxed);
  } catch (const std::exception&) {
    return false;
  }
  wakeup_.notify();
  return true;
}

bool Inbox::offer_moved(std::unique_ptr<ClientConnection>& connection) {
  try {
    const MutexLock lock(mutex_);
    if (!open_) {
      return false;
    }
    moved_.push_back(std::move(connection));
    connection_count_.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::exception&) {
    return false;
  }
  wakeup_.notify();
  return true;
}

bool Inbox::is_open() const {
  const MutexLock lock(mutex_);
  return open_;
}

void Inbox::take(std::vector<Arrival>& arrivals) {
  const MutexLock lock(mutex_);
  arrivals_.swap(arrivals);
}

void Inbox::take_moved(MovedConnections& moved) {
  const MutexLock lock(mutex_);
  moved_.swap(moved);
}

void Inbox::close() {
  const MutexLock lock(mutex_);
  open_ = false;
  connection_count_.fetch_sub(static_cast<uint32_t>(arrivals_.size()), std::memory_order_relaxed);
  arrivals_.clear();
}

}  // namespace rowsocket::server
