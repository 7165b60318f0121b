// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

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

class ManyPipelinesTest : public PipelinesTest {
 protected:
  static constexpr size_t places =
      limits::requests_beside_others_min / (limits::requests_ahead_max + limits::requests_per_other);
  static constexpr size_t greedy_count = 2 * places;
  static constexpr size_t requests_each = size_t{4} * limits::requests_beside_others_min;
  const std::string all = std::string(greedy_count, '+');

  ManyPipelinesTest() {
    for (size_t number = 0; number < greedy_count; ++number) {
      greedy_.push_back(connect_with_items());
    }
  }
  void all_ask(std::string_view request) {
    for (TestClient& one : greedy_) {
      one.send(repeat(request, requests_each));
    }
  }
  /// Who of them has got replies since the last call.
  std::string served() {
    std::string served;
    for (TestClient& one : greedy_) {
      served += one.received().empty() ? '-' : '+';
    }
    return served;
  }
  static std::string others_than(std::string served) {
    std::transform(served.begin(), served.end(), served.begin(),
                   [](char one) { return one == '+' ? '-' : '+'; });
    return served;
  }
  /// In a turn in which another client asks for one row.
  std::string served_beside_another() {
    EXPECT_EQ(ask(modest_, find_ink), ink);
    return served();
  }

  TestClient modest_ = connect_with_items();
  std::deque<TestClient> greedy_;
};

TEST_F(ManyPipelinesTest, those_that_read_take_part_by_turns_beside_others) {
  all_ask(find_pen);
  EXPECT_EQ(served_beside_another(), all) << "nothing is known of them";
  const std::string first = served_beside_another();
  EXPECT_EQ(std::count(first.begin(), first.end(), '+'), places);
  EXPECT_EQ(served_beside_another(), others_than(first));
  EXPECT_EQ(served_beside_another(), first);
}

TEST_F(ManyPipelinesTest, those_that_take_part_share_what_one_has) {
  all_ask(find_pen);
  served_beside_another();
  const uint64_t before = count(Counter::turn_requests);
  served_beside_another();
  EXPECT_EQ(count(Counter::turn_requests) - before,
            1 + places * (limits::requests_beside_others_min / places));
}

TEST_F(ManyPipelinesTest, those_that_write_share_each_commit) {
  all_ask("0\t=\t1\t1\t1\t0\tU\t1\n");
  served_beside_another();
  EXPECT_EQ(served_beside_another(), all);
}

TEST_F(ManyPipelinesTest, several_that_write_have_what_one_has_that_reads) {
  static_assert(greedy_count / limits::pipelines_in_share_of_commit == 1);
  all_ask("0\t=\t1\t1\t1\t0\tU\t1\n");
  served_beside_another();
  const uint64_t before = count(Counter::turn_requests);
  served_beside_another();
  EXPECT_EQ(count(Counter::turn_requests) - before, 1 + greedy_count * limits::requests_beside_others_min);
}

TEST_F(ManyPipelinesTest, all_take_part_once_the_others_have_stopped_to_ask) {
  all_ask(find_pen);
  served_beside_another();
  const std::string first = served_beside_another();
  turn();
  EXPECT_EQ(served(), others_than(first));
  turn();
  EXPECT_EQ(served(), all);
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
