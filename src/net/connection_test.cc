// SPDX-License-Identifier: GPL-2.0-only
//
// Connections, their borrowed buffers, and the poller, over a socket pair.
#include "net/connection.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "base/limits.h"
#include "net/failing_call.h"
#include "net/poller.h"
#include "net/wakeup.h"

namespace rowsocket::net {
namespace {

using Status = Transfer::Status;

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() : connection_(std::make_unique<PlainTransport>(make_pair()), "peer") {}

  Descriptor make_pair() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    peer_ = Descriptor(fds[1]);
    return Descriptor(fds[0]);
  }
  void peer_sends(std::string_view bytes) const {
    EXPECT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  std::string peer_receives() const {
    std::string received(limits::mebibyte, '\0');
    const ssize_t count = ::recv(peer_.get(), received.data(), received.size(), 0);
    received.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return received;
  }

  Descriptor peer_;
  BufferPool pool_;
  Connection connection_;
};

/// Turns each bit of what travels over another transport.
class TurnedBits final : public Transport {
 public:
  explicit TurnedBits(Descriptor socket) : plain_(std::move(socket)) {}

  [[nodiscard]] int fd() const override { return plain_.fd(); }
  [[nodiscard]] Transfer receive(char* place, size_t byte_count_max) override {
    const Transfer transfer = plain_.receive(place, byte_count_max);
    std::transform(place, place + transfer.byte_count, place, turned);
    return transfer;
  }
  [[nodiscard]] Transfer send(const char* bytes, size_t byte_count) override {
    std::string sent(bytes, byte_count);
    std::transform(sent.begin(), sent.end(), sent.begin(), turned);
    return plain_.send(sent.data(), sent.size());
  }
  void shut_down_output() override { plain_.shut_down_output(); }
  [[nodiscard]] bool is_gone() const override { return plain_.is_gone(); }
  [[nodiscard]] bool is_broken() const override { return plain_.is_broken(); }

  static char turned(char byte) { return static_cast<char>(~byte); }

