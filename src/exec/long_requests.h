// SPDX-License-Identifier: GPL-2.0-only
//
// Which requests are expected to take long by themselves. It is not known of a connection alone, as many
// clients make one for each request, or ask much else before it. Any thread may ask and tell.
//
// Of the writes, those of an account into a table where one took long lately, in a trigger say. Whoever
// writes there for the account pays with a commit before. So the longer a write took, the more of those
// behind it are expected to be as long, and all of them together cost about what they guard against. Clients
// that have written there often, each time quickly, do not pay, unless one of them has taken long after all.
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

  /// So many writes behind one that has taken so long by itself are expected to take long, too.
  using Count = uint16_t;

  [[nodiscard]] static Count count_behind(uint64_t took_us) {
    return took_us < limits::long_write_us_min
               ? Count{0}
               : static_cast<Count>(std::min<uint64_t>(took_us / limits::long_write_us_per_commit,
                                                       limits::commits_behind_max));
  }
  /// What one account asks of a table: its inserts, its other writes or its reads. Two may have the same
  /// place: then both are expected to be long.
  using Place = uint16_t;

  [[nodiscard]] Place place_of(const engine::Selection& selection, const Request& request) const {
    const uint64_t kind = request.kind == RequestKind::insert ? 2 : writes(request) ? 1 : 0;
    const uint64_t table = (selection.table_hash() ^ secret_) * multiplier;
    const uint64_t mixed = ((table ^ selection.description().account) * multiplier) ^ (secret_ + kind);
    return static_cast<Place>((mixed * multiplier) >> (64 - place_bits));
  }
  [[nodiscard]] bool expects(Place place) const { return left_[place].load(std::memory_order_relaxed) > 0; }
  /// Of a client, too, that has written there often, each time quickly.
  [[nodiscard]] bool expects_of_all(Place place) const {
    return of_all_[place].load(std::memory_order_relaxed) > 0;
  }
  /// `was_known`: its client had written there often, each time quickly. So others that have may take long,
  /// too.
  void note_long(Place place, uint64_t took_us, bool was_known) {
    const auto longer = [&](int left) { return std::max<int>(left, count_behind(took_us)); };
    change(left_[place], longer);
    if (was_known) {
      change(of_all_[place], longer);
    }
  }
  void expect_more(Place place, Count count) {
    change(left_[place], [&](int left) { return std::min<int>(left + count, limits::commits_behind_max); });
  }
  /// One has a commit before it.
  void note_expected(Place place) {
    const auto one_less = [](int left) { return std::max(left - 1, 0); };
    change(left_[place], one_less);
    change(of_all_[place], one_less);
  }

  /// The same by selection, as far as a few of them can be told apart: who names the columns in another order
  /// for each request is not unknown for long.
  using UsualPlace = uint16_t;

  [[nodiscard]] UsualPlace usual_place_of(const engine::Selection& selection, const Request& request) const {
    const uint64_t mixed = (selection.description_hash() ^ secret_) * multiplier;
    return static_cast<UsualPlace>((place_of(selection, request) << selection_bits) |
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
  static void change(std::atomic<Count>& count, Change changed) {
    Count before = count.load(std::memory_order_relaxed);
    Count after = 0;
    do {
      after = static_cast<Count>(changed(before));
    } while (after != before && !count.compare_exchange_weak(before, after, std::memory_order_relaxed));
  }

  static constexpr int place_bits = 12;
  static constexpr int selection_bits = 3;
  static constexpr size_t places = size_t{1} << place_bits;
  static constexpr uint64_t multiplier = 0x9E3779B97F4A7C15;  ///< odd, and half of its bits are set

  uint64_t secret_;
  std::array<std::atomic<Count>, places> left_{};                            ///< see expects
  std::array<std::atomic<Count>, places> of_all_{};                          ///< see expects_of_all
  std::array<std::atomic<uint16_t>, (places << selection_bits)> eighths_{};  ///< of the mean, in µs
};

/// Of what a client has asked of one selection, the longest.
struct UsualTime {
  LongRequests::UsualPlace place = 0;
  uint64_t us = 0;
};

}  // namespace rowsocket::exec
