// SPDX-License-Identifier: GPL-2.0-only
//
// How many requests of one connection a turn takes, so that pipelines leave half of the turn to who asks one
// request at a time. The fewer others there are, the less is a long pipeline in their way. Several long ones
// share what one of them has: a few requests each. Where that would be too few to be worth the way, those
// that read take part in turn.
//
// Long is a pipeline that has asked for more than was done in its last turn, or for many requests.
//
// Of one loop, from turn to turn, whichever thread runs it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/limits.h"

namespace rowsocket::server {

class Pipelines {
 public:
  void begin_turn() {
    before_ = std::exchange(now_, {});
    known_long_ = 0;
    // Those that ask one request at a time are not in each turn: an eighth of them is forgotten with each.
    const size_t others = before_.members - before_.ask_more - before_.have_ended;
    others_lately_ = std::max(others, others_lately_ - (others_lately_ + 7) / 8);
    // The way of each to and fro costs what another one's request costs.
    constexpr size_t cost_of_one = limits::requests_ahead_max + limits::requests_per_other;
    places_ = others_lately_ == 0 ? std::numeric_limits<size_t>::max()
                                  : requests_of_all(others_lately_) / cost_of_one;
  }
  /// A long one has been waiting since the last turn, or for longer: does it take part in this one? Those
  /// that write do: they share the turn's commit, behind those that read.
  [[nodiscard]] bool lets_in(bool writes) {
    if (!writes && places_ == 0) {
      return false;
    }
    places_ -= writes ? 0 : 1;
    ++known_long_;
    return true;
  }
  /// A connection had so many requests of the turn. `asks_more`: it has further ones.
  void note(uint32_t requests, bool asks_more) {
    ++now_.members;
    now_.ask_more += asks_more ? 1 : 0;
    now_.have_ended += !asks_more && requests > limits::requests_ahead_max ? 1 : 0;
  }

  /// Connections that were executed in the last turn.
  [[nodiscard]] size_t members_before() const { return before_.members; }
  /// Of so many members of the turn, so many share what one has, itself included. Where all are long, they
  /// need not.
  [[nodiscard]] size_t sharers(size_t members, bool writes) const {
    const size_t long_ones = known_long_ + before_.have_ended;
    const size_t to_a_share = writes ? limits::pipelines_in_share_of_commit : 1;
    return long_ones < members ? std::max(long_ones / to_a_share, size_t{1}) : 1;
  }
  /// A turn of so many members takes so many requests of one.
  [[nodiscard]] uint32_t requests_max(size_t members, bool writes) const {
    if (members <= 1) {
      return limits::requests_per_connection_turn;
    }
    const size_t sharing = sharers(members, writes);
    // Where most are long, the turn is theirs, and one that takes fewer at once costs them more.
    const size_t least = 2 * sharing > members ? limits::requests_ahead_max : limits::requests_per_other;
    return static_cast<uint32_t>(std::max(requests_of_all(members - sharing) / sharing, least));
  }

 private:
  struct Counts {
    size_t members = 0;
    size_t ask_more = 0;    ///< of them: long ones that go on in a later turn
    size_t have_ended = 0;  ///< of them: long ones that may come again
  };

  /// What all long ones share beside so many others.
  [[nodiscard]] static size_t requests_of_all(size_t others) {
    return std::clamp<size_t>(others * limits::requests_per_other, limits::requests_beside_others_min,
                              limits::requests_per_connection_turn);
  }

  Counts now_;
  Counts before_;  ///< of the last turn
  size_t others_lately_ = 0;

  // Of this turn.
  size_t places_ = 0;  ///< are left for long ones that read
  size_t known_long_ = 0;
};

}  // namespace rowsocket::server
