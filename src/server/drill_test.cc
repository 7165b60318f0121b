// SPDX-License-Identifier: GPL-2.0-only
#include "server/drill.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "server/server_fixture.h"

namespace rowsocket::server {
namespace {

class DrillTest : public testing::Test {
 protected:
  void pass_places(uint32_t count) {
    while (count-- > 0) {
      drill_.pass_place(ticket_);
    }
  }

  LoopToken token_;
  ManualClock clock_;
  int calls_ = 0;
  Drill drill_{token_, clock_, [this] { ++calls_; }};
  LoopToken::Ticket ticket_ = token_.enter();
};

TEST_F(DrillTest, a_request_waits_until_the_loop_is_taken) {
  clock_.on_sleep = [this](uint64_t) { EXPECT_TRUE(token_.take(ticket_)); };
  const uint64_t before_us = clock_.now_us();
  pass_places(Drill::places_per_wait);
  EXPECT_EQ(calls_, 1);
  EXPECT_LT(clock_.now_us() - before_us, Drill::wait_us_max);
}

TEST_F(DrillTest, a_request_that_nobody_stands_in_for_goes_on) {
  const uint64_t before_us = clock_.now_us();
  pass_places(Drill::places_per_wait);
  EXPECT_GE(clock_.now_us() - before_us, Drill::wait_us_max);
  EXPECT_EQ(token_.leave(ticket_), LoopToken::Left::alone);
}

TEST_F(DrillTest, not_every_request_waits) {
  pass_places(Drill::places_per_wait - 1);
  EXPECT_EQ(calls_, 0);
  pass_places(1 + 2 * Drill::places_per_wait);
  EXPECT_EQ(calls_, 3);
}

/// The whole of RowSocket, drilled.
class DrilledServerTest : public ServerTest {
 protected:
  DrilledServerTest() {
    config_.threads_read = config_.threads_write = 1;
    config_.is_drill = true;
  }
};

TEST_F(DrilledServerTest, stand_ins_take_over_though_no_request_waits_and_every_client_has_its_replies) {
  start();
  constexpr int client_count = 4;
  constexpr int inserts_max = 5000;  // of a client: a stand-in may be slow to come
  std::atomic<int> insert_count = 0;
  std::vector<std::thread> clients;
  for (int number = 0; number < client_count; ++number) {
    clients.emplace_back([&, number] {
      TestClient client = with_items(writer());
      for (int nth = 0; nth < inserts_max && server_.counter(Counter::hand_overs) < 20; ++nth) {
        const std::string id = std::to_string(100 + number * inserts_max + nth);
        EXPECT_EQ(client.ask("0\t+\t2\t" + id + "\tcup\n"), ok);
        EXPECT_EQ(client.ask("0\t=\t1\t" + id + "\n"), "0\t2\t" + id + "\tcup\n");
        ++insert_count;
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(engine_.rows("shop.item").size(), 3U + insert_count);
  EXPECT_GE(server_.counter(Counter::hand_overs), 20U);
}

}  // namespace
}  // namespace rowsocket::server
