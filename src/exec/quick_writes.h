// SPDX-License-Identifier: GPL-2.0-only
//
// What is known of one client's writes: into which tables it has written often of late, each time quickly.
// Who is known for that does not pay for what the writes of others take who are not: see
// exec/long_requests.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "exec/long_requests.h"

namespace rowsocket::exec {

class QuickWrites {
 public:
  /// So many quick ones, and the client is known for them.
  static constexpr uint8_t known_count = 31;
  /// Of an application that writes into more tables in turn, those count into which it writes most.
  static constexpr size_t places_max = 4;

  using Place = LongRequests::Place;

  void note_quick(Place place) {
    One* one = find(place);
    if (one == nullptr) {
      // Of the others, the least is known of this one. It makes room once nothing is known of it any more.
      one = std::min_element(ones_.begin(), ones_.end(),
                             [](const One& a, const One& b) { return a.count < b.count; });
      if (one->count > 0) {
        --one->count;
        return;
      }
      one->place = place;
    }
    one->count = static_cast<uint8_t>(std::min(one->count + 1, int{known_count}));
  }
  /// One was not quick, or that is not known.
  void forget(Place place) {
    if (One* const one = find(place); one != nullptr) {
      one->count = 0;
    }
  }
  [[nodiscard]] bool is_known(Place place) const {
    return std::any_of(ones_.begin(), ones_.end(),
                       [&](const One& one) { return one.place == place && one.count == known_count; });
  }

 private:
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
};

}  // namespace rowsocket::exec
