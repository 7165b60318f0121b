// SPDX-License-Identifier: GPL-2.0-only
//
// The threads of one worker: how many there are, and when one is made, or ends. The first one runs the loop.
// The others are stand-ins, made when they are first missed:
//
//   wanted, and one is idle .......... it is called (calls.h)
//   wanted, and none is idle ......... one is made, as long as the limit of all workers allows it
//   ... and could not be made ........ that is counted, and tried again later: after a pause where the system
//                                      or the server refused it
//   idle for long .................... it ends (surplus.h)
//
// What the threads do is the worker's (worker.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "request/counters.h"
#include "server/calls.h"
#include "server/hands.h"
#include "server/loop_token.h"
#include "server/surplus.h"

namespace rowsocket::server {

/// How many threads may still be made, over all workers. Any thread.
class ThreadLimit {
 public:
  void set(uint32_t count) {
    max_ = count;
    left_.store(count, std::memory_order_relaxed);
  }
  /// One that is made, whatever the limit says.
  void take_anyway() { left_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] bool take() {
    if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) {
      return true;
    }
    give_back();
    return false;
  }
  /// Of the first half of all: the other half is for loops whose threads are stuck.
  [[nodiscard]] size_t left_of_half() const {
    return static_cast<size_t>(std::max<int64_t>(0, left_.load(std::memory_order_relaxed) - max_ / 2));
  }
  [[nodiscard]] bool some_left() const { return left_.load(std::memory_order_relaxed) > 0; }
  void give_back() { left_.fetch_add(1, std::memory_order_relaxed); }

 private:
  int64_t max_ = 0;
  std::atomic<int64_t> left_{0};
};

class Crew {
 public:
  struct Surroundings {
    Log& log;
    Clock& clock;
    ThreadLimit& thread_limit;
  };
  /// `is_in_charge`: the thread runs the loop at first.
  using Work = std::function<void(Hand& hand, bool is_in_charge)>;

  Crew(const Surroundings& surroundings, std::string name, Work work);

  /// Start the thread that runs the loop at first. The limit has counted it. May throw std::bad_alloc.
  [[nodiscard]] bool start_first(std::string& failure) { return add(true, failure); }
  /// After the last call for the ticker.
  void join() { hands_.join(); }

  // For any thread.

  [[nodiscard]] Calls& calls() { return calls_; }
  [[nodiscard]] size_t size() const { return hands_.size(); }
  /// How many have nothing to do but to wait for a call.
  [[nodiscard]] uint32_t idle_count() const { return calls_.idle_count(); }
  /// One is idle, or it is worth a try to make one.
  [[nodiscard]] bool can_serve() const { return idle_count() > 0 || !has_failed_lately(); }
  /// One is idle, or on its way, or may be made.
  [[nodiscard]] bool may_stand_in() const {
    return idle_count() > 0 || calls_.one_is_starting() ||
           (world_.thread_limit.some_left() && !has_failed_lately());
  }
  /// So many may be given something to do that takes long: those that are idle, and those that may be made.
  [[nodiscard]] size_t free_count() const { return idle_count() + world_.thread_limit.left_of_half(); }
  /// A thread could not serve. The log is told, of stand-ins now and then: they are tried again and again.
  void note_failure(std::string_view what, bool is_in_charge);
  [[nodiscard]] bool has_failed_lately() const;
  [[nodiscard]] uint64_t count(Counter counter) const {
    return hands_.count(counter) + counters_.read(counter);
  }

  // For one of the threads.

  /// The last thing that it does.
  void note_end(Hand& hand, bool is_in_charge);

  // For the ticker.

  /// Whether a stand-in can be called for the execution with this ticket (0: for something else). If not, one
  /// is made, unless one is on its way.
  [[nodiscard]] bool has_idle_for(LoopToken::Ticket ticket);
  /// There is only the thread that runs the loop, and no other is on its way.
  [[nodiscard]] bool lacks_stand_ins() const { return size() <= 1 && !calls_.one_is_starting(); }
  /// Have those end that are not needed, and forget those that have ended.
  void shrink(uint64_t now_ms);

 private:
  [[nodiscard]] bool add(bool is_in_charge, std::string& failure);
  [[nodiscard]] bool make_stand_in();

  const Surroundings world_;
  const std::string name_;
  const Work work_;
  Hands hands_;
  Calls calls_;
  std::atomic<uint64_t> failed_at_ms_{0};  ///< the last thread that could not serve; 0: none

  // The ticker's.
  Surplus surplus_;
  LoopToken::Ticket missed_for_ = 0;  ///< a stand-in that could not be made
  Counters counters_;
};

}  // namespace rowsocket::server
