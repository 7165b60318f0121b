// SPDX-License-Identifier: GPL-2.0-only
//
// A reply is told something that it has no answer for: it only gives up its connection.
#include "request/reply.h"

#include <gtest/gtest.h>

#include "base/invariant.h"

namespace rowsocket {
namespace {

constexpr ValueFormat format = {.framing = ValueFormat::Framing::bare};

/// The reply of requests that can only fail.
class FailureReply final : public Reply {
 public:
  explicit FailureReply(Buffer& buffer) : Reply(buffer, format) {}
  void failed(const Error& error) override { out().append(error_name(error.code)); }
};

/// True if the call costs the connection, and is counted.
template <typename Call>
bool costs_the_connection(Call call) {
  const uint64_t broken_before = broken_invariants();
  Buffer out;
  FailureReply reply(out);
  call(reply);
  return out.failed() && out.empty() && broken_invariants() == broken_before + 1;
}

TEST(Reply, IsNotToldWhatItsRequestCanNotComeTo) {
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.done(); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.opened({}); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.begin_rows(1); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.end_rows(); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.counted(1); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.changed({}); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.begin_outcomes(); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.inserted({}); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.end_outcomes(); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.group_begins(); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.group_ends(); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.group_failed(0, Error(ErrorCode::syntax)); }));
  EXPECT_TRUE(costs_the_connection([](Reply& reply) { reply.committed(reply.out(), "0-1-2"); }));
}

TEST(Reply, MayBeToldOfRowsAndMissesThatItDoesNotCareFor) {
  Buffer out;
  FailureReply reply(out);
  reply.row_begins(0);
  reply.row_ends();
  reply.missed(0);
  EXPECT_FALSE(out.failed());
  EXPECT_TRUE(out.empty());
  EXPECT_FALSE(reply.tells_rows() || reply.tells_misses());
}

TEST(Reply, FailsInItsOwnWords) {
  Buffer out;
  FailureReply reply(out);
  reply.failed(ErrorCode::syntax);
  EXPECT_EQ(out.view(), "syntax");
}

}  // namespace
}  // namespace rowsocket
