// SPDX-License-Identifier: GPL-2.0-only
#include "base/memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>

#include "base/limits.h"

namespace rowsocket {
namespace {

MemoryWatcher watcher{[](size_t) {}, [](size_t) {}};

void* mapped_memory(size_t byte_count) {
  void* const mapped =
      ::mmap(nullptr, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

void watch_memory(const MemoryWatcher& told) { watcher = told; }

char* take_memory(size_t byte_count) {
  void* const bytes =
      byte_count < limits::mapped_bytes_min ? std::malloc(byte_count) : mapped_memory(byte_count);
  if (bytes != nullptr) {
    watcher.taken(byte_count);
  }
  return static_cast<char*>(bytes);
}

bool memory_grows(size_t byte_count) { return byte_count >= limits::mapped_bytes_min; }

char* grow_memory(void* bytes, size_t byte_count, size_t grown_byte_count) {
  void* const moved = ::mremap(bytes, byte_count, grown_byte_count, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) {
    return nullptr;
  }
  watcher.taken(grown_byte_count - byte_count);
  return static_cast<char*>(moved);
}

void give_back_memory(void* bytes, size_t byte_count) {
  if (bytes == nullptr) {
    return;
  }
  watcher.given_back(byte_count);
  if (byte_count < limits::mapped_bytes_min) {
    std::free(bytes);
  } else {
    ::munmap(bytes, byte_count);
  }
}

void give_back_freed_memory() { ::malloc_trim(0); }

}  // namespace rowsocket
