// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <deque>

#include "base/limits.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

class PipelinesTest : public TurnLoopTest {};

TEST_F(PipelinesTest, beside_others_a_pipeline_has_less_of_a_turn) {
  TestClient greedy = connect_with_items();
  TestClient modest = connect_with_items();
  constexpr size_t requests = size_t{3} * limits::requests_beside_others_min;
  greedy.send(repeat(find_pen, requests));
  const uint64_t before = count(Counter::turn_requests);
  EXPECT_EQ(ask(modest, find_ink), ink);
  EXPECT_EQ(count(Counter::turn_requests) - before, 1 + limits::requests_beside_others_min);
  turn();
  EXPECT_EQ(greedy.received(), repeat(pen, requests)) << "and all that is left when it is alone";
}

TEST_F(PipelinesTest, beside_others_long_pipelines_share_what_one_has) {
  TestClient modest = connect_with_items();
  std::deque<TestClient> greedy;
  for (int number = 0; number < 2; ++number) {
    greedy.push_back(connect_with_items());
  }
  for (TestClient& one : greedy) {
    one.send(repeat(find_pen, size_t{3} * limits::requests_beside_others_min));
  }
  const auto executed_in_a_turn = [&] {
    const uint64_t before = count(Counter::turn_requests);
    EXPECT_EQ(ask(modest, find_ink), ink);
    return count(Counter::turn_requests) - before;
  };
  EXPECT_EQ(executed_in_a_turn(), 1 + 2 * limits::requests_beside_others_min) << "nothing is known of them";
  EXPECT_EQ(executed_in_a_turn(), 1 + limits::requests_beside_others_min);
}

TEST_F(PipelinesTest, pipelines_that_are_short_for_one_are_long_for_many) {
  constexpr size_t requests_each = limits::requests_ahead_max + 1;
  constexpr size_t greedy_count = 8;
  static_assert(requests_each < limits::requests_beside_others_min);
  TestClient modest = connect_with_items();
  std::deque<TestClient> greedy;
  for (size_t number = 0; number < greedy_count; ++number) {
    greedy.push_back(connect_with_items());
  }
  for (const size_t executed : {requests_each, limits::requests_ahead_max}) {
    for (TestClient& one : greedy) {
      one.send(repeat(find_pen, requests_each));
    }
    const uint64_t before = count(Counter::turn_requests);
    EXPECT_EQ(ask(modest, find_ink), ink);
    EXPECT_EQ(count(Counter::turn_requests) - before, 1 + greedy_count * executed);
  }
}

TEST_F(PipelinesTest, long_pipelines_that_are_among_themselves_do_not_share) {
  std::deque<TestClient> greedy;
  for (int number = 0; number < 2; ++number) {
    greedy.push_back(connect_with_items());
  }
  for (TestClient& one : greedy) {
    one.send(repeat(find_pen, size_t{3} * limits::requests_beside_others_min));
  }
  for (int turns = 0; turns < 2; ++turns) {
    const uint64_t before = count(Counter::turn_requests);
    ASSERT_EQ(loop_->run(*turn_), TurnLoop::Ended::well);
    EXPECT_EQ(count(Counter::turn_requests) - before, 2 * limits::requests_beside_others_min);
  }
}

}  // namespace
}  // namespace rowsocket::server
