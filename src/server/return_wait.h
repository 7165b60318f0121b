// SPDX-License-Identifier: GPL-2.0-only
//
// How long a turn waits for the clients that a commit has answered. A commit that flushes costs about as much
// for many requests as for one, and the clients that it answered come back within moments. So a turn that
// would begin with fewer than half of these clients waits a little (decision 0012).
//
// One owner, one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/limits.h"

namespace rowsocket::server {

class ReturnWait {
 public:
  /// So many connections took part in a commit that took so long.
  void note_commit(uint64_t commit_us, size_t connection_count) {
    const uint64_t wait_us =
        std::min<uint64_t>(commit_us / limits::return_wait_share, limits::return_wait_us_max);
    wait_us_ = wait_us < limits::return_wait_us_min ? 0 : wait_us;
    connection_count_ = connection_count;
  }
  /// For the next turn, once per commit. 0 = it does not wait.
  [[nodiscard]] uint64_t take_us() { return std::exchange(wait_us_, 0); }
  [[nodiscard]] bool are_few(size_t returned_count) const {
    return returned_count < std::min<size_t>(connection_count_, limits::events_per_poll) / 2;
  }

 private:
  size_t connection_count_ = 0;
  uint64_t wait_us_ = 0;
};

}  // namespace rowsocket::server
