// SPDX-License-Identifier: GPL-2.0-only
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/protocol.h"

namespace rowsocket::bench {
namespace {

class HandlerSocketTest : public testing::Test {
 protected:
  std::string request(const Operation& operation) {
    Buffer out;
    protocol_->write_request(operation, out);
    return std::string(out.view());
  }
  std::string right_reply(const Operation& operation) {
    Buffer out;
    protocol_->write_right_reply(operation, out);
    return std::string(out.view());
  }

  std::unique_ptr<Protocol> protocol_ = make_protocol("handlersocket");
};

TEST_F(HandlerSocketTest, PointAsksForOneKey) {
  const Operation operation{Workload::point, {7}};
  EXPECT_EQ(request(operation), "1\t=\t1\t7\n");
  EXPECT_EQ(right_reply(operation), "0\t3\tuser7\tuser7@example.com\t2026-01-01 00:00:07\n");
}

TEST_F(HandlerSocketTest, InListAsksForAllItsKeysInOrder) {
  const Operation operation{Workload::in_list, {2, 1}};
  EXPECT_EQ(request(operation), "1\t=\t1\t\t2\t0\t@\t0\t2\t2\t1\n");
  EXPECT_EQ(right_reply(operation),
            "0\t3\tuser2\tuser2@example.com\t2026-01-01 00:00:02\tuser1\tuser1@example.com\t2026-01-01 00:00:01\n");
}

TEST_F(HandlerSocketTest, InsertSendsTheWholeRow) {
  const Operation operation{Workload::insert, {60}};
  EXPECT_EQ(request(operation), "1\t+\t4\t60\tuser60\tuser60@example.com\t2026-01-01 00:01:00\n");
  EXPECT_EQ(right_reply(operation), "0\t1\n");
}

TEST_F(HandlerSocketTest, AConnectionAuthenticatesOnlyWithASecret) {
  Target target;
  EXPECT_EQ(protocol_->opening(target).size(), 1u);
  target.secret = "s3";
  EXPECT_EQ(protocol_->opening(target).front().request, "A\t1\ts3\n");
}

TEST(Floor, ItsReplyIsAsLongAsAPointReply) {
  Buffer out;
  make_protocol("handlersocket")->write_right_reply({Workload::point, {123'456}}, out);
  EXPECT_EQ(floor_reply().size(), out.size());
}

TEST(MakeProtocol, KnowsNoOtherNames) {
  EXPECT_EQ(make_protocol("gopher"), nullptr);
  EXPECT_THAT(protocol_names(), testing::HasSubstr("handlersocket"));
}

}  // namespace
}  // namespace rowsocket::bench
