// SPDX-License-Identifier: GPL-2.0-only
#include "net/buffer_pool.h"

#include <exception>
#include <utility>

namespace rowsocket::net {

Buffer BufferPool::take() {
  if (free_.empty()) {
    return {};
  }
  Buffer buffer = std::move(free_.back());
  free_.pop_back();
  pooled_bytes_ -= buffer.capacity();
  return buffer;
}

void BufferPool::give_back(Buffer& buffer) {
  const size_t capacity = buffer.capacity();
  if (capacity == 0) {
    buffer.clear();
    return;
  }
  if (capacity > limits::buffer_bytes_kept || pooled_bytes_ + capacity > limits::pool_bytes_busy) {
    buffer.release();
    return;
  }
  buffer.clear();
  buffer.set_bytes_max(static_cast<size_t>(-1));
  try {
    free_.push_back(std::move(buffer));
    pooled_bytes_ += capacity;
  } catch (const std::exception&) {
    buffer.release();  // no room to remember it: then it is not kept
  }
}

void BufferPool::trim() {
  while (has_surplus()) {
    pooled_bytes_ -= free_.back().capacity();
    free_.pop_back();
  }
}

}  // namespace rowsocket::net
