// SPDX-License-Identifier: GPL-2.0-only
//
// One client connection of the generator: a non-blocking socket, what is still to be sent, what was received and not yet checked,
// and the operations under way, oldest first. It knows nothing of time or epoll; run.cc drives it. Used by one thread.
//
// Everything in bench/ reports what ends a run (refused connection, wrong answer) by throwing std::runtime_error; main prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "bench/protocol.h"

namespace rowsocket::bench {

/// Where the server listens.
struct Endpoint {
  std::string host = "127.0.0.1";  ///< numeric
  uint16_t port = 0;
  std::string socket_path;  ///< a unix socket; not empty = used instead of host and port
};

/// A request that was sent (or is about to be) and not answered yet.
struct Pending {
  Operation operation;
  uint64_t sent_ns = 0;
};

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

class Connection {
 public:
  /// Connects, and makes the opening exchanges, blocking.
  Connection(const Endpoint& endpoint, const std::vector<Exchange>& opening, size_t in_flight_max);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }
  [[nodiscard]] size_t in_flight() const { return pending_count_; }
  [[nodiscard]] bool can_take_more() const { return pending_count_ < pending_.size(); }

  /// The slot of the next request, now under way; the caller fills it and appends the request's bytes to `outgoing`.
  [[nodiscard]] Pending& push();
  [[nodiscard]] Pending& oldest() { return pending_[pending_first_]; }
  void pop();

  [[nodiscard]] Buffer& outgoing() { return outgoing_; }
  [[nodiscard]] Buffer& incoming() { return incoming_; }

  /// Send as much as the socket takes; true if nothing is left.
  [[nodiscard]] bool send();
  /// Receive once.
  void receive();

  /// Whether epoll was asked to tell when the socket takes bytes again.
  bool waits_to_send = false;

 private:
  void exchange(const Exchange& exchange);

  Descriptor descriptor_;
  Buffer outgoing_;
  Buffer incoming_;
  std::vector<Pending> pending_;  ///< a ring
  size_t pending_first_ = 0;
  size_t pending_count_ = 0;
};

/// "text" with control bytes made visible, cut to a length fit for a message.
[[nodiscard]] std::string printable(std::string_view bytes);

}  // namespace rowsocket::bench
