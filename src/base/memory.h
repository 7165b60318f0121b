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

}  // namespace rowsocket
