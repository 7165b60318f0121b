// SPDX-License-Identifier: GPL-2.0-only
#include "base/arena.h"

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "base/memory.h"

namespace rowsocket {
namespace {
constexpr size_t header_bytes(size_t block_size, size_t alignment) {
  return (block_size + alignment - 1) & ~(alignment - 1);
}
}  // namespace

Arena::~Arena() {
  while (last_ != nullptr) {
    Block* const previous = last_->previous;
    give_back_memory(last_, last_->byte_count);
    last_ = previous;
  }
}

void Arena::reset() {
  if (last_ == nullptr) {
    return;
  }
  while (last_->previous != nullptr) {
    Block* const previous = last_->previous;
    held_bytes_ -= last_->byte_count;
    give_back_memory(last_, last_->byte_count);
    last_ = previous;
  }
  constexpr size_t header = header_bytes(sizeof(Block), alignment);
  next_ = reinterpret_cast<char*>(last_) + header;
  free_bytes_ = last_->byte_count - header;
}

char* Arena::copy_bytes(const void* bytes, size_t byte_count) {
  char* const place = allocate(byte_count);
  return place == nullptr ? nullptr : static_cast<char*>(std::memcpy(place, bytes, byte_count));
}

std::string_view Arena::copy_of_text(std::string_view text) {
  char* const place = allocate(text.size() + 1);  // so that an empty text has a place, too
  if (place == nullptr) {
    return {};
  }
  std::copy(text.begin(), text.end(), place);
  return {place, text.size()};
}

char* Arena::allocate_block(size_t byte_count) {
  constexpr size_t header = header_bytes(sizeof(Block), alignment);
  if (byte_count > static_cast<size_t>(-1) / 4) {
    return nullptr;
  }
  const size_t rounded = (byte_count + (alignment - 1)) & ~(alignment - 1);
  // The first block has the common size whatever is asked first, so that `reset` never keeps a huge one.
  const size_t grown =
      last_ == nullptr ? limits::arena_bytes_first : std::max(limits::arena_bytes_first, rounded + header);
  auto* const block = reinterpret_cast<Block*>(take_memory(grown));
  if (block == nullptr) {
    return nullptr;
  }
  block->previous = last_;
  block->byte_count = grown;
  held_bytes_ += grown;
  last_ = block;
  next_ = reinterpret_cast<char*>(block) + header;
  free_bytes_ = grown - header;
  if (rounded > free_bytes_) {
    return allocate_block(byte_count);
  }
  char* const place = next_;
  next_ += rounded;
  free_bytes_ -= rounded;
  return place;
}

}  // namespace rowsocket
