// SPDX-License-Identifier: GPL-2.0-only
//
// How the bytes of a connection travel over its socket. What a connection keeps and how it grows its buffers
// does not depend on it. One owner, one thread; no call blocks.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "net/descriptor.h"

struct ssl_st;  // a session of OpenSSL

namespace rowsocket::net {

struct Transfer {
  enum class Status : uint8_t {
    moved,          ///< `byte_count` bytes, at least one
    blocked,        ///< nothing to receive, or no room to send, for now
    ended,          ///< the peer will send nothing more
    failed,         ///< the connection is broken
    misused,        ///< the peer makes too much work beside its bytes: the connection is to be closed
    out_of_memory,  ///< no buffer was to be had
    begins_tls      ///< the peer begins with TLS; nothing was taken from the socket
  };
  Status status;
  size_t byte_count;
};

/// What became of a send. `result`: the bytes that were sent, or an errno with a minus.
[[nodiscard]] Transfer sent(ssize_t result);

/// What was agreed on, as OpenSSL names it. The characters are never freed.
struct Encryption {
  std::string_view version;  ///< empty = nothing is encrypted
  std::string_view cipher;
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
  /// `send` sends the bytes as they are over the socket, and does nothing else.
  [[nodiscard]] virtual bool sends_plainly() const { return false; }
  /// Tell the peer that no more bytes come. The peer may still send.
  virtual void shut_down_output() = 0;
  /// The peer has said that it sends nothing more, or the connection is broken. Bytes may still be there.
  [[nodiscard]] virtual bool is_gone() const = 0;
  /// The connection is broken: the peer has reset it, as closing does where replies have not been read. (A
  /// peer that has said that it sends nothing more may still read, or want no reply.)
  [[nodiscard]] virtual bool is_broken() const = 0;
  /// Give the socket up. The transport is of no use any more.
  [[nodiscard]] virtual Descriptor take_socket() { return {}; }

  // ---- where bytes travel inside TLS (tls/transport.h)

  /// The last `receive` had no room for all bytes that were taken from the socket. No poll tells of those.
  /// Until there are none, `receive` takes no others.
  [[nodiscard]] virtual bool holds_input() const { return false; }
  /// The last `receive` has to send something first: call it again when there is room for it.
  [[nodiscard]] virtual bool receives_when_writable() const { return false; }
  /// Memory that the transport has for itself.
  [[nodiscard]] virtual size_t held_bytes() const { return 0; }
  [[nodiscard]] virtual bool is_encrypted() const { return false; }
  [[nodiscard]] virtual Encryption encryption() const { return {}; }
  /// What was agreed on with the peer, for another thread; nullptr where nothing is encrypted. May throw
  /// std::bad_alloc.
  [[nodiscard]] virtual std::shared_ptr<ssl_st> portrait() const { return nullptr; }
};

/// Of a connected socket: see Transport::is_gone and is_broken.
[[nodiscard]] bool peer_is_gone(int fd);
[[nodiscard]] bool peer_is_broken(int fd);

/// The bytes as they are, over TCP or a UNIX socket that does not block. A peer whose first byte is that of
/// TLS is not read.
class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const override { return socket_.get(); }
  [[nodiscard]] Transfer receive(char* place, size_t byte_count_max) override;
  [[nodiscard]] Transfer send(const char* bytes, size_t byte_count) override;
  [[nodiscard]] bool sends_plainly() const override { return true; }
  void shut_down_output() override;
  [[nodiscard]] bool is_gone() const override { return peer_is_gone(socket_.get()); }
  [[nodiscard]] bool is_broken() const override { return peer_is_broken(socket_.get()); }
  [[nodiscard]] Descriptor take_socket() override { return std::move(socket_); }

 private:
  [[nodiscard]] bool begins_tls();

  Descriptor socket_;
  bool has_begun_ = false;  ///< the first byte was looked at
};

}  // namespace rowsocket::net
