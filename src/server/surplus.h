// SPDX-License-Identifier: GPL-2.0-only
//
// When a stand-in that has nothing to do ends: once at least one has had nothing to do for a while, and then
// one more from time to time. Not all of a burst's stand-ins end at once, since the next burst may come soon.
//
// One thread's, which asks often.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace rowsocket::server {

class Surplus {
 public:
  /// True if one is to end now. `idle_count`: how many have nothing to do.
  [[nodiscard]] bool one_ends(uint64_t now_ms, uint32_t idle_count) {
    if (needed_at_ms_ == 0 || idle_count == 0) {
      needed_at_ms_ = now_ms;
      return false;
    }
    if (now_ms - needed_at_ms_ < limits::stand_in_idle_ms) {
      return false;
    }
    needed_at_ms_ = now_ms - limits::stand_in_idle_ms + limits::stand_in_ends_ms;
    return true;
  }

 private:
  uint64_t needed_at_ms_ = 0;  ///< when all had something to do, as far as was seen; 0 = never asked
};

}  // namespace rowsocket::server
