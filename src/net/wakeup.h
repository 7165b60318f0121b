// SPDX-License-Identifier: GPL-2.0-only
//
// How other threads get a thread out of its poll: an eventfd that stands in the sleeper's Poller. `notify`
// may be called from any thread, any number of times; the sleeper wakes at least once after the last of them.
#pragma once

#include "net/descriptor.h"

namespace rowsocket::net {

class Wakeup {
 public:
  Wakeup();

  /// False if the system refused the eventfd; then the object is of no use.
  [[nodiscard]] bool valid() const { return event_.valid(); }
  [[nodiscard]] int fd() const { return event_.get(); }

  void notify();
  /// The sleeper calls this when it woke, before it looks at what it was woken for.
  void drain();

 private:
  Descriptor event_;
};

}  // namespace rowsocket::net
