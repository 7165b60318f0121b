// SPDX-License-Identifier: GPL-2.0-only
#include "bench/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <future>
#include <stdexcept>

#include "bench/connection.h"

namespace rowsocket::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A server's end whose records the test sends piece by piece.
class Server {
 public:
  explicit Server(int descriptor)
      : descriptor_(descriptor),
        key_(EVP_EC_gen("P-256")),
        certificate_(X509_new()),
        context_(SSL_CTX_new(TLS_server_method())) {
    X509_set_version(certificate_, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 24 * 3600);
    X509_set_pubkey(certificate_, key_);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate_), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("server"), -1, -1, 0);
    X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_));
    EXPECT_GT(X509_sign(certificate_, key_, EVP_sha256()), 0);
    EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), certificate_), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), key_), 1);
    SSL_CTX_set_num_tickets(context_.get(), 0);
    session_.reset(SSL_new(context_.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(session_.get(), in_, out_);
    SSL_set_accept_state(session_.get());
  }
  ~Server() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void write_certificate(const std::filesystem::path& file) const {
    BIO* const out = BIO_new_file(file.c_str(), "w");
    EXPECT_EQ(PEM_write_bio_X509(out, certificate_), 1);
    BIO_free(out);
  }
  /// Take part in the handshake, and answer the opening, if there is to be one. Waits for the client.
  void open(size_t opening_size, std::string_view reply) {
    for (int result = 0; (result = SSL_do_handshake(session_.get())) != 1;) {
      give(output());
      if (SSL_get_error(session_.get(), result) != SSL_ERROR_WANT_READ || !take()) {
        return;
      }
    }
    give(output());
    if (opening_size != 0) {
      opening_ = receive(opening_size);
      give(record(reply));
    }
  }
  [[nodiscard]] std::string opening() const { return opening_; }
  /// The bytes of a record with this in it.
  [[nodiscard]] std::string record(std::string_view contents) {
    size_t count = 0;
    EXPECT_EQ(SSL_write_ex(session_.get(), contents.data(), contents.size(), &count), 1);
    return output();
  }
  void give(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        return;  // the client has gone
      }
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  /// What is inside of what comes; waits for so many bytes of it.
  [[nodiscard]] std::string receive(size_t size) {
    std::string bytes;
    std::array<char, 4096> piece;
    size_t count = 0;
    while (bytes.size() < size) {
      if (SSL_read_ex(session_.get(), piece.data(), piece.size(), &count) == 1) {
        bytes.append(piece.data(), count);
      } else if (!take()) {
        break;
      }
    }
    return bytes;
  }

 private:
  [[nodiscard]] bool take() const {
    std::array<char, 4096> piece;
    const ssize_t received = ::recv(descriptor_, piece.data(), piece.size(), 0);
    return received > 0 && BIO_write(in_, piece.data(), static_cast<int>(received)) == received;
  }
  [[nodiscard]] std::string output() const {
    char* data = nullptr;
    const long size = BIO_get_mem_data(out_, &data);
    std::string bytes(data, static_cast<size_t>(size));
    EXPECT_EQ(BIO_reset(out_), 1);
    return bytes;
  }

  int descriptor_;
  EVP_PKEY* key_;
  X509* certificate_;
  std::unique_ptr<SSL_CTX, OpenSslDeleter> context_;
  std::unique_ptr<SSL, OpenSslDeleter> session_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  std::string opening_;
};

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    std::signal(SIGPIPE, SIG_IGN);  // as the player does
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors_.data()), 0);
    server_ = std::make_unique<Server>(descriptors_[1]);
    server_->write_certificate(authority_);
  }
  ~TlsTest() override {
    std::filesystem::remove(authority_);
    ::close(descriptors_[0]);
    ::close(descriptors_[1]);
  }

  [[nodiscard]] std::unique_ptr<TlsSession> opened(const std::string& version = "TLSv1.3",
                                                   std::string_view opening = "", std::string_view reply = "",
                                                   std::string_view right_reply = "") {
    auto done =
        std::async(std::launch::async, [this, opening, reply] { server_->open(opening.size(), reply); });
    const TlsContext context(authority_, version);
    auto session = std::make_unique<TlsSession>(context, descriptors_[0]);
    session->exchange(opening, right_reply);
    done.wait();
    return session;
  }
  [[nodiscard]] Connection connection() { return {descriptors_[0], 0, 1, opened()}; }

  std::array<int, 2> descriptors_{};
  const std::string authority_ =
      testing::TempDir() + "rowsocket_bench_" + std::to_string(::getpid()) + ".pem";
  std::unique_ptr<Server> server_;
  std::array<char, 1000> buffer_{};
};

