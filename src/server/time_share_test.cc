// SPDX-License-Identifier: GPL-2.0-only
#include "server/time_share.h"

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

class TimeShareTest : public TurnLoopTest {
 protected:
  /// From now on each request takes so long.
  void take(uint64_t microseconds) {
    engine_.on_next_request([this, microseconds] {
      clock_.advance_us(microseconds);
      take(microseconds);
    });
  }
  /// How many requests of the client the next turn executes; another client asks one.
  uint64_t executed_beside(TestClient& other) {
    const uint64_t before = count(Counter::turn_requests);
    other.send(find_ink);
    turn();
    EXPECT_EQ(other.received(), ink);
    return count(Counter::turn_requests) - before - 1;
  }
};

constexpr uint64_t long_us = 600;
constexpr size_t many = 400;

TEST_F(TimeShareTest, a_pipeline_of_long_requests_does_not_keep_the_others_waiting) {
  TestClient greedy = connect_known();
  TestClient other = connect_known();
  take(long_us);
  greedy.send(repeat(find_pen, many));
  EXPECT_LE(executed_beside(other), 2U * limits::requests_per_look_at_time) << "it is not known yet";
  for (int times = 0; times < 5; ++times) {
    EXPECT_EQ(executed_beside(other), 1U);
  }
}

TEST_F(TimeShareTest, a_pipeline_of_long_requests_is_alone_for_a_while_only) {
  TestClient greedy = connect_with_items();
  take(long_us);
  greedy.send(repeat(find_pen, many));
  turn(2);
  const uint64_t before_us = clock_.now_us();
  turn();
  EXPECT_GE(clock_.now_us() - before_us, limits::turn_us_of_one_alone);
  EXPECT_LE(clock_.now_us() - before_us, limits::turn_us_of_one_alone + long_us);
}

TEST_F(TimeShareTest, others_that_were_answered_in_the_last_turn_are_about_to_come_back) {
  TestClient greedy = connect_known();
  TestClient other = connect_known();
  take(long_us);
  greedy.send(repeat(find_pen, many));
  executed_beside(other);
  const uint64_t before = count(Counter::turn_requests);
  turn();
  EXPECT_EQ(count(Counter::turn_requests) - before, 1U);
}

TEST_F(TimeShareTest, a_pipeline_whose_requests_are_short_again_has_its_share_again) {
  TestClient greedy = connect_known();
  TestClient other = connect_known();
  take(long_us);
  greedy.send(repeat(find_pen, many));
  executed_beside(other);
  EXPECT_EQ(executed_beside(other), 1U);
  take(0);
  EXPECT_GE(executed_beside(other), limits::requests_beside_others_min);
}

TEST_F(TimeShareTest, short_requests_have_more_time_than_long_ones) {
  constexpr uint64_t short_us = limits::long_request_us / 2;
  constexpr uint64_t in_time = limits::turn_us_of_one / short_us;
  static_assert(in_time < limits::requests_beside_others_min);
  TestClient greedy = connect_known();
  TestClient other = connect_known();
  take(short_us);
  greedy.send(repeat(find_pen, many));
  executed_beside(other);
  EXPECT_EQ(executed_beside(other), in_time);
}

}  // namespace
}  // namespace rowsocket::server
