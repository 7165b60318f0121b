// SPDX-License-Identifier: GPL-2.0-only
#include "base/buffer.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/memory.h"

namespace rowsocket {

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    give_back_memory(begin_, capacity_);
    begin_ = std::exchange(other.begin_, nullptr);
    front_ = std::exchange(other.front_, 0);
    back_ = std::exchange(other.back_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    bytes_max_ = other.bytes_max_;
    failed_ = std::exchange(other.failed_, false);
    is_given_up_ = std::exchange(other.is_given_up_, false);
  }
  return *this;
}

Buffer::~Buffer() { give_back_memory(begin_, capacity_); }

void Buffer::release() {
  give_back_memory(begin_, capacity_);
  begin_ = nullptr;
  front_ = back_ = capacity_ = 0;
  failed_ = is_given_up_ = false;
}

bool Buffer::grow(size_t byte_count) {
  const size_t used = size();
  if (byte_count > bytes_max_ || used > bytes_max_ - byte_count) {
    failed_ = true;
    return false;
  }
  // Reclaim the consumed front first: often that is room enough.
  if (front_ > 0 && used + byte_count <= capacity_) {
    std::memmove(begin_, begin_ + front_, used);
    front_ = 0;
    back_ = used;
    return true;
  }
  const size_t wanted = std::min(std::max({limits::buffer_bytes_first, used + byte_count, capacity_ * 2}),
                                 std::max(bytes_max_, used + byte_count));
  const bool grows = memory_grows(capacity_) && wanted - back_ >= byte_count && wanted > capacity_;
  char* const moved = grows ? grow_memory(begin_, capacity_, wanted) : take_memory(wanted);
  if (moved == nullptr) {
    failed_ = true;
    return false;
  }
  if (grows) {
    begin_ = moved;
    capacity_ = wanted;
    return true;
  }
  if (used > 0) {
    std::memcpy(moved, begin_ + front_, used);
  }
  give_back_memory(begin_, capacity_);
  begin_ = moved;
  front_ = 0;
  back_ = used;
  capacity_ = wanted;
  return true;
}

}  // namespace rowsocket
