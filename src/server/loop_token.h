// SPDX-License-Identifier: GPL-2.0-only
//
// Which thread runs a turn loop. One thread owns the token and runs the loop. While that thread executes one
// request, it touches only its own session, its turn and the request's connection. So another thread may take
// the token away then, and run the loop meanwhile (see worker.h).
//
//   owner:   ... enter · execute one request · leave ...        leave is false: another thread has the loop
//   others:  seen · (the owner waits, or takes long) · take
//
// The thread that takes the token sees everything that the owner did before `enter`. The token costs a
// request one store and one compare-and-swap, of a cache line that no other thread writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace rowsocket::server {

class LoopToken {
 public:
  /// One execution of a request; 0 = none.
  using Ticket = uint64_t;

  // For the owner.
  /// `is_settled`: the replies to all earlier requests of the turn are final.
  [[nodiscard]] Ticket enter(bool is_settled) {
    const Ticket ticket = (++entered_ << 1) | (is_settled ? 1 : 0);
    ticket_.store(ticket, std::memory_order_release);
    return ticket;
  }
  /// False if the token was taken since `enter`, which gave this ticket.
  [[nodiscard]] bool leave(Ticket ticket) {
    return ticket_.compare_exchange_strong(ticket, 0, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  // For any thread.
  [[nodiscard]] Ticket seen() const { return ticket_.load(std::memory_order_acquire); }
  /// True if the caller owns the token now: the execution that it has seen still goes on.
  [[nodiscard]] bool take(Ticket ticket) {
    return ticket != 0 &&
           ticket_.compare_exchange_strong(ticket, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  [[nodiscard]] static bool is_settled(Ticket ticket) { return (ticket & 1) != 0; }

 private:
  alignas(64) std::atomic<Ticket> ticket_{0};
  uint64_t entered_ = 0;  ///< the owner's
};

/// A turn's hold on the loop: while the turn executes a request, another thread may take the token. A turn
/// that has lost it is adrift. For the turn's thread.
class LoopHold {
 public:
  /// nullptr where no other thread ever takes the loop.
  explicit LoopHold(LoopToken* token) : token_(token) {}

  void begin_turn() { is_adrift_ = false; }
  /// A request is entered. `is_settled`: see LoopToken::enter.
  void enter(bool is_settled) {
    if (token_ != nullptr) {
      was_settled_ = is_settled;
      ticket_ = token_->enter(is_settled);
    }
  }
  /// The request is over.
  void leave() {
    if (token_ != nullptr && !token_->leave(std::exchange(ticket_, 0))) [[unlikely]] {
      is_adrift_ = true;
    }
  }
  /// The same for as long as it is there, for what a thread does that is no request.
  class Entered {
   public:
    Entered(LoopHold& hold, bool is_settled) : hold_(hold) { hold_.enter(is_settled); }
    ~Entered() { hold_.leave(); }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    LoopHold& hold_;
  };
  /// In the middle of a request: all earlier replies are final now. A thread that takes the loop from here on
  /// takes their connections with it: they need not wait for what this request waits for.
  void note_settled() {
    if (ticket_ != 0 && token_->leave(ticket_)) {
      was_settled_ = true;
      ticket_ = token_->enter(true);
    }
  }

  /// Of the request under way; 0 = none.
  [[nodiscard]] LoopToken::Ticket ticket() const { return ticket_; }
  [[nodiscard]] bool is_adrift() const { return is_adrift_; }
  /// When the request under way was entered, or since: see LoopToken::enter.
  [[nodiscard]] bool was_settled() const { return was_settled_; }

 private:
  LoopToken* token_;
  LoopToken::Ticket ticket_ = 0;
  bool is_adrift_ = false;
  bool was_settled_ = false;
};

}  // namespace rowsocket::server
