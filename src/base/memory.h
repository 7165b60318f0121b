// SPDX-License-Identifier: GPL-2.0-only
//
// Memory for buffers. Large pieces come from the system directly and go back to it at once: what clients send
// or read in a burst is not the process's for good, as it would be in the allocator's pools.
#pragma once

#include <cstddef>

namespace rowsocket {

/// nullptr if memory is refused. Give it back with the size that was asked for.
[[nodiscard]] char* take_memory(size_t byte_count);
void give_back_memory(void* bytes, size_t byte_count);
/// Whether `grow_memory` is for pieces of this size.
[[nodiscard]] bool memory_grows(size_t byte_count);
/// The same bytes in a larger piece, without a copy. nullptr if memory is refused: then the old piece stays.
[[nodiscard]] char* grow_memory(void* bytes, size_t byte_count, size_t grown_byte_count);
/// The allocator keeps what was freed, for each thread apart. Give that back to the system, too: after much
/// was freed that is not needed again. It may take milliseconds.
void give_back_freed_memory();

/// Is told how many bytes were taken, and given back. Any thread calls it.
struct MemoryWatcher {
  void (*taken)(size_t byte_count);
  void (*given_back)(size_t byte_count);
};
/// Before the first thread. What was taken earlier is told when it is given back.
void watch_memory(const MemoryWatcher& watcher);

}  // namespace rowsocket
