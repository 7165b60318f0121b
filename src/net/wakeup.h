// SPDX-License-Identifier: GPL-2.0-only
//
// How other threads get a thread out of its poll: an eventfd in the sleeper's Poller. Any thread may call
// `notify`, any number of times. The sleeper wakes at least once after the last call.
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
  /// The sleeper calls this when it wakes, before it looks for the reason.
  void drain();

 private:
  Descriptor event_;
};

}  // namespace rowsocket::net
