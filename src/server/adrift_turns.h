// SPDX-License-Identifier: GPL-2.0-only
//
// Turns that go on beside their loop, since another thread has taken it: whether somebody still waits for
// the request under way, and whether it is long. A walk asks that by itself, every few rows. This is for all
// else: a trigger that sleeps, a row that takes long.
//
//   stand-in        make_room · take the loop · add
//   ticker                                          stop_those_gone, note_long ...
//   stuck thread                                         end_request · commit · remove · give back
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/room.h"
#include "engine/engine.h"
#include "exec/request_bounds.h"
#include "exec/write_under_way.h"

namespace rowsocket::server {

class AdriftTurns {
 public:
  struct Adrift {
    engine::Session* session;
    uint64_t since_us;  ///< when the loop was taken from it
    /// Of the request under way; nullptr = none is any more: the turn commits.
    const engine::Presence* client = nullptr;
    const exec::WriteUnderWay* write = nullptr;
    uint64_t noted_us = 0;  ///< see exec::WriteUnderWay::note_longer
    /// The work that was under way, and whose client had gone, when that was looked at last. And since when.
    std::optional<uint64_t> left_work = {};
    uint64_t left_since_ms = 0;
  };

  /// From now on one more can be added. May throw std::bad_alloc.
  void make_room() {
    const MutexLock lock(mutex_);
    make_room_in(turns_);
  }
  /// All that it names stays until `remove`, or `end_request`.
  void add(const Adrift& adrift) {
    const MutexLock lock(mutex_);
    turns_.push_back(adrift);
  }
  /// The request under way has ended; the turn that was added goes on. Those that run again in its commit are
  /// their own clients'.
  void end_request(const engine::Session& session) {
    const MutexLock lock(mutex_);
    const auto found = find(session);
    if (invariant(found != turns_.end(), "a turn that went on beside its loop was added")) {
      found->client = nullptr;
      found->write = nullptr;
    }
  }
  /// The session's turn is over. Returns what was added; with no session where nothing was.
  Adrift remove(const engine::Session& session) {
    const MutexLock lock(mutex_);
    const auto found = find(session);
    const Adrift adrift = found == turns_.end() ? Adrift{nullptr, 0} : *found;
    if (found != turns_.end()) {
      turns_.erase(found);
    }
    return adrift;
  }
  /// No look is under way any more that began before. So a connection may go whose requests are settled: no
  /// look comes upon it again.
  void let_looks_end() { const MutexLock lock(mutex_); }
  /// To be called again and again. What goes on though its client has gone for a while, or was killed, is
  /// told to stop. What has not come to where it hears of that is told again. What is committed before a
  /// request is no part of it.
  void stop_those_gone(uint64_t now_ms) {
    const MutexLock lock(mutex_);
    for (Adrift& turn : turns_) {
      const engine::Work work = turn.session->work();
      const engine::Presence* const client = work.whose(turn.client);
      if (client == nullptr || !client->is_gone()) {
        turn.left_work.reset();
        continue;
      }
      if (std::exchange(turn.left_work, work.number) != work.number) {
        turn.left_since_ms = now_ms;
      }
      if (now_ms - turn.left_since_ms >= limits::end_by_itself_ms || client->is_killed()) {
        turn.session->stop(work);
      }
    }
  }
  /// The writes that go on are known to take long before they are over.
  void note_long(exec::LongRequests& long_requests, uint64_t now_us) {
    const MutexLock lock(mutex_);
    for (Adrift& turn : turns_) {
      if (turn.write != nullptr) {
        turn.noted_us = turn.write->note_longer(long_requests, turn.since_us, now_us, turn.noted_us);
      }
    }
  }

 private:
  [[nodiscard]] std::vector<Adrift>::iterator find(const engine::Session& session)
      ROWSOCKET_REQUIRES(mutex_) {
    return std::find_if(turns_.begin(), turns_.end(),
                        [&](const Adrift& turn) { return turn.session == &session; });
  }

  Mutex mutex_;
  std::vector<Adrift> turns_ ROWSOCKET_GUARDED_BY(mutex_);
};

}  // namespace rowsocket::server
