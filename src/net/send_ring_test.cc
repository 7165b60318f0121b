// SPDX-License-Identifier: GPL-2.0-only
#include "net/send_ring.h"

#include <gtest/gtest.h>
#include <liburing.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "net/descriptor.h"
#include "net/failing_call.h"

namespace rowsocket::net {
namespace {

using Status = Transfer::Status;

constexpr const char* no_ring = "this system has no io_uring for us";

/// Whether the system has one that knows what ours asks for.
bool system_has_ring() {
  io_uring ring{};
  if (::io_uring_queue_init(1, &ring, 0) < 0) {
    return false;
  }
  const bool knows_sends = (ring.features & IORING_FEAT_FAST_POLL) != 0;
  ::io_uring_queue_exit(&ring);
  return knows_sends;
}

int lowest_free_descriptor() { return Descriptor(::eventfd(0, EFD_CLOEXEC)).get(); }

class SendRingTest : public testing::Test {
 protected:
  struct Pair {
    Descriptor ours;
    Descriptor peer;

    [[nodiscard]] std::string received() const {
      std::string bytes(100, '\0');
      const ssize_t count = ::recv(peer.get(), bytes.data(), bytes.size(), 0);
      bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
      return bytes;
    }
  };
  static Pair make_pair() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    return {Descriptor(fds[0]), Descriptor(fds[1])};
  }
  static SendRing::Send to_send(const Pair& pair, std::string_view bytes) {
    return {pair.ours.get(), bytes.data(), bytes.size(), {}};
  }

  SendRing ring_;
};

TEST_F(SendRingTest, each_peer_has_its_own_bytes_when_the_call_returns) {
  if (!ring_.open()) {
    GTEST_SKIP() << no_ring;
  }
  std::vector<Pair> pairs(SendRing::sends_max);
  std::vector<std::string> replies;
  for (size_t number = 0; number < pairs.size(); ++number) {
    pairs[number] = make_pair();
    replies.push_back("reply " + std::to_string(number));
  }
  for (int time = 0; time < 3; ++time) {
    std::vector<SendRing::Send> sends;
    for (size_t number = 0; number < pairs.size(); ++number) {
      sends.push_back(to_send(pairs[number], replies[number]));
    }
    ring_.send(sends);
    for (size_t number = 0; number < pairs.size(); ++number) {
      EXPECT_EQ(sends[number].transfer.status, Status::moved);
      EXPECT_EQ(sends[number].transfer.byte_count, replies[number].size());
      EXPECT_EQ(pairs[number].received(), replies[number]);
    }
  }
}

TEST_F(SendRingTest, says_of_each_what_became_of_it) {
  if (!ring_.open()) {
    GTEST_SKIP() << no_ring;
  }
  const std::string large(8'000'000, 'x');
  std::array<Pair, 4> pairs{make_pair(), make_pair(), make_pair(), make_pair()};
  ASSERT_GT(::send(pairs[0].ours.get(), large.data(), large.size(), 0), 0);
  pairs[1].peer.close();
  std::array sends{to_send(pairs[0], "no room"), to_send(pairs[1], "nobody there"), to_send(pairs[2], large),
                   to_send(pairs[3], "well")};
  ring_.send(sends);
  EXPECT_EQ(sends[0].transfer.status, Status::blocked);
  EXPECT_EQ(sends[1].transfer.status, Status::failed);
  EXPECT_EQ(sends[2].transfer.status, Status::moved);
  EXPECT_GT(sends[2].transfer.byte_count, 0U);
  EXPECT_LT(sends[2].transfer.byte_count, large.size());
  EXPECT_EQ(sends[3].transfer.byte_count, 4U);
  EXPECT_TRUE(ring_.is_usable());
}

TEST_F(SendRingTest, more_than_it_has_room_for_is_not_sent) {
  if (!ring_.open()) {
    GTEST_SKIP() << no_ring;
  }
  const Pair pair = make_pair();
  std::vector<SendRing::Send> sends(SendRing::sends_max + 1, to_send(pair, "x"));
  ring_.send(sends);
  EXPECT_EQ(pair.received(), "");
  EXPECT_EQ(sends.back().transfer.status, Status::blocked);
}

TEST(SendRing, is_usable_where_the_system_has_one_and_leaves_nothing_open) {
  const int lowest_before = lowest_free_descriptor();
  {
    SendRing ring;
    EXPECT_EQ(ring.open(), system_has_ring());
    EXPECT_EQ(ring.is_usable(), system_has_ring());
  }
  EXPECT_EQ(lowest_free_descriptor(), lowest_before);
}

TEST(SendRing, is_not_usable_where_the_kernel_refuses) {
  ASSERT_TRUE(while_call_fails(SYS_io_uring_setup, EPERM, [] {
    SendRing ring;
    EXPECT_FALSE(ring.open());
    EXPECT_EQ(ring.error(), EPERM);
  }));
}

TEST_F(SendRingTest, nothing_is_lost_where_the_kernel_takes_nothing) {
  if (!ring_.open()) {
    GTEST_SKIP() << no_ring;
  }
  const std::array<Pair, 2> pairs{make_pair(), make_pair()};
  std::array sends{to_send(pairs[0], "one"), to_send(pairs[1], "other")};
  ASSERT_TRUE(while_call_fails(SYS_io_uring_enter, EAGAIN, [&] { ring_.send(sends); }));
  for (size_t number = 0; number < pairs.size(); ++number) {
    EXPECT_EQ(sends[number].transfer.status, Status::blocked);
    EXPECT_EQ(pairs[number].received(), "");
  }
  EXPECT_FALSE(ring_.is_usable()) << "it still has what it was to send";
  EXPECT_EQ(ring_.error(), EAGAIN);
  EXPECT_FALSE(ring_.open()) << "it is not tried again";
}

}  // namespace
}  // namespace rowsocket::net
