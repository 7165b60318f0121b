// SPDX-License-Identifier: GPL-2.0-only
//
// What memcached's commands came to, for `stats`. Each connection counts on its own, on its worker's thread,
// so that no two workers write the same memory; `stats` adds them up. A request counts once, when it is done
// for good (see Reply::count), however often it ran.
//
// Locking: connections come and go under the mutex; counting takes none.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/mutex.h"

namespace rowsocket::wire::memcached {

#define ROWSOCKET_MEMCACHED_TALLIES \
  ROWSOCKET_TALLY(get_hits)         \
  ROWSOCKET_TALLY(get_misses)       \
  ROWSOCKET_TALLY(cmd_set)          \
  ROWSOCKET_TALLY(cmd_flush)        \
  ROWSOCKET_TALLY(touch_hits)       \
  ROWSOCKET_TALLY(touch_misses)     \
  ROWSOCKET_TALLY(delete_hits)      \
  ROWSOCKET_TALLY(delete_misses)    \
  ROWSOCKET_TALLY(incr_hits)        \
  ROWSOCKET_TALLY(incr_misses)      \
  ROWSOCKET_TALLY(decr_hits)        \
  ROWSOCKET_TALLY(decr_misses)      \
  ROWSOCKET_TALLY(cas_hits)         \
  ROWSOCKET_TALLY(cas_misses)       \
  ROWSOCKET_TALLY(cas_badval)

/// The names are memcached's own.
enum class Count : uint8_t {
#define ROWSOCKET_TALLY(name) name,
  ROWSOCKET_MEMCACHED_TALLIES
#undef ROWSOCKET_TALLY
      none  ///< how many there are, and one that is not counted
};
inline constexpr size_t count_count = static_cast<size_t>(Count::none);

[[nodiscard]] std::string_view name_of(Count count);

/// Of one connection. Only its worker's thread adds.
class Tally {
 public:
  Tally();   ///< is one of those that `sum` adds up
  ~Tally();  ///< what it has counted stays in the sums
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void add(Count count, uint64_t amount = 1) {
    auto& slot = slots_[static_cast<size_t>(count)];
    slot.store(slot.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  /// Of all connections that there are and were. Any thread may ask.
  [[nodiscard]] static uint64_t sum(Count count);

 private:
  struct Register {
    Mutex mutex;
    Tally* first ROWSOCKET_GUARDED_BY(mutex) = nullptr;
    std::array<uint64_t, count_count + 1> of_the_closed ROWSOCKET_GUARDED_BY(mutex){};
  };
  static Register& all();

  std::array<std::atomic<uint64_t>, count_count + 1> slots_{};
  Tally* previous_ = nullptr;
  Tally* next_ = nullptr;
};

}  // namespace rowsocket::wire::memcached
