// SPDX-License-Identifier: GPL-2.0-only
#include "server/handshake_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace rowsocket::server {
namespace {

using Handshake = HandshakeQueue::Handshake;

class HandshakeQueueTest : public testing::Test {
 protected:
  Handshake& add(const std::string& party) {
    HandshakeQueue::Newcomer newcomer{};
    newcomer.arrival.number = ++number_;
    return queue_.add(party, std::move(newcomer));
  }
  /// Whose turns come, by number.
  std::string turns(int count) {
    std::string numbers;
    for (int turn = 0; turn < count; ++turn) {
      const Handshake* const next = queue_.next();
      numbers += next == nullptr ? "-" : std::to_string(next->newcomer.arrival.number);
    }
    return numbers;
  }
  [[nodiscard]] uint64_t most_dispensable() {
    const Handshake* const found = queue_.most_dispensable();
    return found == nullptr ? 0 : found->newcomer.arrival.number;
  }

  HandshakeQueue queue_;
  uint64_t number_ = 0;
};

TEST_F(HandshakeQueueTest, parties_take_turns) {
  add("flood");
  add("flood");
  add("flood");
  add("one");
  add("other");
  EXPECT_EQ(turns(6), "14523-");
  EXPECT_FALSE(queue_.some_may_go_on());
  EXPECT_EQ(queue_.size(), 5U);
}

TEST_F(HandshakeQueueTest, in_a_party_who_has_begun_comes_first) {
  Handshake& first = add("host");
  add("host");
  add("host");
  EXPECT_EQ(turns(1), "1");
  queue_.make_ready(first);
  queue_.make_ready(first);
  EXPECT_EQ(turns(4), "123-");
  queue_.make_ready(first);
  EXPECT_TRUE(queue_.some_may_go_on());
  EXPECT_EQ(turns(2), "1-");
}

TEST_F(HandshakeQueueTest, who_has_most_loses_what_has_cost_nothing_and_else_its_oldest) {
  EXPECT_EQ(most_dispensable(), 0U);
  add("one");
  Handshake& second = add("flood");
  add("flood");
  Handshake& fourth = add("flood");
  EXPECT_EQ(turns(2), "12");
  EXPECT_EQ(most_dispensable(), 3U);
  EXPECT_EQ(turns(2), "34");
  EXPECT_EQ(most_dispensable(), 2U);
  queue_.make_ready(second);
  EXPECT_EQ(most_dispensable(), 3U);
  queue_.remove(fourth);
  queue_.remove(second);
  EXPECT_FALSE(queue_.some_may_go_on());
  EXPECT_EQ(queue_.size(), 2U);
}

TEST_F(HandshakeQueueTest, a_party_comes_and_goes) {
  for (int round = 0; round < 3; ++round) {
    Handshake& fresh = add("host");
    queue_.remove(fresh);
    EXPECT_EQ(turns(1), "-");
    Handshake& begun = add("host");
    EXPECT_EQ(queue_.next(), &begun);
    queue_.remove(begun);
    EXPECT_EQ(queue_.size(), 0U);
    EXPECT_EQ(queue_.most_dispensable(), nullptr);
  }
}

}  // namespace
}  // namespace rowsocket::server
