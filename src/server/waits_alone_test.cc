// SPDX-License-Identifier: GPL-2.0-only
//
// Requests that wait for locks on threads of their own, and what these threads leave behind. Real threads.
#include <gtest/gtest.h>

#include "server/server_fixture.h"

namespace rowsocket::server {
namespace {

constexpr std::string_view insert_cup = "0\t+\t2\t10\tcup\n";

class WaitsAloneTest : public ServerTest {
 protected:
  WaitsAloneTest() {
    config_.threads_read = config_.threads_write = 1;
    config_.threads_max = 8;
  }
  [[nodiscard]] uint64_t waited_alone() const { return server_.counter(Counter::waited_alone); }
};

TEST_F(WaitsAloneTest, whose_request_is_done_holds_no_table) {
  start();
  TestClient waiting = with_items(writer());
  engine_.set_busy("shop.item", true);
  waiting.send(insert_cup);
  engine_.await_patient_wait();
  engine_.set_busy("shop.item", false);
  EXPECT_EQ(waiting.lines(1), ok);
  const uint64_t answered_ms = clock_.now_ms();
  EXPECT_TRUE(eventually([this] { return engine_.sessions_holding_tables() == 0; }));
  EXPECT_LT(clock_.now_ms() - answered_ms, limits::stand_in_idle_ms) << "not when its thread ended";
}

TEST_F(WaitsAloneTest, each_has_a_place_that_is_free_behind_it) {
  start();
  TestClient waiting = with_items(writer());
  for (uint64_t times = 1; times <= limits::waiting_room_places_of_account + 1; ++times) {
    engine_.set_busy("shop.item", true);
    waiting.send(find_pen);
    ASSERT_TRUE(eventually([&] { return waited_alone() == times; })) << times;
    engine_.set_busy("shop.item", false);
    EXPECT_EQ(waiting.lines(1), pen);
  }
}

TEST_F(WaitsAloneTest, a_kill_of_its_thread_closes_its_connection_and_no_other) {
  start();
  TestClient other = with_items(writer());
  TestClient waiting = with_items(writer());
  engine_.set_busy("shop.item", true);
  waiting.send(find_pen);
  engine_.await_patient_wait();
  engine_.interrupt_those_under_way(engine::Interruption::close_connections);
  engine_.set_busy("shop.item", false);
  waiting.rest();
  EXPECT_TRUE(eventually([this] { return server_.connections_write() == 1; }));
  EXPECT_EQ(other.ask(find_pen), pen);
}

}  // namespace
}  // namespace rowsocket::server
