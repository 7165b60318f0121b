// SPDX-License-Identifier: GPL-2.0-only
#include "net/wakeup.h"

#include <sys/eventfd.h>

#include <cstdint>

namespace rowsocket::net {

Wakeup::Wakeup() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Wakeup::notify() {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the sleeper is woken anyway.
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

void Wakeup::drain() {
  uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(event_.get(), &count, sizeof count);
}

}  // namespace rowsocket::net
