// SPDX-License-Identifier: GPL-2.0-only
//
// How the bytes of a connection travel over its socket. What a connection keeps and how it grows its buffers
// does not depend on it. One owner, one thread; no call blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/descriptor.h"

namespace rowsocket::net {

struct Transfer {
  enum class Status : uint8_t {
    moved,         ///< `byte_count` bytes, at least one
    blocked,       ///< nothing to receive, or no room to send, for now
    ended,         ///< the peer will send nothing more
    failed,        ///< the connection is broken
    out_of_memory  ///< no buffer was to be had
  };
  Status status;
  size_t byte_count;
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// The socket, for the poller.
  [[nodiscard]] virtual int fd() const = 0;
  /// Put received bytes to `place`, at most `byte_count_max` of them.
  [[nodiscard]] virtual Transfer receive(char* place, size_t byte_count_max) = 0;
  /// Send from the front of at least one byte.
  [[nodiscard]] virtual Transfer send(const char* bytes, size_t byte_count) = 0;
  /// Tell the peer that no more bytes come. The peer may still send.
  virtual void shut_down_output() = 0;
};

/// The bytes as they are, over TCP or a UNIX socket that does not block.
class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const override { return socket_.get(); }
  [[nodiscard]] Transfer receive(char* place, size_t byte_count_max) override;
  [[nodiscard]] Transfer send(const char* bytes, size_t byte_count) override;
  void shut_down_output() override;

 private:
  Descriptor socket_;
};

}  // namespace rowsocket::net
