// SPDX-License-Identifier: GPL-2.0-only
//
// Requests that go on beside their loop, since another thread has taken it: whether somebody still waits for
// them, and which of them are long. A walk asks that by itself, every few rows. This is for all else: a
// trigger that sleeps, a row that takes long.
//
//   stand-in        make_room · take the loop · add
//   ticker                                          stop_those_gone, note_long
//   stuck thread                                                      remove · commit · give back
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/mutex.h"
#include "engine/engine.h"
#include "exec/request_bounds.h"
#include "exec/write_under_way.h"

namespace rowsocket::server {

class AdriftRequests {
 public:
  struct Request {
    const exec::Presence* client;
    engine::Session* session;
    const exec::WriteUnderWay* write;
    uint64_t since_us;        ///< when the loop was taken from it
    bool was_gone = false;    ///< the client, when it was looked for last, and the request was under way
    bool is_stopped = false;  ///< it was told to stop
    uint64_t noted_us = 0;    ///< see exec::WriteUnderWay::note_longer
  };

  /// From now on one more can be added. May throw std::bad_alloc.
  void make_room() {
    const MutexLock lock(mutex_);
    if (requests_.size() == requests_.capacity()) {
      requests_.reserve(2 * requests_.size() + 1);
    }
  }
  /// What the session executes for this client. All three stay until `remove`.
  void add(const exec::Presence& client, engine::Session& session, const exec::WriteUnderWay& write,
           uint64_t now_us) {
    const MutexLock lock(mutex_);
    requests_.push_back({&client, &session, &write, now_us});
  }
  /// The session's request has ended, which was added before.
  [[nodiscard]] Request remove(const engine::Session& session) {
    const MutexLock lock(mutex_);
    const auto found = std::find_if(requests_.begin(), requests_.end(),
                                    [&](const Request& request) { return request.session == &session; });
    if (!invariant(found != requests_.end(), "a request that went on beside its loop was added")) {
      return {nullptr, nullptr, nullptr, 0};
    }
    const Request request = *found;
    requests_.erase(found);
    return request;
  }
  /// Those that go on though their clients had gone when this was called last are told to stop. One that has
  /// not come to where it hears of that is told again. What is committed before a request is no part of it.
  void stop_those_gone() {
    const MutexLock lock(mutex_);
    for (Request& request : requests_) {
      const bool is_gone = !request.session->keeps_stops_off() && request.client->is_gone();
      if (std::exchange(request.was_gone, is_gone) && is_gone) {
        request.session->stop_request();
        request.is_stopped = true;
      }
    }
  }
  /// The writes that go on are known to take long before they are over.
  void note_long(exec::LongRequests& long_requests, uint64_t now_us) {
    const MutexLock lock(mutex_);
    for (Request& request : requests_) {
      request.noted_us =
          request.write->note_longer(long_requests, request.since_us, now_us, request.noted_us);
    }
  }

 private:
  Mutex mutex_;
  std::vector<Request> requests_ ROWSOCKET_GUARDED_BY(mutex_);
};

}  // namespace rowsocket::server
