// SPDX-License-Identifier: GPL-2.0-only
//
// Memory for what a request's parse needs besides its own bytes (arrays of values, unescaped text). Handed
// out front to back, taken back all at once by `reset()`, which keeps the first block: in the steady state a
// request allocates nothing. Never throws: nullptr when memory is refused. One owner, one thread.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rowsocket {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// `byte_count` bytes, aligned for any scalar; nullptr if memory is refused.
  [[nodiscard]] char* allocate(size_t byte_count) {
    const size_t rounded = (byte_count + (alignment - 1)) & ~(alignment - 1);
    if (rounded >= byte_count && rounded <= free_bytes_) [[likely]] {
      char* const place = next_;
      next_ += rounded;
      free_bytes_ -= rounded;
      return place;
    }
    return allocate_block(byte_count);
  }

  /// An array of `count` default-constructed items; empty if memory is refused (or count is 0).
  template <typename Item>
  [[nodiscard]] std::span<Item> array(size_t count) {
    static_assert(std::is_trivially_destructible_v<Item>, "nobody runs the destructors");
    if (count == 0 || count > static_cast<size_t>(-1) / 2 / sizeof(Item)) {
      return {};
    }
    char* const place = allocate(count * sizeof(Item));
    if (place == nullptr) {
      return {};
    }
    return {new (place) Item[count], count};
  }

  /// One item; nullptr if memory is refused.
  template <typename Item, typename... Arguments>
  [[nodiscard]] Item* make(Arguments&&... arguments) {
    static_assert(std::is_trivially_destructible_v<Item>, "nobody runs the destructors");
    char* const place = allocate(sizeof(Item));
    return place == nullptr ? nullptr : new (place) Item(std::forward<Arguments>(arguments)...);
  }

  /// A copy of an item; nullptr if memory is refused. Of large items quicker than `make`, which writes member
  /// by member.
  template <typename Item>
  [[nodiscard]] Item* copy_of(const Item& item) {
    static_assert(std::is_trivially_copyable_v<Item> && std::is_trivially_destructible_v<Item>);
    return reinterpret_cast<Item*>(copy_bytes(&item, sizeof(Item)));
  }

  /// A copy of a text. Without an address if memory is refused; that of an empty text has one.
  [[nodiscard]] std::string_view copy_of_text(std::string_view text);

  /// Take everything back. What was handed out is gone.
  void reset();

  /// Memory held, handed out or not.
  [[nodiscard]] size_t held_bytes() const { return held_bytes_; }

 private:
  struct Block {
    Block* previous;
    size_t byte_count;
  };
  static constexpr size_t alignment = alignof(std::max_align_t);

  [[nodiscard]] char* allocate_block(size_t byte_count);
  /// Not inline: where the size is known, GCC makes a slow string instruction of memcpy.
  [[nodiscard]] char* copy_bytes(const void* bytes, size_t byte_count);

  Block* last_ = nullptr;
  char* next_ = nullptr;
  size_t free_bytes_ = 0;
  size_t held_bytes_ = 0;
};

}  // namespace rowsocket
