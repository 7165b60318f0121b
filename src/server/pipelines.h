// SPDX-License-Identifier: GPL-2.0-only
//
// How many requests of one connection a turn takes, so that pipelines leave half of the turn to who asks one
// request at a time. The fewer others there are, the less is a long pipeline in their way. Several long ones
// share what one of them has: a few requests each, if they are many.
//
// Long is a pipeline that has asked for more than was done in its last turn, or for many requests.
//
// Of one loop, from turn to turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/limits.h"

namespace rowsocket::server {

class Pipelines {
 public:
  void begin_turn() { long_before_ = std::exchange(long_now_, 0); }
  /// A connection had so many requests of the turn. `asks_more`: it has further ones.
  void note(uint32_t requests, bool asks_more) {
    long_now_ += asks_more || requests > limits::requests_ahead_max ? 1 : 0;
  }

  /// Of so many members of the turn, so many share what one has, itself included. Where all are long, they
  /// need not.
  [[nodiscard]] size_t sharers(size_t members) const {
    return long_before_ < members ? std::max(long_before_, size_t{1}) : 1;
  }
  /// A turn of so many members takes so many requests of one.
  [[nodiscard]] uint32_t requests_max(size_t members) const {
    if (members <= 1) {
      return limits::requests_per_connection_turn;
    }
    const size_t sharing = sharers(members);
    const size_t of_all =
        std::clamp<size_t>((members - sharing) * limits::requests_per_other,
                           limits::requests_beside_others_min, limits::requests_per_connection_turn);
    // Where most are long, the turn is theirs, and one that takes fewer at once costs them more.
    const size_t least = 2 * sharing > members ? limits::requests_ahead_max : limits::requests_per_other;
    return static_cast<uint32_t>(std::max(of_all / sharing, least));
  }

 private:
  size_t long_now_ = 0;
  size_t long_before_ = 0;  ///< of the last turn
};

}  // namespace rowsocket::server
