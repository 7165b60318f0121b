// SPDX-License-Identifier: GPL-2.0-only
//
// Which requests are expected to take long by themselves. It is not known of a connection alone, as many
// clients make one for each request, or ask much else before it. Any thread may ask and tell.
//
// Of the writes, those into a table where one took long lately, in a trigger say. Whoever writes into such a
// table pays with a commit of their own. So the longer a write took, the more of those behind it are expected
// to be as long, and what takes hardly longer than a few commits is not noted: the commits cost about as much
// as what they guard against. Clients that have written into the table often, each time quickly, do not pay.
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

  static constexpr uint8_t count_max = 255;
  /// So many shorter ones behind a long one, and the next is not expected to be long.
  [[nodiscard]] static uint8_t shorter_count(uint64_t took_us) {
    return static_cast<uint8_t>(std::min<uint64_t>(took_us / limits::long_write_us_per_commit, count_max));
  }
  /// A table's inserts or its other writes. Two may have the same place: then both are expected to be long.
  using Place = uint16_t;

  [[nodiscard]] Place place_of(const engine::Selection& selection, const Request& request) const {
    const uint64_t mixed = ((selection.table_hash() ^ secret_) * multiplier) ^ secret_;
    const uint64_t table = (mixed * multiplier) >> (64 - table_bits);
    return static_cast<Place>(2 * table + (request.kind == RequestKind::insert ? 1 : 0));
  }
  [[nodiscard]] bool expects(Place place) const { return left_[place].load(std::memory_order_relaxed) > 0; }
  void note_long(Place place, uint64_t took_us) {
    change(place, [&](int left) { return std::max<int>(left, shorter_count(took_us)); });
  }
  void expect_more(Place place, uint8_t count) {
    change(place, [&](int left) { return std::min<int>(left + count, count_max); });
  }
  void note_shorter(Place place) {
    change(place, [](int left) { return std::max(left - 1, 0); });
  }

  /// What one account asks of a table: its inserts, its other writes or its reads. Two may have the same
  /// place.
  using AskedPlace = uint16_t;

  [[nodiscard]] AskedPlace asked_place_of(const engine::Selection& selection, const Request& request) const {
    const uint64_t kind = request.kind == RequestKind::insert ? 2 : writes(request) ? 1 : 0;
    const uint64_t table = (selection.table_hash() ^ secret_) * multiplier;
    const uint64_t mixed = ((table ^ selection.description().account) * multiplier) ^ (secret_ + kind);
    return static_cast<AskedPlace>((mixed * multiplier) >> (64 - asked_bits));
  }
  /// Whether the account's clients that have written into the table often, each time quickly, are expected to
  /// go on like that.
  [[nodiscard]] bool trusts(AskedPlace place, uint64_t now_us) const {
    return now_us >= distrusted_until_us_[place].load(std::memory_order_relaxed);
  }
  /// One of them has taken long after all: others may have that in mind, too.
  void distrust(AskedPlace place, uint64_t now_us) {
    distrusted_until_us_[place].store(now_us + limits::distrusted_for_us, std::memory_order_relaxed);
  }

  /// The same by selection, as far as a few of them can be told apart: who names the columns in another order
  /// for each request is not unknown for long.
  using UsualPlace = uint16_t;

  [[nodiscard]] UsualPlace usual_place_of(const engine::Selection& selection, const Request& request) const {
    const uint64_t mixed = (selection.description_hash() ^ secret_) * multiplier;
    return static_cast<UsualPlace>((asked_place_of(selection, request) << selection_bits) |
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
  void change(Place place, Change changed) {
    uint8_t left = left_[place].load(std::memory_order_relaxed);
    while (!left_[place].compare_exchange_weak(left, static_cast<uint8_t>(changed(left)),
                                               std::memory_order_relaxed)) {
    }
  }

  static constexpr int table_bits = 11;
  static constexpr int asked_bits = 11;
  static constexpr int selection_bits = 3;
  static constexpr uint64_t multiplier = 0x9E3779B97F4A7C15;  ///< odd, and half of its bits are set

  uint64_t secret_;
  std::array<std::atomic<uint8_t>, (size_t{2} << table_bits)> left_{};
  std::array<std::atomic<uint64_t>, (size_t{1} << asked_bits)> distrusted_until_us_{};
  std::array<std::atomic<uint16_t>, (size_t{1} << (asked_bits + selection_bits))>
      eighths_{};  ///< of the mean, in µs
};

}  // namespace rowsocket::exec
