// SPDX-License-Identifier: GPL-2.0-only
#include "base/invariant.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/limits.h"

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
  const uint64_t before = broken.fetch_add(1, std::memory_order_relaxed);
  if (before < limits::broken_invariants_logged_max) {  // a server's error log is its stderr
    std::fprintf(stderr, "rowsocket: a bug, please report it: not true: %s (%s:%d)\n", what, where.file,
                 where.line);
  }
  if (aborts.load(std::memory_order_relaxed)) {
    std::abort();
  }
}

}  // namespace rowsocket
