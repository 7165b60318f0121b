// SPDX-License-Identifier: GPL-2.0-only
//
// How the stand-ins of a worker are called: for the loop of a thread that is stuck in a request, for the
// waiting room, to look again at what they were told, or to end.
//
//   stand-in        expect ─── nothing to do ─── wait ──────────────► rest is over
//   anybody else                        call_for(ticket) · call_one · call_all · let_one_end
//
// A stand-in first expects calls, and then looks for something to do. So no call that comes meanwhile is
// lost.
//
// Thread-safe, without locks: a session calls under latches of its engine.
#pragma once

#include <atomic>
#include <cstdint>

#include "server/loop_token.h"

namespace rowsocket::server {

class Calls {
 public:
  // For a stand-in.
  /// What is returned is for `wait`. Until `rest_is_over` the stand-in counts as idle.
  [[nodiscard]] uint32_t expect() {
    const uint32_t count = count_.load();
    idle_.fetch_add(1);
    one_is_starting_.store(false);
    return count;
  }
  /// Until there is a call that came after `expect`.
  void wait(uint32_t expected) const { count_.wait(expected); }
  void rest_is_over() { idle_.fetch_sub(1); }
  /// The execution that a stand-in was called for last.
  [[nodiscard]] LoopToken::Ticket called_for() const { return called_for_.load(); }
  /// True for one stand-in, if one is to end.
  [[nodiscard]] bool must_end() { return one_ends_.exchange(false); }

  // For any thread.
  [[nodiscard]] uint32_t idle_count() const { return idle_.load(); }
  void call_one() {
    count_.fetch_add(1);
    count_.notify_one();
  }
  void call_all() {
    count_.fetch_add(1);
    count_.notify_all();
  }
  /// To take over from the execution with this ticket. Where none is idle, none is woken: the next one
  /// to look sees it.
  void call_for(LoopToken::Ticket ticket) {
    called_for_.store(ticket);
    if (idle_.load() > 0) {
      call_one();
    }
  }
  void let_one_end() {
    one_ends_.store(true);
    call_one();
  }

  // A stand-in is being made: from then until it expects calls no other is made.
  [[nodiscard]] bool one_is_starting() const { return one_is_starting_.load(); }
  void note_start(bool is_starting) { one_is_starting_.store(is_starting); }

 private:
  std::atomic<uint32_t> count_{0};  ///< of all calls; stand-ins wait for it to change
  std::atomic<LoopToken::Ticket> called_for_{0};
  std::atomic<uint32_t> idle_{0};
  std::atomic<bool> one_is_starting_{false};
  std::atomic<bool> one_ends_{false};
};

}  // namespace rowsocket::server
