// SPDX-License-Identifier: GPL-2.0-only
#include "tls/transport.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>

#include <algorithm>

#include "base/limits.h"
#include "net/connection.h"
#include "tls/test_peer.h"

namespace rowsocket::tls {

using Status = net::Transfer::Status;
using Step = TlsTransport::Step;

bool TlsTest::poll_tells_of_input() const {
  pollfd asked{transport_->fd(), POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1;
}

namespace {

/// Text in which no piece stands twice soon.
std::string varied_text(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>('a' + (i * i + i / 251) % 26);
  }
  return text;
}

/// A client and a server's end in one thread, until both are done.
void connect_ends(TestPeer& client, SSL* server) {
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  BIO_set_mem_eof_return(in, -1);
  SSL_set_bio(server, in, out);
  SSL_set_accept_state(server);
  bool are_done = false;
  for (int round = 0; round < 10 && !are_done; ++round) {
    const bool is_client_done = client.shake_hands();
    const std::string sent = client.take_output();
    BIO_write(in, sent.data(), static_cast<int>(sent.size()));
    are_done = SSL_do_handshake(server) == 1 && is_client_done;
    char* data = nullptr;
    const long size = BIO_get_mem_data(out, &data);
    client.give_input({data, static_cast<size_t>(size)});
    static_cast<void>(BIO_reset(out));
  }
  EXPECT_TRUE(are_done);
  EXPECT_EQ(client.read(), "");  // takes tickets
}

/// A client comes, first to us or to the host's own port, and then to us with the session that it has.
/// Whether that is resumed.
bool is_resumed(TestSessions& sessions, int version, bool is_ours) {
  std::atomic<uint64_t> open_count{0};
  const auto make_client = [&] {
    TestPeer client(sessions.make_client());
    SSL_set_max_proto_version(client.ssl(), version);
    return client;
  };
  const auto come_to_us = [&](TestPeer& client) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    const net::Descriptor other_end(ends[1]);
    const auto transport = TlsTransport::make(sessions.make(), net::Descriptor(ends[0]), open_count);
    Step step = Step::wants_input;
    for (int round = 0; round < 10 && step != Step::done; ++round) {
      static_cast<void>(client.shake_hands());
      const std::string sent = client.take_output();
      EXPECT_EQ(::send(other_end.get(), sent.data(), sent.size(), 0), static_cast<ssize_t>(sent.size()));
      step = transport->shake_hands();
      char piece[65536];
      const ssize_t count = ::recv(other_end.get(), piece, sizeof piece, 0);
      client.give_input({piece, static_cast<size_t>(std::max<ssize_t>(count, 0))});
    }
    EXPECT_EQ(step, Step::done) << transport->failure();
    EXPECT_TRUE(client.shake_hands());
    EXPECT_EQ(client.read(), "");
  };
  TestPeer first = make_client();
  if (is_ours) {
    come_to_us(first);
  } else {
    const Session host = sessions.make();
    connect_ends(first, host.get());
    SSL_set_shutdown(host.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);  // or its session would be bad
  }
  SSL_SESSION* const session = SSL_get_session(first.ssl());
  SSL_set_shutdown(first.ssl(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  const bool is_none = is_ours && version == TLS1_3_VERSION;  // then a ticket would have to be sent for it
  EXPECT_EQ(SSL_SESSION_is_resumable(session), is_none ? 0 : 1);
  TestPeer second = make_client();
  SSL_set_session(second.ssl(), session);
  come_to_us(second);
  return SSL_session_reused(second.ssl()) == 1;
}

// ---- the handshake

TEST_F(TlsTest, a_handshake_comes_in_any_pieces) {
  Step step = Step::wants_input;
  while (!client_.shake_hands() || step != Step::done) {
    for (const char byte : client_.take_output()) {
      ASSERT_EQ(step, Step::wants_input);
      send_raw({&byte, 1});
      step = transport_->shake_hands();
    }
    feed_client();
  }
  EXPECT_EQ(open_count_, 1U);
}

TEST_F(TlsTest, garbage_is_no_handshake) {
  send_raw("\x16garbage that is longer than a header of a record");
  EXPECT_EQ(transport_->shake_hands(), Step::failed);
  EXPECT_THAT(transport_->failure(), testing::HasSubstr("version"));
  EXPECT_EQ(open_count_, 0U);
  EXPECT_EQ(transport_->send("reply", 5).status, Status::failed);
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::failed);
}

TEST_F(TlsTest, a_client_that_goes_away_has_failed) {
  EXPECT_FALSE(client_.shake_hands());
  const std::string hello = client_.take_output();
  send_raw(hello.substr(0, hello.size() / 2));
  EXPECT_EQ(transport_->shake_hands(), Step::wants_input);
  other_end_.close();
  EXPECT_EQ(transport_->shake_hands(), Step::failed);
  EXPECT_FALSE(transport_->failure().empty());
}

TEST_F(TlsTest, versions_below_1_2_are_refused) {
  SSL_set_min_proto_version(client_.ssl(), TLS1_1_VERSION);
  SSL_set_max_proto_version(client_.ssl(), TLS1_1_VERSION);
  SSL_set_security_level(client_.ssl(), 0);
  EXPECT_FALSE(client_.shake_hands());
  flush_client();
  EXPECT_EQ(transport_->shake_hands(), Step::failed);
  EXPECT_EQ(transport_->failure(), "unsupported protocol");
}

TEST_F(TlsTest, requests_that_come_with_the_end_of_the_handshake_stay_for_the_poll) {
  while (!client_.shake_hands()) {
    flush_client();
    ASSERT_EQ(transport_->shake_hands(), Step::wants_input);
    feed_client();
  }
  client_.write("request");
  flush_client();
  EXPECT_EQ(transport_->shake_hands(), Step::done);
  EXPECT_TRUE(poll_tells_of_input());
  EXPECT_EQ(receive(), "request");
}

/// A session that the host's own port has made, or one of ours, is no way past the check of a certificate.
TEST_F(TlsTest, no_session_is_resumed) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool is_ours : {true, false}) {
      EXPECT_FALSE(is_resumed(sessions_, version, is_ours)) << version;
    }
  }
}

