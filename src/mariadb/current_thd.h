// SPDX-License-Identifier: GPL-2.0-only
//
// The THD that a thread of ours works with.
#pragma once

#include <pthread.h>

#include <algorithm>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// From here on the calling thread works with this THD.
///
/// MariaDB 10.11 takes it that all its threads have a stack of `thread_stack` bytes, and measures from the
/// beginning how much of it is used. (11.8 asks the system for the end.) Ours have what the system gives a
/// thread. Where that is less, the beginning is put so far ahead that the server's end is the real one.
inline void make_current(THD* thd) {
  thd->thread_stack = static_cast<char*>(__builtin_frame_address(0));
  thd->store_globals();
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return;
  }
  void* end = nullptr;  // stacks grow downwards
  size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &end, &bytes) == 0) {
    thd->thread_stack =
        std::max(static_cast<char*>(thd->thread_stack), static_cast<char*>(end) + my_thread_stack_size);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace rowsocket::mariadb
