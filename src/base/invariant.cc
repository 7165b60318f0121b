// SPDX-License-Identifier: GPL-2.0-only
#include "base/invariant.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace rowsocket {
namespace {

// Read once, when the plugin is loaded: the environment of a server does not change then.
// NOLINTNEXTLINE(concurrency-mt-unsafe)
std::atomic<bool> aborts{std::getenv("ROWSOCKET_ABORT_ON_BROKEN_INVARIANTS") != nullptr};
std::atomic<uint64_t> broken{0};

}  // namespace

void abort_on_broken_invariants() { aborts.store(true); }

uint64_t broken_invariants() { return broken.load(std::memory_order_relaxed); }

void detail::break_invariant(const char* what, SourceLocation where) {
  broken.fetch_add(1, std::memory_order_relaxed);
  if (aborts.load(std::memory_order_relaxed)) {
    std::fprintf(stderr, "rowsocket: not true: %s (%s:%d)\n", what, where.file, where.line);
    std::abort();
  }
}

}  // namespace rowsocket
