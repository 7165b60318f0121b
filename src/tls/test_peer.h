// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: certificates that last a day, sessions of a server that has one, and the client's end of a
// connection, all in one thread.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/descriptor.h"
#include "tls/sessions.h"
#include "tls/transport.h"

namespace rowsocket::tls {

struct OpenSslDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
template <typename Thing>
using Owned = std::unique_ptr<Thing, OpenSslDeleter>;

/// A key, and a certificate that it has signed itself.
struct Certificate {
  explicit Certificate(std::string_view name) : key(EVP_EC_gen("P-256")), x509(X509_new()) {
    X509_set_version(x509.get(), 2);
    X509_gmtime_adj(X509_getm_notBefore(x509.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509.get()), 24 * 3600);
    X509_set_pubkey(x509.get(), key.get());
    X509_NAME* const names = X509_get_subject_name(x509.get());
    X509_NAME_add_entry_by_txt(names, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.data()),
                               static_cast<int>(name.size()), -1, 0);
    X509_set_issuer_name(x509.get(), names);
    EXPECT_GT(X509_sign(x509.get(), key.get(), EVP_sha256()), 0);
  }

  Owned<EVP_PKEY> key;
  Owned<X509> x509;
};

/// A context with this certificate, which trusts the other side's.
inline Owned<SSL_CTX> context_of(const SSL_METHOD* method, const Certificate& own,
                                 const Certificate& trusted) {
  Owned<SSL_CTX> context(SSL_CTX_new(method));
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), own.x509.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), own.key.get()), 1);
  EXPECT_EQ(X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), trusted.x509.get()), 1);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  constexpr unsigned char name[] = "test";
  SSL_CTX_set_session_id_context(context.get(), name, sizeof name);
  return context;
}

/// What a host has.
class TestSessions final : public Sessions {
 public:
  [[nodiscard]] Session make() override { return Session(SSL_new(server_.get())); }
  [[nodiscard]] Session make_client() const { return Session(SSL_new(client_.get())); }

 private:
  Certificate server_certificate_{"server"};
  Certificate client_certificate_{"client"};
  Owned<SSL_CTX> server_ = context_of(TLS_server_method(), server_certificate_, client_certificate_);
  Owned<SSL_CTX> client_ = context_of(TLS_client_method(), client_certificate_, server_certificate_);
};

/// The client's end. Its bytes can be taken as they are, and sent piece by piece.
class TestPeer {
 public:
  explicit TestPeer(Session session) : session_(std::move(session)) {
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in_, -1);
    SSL_set_bio(session_.get(), in_, out_);
    SSL_set_connect_state(session_.get());
  }

  [[nodiscard]] SSL* ssl() const { return session_.get(); }
  [[nodiscard]] bool shake_hands() { return SSL_do_handshake(session_.get()) == 1; }
  void write(std::string_view bytes) {
    size_t count = 0;
    EXPECT_EQ(SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count), 1);
    EXPECT_EQ(count, bytes.size());
  }
  void say_goodbye() { SSL_shutdown(session_.get()); }
  /// What it has to send, as bytes of TLS.
  [[nodiscard]] std::string take_output() {
    char* data = nullptr;
    const long size = BIO_get_mem_data(out_, &data);
    std::string bytes(data, static_cast<size_t>(size));
    static_cast<void>(BIO_reset(out_));
    return bytes;
  }
  /// Bytes of TLS have come.
  void give_input(std::string_view bytes) { BIO_write(in_, bytes.data(), static_cast<int>(bytes.size())); }
  /// What is inside of those that came.
  [[nodiscard]] std::string read() {
    std::string bytes;
    char piece[4096];
    size_t count = 0;
    while (SSL_read_ex(session_.get(), piece, sizeof piece, &count) == 1) {
      bytes.append(piece, count);
    }
    return bytes;
  }
  [[nodiscard]] bool saw_goodbye() const {
    return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

 private:
  Session session_;
  BIO* in_;  ///< the session's
  BIO* out_;
};

/// A transport, and its client at the other end of the socket.
class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    other_end_ = net::Descriptor(ends[1]);
    transport_ = TlsTransport::make(sessions_.make(), net::Descriptor(ends[0]), open_count_);
  }

  /// Send bytes as they are; all of them have room.
  void send_raw(std::string_view bytes) const {
    EXPECT_EQ(::send(other_end_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void flush_client() { send_raw(client_.take_output()); }
  /// What the transport has sent goes to the client; false if that was nothing.
  bool feed_client() {
    char piece[65536];
    bool came = false;
    ssize_t count = 0;
    while ((count = ::recv(other_end_.get(), piece, sizeof piece, 0)) > 0) {
      client_.give_input({piece, static_cast<size_t>(count)});
      came = true;
    }
    return came;
  }
  void shake_hands() {
    for (int round = 0; round < 10; ++round) {
      const bool is_client_done = client_.shake_hands();
      flush_client();
      const TlsTransport::Step step = transport_->shake_hands();
      ASSERT_NE(step, TlsTransport::Step::failed) << transport_->failure();
      feed_client();
      if (is_client_done && step == TlsTransport::Step::done) {
        return;
      }
    }
    FAIL() << "the handshake does not end";
  }
  [[nodiscard]] bool poll_tells_of_input() const;
  std::string receive(size_t room = 65536) {
    std::string bytes(room, '\0');
    const net::Transfer transfer = transport_->receive(bytes.data(), bytes.size());
    last_status_ = transfer.status;
    bytes.resize(transfer.byte_count);
    return bytes;
  }

  std::atomic<uint64_t> open_count_{0};
  TestSessions sessions_;
  TestPeer client_{sessions_.make_client()};
  net::Descriptor other_end_;
  std::unique_ptr<TlsTransport> transport_;
  net::Transfer::Status last_status_ = net::Transfer::Status::blocked;
};

}  // namespace rowsocket::tls
