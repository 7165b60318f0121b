// SPDX-License-Identifier: GPL-2.0-only
//
// Which thread runs a turn loop. One thread owns the token and runs the loop. While that thread executes one
// request, or commits what a turn has changed, it touches only its own session, its turn and the connections
// that wait for that turn. So another thread may take the token away then, and run the loop meanwhile (see
// worker.h).
//
//   owner ..... enter · execute one request, or commit · leave, which says whether the loop was taken
//   others .... seen · (the owner waits, or takes long) · take
//   others .... pin · (the execution does not end meanwhile) · unpin
//
// The thread that takes or pins the token sees everything that the owner did before `enter`. The token costs
// a request one store and one compare-and-swap, of a cache line that no other thread writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/engine.h"

namespace rowsocket::server {

class LoopToken {
 public:
  /// One execution of a request, or one commit; 0 = none.
  using Ticket = uint64_t;

  // For the owner.
  /// `is_unhurried`: others would hardly gain anything if the loop was taken.
  [[nodiscard]] Ticket enter(bool is_unhurried = false) {
    const Ticket ticket = (++entered_ << ticket_shift) | (is_unhurried ? unhurried : 0);
    ticket_.store(ticket, std::memory_order_release);
    return ticket;
  }
  /// What happened since `enter`, which gave the ticket.
  enum class Left : uint8_t {
    alone,
    told,  ///< a thread that had the token pinned told the request to stop
    taken  ///< another thread has the loop
  };
  [[nodiscard]] Left leave(Ticket ticket) {
    Ticket seen = ticket;
    const bool is_as_entered =
        ticket_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel, std::memory_order_acquire);
    return is_as_entered ? Left::alone : leave_marked(ticket, seen);
  }

  // For any thread.
  [[nodiscard]] Ticket seen() const { return ticket_.load(std::memory_order_acquire) & ~marks; }
  /// True if the caller owns the token now: the execution that it has seen still goes on. Never while the
  /// token is pinned.
  [[nodiscard]] bool take(Ticket ticket) {
    return ticket != 0 && (is_taken(ticket) || is_taken(ticket | told));
  }

  [[nodiscard]] static bool is_unhurried(Ticket ticket) { return (ticket & unhurried) != 0; }

  /// The execution that goes on now does not end until `unpin`, which is to come soon. False if there is
  /// none, or another thread has the token pinned.
  [[nodiscard]] bool pin() {
    Ticket seen = ticket_.load(std::memory_order_relaxed);
    while (seen != 0 && (seen & pinned) == 0) {
      if (ticket_.compare_exchange_weak(seen, seen | pinned, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  /// `has_told`: the request was told to stop.
  void unpin(bool has_told) {
    const Ticket before = ticket_.load(std::memory_order_relaxed);
    ticket_.store((before & ~pinned) | (has_told ? told : 0), std::memory_order_release);
    ticket_.notify_all();
  }

 private:
  static constexpr Ticket unhurried = 1;
  static constexpr Ticket told = 2;
  static constexpr Ticket pinned = 4;
  static constexpr Ticket marks = told | pinned;
  static constexpr int ticket_shift = 3;

  [[nodiscard]] bool is_taken(Ticket ticket) {
    return ticket_.compare_exchange_strong(ticket, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  [[nodiscard]] Left leave_marked(Ticket ticket, Ticket seen) {
    while ((seen & ~marks) == ticket) {
      if ((seen & pinned) != 0) {
        ticket_.wait(seen, std::memory_order_relaxed);
        seen = ticket_.load(std::memory_order_relaxed);
      } else if (ticket_.compare_exchange_weak(seen, 0, std::memory_order_acq_rel,
                                               std::memory_order_relaxed)) {
        return Left::told;
      }
    }
    return Left::taken;
  }

  alignas(64) std::atomic<Ticket> ticket_{0};
  uint64_t entered_ = 0;  ///< the owner's
};

/// A turn's hold on the loop: while the turn executes a request, or commits, another thread may take the
/// token. A turn that has lost it is adrift. For the turn's thread.
class LoopHold {
 public:
  /// nullptr where no other thread ever takes the loop, or stops a request. The session is the turn's.
  LoopHold(LoopToken* token, engine::Session& session) : token_(token), session_(session) {}

  void begin_turn() { is_adrift_ = false; }
  void enter(bool is_unhurried = false) {
    if (token_ != nullptr) {
      ticket_ = token_->enter(is_unhurried);
    }
  }
  /// The request, or the commit, is over. What told a request to stop is not meant for the next one.
  void leave() {
    if (token_ == nullptr) {
      return;
    }
    const LoopToken::Left left = token_->leave(std::exchange(ticket_, 0));
    if (left == LoopToken::Left::alone && !was_told_) [[likely]] {
      return;
    }
    is_adrift_ = left == LoopToken::Left::taken;
    was_told_ = false;
    session_.forget_stop();
  }
  /// The same for as long as it is there.
  class Entered {
   public:
    explicit Entered(LoopHold& hold, bool is_unhurried = false) : hold_(hold) { hold_.enter(is_unhurried); }
    ~Entered() { hold_.leave(); }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    LoopHold& hold_;
  };
  /// In the middle of a request: leave, and let the turn tell what has changed since `enter`, before it
  /// enters again. False if another thread has the loop already, and nothing was told.
  template <typename Tell>
  [[nodiscard]] bool enter_again(Tell tell) {
    const LoopToken::Left left = token_->leave(ticket_);
    was_told_ |= left == LoopToken::Left::told;
    if (left == LoopToken::Left::taken) {
      return false;
    }
    tell();
    ticket_ = token_->enter();
    return true;
  }

  /// Of the request under way, or the commit; 0 = none.
  [[nodiscard]] LoopToken::Ticket ticket() const { return ticket_; }
  [[nodiscard]] bool is_adrift() const { return is_adrift_; }

 private:
  LoopToken* token_;
  engine::Session& session_;
  LoopToken::Ticket ticket_ = 0;
  bool was_told_ = false;  ///< before it was entered again
  bool is_adrift_ = false;
};

}  // namespace rowsocket::server
