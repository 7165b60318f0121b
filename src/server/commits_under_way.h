// SPDX-License-Identifier: GPL-2.0-only
//
// Commits of changes that the threads of a worker make now, and what that means for the writes that come
// meanwhile. (While the loop's thread commits, none comes; while another thread has taken the loop from it,
// they do.) They wait, as they would behind a commit for which the loop waits: so they share the next one,
// and the disk has as few as ever. But a commit may be long for its own sake (its rows are many), so after a
// while they go on; as those behind them do, until as many threads commit as may.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/limits.h"

namespace rowsocket::server {

class CommitsUnderWay {
 public:
  /// The time is Clock::now_ms, as below.
  void begin(uint64_t now_ms) {
    if (count_.fetch_add(1) == 0) {
      since_ms_.store(now_ms);
    }
  }
  void end(uint64_t took_us) {
    last_us_.store(took_us);
    count_.fetch_sub(1);
  }

  /// A commit usually takes about as long as the last one: it took so long that others should go on beside.
  [[nodiscard]] bool are_slow() const { return last_us_.load() >= limits::slice_us; }
  /// ... or as long as writes wait for one. Or there are some for which writes need not wait any more, or for
  /// whose end they wait.
  [[nodiscard]] bool are_long(uint64_t now_ms) const {
    const uint32_t count = count_.load();
    return last_us_.load() >= limits::behind_commit_ms * 1000 || count >= limits::commits_beside_max ||
           (count > 0 && now_ms >= since_ms_.load() + limits::behind_commit_ms);
  }

  /// 0: writes need not wait. The largest value: until a commit has ended.
  [[nodiscard]] uint64_t writes_wait_until_ms() const {
    const uint32_t count = count_.load();
    if (count == 0) [[likely]] {
      return 0;
    }
    return count >= limits::commits_beside_max ? std::numeric_limits<uint64_t>::max()
                                               : since_ms_.load() + limits::behind_commit_ms;
  }

 private:
  std::atomic<uint32_t> count_ = 0;
  std::atomic<uint64_t> since_ms_ = 0;  ///< there is at least one
  std::atomic<uint64_t> last_us_ = 0;   ///< the one that ended last took so long
};

}  // namespace rowsocket::server
