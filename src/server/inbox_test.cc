// SPDX-License-Identifier: GPL-2.0-only
#include "server/inbox.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "server/test_support.h"

namespace rowsocket::server {
namespace {

class InboxTest : public testing::Test {
 protected:
  InboxTest() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    client_ = net::Descriptor(fds[0]);
    arrival_.transport = std::make_unique<net::PlainTransport>(net::Descriptor(fds[1]));
  }
  bool client_sees_end() {
    char byte = 0;
    return ::recv(client_.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  Inbox inbox_;
  net::Descriptor client_;
  Arrival arrival_{nullptr, {"test"}, 1, exec::Access::write, nullptr};
};

TEST_F(InboxTest, what_was_offered_is_taken_once) {
  EXPECT_TRUE(inbox_.offer(arrival_));
  std::vector<Arrival> arrivals;
  inbox_.take(arrivals);
  EXPECT_EQ(arrivals.size(), 1u);
  arrivals.clear();
  inbox_.take(arrivals);
  EXPECT_TRUE(arrivals.empty());
  EXPECT_EQ(inbox_.connection_count(), 1u);
}

TEST_F(InboxTest, one_that_closes_closes_what_nobody_took) {
  EXPECT_TRUE(inbox_.offer(arrival_));
  inbox_.close();
  EXPECT_TRUE(client_sees_end());
  EXPECT_EQ(inbox_.connection_count(), 0u);
}

TEST_F(InboxTest, one_that_is_closed_takes_nothing) {
  inbox_.close();
  EXPECT_FALSE(inbox_.offer(arrival_));
  EXPECT_NE(arrival_.transport, nullptr) << "it stays the caller's";
  EXPECT_EQ(inbox_.connection_count(), 0u);
  EXPECT_FALSE(inbox_.is_open());
}

TEST_F(InboxTest, whatever_comes_wakes_the_worker) {
  const auto is_woken = [this] {
    pollfd asked{inbox_.wakeup().fd(), POLLIN, 0};
    const bool is_woken = ::poll(&asked, 1, 0) == 1;
    inbox_.wakeup().drain();
    return is_woken;
  };
  EXPECT_TRUE(inbox_.is_open());
  EXPECT_FALSE(is_woken());
  EXPECT_TRUE(inbox_.offer(arrival_));
  EXPECT_TRUE(is_woken());
  std::unique_ptr<ClientConnection> moved = make_connection(Settings());
  EXPECT_TRUE(inbox_.offer_moved(moved));
  EXPECT_TRUE(is_woken());
}

}  // namespace
}  // namespace rowsocket::server
