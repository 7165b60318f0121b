// SPDX-License-Identifier: GPL-2.0-only
//
// The tables into which a thread's request writes, and since when it takes time of its own. Nobody knows when
// a trigger will be over, so others look at it while it goes on.
//
//   the thread .... begin · add, add ... · (end_own_time · begin_own_time) ... · end_own_time
//   others ........ note_longer, note_longer, ...
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "exec/long_requests.h"

namespace rowsocket::exec {

class WriteUnderWay {
 public:
  // For the thread.
  void begin() {
    count_.store(0, std::memory_order_relaxed);
    own_since_us_.store(0, std::memory_order_relaxed);
  }
  /// A group's members have one place each. Beyond the first few they are not looked at.
  void add(LongRequests::Place place) {
    const size_t count = count_.load(std::memory_order_relaxed);
    if (count < places_.size() && !has(place, count)) {
      places_[count].store(place, std::memory_order_relaxed);
      count_.store(count + 1, std::memory_order_release);
    }
  }
  /// For the thread.
  [[nodiscard]] bool is_empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  [[nodiscard]] LongRequests::Place first_place() const { return places_[0].load(std::memory_order_relaxed); }
  /// Only what comes from here on counts, until the next call.
  void begin_own_time(uint64_t now_us) { own_since_us_.store(now_us, std::memory_order_relaxed); }
  /// Until begin_own_time: it waits for other sessions or for a disk, its turn commits what came before, or
  /// it is over.
  void end_own_time() {
    own_since_us_.store(std::numeric_limits<uint64_t>::max(), std::memory_order_relaxed);
  }

  // For any thread.
  /// `action(place)` for each of them.
  template <typename Action>
  void for_each_place(Action action) const {
    const size_t count = count_.load(std::memory_order_acquire);
    for (size_t number = 0; number < count; ++number) {
      action(places_[number].load(std::memory_order_relaxed));
    }
  }
  /// While it goes on, so many more of the writes behind it are expected to be long as its own time has
  /// become longer. `since_us`: when it began to go on by itself; `noted_count`: what this has returned
  /// before, 0 at first.
  [[nodiscard]] LongRequests::Count note_longer(LongRequests& requests, uint64_t since_us, uint64_t now_us,
                                                LongRequests::Count noted_count) const {
    const uint64_t own_since_us = std::max(since_us, own_since_us_.load(std::memory_order_relaxed));
    const LongRequests::Count count = LongRequests::count_behind(now_us - std::min(now_us, own_since_us));
    if (count <= noted_count) {
      return noted_count;
    }
    for_each_place([&](LongRequests::Place place) {
      requests.expect_more(place, static_cast<LongRequests::Count>(count - noted_count));
    });
    return count;
  }

 private:
  [[nodiscard]] bool has(LongRequests::Place place, size_t count) const {
    return std::any_of(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(count),
                       [&](const auto& one) { return one.load(std::memory_order_relaxed) == place; });
  }

  std::array<std::atomic<LongRequests::Place>, 16> places_{};
  std::atomic<size_t> count_{0};
  std::atomic<uint64_t> own_since_us_{0};  ///< or later, if others say so
};

}  // namespace rowsocket::exec
