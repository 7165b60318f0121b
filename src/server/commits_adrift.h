// SPDX-License-Identifier: GPL-2.0-only
//
// Commits that go on beside their loop, since another thread has taken it from the turn that commits, and
// what that means for the writes that come meanwhile. They wait, as they would behind a commit for which the
// loop waits: so they share the next one, and the disk has as few as ever. But the commit may be long for its
// own sake (its rows are many), so after a while they go on; as those behind them do for some more, until as
// many threads commit as may.
//
//   the loop's thread ... begin, writes_wait_until_ms
//   a thread that has committed ... end
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/limits.h"

namespace rowsocket::server {

class CommitsAdrift {
 public:
  /// The last one began to be one; see Clock::now_ms.
  void begin(uint64_t now_ms) {
    count_.fetch_add(1);
    since_ms_ = now_ms;
  }
  void end() { count_.fetch_sub(1); }

  /// 0: writes need not wait. The largest value: until a commit has ended.
  [[nodiscard]] uint64_t writes_wait_until_ms() const {
    const uint32_t count = count_.load();
    if (count == 0) [[likely]] {
      return 0;
    }
    return count >= limits::commits_adrift_max ? std::numeric_limits<uint64_t>::max()
                                               : since_ms_ + limits::behind_commit_ms;
  }

 private:
  std::atomic<uint32_t> count_ = 0;
  uint64_t since_ms_ = 0;
};

}  // namespace rowsocket::server
