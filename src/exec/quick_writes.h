// SPDX-License-Identifier: GPL-2.0-only
//
// What is known of one client's writes: into which tables it has written often of late, each time quickly.
// Who is known for that does not pay for what others' writes into the table take: see exec/long_requests.h.
// And the other way round: who has asked for one that took long pays itself, with many of those behind it. So
// quick ones between do not hide the long ones. That is of single writes: no group is remembered.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "exec/long_requests.h"

namespace rowsocket::exec {

class QuickWrites {
 public:
  /// So many quick ones, and the client is known for them.
  static constexpr uint8_t known_count = 31;
  /// An application that writes into more tables in turn is known for none.
  static constexpr size_t places_max = 4;

  using Place = LongRequests::AskedPlace;

  void note_quick(Place place) {
    One* one = find(place);
    if (one == nullptr) {
      one = &ones_[next_++ % places_max];
      *one = {.place = place, .count = 0};
    }
    one->count = static_cast<uint8_t>(std::min(one->count + 1, int{known_count}));
  }
  /// One has taken so long. True if the client was known for quick ones.
  bool note_slow(Place place, uint64_t us) {
    if (us >= limits::distrusted_us) {
      const uint64_t expected = std::min<uint64_t>(us / limits::slow_write_us_per_write, expected_max);
      slow_expected_ = std::max(slow_expected_, static_cast<uint16_t>(expected));
    }
    One* const one = find(place);
    if (one == nullptr) {
      return false;
    }
    return std::exchange(one->count, uint8_t{0}) == known_count;
  }
  /// The next one is expected to take long.
  [[nodiscard]] bool expects_slow() const { return slow_expected_ > 0; }
  /// It was treated so.
  void note_expected() { slow_expected_ = static_cast<uint16_t>(std::max(slow_expected_ - 1, 0)); }
  [[nodiscard]] bool is_known(Place place) const {
    return !expects_slow() && std::any_of(ones_.begin(), ones_.end(), [&](const One& one) {
      return one.place == place && one.count == known_count;
    });
  }

 private:
  static constexpr uint64_t expected_max = std::numeric_limits<uint16_t>::max();

  struct One {
    Place place = 0;
    uint8_t count = 0;  ///< up to known_count; 0: nothing is known
  };

  [[nodiscard]] One* find(Place place) {
    One* const one =
        std::find_if(ones_.begin(), ones_.end(), [&](const One& other) { return other.place == place; });
    return one == ones_.end() ? nullptr : one;
  }

  std::array<One, places_max> ones_;
  uint8_t next_ = 0;
  uint16_t slow_expected_ = 0;
};

}  // namespace rowsocket::exec
