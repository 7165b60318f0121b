// SPDX-License-Identifier: GPL-2.0-only
#include "server/lifelines.h"

namespace rowsocket::server {

Lifeline::~Lifeline() { all_.end(*this); }

std::unique_ptr<Lifeline> Lifelines::begin(uint64_t number) {
  std::unique_ptr<Lifeline> lifeline(new Lifeline(*this, number));
  const MutexLock lock(mutex_);  // given back before the lifeline ends, if this throws
  all_.emplace(number, lifeline.get());
  return lifeline;
}

bool Lifelines::has(uint64_t number) const {
  const MutexLock lock(mutex_);
  return all_.contains(number);
}

bool Lifelines::kill(uint64_t number) {
  const MutexLock lock(mutex_);
  const auto found = all_.find(number);
  if (found == all_.end()) {
    return false;
  }
  if (!found->second->is_killed()) {
    killed_.push_back(number);
    found->second->is_killed_.store(true, std::memory_order_release);
    killed_count_.store(killed_.size(), std::memory_order_release);
  }
  return true;
}

std::vector<uint64_t> Lifelines::killed() const {
  const MutexLock lock(mutex_);
  return killed_;
}

/// One that could not be begun is in no list, or another has its number.
void Lifelines::end(const Lifeline& lifeline) {
  const MutexLock lock(mutex_);
  const auto found = all_.find(lifeline.number_);
  if (found == all_.end() || found->second != &lifeline) {
    return;
  }
  all_.erase(found);
  if (lifeline.is_killed()) {
    std::erase(killed_, lifeline.number_);
    killed_count_.store(killed_.size(), std::memory_order_release);
  }
}

}  // namespace rowsocket::server
