// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: memory that is refused on demand, where malloc is asked for it. The test program links with
// -Wl,--wrap=malloc, and at least one of its files includes this header.
#pragma once

#include <cstddef>

namespace rowsocket::test {

/// How many more times malloc gives memory to this thread; negative: always.
inline thread_local long allocations_left = -1;

/// While it lives, malloc gives memory `allocations` more times and then none.
class RefusedMemory {
 public:
  explicit RefusedMemory(long allocations = 0) { allocations_left = allocations; }
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
  ~RefusedMemory() { allocations_left = -1; }
};

}  // namespace rowsocket::test

// Weak, so that several files of a program may include it.
// NOLINTBEGIN(bugprone-reserved-identifier): the linker asks for these names
extern "C" {
void* __real_malloc(size_t byte_count);
[[gnu::weak]] void* __wrap_malloc(size_t byte_count) {
  long& left = rowsocket::test::allocations_left;
  if (left == 0) {
    return nullptr;
  }
  left -= left > 0 ? 1 : 0;
  return __real_malloc(byte_count);
}
}
// NOLINTEND(bugprone-reserved-identifier)
