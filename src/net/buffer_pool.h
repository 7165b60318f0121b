// SPDX-License-Identifier: GPL-2.0-only
//
// Buffers for a worker's connections. A connection borrows a buffer when bytes come or go, and gives the
// buffer back when it is empty. So an idle connection costs no buffer, and a busy worker allocates none. The
// buffer that was given back last is taken first, because its bytes are in the cache. One owner, one thread.
#pragma once

#include <cstddef>
#include <vector>

#include "base/buffer.h"
#include "base/limits.h"

namespace rowsocket::net {

class BufferPool {
 public:
  /// An empty buffer without a cap; it may have memory already.
  [[nodiscard]] Buffer take();
  /// Keep the memory of a buffer for the next taker, or free it if it is too large or the pool is full. The
  /// buffer is empty then.
  void give_back(Buffer& buffer);
  /// There is something to trim.
  [[nodiscard]] bool has_surplus() const { return pooled_bytes_ > limits::pool_bytes_idle; }
  /// The worker goes to sleep: free the memory that a burst left, but keep `limits::pool_bytes_idle`.
  void trim();

  [[nodiscard]] size_t pooled_bytes() const { return pooled_bytes_; }

 private:
  std::vector<Buffer> free_;
  size_t pooled_bytes_ = 0;
};

}  // namespace rowsocket::net
