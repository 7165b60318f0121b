// SPDX-License-Identifier: GPL-2.0-only
//
// Which requests are expected to take long by themselves. It is not known of a connection alone, as many
// clients make one for each request, or ask much else before it. Any thread may ask and tell.
//
// Of the writes, those of an account into a table where one took long lately, in a trigger say. Whoever
// writes there for the account pays with a commit before, until these commits have taken as long as the long
// write did, where one that changes something counts for a millisecond at least. So all of them together cost
// about what they guard against. Clients that have written there often, each time quickly, do not pay, unless
// one of them has taken long after all, without a commit before it. What a client pays for its own long write
// is kept with the client.
//
// Of requests that are too short for that, those of a selection where such requests usually take long. Only
// clients of whom nothing is known yet are judged by that.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"
#include "engine/selection.h"
#include "request/request.h"

namespace rowsocket::exec {

class LongRequests {
 public:
  /// With a secret hardly anybody can name a table so that it has the place of another one, whose writers
  /// would pay: the names themselves are hashed without it.
  explicit LongRequests(uint64_t secret) : secret_(secret) {}

  /// What one account asks of a table: its inserts, its other writes or its reads. Two may have the same
  /// place: then both are expected to be long.
  using Place = uint16_t;

  /// `account`: see Account::name_hash.
  [[nodiscard]] Place place_of(uint64_t account, const engine::Selection& selection,
                               const Request& request) const {
    const uint64_t kind = request.kind == RequestKind::insert ? 2 : writes(request) ? 1 : 0;
    const uint64_t table = (selection.table_hash() ^ secret_) * multiplier;
    const uint64_t mixed = ((table ^ account) * multiplier) ^ (secret_ + kind);
    return static_cast<Place>((mixed * multiplier) >> (64 - place_bits));
  }
  [[nodiscard]] bool expects(Place place) const {
    return left_us_[place].load(std::memory_order_relaxed) > 0;
  }
  /// Of a client, too, that has written there often, each time quickly.
  [[nodiscard]] bool expects_of_all(Place place) const {
    return of_all_us_[place].load(std::memory_order_relaxed) > 0;
  }
  /// One took so long by itself. `was_trusted`: its client had written there often, each time quickly, and it
  /// had no commit before it. Others that have may take long, too.
  void note_long(Place place, uint64_t took_us, bool was_trusted) {
    each(place, was_trusted, [&](uint64_t left_us) { return std::max(left_us, took_us); });
  }
  /// One that goes on takes so much longer.
  void expect_more(Place place, uint64_t us, bool is_trusted) {
    each(place, is_trusted, [&](uint64_t left_us) { return left_us + us; });
  }
  /// One had a commit before it, which counts for so much.
  void note_commit(Place place, uint64_t us) {
    each(place, true, [&](uint64_t left_us) { return left_us - std::min(left_us, us); });
  }

  /// The same by selection, as far as a few of them can be told apart: who names the columns in another order
  /// for each request is not unknown for long.
  using UsualPlace = uint16_t;

  [[nodiscard]] UsualPlace usual_place_of(uint64_t account, const engine::Selection& selection,
                                          const Request& request) const {
    const uint64_t mixed = (selection.names_hash() ^ secret_) * multiplier;
    return static_cast<UsualPlace>((place_of(account, selection, request) << selection_bits) |
                                   (mixed >> (64 - selection_bits)));
  }
  [[nodiscard]] uint32_t usual_us(UsualPlace place) const {
    return eighths_[place].load(std::memory_order_relaxed) / 8;
  }
  /// One took so long. More than `limits::own_us_per_turn_max` is as much as that: others may have had the
  /// processor.
  void note_usual(UsualPlace place, uint64_t us) {
    // The mean, of which the last one is an eighth. What another thread notes meanwhile may be lost.
    const uint32_t before = eighths_[place].load(std::memory_order_relaxed);
    const uint32_t after = before - (before + 7) / 8 +
                           static_cast<uint32_t>(std::min<uint64_t>(us, limits::own_us_per_turn_max));
    if (after != before) {
      eighths_[place].store(static_cast<uint16_t>(after), std::memory_order_relaxed);
    }
  }

 private:
  template <typename Change>
  void each(Place place, bool is_of_all, Change changed) {
    change(left_us_[place], changed);
    if (is_of_all) {
      change(of_all_us_[place], changed);
    }
  }
  template <typename Change>
  static void change(std::atomic<uint32_t>& us, Change changed) {
    uint32_t before = us.load(std::memory_order_relaxed);
    uint32_t after = 0;
    do {
      after = static_cast<uint32_t>(std::min<uint64_t>(changed(before), limits::commits_behind_us_max));
    } while (after != before && !us.compare_exchange_weak(before, after, std::memory_order_relaxed));
  }

  static constexpr int place_bits = 12;
  static constexpr int selection_bits = 3;
  static constexpr size_t places = size_t{1} << place_bits;
  static constexpr uint64_t multiplier = 0x9E3779B97F4A7C15;  ///< odd, and half of its bits are set

  uint64_t secret_;
  std::array<std::atomic<uint32_t>, places> left_us_{};                      ///< see expects
  std::array<std::atomic<uint32_t>, places> of_all_us_{};                    ///< see expects_of_all
  std::array<std::atomic<uint16_t>, (places << selection_bits)> eighths_{};  ///< of the mean, in µs
};

}  // namespace rowsocket::exec
