// SPDX-License-Identifier: GPL-2.0-only
//
// Tables that a worker has open from turn to turn.
#include <gmock/gmock.h>

#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

TEST_F(TurnLoopTest, tables_stay_open_over_busy_turns) {
  TestClient client = connect_with_items();
  EXPECT_EQ(ask(client, find_pen), pen);
  turn(3);  // each is woken
  EXPECT_EQ(engine_.sessions_holding_tables(), 1U);
}

}  // namespace
}  // namespace rowsocket::server
