// SPDX-License-Identifier: GPL-2.0-only
//
// One client connection: a socket that the harness opened, bytes that are still to be sent, and the requests
// under way, oldest first. It knows nothing of time or epoll; run.cc drives it. Used by one thread.
//
// Everything in bench/ reports what ends a run (lost connection, wrong answer) by throwing
// std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/form.h"
#include "bench/ring.h"
#include "bench/tls.h"

namespace rowsocket::bench {

/// A request that was sent (or is about to be) and not answered yet.
struct Pending {
  size_t exchange = 0;  ///< position in Job::exchanges
  uint64_t tick = 0;
  std::vector<uint32_t> keys;
  uint64_t begun_ns = 0;  ///< when it was sent or, in an open loop, due
  Progress reply;
};

class Connection {
 public:
  /// Does not close the descriptor: it is the harness's. `number` is put into fields that ask for the
  /// connection's own. Without `tls` the bytes travel as they are.
  Connection(int descriptor, uint64_t number, size_t in_flight_max, std::unique_ptr<TlsSession> tls);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] uint64_t number() const { return number_; }
  [[nodiscard]] Ring<Pending>& pending() { return pending_; }
  [[nodiscard]] const Ring<Pending>& pending() const { return pending_; }
  /// The caller of `pending().push()` appends the request's bytes.
  [[nodiscard]] std::string& outgoing() { return outgoing_; }

  /// Send as much as the socket takes; true if nothing is left.
  [[nodiscard]] bool send();
  /// Receive once; what came lies in `buffer`, and nothing is no error.
  [[nodiscard]] std::string_view receive(std::span<char> buffer);
  /// The last `receive` left something for the next one, of which epoll does not tell.
  [[nodiscard]] bool holds_input() const { return tls_ != nullptr && tls_->holds_input(); }

  /// Since the beginning of the load; inside TLS, of what is inside.
  [[nodiscard]] uint64_t bytes_sent() const { return bytes_sent_; }
  [[nodiscard]] uint64_t bytes_received() const { return bytes_received_; }

  /// Whether epoll was asked to tell when the socket takes bytes again.
  bool waits_to_send = false;
  /// Whether it stands in the open loop's queue of connections that can take a request.
  bool is_queued = false;

 private:
  int descriptor_;
  std::unique_ptr<TlsSession> tls_;  ///< nullptr = none
  uint64_t number_;
  std::string outgoing_;
  size_t outgoing_sent_ = 0;
  Ring<Pending> pending_;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;
};

}  // namespace rowsocket::bench
