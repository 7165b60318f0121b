// SPDX-License-Identifier: GPL-2.0-only
//
// One client connection of the generator: a non-blocking socket, what is still to be sent, what was received and not yet checked,
// and the operations under way, oldest first. It knows nothing of time or epoll; run.cc drives it. Used by one thread.
//
// Everything in bench/ reports what ends a run (refused connection, wrong answer) by throwing std::runtime_error; main prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/buffer.h"
#include "bench/protocol.h"
#include "bench/ring.h"

namespace rowsocket::bench {

/// A request that was sent (or is about to be) and not answered yet.
struct Pending {
  Operation operation;
  uint64_t begun_ns = 0;  ///< when it was sent or, in an open loop, due
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

/// A socket that is just closed at the end; connected, and blocking still. Throws std::runtime_error.
[[nodiscard]] std::unique_ptr<Link> connect_socket(const Endpoint& endpoint);

/// A request before the load, and the only right reply. Throws std::runtime_error at another one, or none within ten seconds.
void exchange(int descriptor, std::string_view request, std::string_view right_reply);
/// Blocking, all of it.
void send_all(int descriptor, std::string_view bytes);
/// Blocking: appends at least one byte.
void receive_some(int descriptor, Buffer& incoming);

class Connection {
 public:
  Connection(std::unique_ptr<Link> link, size_t in_flight_max);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const { return link_->descriptor(); }
  [[nodiscard]] const Link& link() const { return *link_; }
  /// The requests under way, oldest first. The caller of `push` appends the request's bytes to `outgoing`.
  [[nodiscard]] Ring<Pending>& pending() { return pending_; }

  [[nodiscard]] Buffer& outgoing() { return outgoing_; }
  [[nodiscard]] Buffer& incoming() { return incoming_; }

  /// Send as much as the socket takes; true if nothing is left.
  [[nodiscard]] bool send();
  /// Receive once.
  void receive();

  /// Since the beginning of the load.
  [[nodiscard]] uint64_t bytes_sent() const { return bytes_sent_; }
  [[nodiscard]] uint64_t bytes_received() const { return bytes_received_; }

  /// Whether epoll was asked to tell when the socket takes bytes again.
  bool waits_to_send = false;
  /// Whether it stands in the open loop's queue of connections that can take a request.
  bool is_queued = false;

 private:
  std::unique_ptr<Link> link_;
  Buffer outgoing_;
  Buffer incoming_;
  Ring<Pending> pending_;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;
};

/// "text" with control bytes made visible, cut to a length fit for a message.
[[nodiscard]] std::string printable(std::string_view bytes);

}  // namespace rowsocket::bench
