// SPDX-License-Identifier: GPL-2.0-only
#include "server/holders.h"

#include <utility>

namespace rowsocket::server {

void Holders::rank(Holder& holder, size_t bytes) {
  const size_t before_bytes = std::exchange(holder.ranked_bytes, bytes);
  if (before_bytes == 0) {
    if (bytes > 0) {
      heap_.push_back(&holder);
      holder.rank = heap_.size() - 1;
      move_up(holder);
    }
    return;
  }
  if (bytes == 0) {
    Holder& last = *heap_.back();
    heap_.pop_back();
    if (&last != &holder) {
      put(last, holder.rank);
      move_up(last);
      move_down(last);
    }
    return;
  }
  move_up(holder);
  move_down(holder);
}

void Holders::move_up(Holder& holder) {
  size_t rank = holder.rank;
  while (rank > 0 && heap_[(rank - 1) / 2]->ranked_bytes < holder.ranked_bytes) {
    put(*heap_[(rank - 1) / 2], rank);
    rank = (rank - 1) / 2;
  }
  put(holder, rank);
}

void Holders::move_down(Holder& holder) {
  size_t rank = holder.rank;
  for (size_t larger = 2 * rank + 1; larger < heap_.size(); larger = 2 * rank + 1) {
    if (larger + 1 < heap_.size() && heap_[larger + 1]->ranked_bytes > heap_[larger]->ranked_bytes) {
      ++larger;
    }
    if (heap_[larger]->ranked_bytes <= holder.ranked_bytes) {
      break;
    }
    put(*heap_[larger], rank);
    rank = larger;
  }
  put(holder, rank);
}

}  // namespace rowsocket::server
