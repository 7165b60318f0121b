// SPDX-License-Identifier: GPL-2.0-only
//
// How long one connection's pipeline may keep a turn. A count of requests alone is no bound: a request that
// walks over a thousand rows takes as long as hundreds that find one row, and is too short for a stand-in.
//
//   requests that are short .... some time in a turn, however many there are
//   requests that are long ..... as long as the others of the turn take together, and one request at least
//
// The clock is asked before every eighth request; before each where the connection has had all of its time in
// its last turn. So a request that comes alone pays nothing.
//
// Of one connection in one turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/limits.h"

namespace rowsocket::server {

class TimeShare {
 public:
  /// `others`: connections that take part in the turn beside this one, or have taken part in the last.
  /// `sharers`: so many pipelines share the time of one, this one included.
  /// `was_over`: the connection has had all of its time in its last turn.
  TimeShare(const Clock& clock, size_t others, size_t sharers, bool was_over)
      : clock_(clock),
        others_(others),
        of_one_us_(limits::turn_us_of_one / sharers),
        looks_always_(was_over),
        began_us_(was_over ? clock.now_us() : 0) {}

  /// Before the next request, behind `taken` others of the connection: its time in this turn is over.
  [[nodiscard]] bool is_over(uint32_t taken) {
    const bool looks = looks_always_ || taken % limits::requests_per_look_at_time == 0;
    if (taken == 0 || !looks) [[likely]] {
      return false;
    }
    const uint64_t now_us = clock_.now_us();
    if (began_us_ == 0) {
      began_us_ = now_us;
      first_ = taken;
      return false;
    }
    return is_over(now_us - began_us_, taken - first_);
  }

 private:
  [[nodiscard]] bool is_over(uint64_t used_us, uint32_t requests) const {
    if (others_ == 0) {
      return used_us >= limits::turn_us_of_one_alone;
    }
    const bool are_long = used_us >= uint64_t{requests} * limits::long_request_us;
    return used_us >=
           (are_long ? std::min<uint64_t>(others_ * limits::turn_us_per_other, of_one_us_) : of_one_us_);
  }

  const Clock& clock_;
  const size_t others_;
  const uint64_t of_one_us_;
  const bool looks_always_;
  uint64_t began_us_;   ///< 0 = the clock was not asked yet
  uint32_t first_ = 0;  ///< requests before that
};

}  // namespace rowsocket::server
