// SPDX-License-Identifier: GPL-2.0-only
//
// The bytes of a connection inside TLS: the server's end of a session of OpenSSL, over a socket that does not
// block.
//
// First `shake_hands`, as often as it takes. Then the transport is like any other. It keeps what net/ relies
// on, where TLS by itself would not:
//
//   - A level-triggered poll tells of bytes in the socket, not of those that OpenSSL has taken from there.
//     `receive` decrypts all of them, as far as there is room; `holds_input` says where there was not.
//   - The end of the stream comes inside TLS, where no poll sees it. So the socket's input is shut down then,
//     which each poll tells of.
//   - Reading can have something to send (an alert): `receives_when_writable`.
//   - What `send` could not finish is offered to it again from the same byte on, with at least as many bytes.
//
// What costs time and moves no bytes is bounded: a receive ends early where records hold little, and a client
// that sends many messages beside its bytes (KeyUpdate, or requests to renegotiate) is cut off.
//
// Both ends of a stream close with a close_notify, ours when the output is shut down or the transport ends.
// No renegotiation, no compression, nothing below TLS 1.2, and no session is resumed, whatever the host's
// context allows.
//
// An idle session holds no buffers. One owner, one thread; the owner may be another one after the handshake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/descriptor.h"
#include "net/transport.h"
#include "tls/sessions.h"

namespace rowsocket::tls {

class TlsTransport final : public net::Transport {
 public:
  /// `open_count` counts the transports whose handshake is done, and outlives them. nullptr without memory.
  [[nodiscard]] static std::unique_ptr<TlsTransport> make(Session session, net::Descriptor socket,
                                                          std::atomic<uint64_t>& open_count);
  ~TlsTransport() override;
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  enum class Step : uint8_t { done, wants_input, wants_output, failed };
  /// Go on with the handshake, until it is done or has failed.
  [[nodiscard]] Step shake_hands();
  /// Why it failed, for people. May throw std::bad_alloc.
  [[nodiscard]] std::string failure() const;

  [[nodiscard]] int fd() const override { return socket_.get(); }
  [[nodiscard]] net::Transfer receive(char* place, size_t byte_count_max) override;
  [[nodiscard]] net::Transfer send(const char* bytes, size_t byte_count) override;
  void shut_down_output() override;
  [[nodiscard]] bool is_gone() const override { return net::peer_is_gone(socket_.get()); }
  [[nodiscard]] bool is_broken() const override { return net::peer_is_broken(socket_.get()); }

  [[nodiscard]] bool holds_input() const override { return holds_input_; }
  [[nodiscard]] bool receives_when_writable() const override { return receives_when_writable_; }
  [[nodiscard]] size_t held_bytes() const override;
  [[nodiscard]] bool is_encrypted() const override { return true; }
  [[nodiscard]] net::Encryption encryption() const override;
  [[nodiscard]] std::shared_ptr<ssl_st> portrait() const override;

 private:
  friend struct SocketBio;
  friend struct MessageWatch;

  TlsTransport(Session session, net::Descriptor socket, std::atomic<uint64_t>& open_count)
      : open_count_(open_count), socket_(std::move(socket)), session_(std::move(session)) {}
  [[nodiscard]] bool connect();
  [[nodiscard]] net::Transfer::Status status_after(int result, bool is_sending);
  [[nodiscard]] net::Transfer::Status last_status() const;
  void count_message();
  void count_bytes(size_t byte_count);
  [[nodiscard]] bool may_ask_again() const;
  void acknowledge_at_once();
  void say_goodbye();

  std::atomic<uint64_t>& open_count_;
  net::Descriptor socket_;
  Session session_;
  unsigned long error_ = 0;              ///< OpenSSL's, of a failed handshake
  bool is_open_ = false;                 ///< the handshake is done
  bool has_failed_ = false;              ///< the session is of no further use
  bool has_ended_ = false;               ///< the peer sends nothing more
  bool may_receive_ = true;              ///< the session may ask the socket
  bool holds_input_ = false;             ///< bytes taken from the socket, for which there was no room
  bool receives_when_writable_ = false;  ///< the session wants to send before it goes on receiving
  bool is_record_half_sent_ = false;
  bool is_misused_ = false;     ///< too many messages came: the session is of no further use
  uint32_t message_count_ = 0;  ///< that came beside bytes ...
  size_t byte_count_ = 0;       ///< ... while so many went or came
  size_t taken_bytes_ = 0;      ///< from the socket, in this receive ...
  size_t received_bytes_ = 0;   ///< ... and what was inside
};

}  // namespace rowsocket::tls
