// SPDX-License-Identifier: GPL-2.0-only
#include "wire/memcached/tally.h"

namespace rowsocket::wire::memcached {

std::string_view name_of(Count count) {
  constexpr std::string_view names[] = {
#define ROWSOCKET_TALLY(name) #name,
      ROWSOCKET_MEMCACHED_TALLIES
#undef ROWSOCKET_TALLY
      ""};
  return names[static_cast<size_t>(count)];
}

Tally::Register& Tally::all() {
  static Register tallies;
  return tallies;
}

Tally::Tally() {
  Register& tallies = all();
  const MutexLock lock(tallies.mutex);
  next_ = tallies.first;
  if (next_ != nullptr) {
    next_->previous_ = this;
  }
  tallies.first = this;
}

Tally::~Tally() {
  Register& tallies = all();
  const MutexLock lock(tallies.mutex);
  for (size_t at = 0; at < slots_.size(); ++at) {
    tallies.of_the_closed[at] += slots_[at].load(std::memory_order_relaxed);
  }
  (previous_ != nullptr ? previous_->next_ : tallies.first) = next_;
  if (next_ != nullptr) {
    next_->previous_ = previous_;
  }
}

uint64_t Tally::sum(Count count) {
  Register& tallies = all();
  const auto at = static_cast<size_t>(count);
  const MutexLock lock(tallies.mutex);
  uint64_t sum = tallies.of_the_closed[at];
  for (const Tally* tally = tallies.first; tally != nullptr; tally = tally->next_) {
    sum += tally->slots_[at].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace rowsocket::wire::memcached
