// SPDX-License-Identifier: GPL-2.0-only
#include "server/account_loads.h"

#include <algorithm>

#include "base/limits.h"

namespace rowsocket::server {

// ---- connections

void Seat::leave() noexcept {
  if (load_ != nullptr) {
    load_->seats_.fetch_sub(1, std::memory_order_relaxed);
    load_ = nullptr;
  }
}

Seat AccountLoad::take_seat(uint32_t count_max) {
  uint32_t taken = seats_.load(std::memory_order_relaxed);
  while (count_max == 0 || taken < count_max) {
    if (seats_.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed)) {
      return Seat(shared_from_this());
    }
  }
  return {};
}

// ---- requests

/// Half of what is left, and one at least: so a worker comes here a few times per turn, and the others find
/// some.
uint32_t AccountLoad::take_some(uint32_t count_max, uint32_t left_for_others) {
  uint32_t taken = requests_.load();
  while (true) {
    const uint32_t beyond = taken + left_for_others;
    if (beyond >= count_max) {
      return 0;
    }
    const uint32_t count = std::max(1U, (count_max - beyond) / 2);
    if (requests_.compare_exchange_weak(taken, taken + count)) {
      return count;
    }
  }
}

/// One each is left for those that have waited longer.
uint32_t AccountLoad::take_in_turn(uint32_t count_max, const Inbox& worker) {
  const auto place = std::find(waiting_.begin(), waiting_.end(), &worker);
  const uint32_t count = take_some(count_max, static_cast<uint32_t>(place - waiting_.begin()));
  if (count > 0 && place != waiting_.end()) {
    waiting_.erase(place);
    waiting_count_.store(static_cast<uint32_t>(waiting_.size()));
  }
  return count;
}

uint32_t AccountLoad::take_requests(uint32_t count_max, Inbox& worker) {
  if (waiting_count_.load() == 0) [[likely]] {
    if (const uint32_t count = take_some(count_max, 0); count > 0) {
      return count;
    }
  }
  const MutexLock lock(mutex_);
  if (const uint32_t count = take_in_turn(count_max, worker); count > 0) {
    return count;
  }
  if (std::find(waiting_.begin(), waiting_.end(), &worker) == waiting_.end()) {
    waiting_.push_back(&worker);
    waiting_count_.store(static_cast<uint32_t>(waiting_.size()));
  }
  // A worker that gave some back before this has not seen that another one waits.
  return take_in_turn(count_max, worker);
}

void AccountLoad::give_back_requests(uint32_t count) {
  requests_.fetch_sub(count);
  if (waiting_count_.load() == 0) [[likely]] {
    return;
  }
  const MutexLock lock(mutex_);
  for (size_t place = 0; place < std::min<size_t>(count, waiting_.size()); ++place) {
    waiting_[place]->wake();
  }
}

void AccountLoad::stop_waiting(Inbox& worker) {
  if (waiting_count_.load() == 0) {
    return;
  }
  const MutexLock lock(mutex_);
  std::erase(waiting_, &worker);
  waiting_count_.store(static_cast<uint32_t>(waiting_.size()));
  if (!waiting_.empty()) {
    waiting_.front()->wake();  // what was left for that worker
  }
}

// ---- bytes

void AccountLoad::add_part(Part& part) {
  const MutexLock lock(mutex_);
  parts_.push_back(&part);
}

void AccountLoad::remove_part(Part& part) {
  const MutexLock lock(mutex_);
  std::erase(parts_, &part);
}

bool AccountLoad::has_largest(const Part& own) {
  const MutexLock lock(mutex_);
  const auto largest = std::max_element(parts_.begin(), parts_.end(), [](const Part* one, const Part* other) {
    return one->largest_bytes.load(std::memory_order_acquire) <
           other->largest_bytes.load(std::memory_order_acquire);
  });
  if (largest == parts_.end() || (*largest)->largest_bytes.load(std::memory_order_acquire) <=
                                     own.largest_bytes.load(std::memory_order_acquire)) {
    return true;
  }
  (*largest)->must_close.store(true);
  (*largest)->some_must_close.store(true);
  (*largest)->inbox.wake();
  return false;
}

// ---- all of them

std::shared_ptr<AccountLoad> AccountLoads::of(const std::string& account) {
  const MutexLock lock(mutex_);
  if (loads_.size() >= std::max<size_t>(limits::names_cleared_min, 2 * size_after_clearing_)) {
    std::erase_if(loads_, [](const auto& entry) { return entry.second.expired(); });
    size_after_clearing_ = loads_.size();
  }
  std::weak_ptr<AccountLoad>& known = loads_[account];
  std::shared_ptr<AccountLoad> load = known.lock();
  if (load == nullptr) {
    load = std::make_shared<AccountLoad>();
    known = load;
  }
  return load;
}

}  // namespace rowsocket::server
