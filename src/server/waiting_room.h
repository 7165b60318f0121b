// SPDX-License-Identifier: GPL-2.0-only
//
// Where a connection goes whose request waits for a lock that another session keeps: a thread of its own runs
// the request alone, and waits in the server's own queue for the lock. So the loop polls nothing, a lock that
// comes free goes to the request that came first, and the server finds deadlocks.
//
//   loop        offer ─────────────────────────────────────────────► take_back (turn_loop.h)
//   stand-in            enter · execute · commit · leave · give back
//   ticker                        stop_those_gone · make_way · withdraw
//
// There are few places, so that one row that many clients change does not keep all threads. One account gets
// not all of them, so that its locks do not keep the others out. Other requests stay parked, and the loop
// tries them again.
//
// Thread-safe. While a connection is in the room, it is away: the loop does not touch it.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "base/limits.h"
#include "base/mutex.h"
#include "engine/engine.h"
#include "server/client_connection.h"

namespace rowsocket::server {

class WaitingRoom {
 public:
  /// May throw std::bad_alloc.
  WaitingRoom() { guests_.reserve(limits::waiting_room_places); }

  /// For the loop. False if there is no place; else some thread is to `enter` with it.
  [[nodiscard]] bool offer(ClientConnection& connection);
  /// For a stand-in with this session: the connection to run, or nullptr.
  [[nodiscard]] ClientConnection* enter(engine::Session& session);
  /// Its request is over, and its session is not used for it any more.
  void leave(const ClientConnection& connection);
  /// Where there is no thread to run it: one that none has entered with leaves, to be given back. nullptr if
  /// there is none.
  [[nodiscard]] ClientConnection* withdraw();
  /// How many are to `enter`.
  [[nodiscard]] size_t waiting_count() const { return waiting_count_.load(std::memory_order_relaxed); }
  /// The session is used no more, whatever became of its guest.
  void forget(const engine::Session& session);
  /// Stop the requests whose clients have gone.
  void stop_those_gone();
  /// Those that wait for rows let others pass that wait for what they hold (engine::Session::give_way).
  void make_way();

 private:
  struct Guest {
    ClientConnection* connection;
    uint64_t account;          ///< its number
    engine::Session* session;  ///< that runs its request; nullptr = none has entered
  };

  [[nodiscard]] std::vector<Guest>::iterator take_first_waiting() ROWSOCKET_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<Guest> guests_ ROWSOCKET_GUARDED_BY(mutex_);
  std::atomic<size_t> waiting_count_{0};  ///< of the guests that no thread runs yet
};

}  // namespace rowsocket::server
