// SPDX-License-Identifier: GPL-2.0-only
//
// Included before every source of a build with changes of one line: MUTANT(n) says whether change n is on.
//
// The file named by ROWSOCKET_MUTANTS_STATE is shared by whoever tries the changes and every process that is
// tried, a server included. Its first four bytes are the number of the change that is on, 0 for none. From
// byte 4096 on it has one byte per change, set by whoever comes by that change.
#pragma once

#ifdef __cplusplus
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rowsocket_mutants {

inline constexpr unsigned long STATE_BYTES = 65536;
inline constexpr unsigned long REACHED_AT_BYTE = 4096;

inline volatile unsigned char* shared_state() {
  const char* path = getenv("ROWSOCKET_MUTANTS_STATE");
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  void* bytes = mmap(nullptr, STATE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return bytes == MAP_FAILED ? nullptr : static_cast<volatile unsigned char*>(bytes);
}

inline volatile unsigned char* const state = shared_state();

inline bool is_on(int change) {
  if (state == nullptr)
    return false;
  state[REACHED_AT_BYTE + change] = 1;
  return *reinterpret_cast<const volatile int*>(state) == change;
}

}  // namespace rowsocket_mutants

#define MUTANT(change) (::rowsocket_mutants::is_on(change))
#endif
