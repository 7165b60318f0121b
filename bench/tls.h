// SPDX-License-Identifier: GPL-2.0-only
//
// The player's end of TLS, over a socket that the harness connected. The handshake, and what the client says
// first, are over before the load begins, so the server's work for them is in no figure.
#pragma once

#include <openssl/ssl.h>
#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rowsocket::bench {

/// Of a job whose connections travel inside TLS.
struct TlsSettings {
  std::string authority;      ///< file: who must have signed the server's certificate; empty = no TLS
  std::string version;        ///< as OpenSSL names it: TLSv1.2 or TLSv1.3
  std::string opening;        ///< what each connection sends first ...
  std::string opening_reply;  ///< ... and the only right answer
};

struct OpenSslDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};

/// What the sessions of a run have in common.
class TlsContext {
 public:
  TlsContext(const std::string& authority, const std::string& version);
  [[nodiscard]] SSL_CTX* get() const { return context_.get(); }

 private:
  std::unique_ptr<SSL_CTX, OpenSslDeleter> context_;
};

class TlsSession {
 public:
  /// Makes the handshake, and waits for it. From then on the descriptor blocks.
  TlsSession(const TlsContext& context, int descriptor);

  /// Ask and wait, before the load. Throws at another reply than this.
  void exchange(std::string_view request, std::string_view right_reply);

  /// As send(2) and recv(2) of a descriptor that does not block. What `send` refused is offered again.
  [[nodiscard]] ssize_t send(const char* bytes, size_t size);
  [[nodiscard]] ssize_t receive(std::span<char> buffer);
  /// The last `receive` left bytes behind that are no longer in the socket, so epoll does not tell of them.
  [[nodiscard]] bool holds_input() const { return holds_input_; }

  /// The version and the cipher that were agreed on.
  [[nodiscard]] std::string encryption() const;

 private:
  /// What a call of OpenSSL that moved nothing means, as those of the system tell it.
  [[nodiscard]] ssize_t failed(int result) const;

  std::unique_ptr<SSL, OpenSslDeleter> session_;
  bool holds_input_ = false;
};

}  // namespace rowsocket::bench
