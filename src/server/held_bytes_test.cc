// SPDX-License-Identifier: GPL-2.0-only
//
// What all connections of a worker hold together is bounded: who or what has to go.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

using testing::Contains;
using testing::HasSubstr;

using HeldBytesTest = TurnLoopTest;

TEST_F(HeldBytesTest, who_holds_most_is_closed_when_all_together_hold_too_much) {
  settings_.held_bytes_max = 2 * big_name_bytes;
  reconfigure();
  TestClient greedy = connect_with_items();
  TestClient modest = connect_with_items();
  greedy.send(repeat(find_big, 2));
  modest.send("0\t=");
  turn();
  EXPECT_EQ(loop_->connections().size(), 1u);
  EXPECT_EQ(ask(modest, "\t1\t1\n"), pen);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("connection 1 (test) holds most of too much memory")));
}

TEST_F(HeldBytesTest, what_a_connection_has_open_counts_and_is_given_back) {
  settings_.held_bytes_max = size_t{64} * 1024;
  reconfigure();
  TestClient modest = connect_with_items();
  TestClient greedy = connect_with_items();
  for (int number = 1; number < 100; ++number) {
    greedy.send("P\t" + std::to_string(number) + "\tshop\titem\t\tid" +
                repeat(",name", static_cast<size_t>(number)) + "\n");
    turn();
  }
  EXPECT_TRUE(greedy.sees_end());
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("connection 2 (test) holds most of too much memory")));
  EXPECT_EQ(ask(modest, find_pen), pen);
  EXPECT_LT(selections_->held_bytes(), size_t{4} * 1024);
}

TEST_F(HeldBytesTest, a_large_id_counts_with_the_list_that_it_makes) {
  settings_.id_max = 100'000;
  settings_.held_bytes_max = size_t{1024} * 1024;
  reconfigure();
  TestClient modest = connect_with_items();
  TestClient greedy = connect();
  ask(greedy, "P\t99999\tshop\titem\t\tid\n");
  EXPECT_TRUE(greedy.sees_end());
  EXPECT_EQ(ask(modest, find_pen), pen);
}

TEST_F(HeldBytesTest, what_many_have_open_counts_once) {
  settings_.held_bytes_max = size_t{8} * 1024;
  reconfigure();
  std::vector<TestClient> clients;
  for (int number = 0; number < 20; ++number) {
    clients.push_back(connect_with_items());
  }
  EXPECT_EQ(loop_->connections().size(), 20u);
}

TEST_F(HeldBytesTest, what_the_session_can_make_again_goes_before_any_connection_does) {
  settings_.held_bytes_max = 2 * limits::kept_bytes_min;
  reconfigure();
  engine_.keep_of_selections(limits::kept_bytes_min);
  TestClient client = connect_with_items();
  EXPECT_GE(selections_->held_bytes(), limits::kept_bytes_min);
  EXPECT_EQ(ask(client, "P\t1\tshop\titem\t\tid\n"), ok);
  EXPECT_LT(selections_->held_bytes(), limits::kept_bytes_min);
  EXPECT_EQ(ask(client, find_pen), pen);
}

}  // namespace
}  // namespace rowsocket::server
