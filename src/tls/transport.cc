// SPDX-License-Identifier: GPL-2.0-only
#include "tls/transport.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/limits.h"

namespace rowsocket::tls {

using net::Transfer;

void SessionDeleter::operator()(ssl_st* session) const { SSL_free(session); }

/// What OpenSSL says of a call holds only if no older error stands in the thread's queue. To clear the queue
/// costs a tenth of what TLS costs a request, and there is hardly ever one in it.
static void forget_errors() {
  if (ERR_peek_error() != 0) [[unlikely]] {
    ERR_clear_error();
  }
}

// ---- the socket, as OpenSSL sees it

/// OpenSSL's own socket BIO would raise SIGPIPE, and would ask the socket as often as OpenSSL likes.
struct SocketBio {
  static TlsTransport& transport_of(BIO* bio) { return *static_cast<TlsTransport*>(BIO_get_data(bio)); }

  /// Once per receive, unless the socket gave all that it was asked for: then there is probably more. But not
  /// for ever: records of no bytes, or of few, would never fill the room that there is.
  static int read(BIO* bio, char* place, int byte_count_max) {
    TlsTransport& transport = transport_of(bio);
    BIO_clear_retry_flags(bio);
    if (!transport.may_receive_ || (transport.is_open_ && !transport.may_ask_again())) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const ssize_t received = ::recv(transport.socket_.get(), place, static_cast<size_t>(byte_count_max), 0);
    if (received < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        BIO_set_retry_read(bio);
      }
      return -1;
    }
    transport.has_ended_ = received == 0;
    transport.taken_bytes_ += static_cast<size_t>(received);
    transport.may_receive_ = !transport.is_open_ || received == byte_count_max;
    return static_cast<int>(received);
  }

  static int write(BIO* bio, const char* bytes, int byte_count) {
    BIO_clear_retry_flags(bio);
    const ssize_t sent =
        ::send(transport_of(bio).socket_.get(), bytes, static_cast<size_t>(byte_count), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      BIO_set_retry_write(bio);
    }
    return static_cast<int>(sent);
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  struct MethodDeleter {
    void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
  };
  using Method = std::unique_ptr<BIO_METHOD, MethodDeleter>;

  static Method make_method() {
    Method method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "rowsocket"));
    if (method != nullptr &&
        (BIO_meth_set_read(method.get(), read) != 1 || BIO_meth_set_write(method.get(), write) != 1 ||
         BIO_meth_set_ctrl(method.get(), control) != 1)) {
      method = nullptr;
    }
    return method;
  }
  static BIO* make(TlsTransport& transport) {
    static const Method method = make_method();
    BIO* const bio = method == nullptr ? nullptr : BIO_new(method.get());
    if (bio != nullptr) {
      BIO_set_data(bio, &transport);
      BIO_set_init(bio, 1);
    }
    return bio;
  }
};

/// OpenSSL tells of each message of the handshake that comes behind it.
struct MessageWatch {
  static void see(int is_written, int, int content_type, const void*, size_t, SSL*, void* transport) {
    if (content_type == SSL3_RT_HANDSHAKE && is_written == 0) [[unlikely]] {
      static_cast<TlsTransport*>(transport)->count_message();
    }
  }
};

// ---- from beginning to end

std::unique_ptr<TlsTransport> TlsTransport::make(Session session, net::Descriptor socket,
                                                 std::atomic<uint64_t>& open_count) {
  std::unique_ptr<TlsTransport> transport(
      new (std::nothrow) TlsTransport(std::move(session), std::move(socket), open_count));
  if (transport != nullptr && !transport->connect()) {
    transport = nullptr;
  }
  return transport;
}