 private:
  PlainTransport plain_;
};

TEST_F(ConnectionTest, how_bytes_travel_is_its_transports_business) {
  const std::string turned_a(1, TurnedBits::turned('a'));
  Connection connection(std::make_unique<TurnedBits>(make_pair()), "peer");
  peer_sends(turned_a);
  EXPECT_EQ(connection.receive(pool_).status, Status::moved);
  EXPECT_EQ(connection.input().view(), "a");
  connection.output().append("a");
  EXPECT_EQ(connection.send().status, Status::moved);
  EXPECT_EQ(peer_receives(), turned_a);
}

TEST_F(ConnectionTest, a_peer_is_gone_once_it_has_closed_its_side) {
  peer_sends("a");
  EXPECT_FALSE(connection_.is_gone());
  ::shutdown(peer_.get(), SHUT_WR);
  EXPECT_TRUE(connection_.is_gone()) << "though there are bytes to receive";
  EXPECT_FALSE(connection_.is_broken()) << "the peer may still read";
}

TEST_F(ConnectionTest, a_connection_is_broken_once_the_peer_has_closed_it_without_reading) {
  connection_.output().append("reply");
  EXPECT_EQ(connection_.send().status, Status::moved);
  EXPECT_FALSE(connection_.is_broken());
  peer_.close();
  EXPECT_TRUE(connection_.is_broken());
}

TEST_F(ConnectionTest, a_peer_that_has_closed_the_connection_and_left_nothing_is_gone_in_order) {
  peer_sends("a");
  peer_.close();
  EXPECT_TRUE(connection_.is_gone());
  EXPECT_FALSE(connection_.is_broken()) << "it may have asked for something to which it wants no reply";
}

TEST_F(ConnectionTest, bytes_come_and_go) {
  peer_sends("hello");
  const Transfer received = connection_.receive(pool_);
  EXPECT_EQ(received.status, Status::moved);
  EXPECT_EQ(received.byte_count, 5u);
  EXPECT_EQ(connection_.input().view(), "hello");

  connection_.output().append("world");
  EXPECT_EQ(connection_.send().status, Status::moved);
  EXPECT_FALSE(connection_.has_output());
  EXPECT_EQ(peer_receives(), "world");
}

TEST_F(ConnectionTest, says_why_nothing_came) {
  EXPECT_EQ(connection_.receive(pool_).status, Status::blocked);
  ::shutdown(peer_.get(), SHUT_WR);
  EXPECT_EQ(connection_.receive(pool_).status, Status::ended);
}

TEST_F(ConnectionTest, sending_to_nobody_fails_without_a_signal) {
  peer_.close();
  connection_.output().append("lost");
  EXPECT_EQ(connection_.send().status, Status::failed);
}

TEST_F(ConnectionTest, of_an_output_that_was_given_up_nothing_is_sent) {
  connection_.output().give_up();
  connection_.output().append("a reply to something else");
  EXPECT_EQ(connection_.send().status, Status::failed);
  peer_sends("hello");
  EXPECT_EQ(connection_.receive(pool_).byte_count, 5u);
}

TEST_F(ConnectionTest,
       a_call_that_a_signal_or_a_full_kernel_stopped_is_tried_again_and_any_other_failure_is_the_end) {
  peer_sends("hello");
  connection_.output().append("world");
  const std::pair<int, Status> outcomes[] = {{EINTR, Status::blocked},     {EAGAIN, Status::blocked},
                                             {ECONNRESET, Status::failed}, {ETIMEDOUT, Status::failed},
                                             {ENOMEM, Status::failed},     {EHOSTUNREACH, Status::failed}};
  for (const auto& [error, outcome] : outcomes) {
    Transfer received{};
    Transfer sent{};
    ASSERT_TRUE(while_call_fails(SYS_recvfrom, error, [&] { received = connection_.receive(pool_); }));
    ASSERT_TRUE(while_call_fails(SYS_sendto, error, [&] { sent = connection_.send(); }));
    EXPECT_EQ(received.status, outcome) << error;
    EXPECT_EQ(sent.status, outcome) << error;
  }
  EXPECT_EQ(connection_.receive(pool_).byte_count, 5u);
  EXPECT_EQ(connection_.send().byte_count, 5u);
}

TEST_F(ConnectionTest, sends_what_there_is_room_for_and_keeps_the_rest) {
  const std::string reply(8 * limits::mebibyte, 'r');
  connection_.output().append(reply);
  EXPECT_EQ(connection_.send().status, Status::moved);
  EXPECT_EQ(connection_.send().status, Status::blocked);
  size_t received = 0;
  while (connection_.has_output()) {
    received += peer_receives().size();
    ASSERT_NE(connection_.send().status, Status::failed);
  }
  received += peer_receives().size();
  EXPECT_EQ(received, reply.size());
}

TEST_F(ConnectionTest, holds_no_buffer_while_it_has_nothing) {
  EXPECT_EQ(connection_.held_bytes(), 0u);
  peer_sends("hello");
  ASSERT_EQ(connection_.receive(pool_).status, Status::moved);
  EXPECT_GT(connection_.held_bytes(), 0u);
  connection_.give_back_empty(pool_);
  EXPECT_GT(connection_.held_bytes(), 0u) << "not consumed yet";
  connection_.input().consume(5);
  connection_.give_back_empty(pool_);
  EXPECT_EQ(connection_.held_bytes(), 0u);
}

TEST_F(ConnectionTest, receives_more_at_once_from_one_that_sends_much) {
  peer_sends(std::string(100'000, 'x'));
  size_t calls = 0;
  while (connection_.input().size() < 100'000) {
    ASSERT_EQ(connection_.receive(pool_).status, Status::moved);
    ++calls;
  }
  EXPECT_LE(calls, 4u);
}

TEST(BufferPoolTest, hands_out_the_memory_it_was_given) {
  BufferPool pool;
  Buffer buffer = pool.take();
  buffer.append("bytes");
  buffer.set_bytes_max(5);
  const char* const memory = buffer.data();
  pool.give_back(buffer);
  EXPECT_EQ(buffer.capacity(), 0u);

  Buffer again = pool.take();
  EXPECT_EQ(again.data(), memory);
  EXPECT_EQ(pool.pooled_bytes(), 0u);
  EXPECT_TRUE(again.empty());
  again.append(std::string(again.capacity() + 1, 'x'));
  EXPECT_FALSE(again.failed()) << "the cap of its last user is gone";
}

TEST(BufferPoolTest, a_buffer_that_got_no_memory_can_be_used_again) {
  BufferPool pool;
  Buffer buffer;
  buffer.set_bytes_max(0);
  buffer.append("x");
  EXPECT_TRUE(buffer.failed());
  pool.give_back(buffer);
  EXPECT_FALSE(buffer.failed());
}

TEST(BufferPoolTest, keeps_no_giant_and_no_more_than_its_share) {
  BufferPool pool;
  Buffer giant;
  ASSERT_TRUE(giant.reserve(limits::buffer_bytes_kept + 1));
  pool.give_back(giant);
  EXPECT_EQ(pool.pooled_bytes(), 0u);

  for (size_t i = 0; i <= limits::pool_bytes_busy / limits::buffer_bytes_kept; ++i) {
    Buffer buffer;
    ASSERT_TRUE(buffer.reserve(limits::buffer_bytes_kept));
    pool.give_back(buffer);
  }
  EXPECT_LE(pool.pooled_bytes(), limits::pool_bytes_busy);
  pool.trim();
  EXPECT_LE(pool.pooled_bytes(), limits::pool_bytes_idle);
}

TEST_F(ConnectionTest, poller_reports_what_was_asked_and_nothing_else) {
  Epoll poller;
  ASSERT_TRUE(poller.change(connection_.fd(), Interest::none, Interest::input, &connection_));
  EXPECT_TRUE(poller.wait(0).empty());
  peer_sends("x");
  ASSERT_EQ(poller.wait(0).size(), 1u);
  EXPECT_EQ(poller.wait(0)[0].tag, &connection_);
  EXPECT_TRUE(poller.wait(0)[0].readable);
  EXPECT_FALSE(poller.wait(0)[0].writable);

  ASSERT_TRUE(poller.change(connection_.fd(), Interest::input, Interest::output, &connection_));
  ASSERT_EQ(poller.wait(0).size(), 1u);
  EXPECT_TRUE(poller.wait(0)[0].writable);

  ASSERT_TRUE(poller.change(connection_.fd(), Interest::output, Interest::none, &connection_));
  peer_.close();
  EXPECT_TRUE(poller.wait(0).empty()) << "not even a hang-up";
}

TEST_F(ConnectionTest, poller_says_so_where_the_system_refuses) {
  Epoll poller;
  EXPECT_FALSE(poller.change(connection_.fd(), Interest::input, Interest::output, &connection_))
      << "it was never asked for";
}

TEST_F(ConnectionTest, poller_tells_of_a_hang_up_whatever_was_asked_for) {
  Epoll poller;
  ASSERT_TRUE(poller.change(connection_.fd(), Interest::none, Interest::output, &connection_));
  ASSERT_EQ(poller.wait(0).size(), 1u);
  EXPECT_FALSE(poller.wait(0)[0].readable);
  peer_.close();
  ASSERT_EQ(poller.wait(0).size(), 1u);
  EXPECT_TRUE(poller.wait(0)[0].readable) << "who reads learns that it has ended";
  EXPECT_TRUE(poller.wait(0)[0].writable);
}

TEST(PollerTest, tells_of_an_error_whatever_was_asked_for) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  Epoll poller;
  ASSERT_TRUE(poller.change(writing.get(), Interest::none, Interest::output, nullptr));
  reading.close();
  ASSERT_EQ(poller.wait(0).size(), 1u);
  EXPECT_TRUE(poller.wait(0)[0].readable);
}

TEST(PollerTest, a_wait_that_a_signal_ended_has_found_nothing) {
  Epoll poller;
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
  const Descriptor one(fds[0]);
  const Descriptor other(fds[1]);
  ASSERT_TRUE(poller.change(one.get(), Interest::none, Interest::output, nullptr));
  bool is_empty = false;
  const auto wait = [&] { is_empty |= poller.wait(Poller::forever).empty(); };
  ASSERT_TRUE(while_call_fails(SYS_epoll_pwait, EINTR, wait));
#ifdef SYS_epoll_wait  // which of the two is called is the C library's business
  ASSERT_TRUE(while_call_fails(SYS_epoll_wait, EINTR, wait));
#endif
  EXPECT_TRUE(is_empty);
  EXPECT_EQ(poller.wait(0).size(), 1u);
}

TEST(WakeupTest, another_thread_ends_the_wait) {
  Epoll poller;
  Wakeup wakeup;
  ASSERT_TRUE(poller.change(wakeup.fd(), Interest::none, Interest::input, nullptr));
  std::thread other([&] { wakeup.notify(); });
  EXPECT_EQ(poller.wait(Poller::forever).size(), 1u);
  other.join();
  wakeup.drain();
  EXPECT_TRUE(poller.wait(0).empty());
}

}  // namespace
}  // namespace rowsocket::net
