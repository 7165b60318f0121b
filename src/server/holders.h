// SPDX-License-Identifier: GPL-2.0-only
//
// Which holder holds most: an order of those that hold something, kept up to date change by change. So a
// flood of connections that hold much does not make a worker look at all of them again and again.
//
// A heap in which each holder knows its place. A change costs the logarithm of their number, and the largest
// one is at hand. One owner, one thread. Allocates in `reserve` only.
#pragma once

#include <cstddef>
#include <vector>

namespace rowsocket::server {

/// Part of whatever holds something. Not copied, nor destroyed while it is ranked.
struct Holder {
  size_t ranked_bytes = 0;  ///< 0 = it is not among the holders
  size_t rank = 0;          ///< its place in the heap
};

class Holders {
 public:
  /// From now on so many can be ranked. May throw std::bad_alloc.
  void reserve(size_t count) { heap_.reserve(count); }
  /// The same where they come one by one: there is room for more then.
  void make_room(size_t count) {
    if (heap_.capacity() < count) {
      heap_.reserve(2 * count);
    }
  }
  /// The holder holds so much now. 0: it is not to be found any more.
  void rank(Holder& holder, size_t bytes);
  /// nullptr if none holds anything.
  [[nodiscard]] Holder* largest() const { return heap_.empty() ? nullptr : heap_.front(); }

 private:
  void put(Holder& holder, size_t rank) {
    heap_[rank] = &holder;
    holder.rank = rank;
  }
  void move_up(Holder& holder);
  void move_down(Holder& holder);

  std::vector<Holder*> heap_;
};

}  // namespace rowsocket::server
