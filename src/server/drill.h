// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: a drill of the stand-ins (worker.h). With everything in memory hardly a request waits, and
// hardly a stand-in takes over. In a drill many requests wait until a stand-in has the loop: some of them
// before anything of them is done, and some behind it, when their changes wait for the commit.
//
//   Config::is_drill ... there are drills; the plugin has them where the environment variable
//                        ROWSOCKET_STAND_IN_DRILL is set when it is loaded
//
// In a drill a request that meets a lock also goes to the waiting room at once, and every wait for a disk
// calls a stand-in.
//
// One thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "server/loop_token.h"

namespace rowsocket::server {

class Drill {
 public:
  /// How long a request waits where no stand-in comes: two ticks notice it, and a thread is made.
  static constexpr uint64_t wait_us_max = 5000;
  /// Of the places where a request may wait, one in so many is taken. An odd number: each request has two.
  static constexpr uint32_t places_per_wait = 5;

  /// `call` calls a stand-in for the request under way. `token` is the loop's.
  Drill(const LoopToken& token, Clock& clock, std::function<void()> call)
      : token_(token), clock_(clock), call_(std::move(call)) {}

  /// The request under way is about to begin, or has ended.
  void pass_place(LoopToken::Ticket ticket) {
    if (++places_ % places_per_wait == 0) {
      wait(ticket);
    }
  }

 private:
  static constexpr uint64_t look_us = 50;

  void wait(LoopToken::Ticket ticket) {
    call_();
    const uint64_t until_us = clock_.now_us() + wait_us_max;
    while (token_.seen() == ticket && clock_.now_us() < until_us) {
      clock_.sleep_us(look_us);
    }
  }

  const LoopToken& token_;
  Clock& clock_;
  const std::function<void()> call_;
  uint32_t places_ = 0;
};

}  // namespace rowsocket::server
