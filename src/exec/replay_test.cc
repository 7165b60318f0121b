// SPDX-License-Identifier: GPL-2.0-only
//
// For whom requests run again.
#include <string>
#include <vector>

#include "exec/transaction_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

struct There final : Presence {
  [[nodiscard]] bool is_gone() const override { return killed; }
  [[nodiscard]] bool is_killed() const override { return killed; }
  bool killed = false;
};

/// Two clients that are there, each with a request; whose work each run, and each commit, is.
class ReplayedWorkTest : public TransactionTest {
 protected:
  ReplayedWorkTest() {
    one.client.presence = &one_;
    two.client.presence = &two_;
    note_each_run();
    note_each_commit();
  }
  void note_each_run() {
    engine.on_next_request([this] {
      work_.push_back(whose());
      note_each_run();
    });
  }
  void note_each_commit() {
    engine.on_next_commit([this] {
      work_.push_back("commit for " + whose());
      note_each_commit();
    });
  }
  [[nodiscard]] std::string whose() const {
    const engine::Work work = session->work();
    if (work.is_of_request) {
      return "who asks";
    }
    return work.client == nullptr ? "all" : work.client == &one_ ? "one" : "two";
  }

  There one_;
  There two_;
  std::vector<std::string> work_;
};

TEST_F(ReplayedWorkTest, of_a_replay_each_request_is_its_own_clients_and_no_commit_is) {
  engine.lose_transaction_at_write(2);
  begin();
  send(one, add_stock("1"));
  send(two, add_stock("2"));
  EXPECT_THAT(work_, ElementsAre("who asks", "who asks", "one", "commit for all", "two", "commit for all"));
  end();
  EXPECT_EQ(whose(), "who asks");
}

TEST_F(ReplayedWorkTest, also_where_the_commit_is_what_fails) {
  begin();
  send(one, add_stock("1"));
  send(two, add_stock("2"));
  engine.fail_commit(deadlock);
  end();
  EXPECT_THAT(work_, ElementsAre("who asks", "who asks", "commit for all", "one", "commit for all", "two",
                                 "commit for all"));
}

TEST_F(ReplayedWorkTest, of_a_client_that_was_killed_meanwhile_nothing_runs_again) {
  begin();
  send(one, add_stock("1"));
  send(two, add_stock("2"));
  engine.fail_commit(deadlock);
  engine.on_next_commit([this] { one_.killed = true; });
  end();
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(stock("2"), "1");
  EXPECT_THAT(replies(two), ElementsAre("= 1"));
  EXPECT_EQ(count(Counter::requests_stopped), 1);
}

TEST_F(ReplayedWorkTest, of_one_that_was_killed_during_the_commit_before_its_request_nothing_is_begun) {
  begin();
  send(one, add_stock("1"));
  engine.on_next_commit([this] { two_.killed = true; });
  engine.ask_to_commit_first(1);
  send(two, add_stock("2"));
  end();
  EXPECT_EQ(stock("1"), "6");
  EXPECT_EQ(stock("2"), "0");
  EXPECT_EQ(count(Counter::requests_stopped), 1);
}

TEST_F(ReplayedWorkTest, one_that_is_stopped_when_it_runs_again_is_not_begun_once_more) {
  begin();
  send(one, add_stock("1"));
  send(two, add_stock("2"));
  engine.fail_commit(deadlock);
  engine.on_next_request([this] { session->stop(session->work()); });
  engine.lose_transaction_at_write(1);
  end();
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(stock("2"), "1");
  EXPECT_TRUE(one.client.left_at.has_value());
  EXPECT_FALSE(two.client.left_at.has_value());
  EXPECT_EQ(count(Counter::requests_stopped), 1);
}

TEST_F(ReplayedWorkTest, behind_one_that_is_stopped_when_it_runs_again_its_clients_others_are_not_begun) {
  begin();
  send(two, add_stock("2"));
  send(one, add_stock("1"));
  send(one, add_stock("1"));
  engine.fail_commit(deadlock);
  engine.on_next_request([this] {  // of the other client
    engine.on_next_request([this] { session->stop(session->work()); });
  });
  engine.lose_transaction_at_write(2);
  end();
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(stock("2"), "1");
  EXPECT_EQ(count(Counter::requests_stopped), 2);
}

TEST_F(ReplayedWorkTest, a_request_that_waits_alone_can_be_stopped_when_it_runs_again) {
  executor->begin_turn(0, true);
  send(one, add_stock("1"));
  engine.fail_commit(deadlock);
  end();
  EXPECT_THAT(work_, ElementsAre("who asks", "commit for all", "one", "commit for all"));
}

}  // namespace
}  // namespace rowsocket::exec
