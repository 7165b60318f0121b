// SPDX-License-Identifier: GPL-2.0-only
#include "bench/tls.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <stdexcept>

#include "bench/printable.h"

namespace rowsocket::bench {

namespace {

constexpr timeval wait_max{10, 0};

[[noreturn]] void fail_tls(const std::string& what) {
  const unsigned long error = ERR_get_error();
  const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  throw std::runtime_error(reason == nullptr ? what : what + ": " + reason);
}

/// Until the load begins: whoever waits for the server blocks, but not for ever.
void let_block(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait_max, sizeof wait_max) != 0) {
    fail_tls("TLS: the socket cannot be made to block");
  }
}

}  // namespace

TlsContext::TlsContext(const std::string& authority, const std::string& version)
    : context_(SSL_CTX_new(TLS_client_method())) {
  const int number = version == "TLSv1.3" ? TLS1_3_VERSION : version == "TLSv1.2" ? TLS1_2_VERSION : 0;
  if (number == 0) {
    throw std::runtime_error("TLS: nobody knows the version " + version);
  }
  if (context_ == nullptr || SSL_CTX_set_min_proto_version(context_.get(), number) != 1 ||
      SSL_CTX_set_max_proto_version(context_.get(), number) != 1 ||
      SSL_CTX_load_verify_file(context_.get(), authority.c_str()) != 1) {
    fail_tls("TLS cannot be set up");
  }
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  // A connection's bytes move while more are appended to them.
  SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context_.get(), 1);  // one system call for whatever came
}

TlsSession::TlsSession(const TlsContext& context, int descriptor) : session_(SSL_new(context.get())) {
  let_block(descriptor);
  if (session_ == nullptr || SSL_set_fd(session_.get(), descriptor) != 1) {
    fail_tls("TLS cannot be set up");
  }
  ERR_clear_error();
  if (SSL_connect(session_.get()) != 1) {
    fail_tls("no handshake of TLS");
  }
}

void TlsSession::exchange(std::string_view request, std::string_view right_reply) {
  size_t sent = 0;
  ERR_clear_error();
  while (!request.empty()) {
    if (SSL_write_ex(session_.get(), request.data(), request.size(), &sent) != 1) {
      fail_tls("TLS: the opening cannot be sent");
    }
    request.remove_prefix(sent);
  }
  std::string reply;
  while (reply.size() < right_reply.size()) {
    char piece[4096];
    size_t count = 0;
    if (SSL_read_ex(session_.get(), piece, sizeof piece, &count) != 1) {
      fail_tls("no answer to the opening");
    }
    reply.append(piece, count);
    if (!right_reply.starts_with(reply)) {
      throw std::runtime_error("the opening was answered " + printable(reply) + " where " +
                               printable(right_reply) + " is right");
    }
  }
}

ssize_t TlsSession::send(const char* bytes, size_t size) {
  size_t sent = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(session_.get(), bytes, size, &sent);
  return result == 1 ? static_cast<ssize_t>(sent) : failed(result);
}

ssize_t TlsSession::receive(std::span<char> buffer) {
  size_t received = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(session_.get(), buffer.data(), buffer.size(), &received);
  holds_input_ = result == 1 && SSL_has_pending(session_.get()) == 1;
  return result == 1 ? static_cast<ssize_t>(received) : failed(result);
}

ssize_t TlsSession::failed(int result) const {
  const int system_error = errno;
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    case SSL_ERROR_SYSCALL:
      errno = system_error;
      return system_error == 0 ? 0 : -1;
    default:
      fail_tls("TLS");
  }
}

std::string TlsSession::encryption() const {
  return std::string(SSL_get_version(session_.get())) + " " + SSL_get_cipher_name(session_.get());
}

}  // namespace rowsocket::bench
