// SPDX-License-Identifier: GPL-2.0-only
//
// What waits for descriptors, level-triggered. One owner, one thread. Each watched descriptor carries a tag:
// an address that its owner wants to see again. The poller does not own descriptors. A closed descriptor
// leaves the set by itself.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/limits.h"
#include "net/descriptor.h"

namespace rowsocket::net {

/// What a descriptor is watched for. `none` takes it out of the set. For any descriptor in the set a poller
/// reports a hang-up, asked or not. A level-triggered event that is not handled makes a busy loop.
enum class Interest : uint8_t { none, input, output };

class Poller {
 public:
  static constexpr int forever = -1;

  virtual ~Poller() = default;

  /// Watch `fd` for `wanted` instead of `current`. False if the system refused.
  [[nodiscard]] virtual bool change(int fd, Interest current, Interest wanted, void* tag) = 0;

  struct Event {
    void* tag;
    bool readable;           ///< there is input, the end of it, or an error: a recv tells which
    bool writable;           ///< there is room, or an error: a send tells which
    bool is_broken = false;  ///< the peer has reset the connection: no reply reaches it
  };
  /// Wait until something happens, at most `timeout_ms` (or `forever`). The events are good until the next
  /// call.
  [[nodiscard]] virtual std::span<const Event> wait(int timeout_ms) = 0;
};

/// The system's. If the system refused the epoll descriptor, then every `change` fails.
class Epoll final : public Poller {
 public:
  Epoll();

  [[nodiscard]] bool change(int fd, Interest current, Interest wanted, void* tag) override;
  [[nodiscard]] std::span<const Event> wait(int timeout_ms) override;

 private:
  Descriptor epoll_;
  std::array<epoll_event, limits::events_per_poll> raw_;
  std::array<Event, limits::events_per_poll> events_;
};

}  // namespace rowsocket::net
