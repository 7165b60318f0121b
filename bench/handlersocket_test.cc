// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/test_workload.h"

namespace rowsocket::bench {
namespace {

TEST(HandlerSocket, PointAsksForOneKey) {
  const Spoken point("handlersocket", "request\ncolumns name,age\nanswer 1 rows from {k}\nhandlersocket 1⇥=⇥1⇥{k}");
  EXPECT_EQ(point.request({7}), "1\t=\t1\t7\n");
  EXPECT_EQ(point.right_reply({7}), "0\t2\tuser7\t8\n");
}

TEST(HandlerSocket, AnInListHasAllItsKeysAndRowsInOrder) {
  const Spoken in_list("handlersocket",
                       "keys 2 of 1 to 9\nrequest\ncolumns name\nanswer 1 rows from {k}\n"
                       "handlersocket 1⇥=⇥1⇥⇥{count}⇥0⇥@⇥0⇥{count}⇥{each ⇥}{k}{end}");
  EXPECT_EQ(in_list.request({2, 5}), "1\t=\t1\t\t2\t0\t@\t0\t2\t2\t5\n");
  EXPECT_EQ(in_list.right_reply({2, 5}), "0\t1\tuser2\tuser5\n");
}

TEST(HandlerSocket, AKeyMayHaveSeveralRowsInAnyDirection) {
  const Spoken latest("handlersocket",
                      "request\ncolumns user_id\nanswer 3 rows from {k*20+19} step -1\nhandlersocket 1⇥=⇥1⇥{k}⇥3⇥0");
  EXPECT_EQ(latest.right_reply({1}), "0\t1\t39\t38\t37\n");
}

TEST(HandlerSocket, WritesAreAnsweredByWhatTheyDid) {
  const Spoken writes("handlersocket",
                      "request\nanswer inserted\nhandlersocket 1⇥+⇥2⇥{user_id}⇥{name}\n"
                      "request\nanswer changed\nhandlersocket 1⇥=⇥1⇥{k}⇥1⇥0⇥U⇥{tick}");
  EXPECT_EQ(writes.request({5}, 0), "1\t+\t2\t5\tuser5\n");
  EXPECT_EQ(writes.right_reply({5}, 0), "0\t1\n");
  EXPECT_EQ(writes.request({5}, 1), "1\t=\t1\t5\t1\t0\tU\t77\n");
  EXPECT_EQ(writes.right_reply({5}, 1), "0\t1\t1\n");
}

TEST(Protocol, AReplyIsTakenOnlyWhole) {
  const Spoken point("handlersocket", "request\ncolumns name\nanswer 1 rows from {k}\nhandlersocket 1⇥=⇥1⇥{k}");
  EXPECT_EQ(point.protocol->check_reply({0, 0, {7}}, "0\t1\tus"), 0u);
  EXPECT_EQ(point.protocol->check_reply({0, 0, {7}}, "0\t1\tuser7\n0\t1"), 10u);
  EXPECT_THROW((void)point.protocol->check_reply({0, 0, {7}}, "0\t1\tuser8\n"), WrongAnswer);
}

TEST(Protocol, AnUnknownOneIsNamedWithTheKnownOnes) {
  const Workload workload = test_workload("request\nanswer inserted");
  EXPECT_THAT([&] { (void)make_protocol("gopher", workload, {}); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("\"gopher\" is none of handlersocket")));
}

TEST(Protocol, AWorkloadThatItCannotBeAskedIsRefused) {
  const Workload workload = test_workload("request\nanswer inserted\nredis SET {k} 1");
  EXPECT_THAT([&] { (void)make_protocol("handlersocket", workload, {}); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("no request for handlersocket")));
  EXPECT_THAT(protocols_of(workload), testing::ElementsAre("redis"));
}

TEST(RowSocket, IsAskedWithItsExtensionWhereThereIsOne) {
  const std::string request = "request\nanswer changed\nhandlersocket 1⇥=⇥1⇥{k}";
  EXPECT_EQ(Spoken("rowsocket", request).request({7}), "1\t=\t1\t7\n");
  EXPECT_EQ(Spoken("rowsocket", request + "\nrowsocket 1⇥^=⇥1⇥{k}").request({7}), "1\t^=\t1\t7\n");
}

TEST(Floor, RepliesAsHandlerSocketToATypicalRequest) {
  const Workload workload =
      test_workload("keys 1 of 1 to 9\nrequest\ncolumns name\nanswer 1 rows from {k}\nhandlersocket 1⇥=⇥1⇥{k}");
  EXPECT_EQ(floor_reply(workload), "0\t1\tuser5\n");
}

}  // namespace
}  // namespace rowsocket::bench
