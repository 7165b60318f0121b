// SPDX-License-Identifier: GPL-2.0-only
//
// Room for what must be noted once it is done: it is made before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rowsocket {

/// After this, adding one more allocates nothing. May throw std::bad_alloc; then nothing has changed.
template <typename Entry>
void make_room_in(std::vector<Entry>& list) {
  constexpr size_t least = 8;
  if (list.size() == list.capacity()) {
    list.reserve(std::max(least, 2 * list.size()));
  }
}

}  // namespace rowsocket
