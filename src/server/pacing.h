// SPDX-License-Identifier: GPL-2.0-only
//
// How long walks leave the processors to others. A walk that a stand-in has replaced is one busy thread among
// those that serve everybody else, and the system gives each of them the same time. So four clients that read
// all rows of a table would take most of two processors.
//
// A walk runs in bursts, which are short at first. After each of them it looks whether the threads that run
// loops had to wait for a processor meanwhile. If so the walk rests: so long that all walks together take
// their share of the processors (limits::walks_share). Where no thread waits, no walk rests. A walk rests
// between two rows, where it holds no latch. One that has locked rows does not rest there, since others may
// wait for these rows: it owes its rests, and its client rests when the request is over.
//
// Where walks have rested lately, a new one rests before its first burst, for what it had of the loop: it may
// be one of many whose clients go at once.
//
//   AllWalks .... how many walks there are, and which threads run loops: one object for all workers
//   Pace ........ of one thread
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/loop_token.h"
#include "server/stuck_request.h"

namespace rowsocket::server {

/// Any thread.
class AllWalks {
 public:
  explicit AllWalks(uint32_t processors) : processors_(processors) {}

  /// The thread that runs a loop, or ran it last; 0 = none has. Before the first walk. May throw
  /// std::bad_alloc.
  void add_loop(const std::atomic<ThreadNumber>& thread) { loops_.push_back(&thread); }
  /// How long the threads that run loops have waited for a processor in their lives, in µs.
  [[nodiscard]] uint64_t loops_waited_us() const;
  void begin() { count_.fetch_add(1, std::memory_order_relaxed); }
  void end() { count_.fetch_sub(1, std::memory_order_relaxed); }
  /// A walk has seen that loops wait for a processor.
  void note_waits(uint64_t now_us) { waits_seen_us_.store(now_us, std::memory_order_relaxed); }
  /// One has seen it lately.
  [[nodiscard]] bool some_waited(uint64_t now_us) const;
  /// How long a walk rests that ran for so long while others waited for a processor.
  [[nodiscard]] uint64_t rest_us(uint64_t burst_us) const;

 private:
  const uint32_t processors_;
  std::atomic<uint32_t> count_{0};
  std::atomic<uint64_t> waits_seen_us_{0};  ///< 0 = never
  std::vector<const std::atomic<ThreadNumber>*> loops_;
};

/// How long a thread of this process has waited for a processor in its life, in µs; 0 if the system does not
/// say.
[[nodiscard]] uint64_t waited_for_processor_us(ThreadNumber thread);

/// One thread's.
class Pace {
 public:
  using Waited = std::function<uint64_t()>;

  /// `waited`: see AllWalks::loops_waited_us.
  Pace(AllWalks& walks, Clock& clock, Waited waited)
      : walks_(walks), clock_(clock), waited_(std::move(waited)) {}
  ~Pace() { end(); }
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  /// To be called often while the request with this ticket walks, and another thread runs its loop. May sleep
  /// if it `may_rest`.
  void keep(LoopToken::Ticket ticket, bool may_rest);
  /// The request is over. Idempotent. Returns the rests that it owes, in µs.
  uint64_t end();

 private:
  void rest();
  void begin_burst(uint64_t waited_us);

  AllWalks& walks_;
  Clock& clock_;
  const Waited waited_;
  LoopToken::Ticket ticket_ = 0;   ///< of the walk; 0 = none
  uint64_t waited_before_us_ = 0;  ///< by the threads that run loops, when the burst began
  uint64_t burst_began_us_ = 0;
  uint32_t burst_us_min_ = 0;  ///< it goes on for so long
  uint64_t rest_left_us_ = 0;
  uint64_t owed_us_ = 0;
};

}  // namespace rowsocket::server