/// Certificates are checked in a full handshake alone: one that has expired since, or was revoked, would
/// still be good in a session that is resumed. So no session goes out, and none that came from elsewhere with
/// the host's context (its own port) is taken: it has another name than any connection of ours.
static bool never_resume(SSL* ssl) {
  static std::atomic<uint64_t> last_number{0};
  const uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed);
  std::array<unsigned char, 9 + sizeof number> name{'r', 'o', 'w', 's', 'o', 'c', 'k', 'e', 't'};
  std::memcpy(name.data() + 9, &number, sizeof number);
  SSL_set_options(ssl, SSL_OP_NO_TICKET);
  return SSL_set_num_tickets(ssl, 0) == 1 &&
         SSL_set_session_id_context(ssl, name.data(), static_cast<unsigned>(name.size())) == 1;
}

bool TlsTransport::connect() {
  SSL* const ssl = session_.get();
  BIO* const bio = SocketBio::make(*this);
  if (bio == nullptr) {
    return false;
  }
  SSL_set_bio(ssl, bio, bio);
  SSL_set_accept_state(ssl);
  SSL_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  if (!never_resume(ssl)) {
    return false;
  }
  SSL_set_mode(
      ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  return SSL_set_min_proto_version(ssl, TLS1_2_VERSION) == 1;
}

TlsTransport::~TlsTransport() {
  if (is_open_) {
    say_goodbye();
    open_count_.fetch_sub(1, std::memory_order_relaxed);
  }
}

/// A close_notify, if it can still be sent.
void TlsTransport::say_goodbye() {
  if (is_open_ && !has_failed_ && (SSL_get_shutdown(session_.get()) & SSL_SENT_SHUTDOWN) == 0) {
    ERR_clear_error();
    SSL_shutdown(session_.get());
    ERR_clear_error();
  }
}

void TlsTransport::shut_down_output() {
  say_goodbye();
  ::shutdown(socket_.get(), SHUT_WR);
}

/// The client has sent the last bytes of its handshake, and we may have nothing to say to them. Where it has
/// not set TCP_NODELAY, its first request waits for our system's acknowledgement, which takes 40 ms.
void TlsTransport::acknowledge_at_once() {
  const int yes = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);  // means nothing to a unix socket
}

TlsTransport::Step TlsTransport::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) {
    is_open_ = true;
    open_count_.fetch_add(1, std::memory_order_relaxed);
    // Only from here on: bytes behind the handshake are to stay in the socket, for the poll to tell.
    SSL_set_read_ahead(session_.get(), 1);
    SSL_set_msg_callback(session_.get(), MessageWatch::see);
    SSL_set_msg_callback_arg(session_.get(), this);
    acknowledge_at_once();
    return Step::done;
  }
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Step::wants_input;
    case SSL_ERROR_WANT_WRITE:
      return Step::wants_output;
    default:
      has_failed_ = true;
      error_ = ERR_get_error();
      ERR_clear_error();
      return Step::failed;
  }
}

std::string TlsTransport::failure() const {
  const char* const reason = error_ == 0 ? nullptr : ERR_reason_error_string(error_);
  std::string text = reason != nullptr ? reason : "the client went away";
  const long verified = SSL_get_verify_result(session_.get());
  if (verified != X509_V_OK) {
    text.append(": ").append(X509_verify_cert_error_string(verified));
  }
  return text;
}

// ---- bytes

/// What OpenSSL says of a call that moved nothing.
Transfer::Status TlsTransport::status_after(int result, bool is_sending) {
  if (is_misused_) {
    has_failed_ = true;
    ERR_clear_error();
    return is_sending ? Transfer::Status::failed : Transfer::Status::misused;
  }
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      if (!is_sending) {
        return Transfer::Status::blocked;
      }
      break;  // without renegotiation nothing has to be received before it is sent
    case SSL_ERROR_WANT_WRITE:
      (is_sending ? is_record_half_sent_ : receives_when_writable_) = true;
      return Transfer::Status::blocked;
    case SSL_ERROR_ZERO_RETURN:
      has_ended_ = true;
      return Transfer::Status::ended;
    default:
      break;
  }
  has_failed_ = true;
  ERR_clear_error();
  return has_ended_ ? Transfer::Status::ended : Transfer::Status::failed;
}

