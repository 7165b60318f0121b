// SPDX-License-Identifier: GPL-2.0-only
#include "server/hands.h"

#include <utility>

#include "server/thread.h"

namespace rowsocket::server {

bool Hands::add(const std::string& name, std::function<void(Hand&)> work, std::string& failure) {
  const MutexLock lock(mutex_);
  hands_.push_back(std::make_unique<Hand>());
  Hand& hand = *hands_.back();
  const bool is_started =
      start_thread(hand.thread, name, [work = std::move(work), &hand] { work(hand); }, failure);
  if (!is_started) {
    hands_.pop_back();
  }
  return is_started;
}

void Hands::note_end(Hand& hand) {
  hand.has_ended.store(true);
  some_ended_.store(true);
}

void Hands::join() {
  MutexLock lock(mutex_);
  for (size_t number = 0; number < hands_.size(); ++number) {
    std::thread& thread = hands_[number]->thread;
    if (thread.joinable()) {
      lock.unlock();
      thread.join();
      lock.lock();
    }
  }
}

size_t Hands::forget_ended() {
  if (!some_ended_.exchange(false)) {
    return 0;
  }
  const MutexLock lock(mutex_);
  return std::erase_if(hands_, [this](const std::unique_ptr<Hand>& hand) ROWSOCKET_REQUIRES(mutex_) {
    if (!hand->has_ended.load()) {
      return false;
    }
    hand->thread.join();
    ended_counters_.add_all(hand->counters);
    return true;
  });
}

size_t Hands::size() const {
  const MutexLock lock(mutex_);
  return hands_.size();
}

uint64_t Hands::count(Counter counter) const {
  const MutexLock lock(mutex_);
  uint64_t sum = ended_counters_.read(counter);
  for (const auto& hand : hands_) {
    sum += hand->counters.read(counter);
  }
  return sum;
}

}  // namespace rowsocket::server
