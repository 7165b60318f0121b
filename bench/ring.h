// SPDX-License-Identifier: GPL-2.0-only
//
// A queue of fixed capacity that never allocates after it was made. Slots keep what they own, so that it is
// used again.
#pragma once

#include <cstddef>
#include <vector>

namespace rowsocket::bench {

template <typename Element>
class Ring {
 public:
  explicit Ring(size_t capacity) : slots_(capacity) {}

  [[nodiscard]] size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool full() const { return count_ == slots_.size(); }
  /// The oldest; there is one.
  [[nodiscard]] Element& front() { return slots_[first_]; }
  /// The slot of a new last one, holding whatever it held before; the ring is not full.
  [[nodiscard]] Element& push() {
    const size_t place = first_ + count_++;
    return slots_[place < slots_.size() ? place : place - slots_.size()];
  }
  void pop() {
    first_ = first_ + 1 < slots_.size() ? first_ + 1 : 0;
    --count_;
  }

 private:
  std::vector<Element> slots_;
  size_t first_ = 0;
  size_t count_ = 0;
};

}  // namespace rowsocket::bench