/// Within a call of OpenSSL, which goes on with the next record: unless the stream has ended for it.
void TlsTransport::count_message() {
  if (++message_count_ > limits::tls_messages_max) {
    is_misused_ = true;
    SSL_set_shutdown(session_.get(), SSL_get_shutdown(session_.get()) | SSL_RECEIVED_SHUTDOWN);
  }
}

void TlsTransport::count_bytes(size_t byte_count) {
  byte_count_ += byte_count;
  if (byte_count_ >= limits::tls_messages_per_bytes) {
    byte_count_ = message_count_ = 0;
  }
}

/// Within one receive.
bool TlsTransport::may_ask_again() const {
  return taken_bytes_ <= limits::tls_useful_share * received_bytes_;
}

/// Of a session that is of no further use for receiving.
Transfer::Status TlsTransport::last_status() const {
  if (is_misused_) {
    return Transfer::Status::misused;
  }
  return has_ended_ ? Transfer::Status::ended : Transfer::Status::failed;
}

Transfer TlsTransport::receive(char* place, size_t byte_count_max) {
  if (has_ended_ || has_failed_) {
    return {last_status(), 0};
  }
  forget_errors();
  may_receive_ = !holds_input_;
  holds_input_ = receives_when_writable_ = false;
  taken_bytes_ = received_bytes_ = 0;
  size_t& moved = received_bytes_;
  while (moved < byte_count_max) {
    size_t count = 0;
    const int result = SSL_read_ex(session_.get(), place + moved, byte_count_max - moved, &count);
    if (result == 1) {
      moved += count;
      count_bytes(count);
      if (!may_receive_ && SSL_has_pending(session_.get()) == 0) {
        break;  // the next call would only say so, and have a buffer made and given back for it
      }
      continue;
    }
    const Transfer::Status status = status_after(result, false);
    if (status != Transfer::Status::blocked) {
      ::shutdown(socket_.get(), SHUT_RD);  // so that each poll tells of it: what came before is served first
    }
    return {moved > 0 ? Transfer::Status::moved : status, moved};
  }
  holds_input_ = SSL_has_pending(session_.get()) == 1;
  return {Transfer::Status::moved, moved};
}

Transfer TlsTransport::send(const char* bytes, size_t byte_count) {
  if (has_failed_) {
    return {Transfer::Status::failed, 0};
  }
  forget_errors();
  size_t moved = 0;
  while (moved < std::min(byte_count, limits::tls_send_bytes)) {
    size_t count = 0;
    is_record_half_sent_ = false;
    const int result = SSL_write_ex(session_.get(), bytes + moved, byte_count - moved, &count);
    if (result != 1) {
      const Transfer::Status status = status_after(result, true);
      return {moved > 0 ? Transfer::Status::moved : status, moved};
    }
    moved += count;
    count_bytes(count);
  }
  return {Transfer::Status::moved, moved};
}

// ---- for others

size_t TlsTransport::held_bytes() const {
  const size_t halves = (SSL_has_pending(session_.get()) == 1 ? 1 : 0) + (is_record_half_sent_ ? 1 : 0);
  return limits::tls_session_bytes + halves * limits::tls_record_bytes;
}

net::Encryption TlsTransport::encryption() const {
  return {SSL_get_version(session_.get()), SSL_get_cipher_name(session_.get())};
}

/// A session of its own, which shows the peer's certificate and what was agreed on: so no two threads have
/// the same one.
std::shared_ptr<ssl_st> TlsTransport::portrait() const {
  const std::shared_ptr<ssl_st> portrait(SSL_new(SSL_get_SSL_CTX(session_.get())), SessionDeleter());
  if (portrait == nullptr || SSL_set_session(portrait.get(), SSL_get_session(session_.get())) != 1) {
    throw std::bad_alloc();
  }
  return portrait;
}

}  // namespace rowsocket::tls
