// SPDX-License-Identifier: GPL-2.0-only
#include "server/waiting_room.h"

#include <algorithm>

namespace rowsocket::server {

bool WaitingRoom::offer(ClientConnection& connection) {
  const uint64_t account = connection.client.account.number();
  const MutexLock lock(mutex_);
  const auto of_account = std::count_if(guests_.begin(), guests_.end(),
                                        [account](const Guest& guest) { return guest.account == account; });
  if (guests_.size() >= limits::waiting_room_places ||
      of_account >= std::ptrdiff_t{limits::waiting_room_places_of_account}) {
    return false;
  }
  guests_.push_back({&connection, account, nullptr});
  waiting_count_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

ClientConnection* WaitingRoom::enter(engine::Session& session) {
  if (waiting_count() == 0) {
    return nullptr;
  }
  const MutexLock lock(mutex_);
  const auto first = take_first_waiting();
  if (first == guests_.end()) {
    return nullptr;
  }
  first->session = &session;
  return first->connection;
}

ClientConnection* WaitingRoom::withdraw() {
  const MutexLock lock(mutex_);
  const auto first = take_first_waiting();
  if (first == guests_.end()) {
    return nullptr;
  }
  ClientConnection* const connection = first->connection;
  guests_.erase(first);
  return connection;
}

/// Of those that no thread runs yet, the one that came first; it counts as waiting no longer.
std::vector<WaitingRoom::Guest>::iterator WaitingRoom::take_first_waiting() {
  const auto first = std::find_if(guests_.begin(), guests_.end(),
                                  [](const Guest& guest) { return guest.session == nullptr; });
  if (first != guests_.end()) {
    waiting_count_.fetch_sub(1, std::memory_order_relaxed);
  }
  return first;
}

void WaitingRoom::leave(const ClientConnection& connection) {
  const MutexLock lock(mutex_);
  std::erase_if(guests_, [&connection](const Guest& guest) { return guest.connection == &connection; });
}

void WaitingRoom::forget(const engine::Session& session) {
  const MutexLock lock(mutex_);
  std::erase_if(guests_, [&session](const Guest& guest) { return guest.session == &session; });
}

/// A request that has not begun when it is told to stop does not hear of it. So it is told again.
void WaitingRoom::stop_those_gone() {
  const MutexLock lock(mutex_);
  for (Guest& guest : guests_) {
    if (guest.session == nullptr) {
      continue;
    }
    const engine::Work work = guest.session->work();
    const engine::Presence* const client = work.whose(guest.connection);
    if (client != nullptr && client->is_gone()) {
      guest.session->stop(work);
    }
  }
}

void WaitingRoom::make_way() {
  const MutexLock lock(mutex_);
  for (const Guest& guest : guests_) {
    if (guest.session != nullptr) {
      guest.session->give_way();
    }
  }
}

}  // namespace rowsocket::server
