// SPDX-License-Identifier: GPL-2.0-only
//
// What all clients of one account have at a time, over all workers: connections, requests that are not
// answered yet, held bytes. Here are the sums. A worker's part of them is its Allotment (allotments.h), which
// comes here once or twice per turn and account, and not per request.
//
//   connections ..... a Seat each, from the login (of the anonymous account: from the first request) on
//   requests ........ a worker takes some, and gives back what its turn has left. Where none are left it
//                     waits, and is woken when some are. Workers that wait come first, one after the other
//   bytes ........... each worker adds what its connections hold. The one that holds too much is found here
//
// Any thread. The sums are atomics; the lock is for workers that wait, or hold too much.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/inbox.h"

namespace rowsocket::server {

class AccountLoad;

/// One connection of an account, as long as it lives. Empty: of none.
class Seat {
 public:
  Seat() = default;
  /// The load counts it already.
  explicit Seat(std::shared_ptr<AccountLoad> load) : load_(std::move(load)) {}
  ~Seat() { leave(); }
  Seat(Seat&& other) noexcept : load_(std::exchange(other.load_, nullptr)) {}
  Seat& operator=(Seat&& other) noexcept {
    if (this != &other) {
      leave();
      load_ = std::exchange(other.load_, nullptr);
    }
    return *this;
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  [[nodiscard]] const AccountLoad* load() const { return load_.get(); }

 private:
  void leave() noexcept;

  std::shared_ptr<AccountLoad> load_;
};

class AccountLoad : public std::enable_shared_from_this<AccountLoad> {
 public:
  /// A worker's part of the held bytes, as the others see it.
  struct Part {
    Part(Inbox& of_worker, std::atomic<bool>& some_must) : inbox(of_worker), some_must_close(some_must) {}

    Inbox& inbox;
    std::atomic<bool>& some_must_close;    ///< of the worker: one of its parts must
    std::atomic<size_t> largest_bytes{0};  ///< what its connection that holds most holds
    std::atomic<bool> must_close{false};   ///< another worker found that this one is to close it
  };

  // ---- connections

  /// Empty where the account has `count_max` already; 0 = any number.
  [[nodiscard]] Seat take_seat(uint32_t count_max);
  [[nodiscard]] uint32_t seat_count() const { return seats_.load(std::memory_order_relaxed); }

  // ---- requests

  /// Some of those that are left of `count_max`, at least one. 0: none are left; `worker` is woken when it is
  /// its turn to try again. May throw std::bad_alloc.
  [[nodiscard]] uint32_t take_requests(uint32_t count_max, Inbox& worker);
  void give_back_requests(uint32_t count);
  /// The worker does not want any more.
  void stop_waiting(Inbox& worker);
  [[nodiscard]] uint32_t request_count() const { return requests_.load(std::memory_order_relaxed); }

  // ---- bytes

  /// May throw std::bad_alloc.
  void add_part(Part& part);
  void remove_part(Part& part);
  /// What a worker's connections hold has changed by so much.
  void add_bytes(size_t more, size_t less) {
    held_bytes_.fetch_add(static_cast<int64_t>(more) - static_cast<int64_t>(less), std::memory_order_acq_rel);
  }
  [[nodiscard]] bool holds_more_than(size_t bytes_max) const {
    return held_bytes_.load(std::memory_order_acquire) > static_cast<int64_t>(bytes_max);
  }
  /// No connection of the account holds more than the largest of this part. Else the worker that has one is
  /// told to close it.
  [[nodiscard]] bool has_largest(const Part& own);

 private:
  friend class Seat;

  [[nodiscard]] uint32_t take_some(uint32_t count_max, uint32_t left_for_others);
  [[nodiscard]] uint32_t take_in_turn(uint32_t count_max, const Inbox& worker) ROWSOCKET_REQUIRES(mutex_);

  std::atomic<uint32_t> seats_{0};
  std::atomic<uint32_t> requests_{0};
  std::atomic<uint32_t> waiting_count_{0};  ///< of `waiting_`, for those without the lock
  std::atomic<int64_t> held_bytes_{0};
  Mutex mutex_;
  std::vector<Inbox*> waiting_ ROWSOCKET_GUARDED_BY(mutex_);  ///< the one that came first is first
  std::vector<Part*> parts_ ROWSOCKET_GUARDED_BY(mutex_);
};

class AccountLoads {
 public:
  /// By the account's name, as engine::Identity has it; the empty one is of clients without an account. May
  /// throw std::bad_alloc.
  [[nodiscard]] std::shared_ptr<AccountLoad> of(const std::string& account);

 private:
  Mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<AccountLoad>> loads_ ROWSOCKET_GUARDED_BY(mutex_);
  size_t size_after_clearing_ ROWSOCKET_GUARDED_BY(mutex_) = 0;
};

}  // namespace rowsocket::server
