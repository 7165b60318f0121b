// SPDX-License-Identifier: GPL-2.0-only
//
// What happens where a bug of ours breaks a contract: it is counted, and costs the connection that it is
// about. Nothing is acknowledged that was not committed, and the other connections go on.
#include "base/invariant.h"
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using engine::Begin;
using testing::ElementsAre;

class InvariantsTest : public ExecutorTest {
 protected:
  [[nodiscard]] uint64_t newly_broken() const { return broken_invariants() - broken_before_; }
  Executed execute_at(size_t position, Connection& connection, const Ask& ask) {
    const Ask& kept = asked.emplace_back(ask);
    return executor->execute(connection.client, *kept.bind(arena, connection.out), position);
  }

  Connection& one = shopper();
  Connection& two = shopper();
  const Ask write_pen = Ask::find(0, {"1"}).update({"9"});
  const Ask write_ink = Ask::find(0, {"2"}).update({"9"});

 private:
  uint64_t broken_before_ = broken_invariants();
};

TEST_F(InvariantsTest, a_position_that_does_not_rise_costs_the_connection) {
  begin();
  EXPECT_EQ(execute_at(5, one, write_pen), Executed::done);
  EXPECT_EQ(execute_at(5, one, write_ink), Executed::done);
  EXPECT_EQ(execute_at(0, two, write_ink), Executed::done);
  end();
  EXPECT_TRUE(one.out.failed());
  EXPECT_THAT(replies(two), ElementsAre("= 1"));
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(InvariantsTest, a_step_that_fails_without_an_error_is_an_error) {
  engine.fail_read(1, Error());
  EXPECT_EQ(ask(one, Ask::find(0, {"1"})), "error engine");
  EXPECT_EQ(newly_broken(), 1U);
}

/// The parts of an executor, for what an executor never asks of them.
class StagingInvariantsTest : public InvariantsTest {
 protected:
  /// A job that was run and answered "= 1".
  Job done(Connection& connection, const Ask& ask) {
    const Ask& kept = asked.emplace_back(ask);
    Job job(connection.client, *kept.bind(arena, connection.out), 0);
    job.selection = connection.client.selection(0);
    EXPECT_EQ(staging.run(job), Begin::ready);
    EXPECT_EQ(connection.out.view(), "= 1\n");
    return job;
  }

  RequestTally tally{counters};
  Transaction transaction{*session, counters, clock};
  Runner runner{*session, transaction, clock};
  RequestTrail trail{*session};
  Staging staging{*session, transaction, runner, counters, tally, trail};

  void SetUp() override { runner.set_reply_bytes_max(limits::reply_bytes_min); }
};

TEST_F(StagingInvariantsTest, a_promised_write_whose_transaction_is_gone_is_not_acknowledged) {
  ASSERT_TRUE(staging.make_room());
  staging.stage(done(one, write_pen));
  transaction.roll_back();
  staging.settle();
  EXPECT_THAT(replies(one), ElementsAre("error commit_failed"));
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(StagingInvariantsTest, what_is_given_up_is_undone_and_costs_its_connections) {
  ASSERT_TRUE(staging.make_room());
  staging.stage(done(one, write_pen));
  staging.give_up();
  EXPECT_TRUE(one.out.failed());
  EXPECT_FALSE(transaction.is_open());
  EXPECT_EQ(stock("1"), "5");
}

TEST_F(StagingInvariantsTest, a_job_without_room_costs_its_connection) {
  staging.stage(done(one, write_pen));
  EXPECT_TRUE(one.out.failed());
  staging.settle();
  EXPECT_EQ(stock("1"), "9");
  EXPECT_EQ(newly_broken(), 1U);
}

TEST_F(StagingInvariantsTest, a_commit_of_nothing_fails) {
  EXPECT_EQ(transaction.commit().error.code, ErrorCode::commit_failed);
  transaction.forget_last_gtid_place();
  EXPECT_EQ(newly_broken(), 2U);
}

TEST_F(StagingInvariantsTest, a_place_for_a_gtid_that_does_not_rise_costs_the_connection) {
  const Ask& group = asked.emplace_back(Ask::group({}));
  Reply& reply = *group.bind(arena, one.out)->reply;
  one.out.append("a reply");
  transaction.remember_gtid_place(reply);
  one.out.truncate(0);
  transaction.remember_gtid_place(reply);
  EXPECT_TRUE(one.out.failed());
  EXPECT_EQ(newly_broken(), 1U);
}

}  // namespace
}  // namespace rowsocket::exec