/// Or the first request of a client without TCP_NODELAY would wait for 40 ms.
TEST_F(TlsTest, the_end_of_a_handshake_is_acknowledged_at_once) {
  const net::Descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  other_end_ = net::Descriptor(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(other_end_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  transport_ = TlsTransport::make(sessions_.make(),
                                  net::Descriptor(::accept(listener.get(), nullptr, nullptr)), open_count_);
  EXPECT_FALSE(client_.shake_hands());
  Step step = Step::wants_input;
  while (step != Step::done) {
    flush_client();
    ::fcntl(transport_->fd(), F_SETFL, O_NONBLOCK);
    pollfd waiting{transport_->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 20'000), 1);
    step = transport_->shake_hands();
    ASSERT_NE(step, Step::failed);
    if (step != Step::done) {
      char piece[65536];
      const ssize_t count = ::recv(other_end_.get(), piece, sizeof piece, 0);
      ASSERT_GT(count, 0);
      client_.give_input({piece, static_cast<size_t>(count)});
      static_cast<void>(client_.shake_hands());
    }
  }
  int is_quick = 0;
  socklen_t int_size = sizeof is_quick;
  ASSERT_EQ(::getsockopt(transport_->fd(), IPPROTO_TCP, TCP_QUICKACK, &is_quick, &int_size), 0);
  EXPECT_EQ(is_quick, 1);
}

// ---- bytes that come

TEST_F(TlsTest, bytes_come_as_they_were_sent) {
  shake_hands();
  const std::string text = varied_text(100'000);
  client_.write(text);
  const std::string records = client_.take_output();
  std::string received;
  for (size_t begin = 0; begin < records.size(); begin += 777) {
    send_raw(std::string_view(records).substr(begin, 777));
    received += receive();
  }
  EXPECT_EQ(received, text);
}

TEST_F(TlsTest, half_a_record_is_waited_for) {
  shake_hands();
  client_.write("request");
  const std::string record = client_.take_output();
  send_raw(record.substr(0, record.size() - 1));
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::blocked);
  EXPECT_FALSE(poll_tells_of_input());
  EXPECT_GT(transport_->held_bytes(), limits::tls_session_bytes);
  send_raw(record.substr(record.size() - 1));
  EXPECT_EQ(receive(), "request");
  EXPECT_EQ(transport_->held_bytes(), limits::tls_session_bytes);
}

TEST_F(TlsTest, a_byte_in_front_of_half_a_record_is_not_kept_back) {
  shake_hands();
  client_.write("a");
  std::string records = client_.take_output();
  client_.write("request");
  records += client_.take_output();
  send_raw(records.substr(0, records.size() - 1));
  EXPECT_EQ(receive(), "a");
  EXPECT_EQ(last_status_, Status::moved);
}

TEST_F(TlsTest, what_no_poll_tells_of_is_held_until_it_is_received) {
  shake_hands();
  client_.write("first ");
  client_.write("second");
  flush_client();
  EXPECT_EQ(receive(3), "fir");
  EXPECT_TRUE(transport_->holds_input());
  EXPECT_EQ(receive(5), "st se");
  EXPECT_TRUE(transport_->holds_input());
  EXPECT_EQ(receive(100), "cond");
  EXPECT_FALSE(transport_->holds_input());
}

TEST_F(TlsTest, a_connection_receives_all_that_no_poll_tells_of) {
  shake_hands();
  const std::string text = varied_text(16'384);
  client_.write(text);
  const std::string record = client_.take_output();
  net::BufferPool pool;
  net::Connection connection(std::move(transport_), "peer");
  send_raw(record.substr(0, 16'000));
  EXPECT_EQ(connection.receive(pool).status, Status::blocked);
  send_raw(record.substr(16'000));
  EXPECT_EQ(connection.receive(pool).byte_count, text.size());
  EXPECT_EQ(connection.input().view(), text);
}

TEST_F(TlsTest, the_end_comes_behind_what_came_before_it) {
  shake_hands();
  client_.write("last request");
  client_.say_goodbye();
  flush_client();
  EXPECT_EQ(receive(), "last request");
  EXPECT_TRUE(poll_tells_of_input());
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::ended);
  EXPECT_EQ(transport_->send("reply", 5).byte_count, 5U);
  feed_client();
  EXPECT_EQ(client_.read(), "reply");
}

TEST_F(TlsTest, a_stream_that_is_cut_has_ended) {
  shake_hands();
  other_end_.close();
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::ended);
}

TEST_F(TlsTest, a_record_that_was_changed_breaks_the_connection) {
  shake_hands();
  client_.write("before");
  flush_client();
  client_.write("request");
  std::string record = client_.take_output();
  record[record.size() / 2] ^= 1;
  send_raw(record);
  EXPECT_EQ(receive(), "before");
  EXPECT_TRUE(poll_tells_of_input());
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::failed);
  EXPECT_EQ(transport_->send("reply", 5).status, Status::failed);
}

TEST_F(TlsTest, a_key_update_is_answered) {
  shake_hands();
  SSL_key_update(client_.ssl(), SSL_KEY_UPDATE_REQUESTED);
  client_.write("request");
  flush_client();
  EXPECT_EQ(receive(), "request");
  EXPECT_EQ(transport_->send("reply", 5).byte_count, 5U);
  feed_client();
  EXPECT_EQ(client_.read(), "reply");
}

TEST_F(TlsTest, few_bytes_in_many_records_take_many_receives) {
  shake_hands();
  const size_t count = 4000;
  for (size_t i = 0; i < count; ++i) {
    client_.write("x");
  }
  flush_client();
  size_t received = receive().size();
  EXPECT_LT(received, count / 2);
  EXPECT_FALSE(transport_->holds_input());
  while (poll_tells_of_input()) {
    received += receive().size();
  }
  EXPECT_EQ(received, count);
}

TEST_F(TlsTest, many_bytes_in_large_records_come_in_one_receive) {
  shake_hands();
  const std::string text = varied_text(limits::receive_bytes);
  client_.write(text);
  flush_client();
  EXPECT_EQ(receive(limits::receive_bytes), text);
}

TEST_F(TlsTest, messages_that_carry_nothing_are_bounded) {
  shake_hands();
  const auto update_keys = [this](uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      SSL_key_update(client_.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED);
      static_cast<void>(client_.shake_hands());
    }
  };
  const std::string text = varied_text(limits::tls_messages_per_bytes);
  for (int round = 0; round < 3; ++round) {
    update_keys(limits::tls_messages_max);
    client_.write(text);
    flush_client();
    std::string received;
    while (poll_tells_of_input()) {
      received += receive();
    }
    EXPECT_EQ(received, text);
  }
  update_keys(limits::tls_messages_max + 1);
  client_.write("request");
  flush_client();
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::misused);
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::misused);
  EXPECT_EQ(transport_->send("reply", 5).status, Status::failed);
}

TEST_F(TlsTest, a_byte_now_and_then_allows_no_more_messages) {
  shake_hands();
  for (uint32_t i = 0; i <= limits::tls_messages_max; ++i) {
    SSL_key_update(client_.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED);
    static_cast<void>(client_.shake_hands());
    client_.write("x");
    flush_client();
    receive();
  }
  EXPECT_EQ(last_status_, Status::misused);
}

TEST_F(TlsTest, a_client_that_asks_for_renegotiation_again_and_again_is_cut_off) {
  SSL_set_max_proto_version(client_.ssl(), TLS1_2_VERSION);
  shake_hands();
  uint32_t asked = 0;
  while (last_status_ == Status::blocked && asked < 2 * limits::tls_messages_max) {
    SSL_renegotiate(client_.ssl());
    static_cast<void>(client_.shake_hands());
    flush_client();
    receive();
    feed_client();
    ++asked;
  }
  EXPECT_NE(last_status_, Status::blocked);
}

// ---- bytes that go

TEST_F(TlsTest, what_a_full_socket_did_not_take_goes_on_from_another_place) {
  const int small = 4096;
  ::setsockopt(transport_->fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  shake_hands();
  std::string left = varied_text(300'000);
  const std::string text = left;
  std::string received;
  size_t blocked_count = 0;
  while (!left.empty()) {
    std::string moved_elsewhere = left;
    const net::Transfer sent = transport_->send(moved_elsewhere.data(), moved_elsewhere.size());
    ASSERT_NE(sent.status, Status::failed);
    left.erase(0, sent.byte_count);
    blocked_count += sent.status == Status::blocked ? 1 : 0;
    feed_client();
    received += client_.read();
  }
  feed_client();
  EXPECT_EQ(received + client_.read(), text);
  EXPECT_GT(blocked_count, 0U);
}

TEST_F(TlsTest, a_record_that_is_half_sent_counts_as_held) {
  shake_hands();
  const std::string text = varied_text(300'000);
  while (transport_->send(text.data(), text.size()).status != Status::blocked) {
  }
  EXPECT_EQ(transport_->held_bytes(), limits::tls_session_bytes + limits::tls_record_bytes);
}

TEST_F(TlsTest, one_send_takes_a_share_of_much) {
  shake_hands();
  const int large = 8 * 1024 * 1024;
  ::setsockopt(transport_->fd(), SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
  const std::string text = varied_text(4 * limits::tls_send_bytes);
  EXPECT_LT(transport_->send(text.data(), text.size()).byte_count, 2 * limits::tls_send_bytes);
}

/// Code of the host leaves one there now and then.
TEST_F(TlsTest, an_older_error_of_the_thread_fails_nothing) {
  shake_hands();
  ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR);
  EXPECT_EQ(receive(), "");
  EXPECT_EQ(last_status_, Status::blocked);
  const std::string text = varied_text(300'000);
  while (transport_->send(text.data(), text.size()).status != Status::blocked) {
  }
  ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR);
  EXPECT_EQ(transport_->send(text.data(), text.size()).status, Status::blocked);
}

TEST_F(TlsTest, a_peer_that_is_gone_fails_a_send) {
  shake_hands();
  other_end_.close();
  EXPECT_EQ(transport_->send("reply", 5).status, Status::failed);
}

// ---- the end

TEST_F(TlsTest, it_says_goodbye_when_its_output_is_shut_down) {
  shake_hands();
  EXPECT_EQ(transport_->send("reply", 5).byte_count, 5U);
  transport_->shut_down_output();
  feed_client();
  EXPECT_EQ(client_.read(), "reply");
  EXPECT_TRUE(client_.saw_goodbye());
  char byte = 0;
  EXPECT_EQ(::recv(other_end_.get(), &byte, 1, 0), 0) << "the stream has ended, too";
  client_.write("dropped");
  flush_client();
  EXPECT_EQ(receive(), "dropped");
}

TEST_F(TlsTest, it_says_goodbye_when_it_goes) {
  shake_hands();
  transport_ = nullptr;
  feed_client();
  EXPECT_EQ(client_.read(), "");
  EXPECT_TRUE(client_.saw_goodbye());
  EXPECT_EQ(open_count_, 0U);
}

// ---- for logins

TEST_F(TlsTest, its_portrait_shows_the_certificate_of_the_client) {
  shake_hands();
  const std::shared_ptr<ssl_st> portrait = transport_->portrait();
  transport_ = nullptr;
  EXPECT_EQ(SSL_get_verify_result(portrait.get()), X509_V_OK);
  EXPECT_STREQ(SSL_get_cipher(portrait.get()), SSL_get_cipher(client_.ssl()));
  const Owned<X509> shown(SSL_get1_peer_certificate(portrait.get()));
  ASSERT_NE(shown, nullptr);
  char name[64];
  X509_NAME_oneline(X509_get_subject_name(shown.get()), name, sizeof name);
  EXPECT_STREQ(name, "/CN=client");
}

// ---- who begins with TLS

TEST(PlainTransport, leaves_who_begins_with_tls_to_others) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  net::PlainTransport transport{net::Descriptor(ends[0])};
  const net::Descriptor other_end(ends[1]);
  char place[16];
  EXPECT_EQ(transport.receive(place, sizeof place).status, Status::blocked);
  ASSERT_EQ(::send(other_end.get(), "\x16\x03", 2, 0), 2);
  EXPECT_EQ(transport.receive(place, sizeof place).status, Status::begins_tls);
  const net::Descriptor socket = transport.take_socket();
  EXPECT_EQ(::recv(socket.get(), place, sizeof place, 0), 2);
}

TEST(PlainTransport, only_the_first_byte_tells) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  net::PlainTransport transport{net::Descriptor(ends[0])};
  const net::Descriptor other_end(ends[1]);
  char place[16];
  ASSERT_EQ(::send(other_end.get(), "P", 1, 0), 1);
  EXPECT_EQ(transport.receive(place, sizeof place).byte_count, 1U);
  ASSERT_EQ(::send(other_end.get(), "\x16", 1, 0), 1);
  EXPECT_EQ(transport.receive(place, sizeof place).byte_count, 1U);
}

}  // namespace
}  // namespace rowsocket::tls