TEST_F(TlsTest, TheOpeningIsAskedAndAnsweredBehindTheHandshake) {
  const auto session = opened("TLSv1.3", "open 1\n", "0\t1\n", "0\t1\n");
  EXPECT_EQ(server_->opening(), "open 1\n");
  EXPECT_THAT(session->encryption(), StartsWith("TLSv1.3 TLS_"));
}

TEST_F(TlsTest, TheVersionIsTheOneAskedFor) {
  EXPECT_THAT(opened("TLSv1.2")->encryption(), StartsWith("TLSv1.2 ECDHE-"));
}

TEST_F(TlsTest, AVersionThatNobodyKnowsIsTold) {
  EXPECT_THROW(TlsContext(authority_, "TLSv1.4"), std::runtime_error);
}

TEST_F(TlsTest, AnotherAnswerToTheOpeningIsTold) {
  try {
    static_cast<void>(opened("TLSv1.3", "open 1\n", "2\n", "0\n"));
    ADD_FAILURE();
  } catch (const std::runtime_error& failure) {
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("\"2\\n\""), HasSubstr("\"0\\n\"")));
  }
}

TEST_F(TlsTest, AServerThatTheAuthorityDoesNotVouchForIsTold) {
  Server(-1).write_certificate(authority_);
  auto done = std::async(std::launch::async, [this] { server_->open(0, ""); });
  const TlsContext context(authority_, "TLSv1.3");
  EXPECT_THROW(TlsSession(context, descriptors_[0]), std::runtime_error);
  done.wait();
}

TEST_F(TlsTest, WhatTheLastReceiveLeftBehindIsTold) {
  Connection connection = this->connection();
  const std::string first = server_->record("first");
  server_->give(first + server_->record("second"));
  EXPECT_EQ(connection.receive(buffer_), "first");
  EXPECT_TRUE(connection.holds_input());
  EXPECT_EQ(connection.receive(buffer_), "second");
  EXPECT_FALSE(connection.holds_input());
  EXPECT_EQ(connection.receive(buffer_), "");
  EXPECT_EQ(connection.bytes_received(), 11u);
}

TEST_F(TlsTest, HalfARecordIsNothingYet) {
  Connection connection = this->connection();
  const std::string record = server_->record("a reply");
  server_->give(record.substr(0, 10));
  EXPECT_EQ(connection.receive(buffer_), "");
  EXPECT_FALSE(connection.holds_input());
  server_->give(record.substr(10));
  EXPECT_EQ(connection.receive(buffer_), "a reply");
}

TEST_F(TlsTest, WhatTheSocketDoesNotTakeIsSentLater) {
  Connection connection = this->connection();
  std::string all;
  while (connection.send()) {
    const std::string piece(10'000, static_cast<char>('a' + all.size() / 10'000 % 26));
    connection.outgoing() += piece;
    all += piece;
  }
  connection.outgoing() += "more";
  all += "more";
  auto received = std::async(std::launch::async, [this, &all] { return server_->receive(all.size()); });
  while (!connection.send()) {
  }
  EXPECT_EQ(received.get(), all);
  EXPECT_EQ(connection.bytes_sent(), all.size());
}

TEST_F(TlsTest, AServerThatHasGoneIsTold) {
  Connection connection = this->connection();
  ::shutdown(descriptors_[1], SHUT_RDWR);
  EXPECT_THROW(static_cast<void>(connection.receive(buffer_)), std::runtime_error);
}

}  // namespace
}  // namespace rowsocket::bench
