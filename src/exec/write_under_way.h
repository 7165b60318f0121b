// SPDX-License-Identifier: GPL-2.0-only
//
// The tables into which a thread's request writes, and since when it takes time of its own. Nobody knows when
// a trigger will be over, so others look at it while it goes on.
//
//   the thread .... begin · add, add ... · set_trusted · (end_own_time · begin_own_time) ... · end
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
    is_trusted_.store(false, std::memory_order_relaxed);
    is_over_ = false;
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
  /// Whether its client has written into all of them often, each time quickly, and no commit comes before it:
  /// others of its turn will wait for it if it takes long after all.
  void set_trusted(bool is_trusted) { is_trusted_.store(is_trusted, std::memory_order_relaxed); }
  [[nodiscard]] bool is_trusted() const { return is_trusted_.load(std::memory_order_relaxed); }
  /// Only what comes from here on counts, until the next call.
  void begin_own_time(uint64_t now_us) {
    if (!is_over_) {
      own_since_us_.store(now_us, std::memory_order_relaxed);
    }
  }
  /// Until begin_own_time: it waits for other sessions or for a disk, or its turn commits what came before.
  void end_own_time() {
    own_since_us_.store(std::numeric_limits<uint64_t>::max(), std::memory_order_relaxed);
  }

  /// It is over. What the thread does until the next one is not its own.
  void end() {
    is_over_ = true;
    end_own_time();
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
  /// While it goes on, the writes behind it are expected to be as long as its own time is by now. `since_us`:
  /// when it began to go on by itself; `noted_us`: what this has returned before, 0 at first.
  [[nodiscard]] uint64_t note_longer(LongRequests& requests, uint64_t since_us, uint64_t now_us,
                                     uint64_t noted_us) const {
    const uint64_t own_since_us = std::max(since_us, own_since_us_.load(std::memory_order_relaxed));
    const uint64_t own_us = now_us - std::min(now_us, own_since_us);
    if (own_us < limits::long_write_us_min || own_us <= noted_us) {
      return noted_us;
    }
    for_each_place(
        [&](LongRequests::Place place) { requests.expect_more(place, own_us - noted_us, is_trusted()); });
    return own_us;
  }

 private:
  [[nodiscard]] bool has(LongRequests::Place place, size_t count) const {
    return std::any_of(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(count),
                       [&](const auto& one) { return one.load(std::memory_order_relaxed) == place; });
  }

  std::array<std::atomic<LongRequests::Place>, 16> places_{};
  std::atomic<size_t> count_{0};
  std::atomic<uint64_t> own_since_us_{0};  ///< or later, if others say so
  std::atomic<bool> is_trusted_{false};
  bool is_over_ = false;  ///< for the thread
};

}  // namespace rowsocket::exec
