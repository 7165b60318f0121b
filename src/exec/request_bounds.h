// SPDX-License-Identifier: GPL-2.0-only
//
// How far one request, or one group, may go: so many rows, so long, and as long as its client waits for the
// reply. A walk asks every few rows, so a request of few rows asks nothing and pays for nothing.
//
// A request that takes long keeps its thread from others, unless another thread can go on with these. Where
// it keeps somebody even so, the request is given up: it begins again later. Each time it has twice as long,
// so that a request that is not much longer than a slice comes to its end.
//
// One thread owns it. A request is bounded from its first question on: what it did before that is a few rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/limits.h"
#include "engine/work.h"
#include "request/error.h"

namespace rowsocket::exec {

using engine::Presence;

/// The tries of a request that were given up.
struct GivenUp {
  uint32_t count = 0;
  uint64_t began_us = 0;  ///< the first of them
};

class RequestBounds {
 public:
  /// Told each time a request has gone on for another limits::slice_us, with all of its time, in µs. False =
  /// it keeps others waiting, so it is to be given up if that can be.
  using TakesLong = std::function<bool(uint64_t gone_on_us)>;

  /// `takes_long` may be empty.
  RequestBounds(const Clock& clock, TakesLong takes_long)
      : clock_(clock), takes_long_(std::move(takes_long)) {}

  /// 0 = no limit.
  void set_limits(uint64_t rows_max, uint64_t request_ms_max) {
    rows_max_ = rows_max;
    request_us_max_ = request_ms_max * 1000;
  }
  /// A request begins. nullptr = the client always counts as there.
  void begin(const Presence* client, GivenUp before = {}) {
    client_ = client;
    before_ = before;
    rows_before_ = 0;
    began_us_ = 0;
    longest_silence_us_ = 0;
    due_us_ = 0;
    may_be_given_up_ = false;
    is_given_up_ = false;
    has_client_left_ = false;
  }
  /// Whether the request under way can be undone, and begin again. At first it can not.
  void let_be_given_up(bool may_be) { may_be_given_up_ = may_be; }
  /// The last reason to end was that it is given up.
  [[nodiscard]] bool is_given_up() const { return is_given_up_; }
  /// ... or that its client has gone.
  [[nodiscard]] bool has_client_left() const { return has_client_left_; }
  /// For how long, in µs, the request has gone on since its first question; 0 = it has asked none.
  [[nodiscard]] uint64_t asked_for_us() const { return began_us_ == 0 ? 0 : clock_.now_us() - began_us_; }
  /// Of that, the longest time without a question: what is no walk was in there.
  [[nodiscard]] uint64_t longest_silence_us() const {
    return began_us_ == 0 ? 0 : std::max(longest_silence_us_, clock_.now_us() - asked_us_);
  }
  /// When its first try began, in µs, as far as that is known.
  [[nodiscard]] uint64_t first_began_us() const { return before_.count == 0 ? began_us_ : before_.began_us; }
  /// A part of the request has looked at so many rows.
  void add_rows(uint64_t rows) { rows_before_ += rows; }

  /// After how many more rows to ask, once a part of the request has looked at `rows`.
  [[nodiscard]] uint64_t rows_to_next_question(uint64_t rows) const {
    const uint64_t looked_at = rows_before_ + rows;
    const uint64_t left = rows_max_ == 0          ? limits::rows_per_question
                          : looked_at < rows_max_ ? rows_max_ - looked_at + 1
                                                  : 1;
    return std::min<uint64_t>(left, limits::rows_per_question);
  }
  /// Of parts that ask nothing themselves, for they look at one row each: they have gone on for a slice since
  /// the last of them that this was true of.
  [[nodiscard]] bool is_due() {
    const uint64_t now_us = clock_.now_us();
    const bool is_due = due_us_ != 0 && now_us >= due_us_;
    if (is_due || due_us_ == 0) {
      due_us_ = now_us + limits::slice_us;
    }
    return is_due;
  }
  /// Why the request has to end, now that a part of it looks at its row number `rows`; none = it goes on.
  [[nodiscard]] ErrorCode reason_to_end(uint64_t rows);

 private:
  [[nodiscard]] bool must_be_given_up(uint64_t now_us);
  [[nodiscard]] bool is_gone(uint64_t now_us);

  const Clock& clock_;
  const TakesLong takes_long_;
  uint64_t rows_max_ = 0;
  uint64_t request_us_max_ = 0;
  const Presence* client_ = nullptr;
  GivenUp before_;
  bool may_be_given_up_ = false;
  bool is_given_up_ = false;
  bool has_client_left_ = false;
  uint64_t rows_before_ = 0;
  uint64_t began_us_ = 0;  ///< 0 = it has not asked yet
  uint64_t asked_us_ = 0;  ///< when its last question was answered
  uint64_t longest_silence_us_ = 0;
  uint64_t client_asked_us_ = 0;
  uint64_t loss_asked_us_ = 0;
  uint64_t due_us_ = 0;   ///< see is_due; 0 = no part was there yet
  uint64_t said_us_ = 0;  ///< when that it takes long was said, or it began
};

}  // namespace rowsocket::exec
