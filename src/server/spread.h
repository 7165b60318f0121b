// SPDX-License-Identifier: GPL-2.0-only
//
// Over how many workers of a role the connections are spread.
//
//   narrow ── requests wait for the disk all the time ──► wide
//     ▲                                                     │
//     └──────────── for a while they did not ───────────────┘
//
// With everything in memory a worker per core is best: a turn costs about as much for many requests as for
// one. Where most requests wait for a page, each wait calls a stand-in, which costs more than a short wait.
// More workers are better then: each waits for its pages in place, and the others go on meanwhile. But not
// where a page takes long, or where the processor has time: stand-ins wait for more pages at once. So a wide
// spread is tried, and stays only where more pages are read with it than before.
//
// A turn waits in place for a little while only (limits::turn_in_place_ms). Behind that its waits call
// stand-ins, as they do while the spread is narrow.
//
// The ticker decides (`look`). The workers then move their connections by themselves, each on its own thread
// and between two turns (TurnLoop::relieve).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/limits.h"
#include "server/inbox.h"

namespace rowsocket::server {

class Spread {
 public:
  /// `narrow_count` workers serve while the spread is narrow.
  explicit Spread(uint32_t narrow_count) : narrow_count_(narrow_count), worker_count_(narrow_count) {}

  /// Before the workers start: one more, by its number. May throw std::bad_alloc.
  void add(Inbox& inbox) { inboxes_.push_back(&inbox); }

  // For any thread.

  /// A request is about to wait for the disk. The engine may hold latches.
  void note_disk_wait() { disk_waits_.fetch_add(1, std::memory_order_relaxed); }
  /// The workers with smaller numbers serve connections; others have none, or are about to give them away.
  [[nodiscard]] uint32_t worker_count() const { return worker_count_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_wide() const { return worker_count() > narrow_count_; }
  /// Where a connection of this worker should move to; nullptr: nowhere.
  [[nodiscard]] Inbox* elsewhere(uint32_t worker_number) const;

  // For the ticker.

  enum class Wish : uint8_t { stay, widen, narrow };
  /// `widen` is said again until it is done.
  [[nodiscard]] Wish look(uint64_t now_ms);
  /// So many serve from now on. The workers are to be woken.
  void set(uint32_t worker_count, uint64_t now_ms);
  [[nodiscard]] uint32_t narrow_count() const { return narrow_count_; }
  [[nodiscard]] size_t size() const { return inboxes_.size(); }

 private:
  [[nodiscard]] bool is_cold(uint64_t waits_per_s, uint64_t now_ms);
  [[nodiscard]] bool trial_fails(uint64_t waits, uint64_t now_ms);

  std::vector<Inbox*> inboxes_;
  const uint32_t narrow_count_;
  std::atomic<uint32_t> worker_count_;
  std::atomic<uint32_t> disk_waits_{0};  ///< since the last look

  // The ticker's.
  uint64_t looked_at_ms_ = 0;
  uint32_t cold_looks_ = 0;        ///< one after the other, in which the disk was waited for often
  uint64_t cold_waits_per_s_ = 0;  ///< in these, on an average
  uint64_t last_cold_ms_ = 0;      ///< while it is wide
  uint64_t widened_at_ms_ = 0;
  uint64_t trial_waits_ = 0;
  uint64_t trial_waits_per_s_min_ = 0;  ///< that it stays wide; 0 = that is decided
  uint64_t next_trial_ms_ = 0;
  uint32_t trial_pause_ms_ = limits::spread_pause_ms;
};

}  // namespace rowsocket::server
