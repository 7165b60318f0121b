// SPDX-License-Identifier: GPL-2.0-only
//
// A group is done wholly or not at all, whatever happens to it or around it.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;

class GroupTest : public ExecutorTest {
 protected:
  GroupTest() { open_for_insert(one); }
  static Ask add_stock(const std::string& id, const std::string& amount = "1") {
    return Ask::find(0, {id}).add({amount});
  }
  static Ask read(const std::string& id) { return Ask::find(0, {id}).columns("stock"); }
  static Ask taken_id() { return Ask::insert(9, {"2", "1", "x", "1"}); }

  const std::string undone = "error undone_with_group";
  const Error disk_full{ErrorCode::engine, 135};
  Connection& one = shopper();
  Connection& two = shopper();
};

TEST_F(GroupTest, its_members_commit_together) {
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), add_stock("4"), read("1")})}),
              ElementsAre("ok", "= 1", "= 1", "rows/1 6", "ok"));
  EXPECT_EQ(engine.commits_with_changes(), 1);
  EXPECT_EQ(stock("1") + stock("4"), "68");
}

TEST_F(GroupTest, a_member_that_fails_undoes_the_others_and_nothing_else) {
  EXPECT_THAT(
      turn(one, {add_stock("5"), Ask::group({add_stock("1"), taken_id(), add_stock("4")}), add_stock("5")}),
      ElementsAre("= 1", "ok", undone, "error engine 121", undone, undone, "= 1"));
  EXPECT_EQ(stock("1") + stock("4") + stock("5"), "5711");
}

TEST_F(GroupTest, a_member_that_is_refused_begins_nothing) {
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), Ask::find(77, {"1"})})}),
              ElementsAre("ok", undone, "error unknown_id", undone));
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), Ask::open(3, "shop.item", "", "id")})}),
              ElementsAre("ok", undone, "error not_in_group", undone));
  EXPECT_EQ(stock("1"), "5");
}

TEST_F(GroupTest, the_tables_of_an_earlier_group_are_nothing_to_it) {
  engine.create_table("shop.other",
                      {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_EQ(ask(two, Ask::open(5, "shop.other", "", "id")), "ok");
  EXPECT_THAT(turn(one, {Ask::group({read("1")})}), ElementsAre("ok", "rows/1 5", "ok"));
  engine.set_busy("shop.item", true);
  EXPECT_THAT(turn(two, {Ask::group({Ask::insert(5, {"1"})})}), ElementsAre("ok", "ok", "ok"));
}

TEST_F(GroupTest, how_much_it_may_reply_is_counted_from_its_own_begin) {
  settings.reply_bytes_max = 32;
  use_settings();
  std::vector<Ask> requests(8, read("1"));
  requests.push_back(Ask::group({read("1")}));
  EXPECT_EQ(turn(one, requests)[9], "rows/1 5");
}

TEST_F(GroupTest, without_the_right_to_write_it_is_refused) {
  Connection& reader = shopper(Access::read);
  EXPECT_THAT(turn(reader, {Ask::group({read("1")})}), ElementsAre("ok", "rows/1 5", "ok"));
  EXPECT_THAT(turn(reader, {Ask::group({read("1"), add_stock("1")})}),
              ElementsAre("ok", undone, "error read_only", undone));
}

TEST_F(GroupTest, without_authentication_it_is_refused_as_a_whole) {
  settings.secret_read = settings.secret_write = "secret";
  use_settings();
  EXPECT_THAT(turn(connect(), {Ask::group({read("1")})}),
              ElementsAre("error not_authenticated", "error not_in_group", "error not_in_group"));
}

TEST_F(GroupTest, a_group_of_nothing_is_done) {
  EXPECT_THAT(turn(one, {Ask::group({})}), ElementsAre("ok", "ok"));
}

TEST_F(GroupTest, a_group_of_nothing_has_no_gtid) {
  EXPECT_THAT(turn(one, {Ask::group({}).with_gtid()}), ElementsAre("ok", "text "));
}

TEST_F(GroupTest, a_group_that_can_not_be_kept_is_undone_and_says_no_gtid) {
  engine.fail_group_end(disk_full);
  EXPECT_THAT(turn(one, {add_stock("5"), Ask::group({add_stock("1")}).with_gtid(), add_stock("5")}),
              ElementsAre("= 1", "ok", "error engine 135", "error engine 135", "= 1"));
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(stock("5"), "11");
}

TEST_F(GroupTest, a_write_that_changes_nothing_fails_a_group_that_must) {
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), add_stock("77")}).must_change()}),
              ElementsAre("ok", undone, "error nothing_changed", undone));
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), Ask::find(0, {"4"}).subtract({"8"})}).must_change()}),
              ElementsAre("ok", undone, "error nothing_changed", undone));
  EXPECT_EQ(stock("1"), "5");
}

TEST_F(GroupTest, tables_without_transactions_are_refused) {
  engine.create_table("shop.log", {.columns = {engine::memory::integer("id")},
                                   .indexes = {{"PRIMARY", {"id"}, true}},
                                   .has_transactions = false});
  EXPECT_EQ(ask(one, Ask::open(10, "shop.log", "", "id")), "ok");
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), Ask::insert(10, {"1"})})}),
              ElementsAre("ok", undone, "error no_transactions", undone));
  EXPECT_EQ(ask(one, Ask::insert(10, {"1"})), "ok");
}

TEST_F(GroupTest, the_end_says_the_gtid_of_the_commit_whatever_follows) {
  const Ask group = Ask::group({add_stock("1")}).with_gtid();
  EXPECT_THAT(turn(one, {group, read("1"), group, read("1")}),
              ElementsAre("ok", "= 1", "text 0-1-1", "rows/1 6", "ok", "= 1", "text 0-1-1", "rows/1 7"));
  EXPECT_THAT(turn(one, {Ask::group({read("1")}).with_gtid()}), ElementsAre("ok", "rows/1 7", "text "));
}

TEST_F(GroupTest, each_connection_gets_its_gtids) {
  const Ask group = Ask::group({add_stock("1")}).with_gtid();
  begin();
  for (Connection* connection : {&one, &two}) {
    EXPECT_EQ(send(*connection, group), Executed::done);
    EXPECT_EQ(send(*connection, read("5")), Executed::done);
  }
  end();
  EXPECT_THAT(replies(one), ElementsAre("ok", "= 1", "text 0-1-1", "rows/1 9"));
  EXPECT_THAT(replies(two), ElementsAre("ok", "= 1", "text 0-1-1", "rows/1 9"));
}

TEST_F(GroupTest, a_lost_transaction_runs_the_group_again_as_one) {
  engine.lose_transaction_at_write(3);
  const Ask group = Ask::group({add_stock("1"), add_stock("4")}).with_gtid();
  EXPECT_THAT(turn(one, {add_stock("5"), group, add_stock("5")}),
              ElementsAre("= 1", "ok", "= 1", "= 1", "text 0-1-2", "= 1"));
  EXPECT_EQ(stock("1") + stock("4") + stock("5"), "6811");
  EXPECT_EQ(count(Counter::replays), 1);
}

TEST_F(GroupTest, a_group_that_loses_its_transaction_for_good_says_so) {
  engine.lose_transaction_at_write(2, 100);
  begin();
  EXPECT_EQ(send(one, Ask::group({add_stock("1"), add_stock("4")})), Executed::parked);
  end();
  now_ms += limits::conflict_ms;
  EXPECT_THAT(turn(one, one.put_back), ElementsAre("ok", "error engine 149", undone, undone));
  EXPECT_EQ(stock("1"), "5");
}

TEST_F(GroupTest, a_failed_commit_is_the_answer_to_every_member) {
  engine.fail_commit(disk_full);
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), read("1")}).with_gtid()}),
              ElementsAre("ok", "error engine 135", "error engine 135", "error engine 135"));
  EXPECT_EQ(stock("1"), "5");
  EXPECT_EQ(count(Counter::commit_failures), 1U);
}

TEST_F(GroupTest, a_commit_that_fails_when_the_group_runs_again_is_the_answer_to_every_member) {
  engine.lose_transaction_at_write(3);
  engine.fail_commit(disk_full);  // the group's own
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), add_stock("4")}), add_stock("5")}),
              ElementsAre("ok", "error engine 135", "error engine 135", "error engine 135", "= 1"));
  EXPECT_EQ(stock("1") + stock("4") + stock("5"), "5710");
}

TEST_F(GroupTest, a_group_waits_as_one) {
  engine.create_table("shop.log",
                      {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_EQ(ask(one, Ask::open(10, "shop.log", "", "id")), "ok");
  const Ask group = Ask::group({add_stock("1"), Ask::insert(10, {"1"})});
  engine.set_busy("shop.log", true);
  begin();
  EXPECT_EQ(send(one, group), Executed::parked);
  end();
  EXPECT_EQ(stock("1"), "5");
  EXPECT_THAT(replies(one), ElementsAre());
  engine.set_busy("shop.log", false);
  EXPECT_THAT(turn(one, {group}), ElementsAre("ok", "= 1", "ok", "ok"));
  EXPECT_EQ(stock("1"), "6");
}

TEST_F(GroupTest, rows_alone_in_a_group_fail_alone_and_are_undone_with_it) {
  const auto rows = [] {
    return Ask::insert_rows(9, 2, {"6", "30", "mug", "1", "1", "30", "x", "2"}).rows_alone();
  };
  EXPECT_THAT(turn(one, {Ask::group({rows(), taken_id()})}),
              ElementsAre("ok", undone, "error engine 121", undone));
  EXPECT_EQ(stock("6"), "none");
  EXPECT_THAT(turn(one, {Ask::group({rows(), add_stock("1")})}),
              ElementsAre("ok", "rows/2 1# !121", "= 1", "ok"));
  EXPECT_EQ(stock("6"), "1");
}

TEST_F(GroupTest, its_replies_are_bounded_together) {
  settings.reply_bytes_max = 30;
  use_settings();
  EXPECT_THAT(turn(one, {Ask::group({read("1"), read("1")})}),
              ElementsAre("ok", "rows/1 5", "rows/1 5", "ok"));
  EXPECT_THAT(turn(one, {Ask::group({add_stock("1"), read("1"), read("1"), read("1"), read("1")})}),
              ElementsAre("ok", undone, undone, undone, "error reply_too_large", undone, undone));
  EXPECT_EQ(stock("1"), "5");
}

TEST_F(GroupTest, its_members_are_counted) {
  turn(one, {Ask::group({add_stock("1"), read("1")})});
  EXPECT_EQ(count(Counter::requests_group), 1);
  EXPECT_EQ(count(Counter::requests_increment), 1);
  EXPECT_EQ(count(Counter::rows_updated), 1);
}

TEST_F(GroupTest, a_transaction_that_lasts_long_is_committed_before_the_turn_ends) {
  engine.make_transactions_long();
  turn(one, {add_stock("1"), add_stock("1"), Ask::group({add_stock("4"), add_stock("5")})});
  EXPECT_EQ(count(Counter::commits), 3);
}

TEST_F(GroupTest, a_turn_that_changed_many_rows_commits_before_its_end) {
  std::vector<Cell> rows;
  for (uint32_t id = 100; id < 100 + limits::rows_per_transaction; ++id) {
    rows.insert(rows.end(), {std::to_string(id), "99", "n" + std::to_string(id), "1"});
  }
  EXPECT_EQ(turn(one, {Ask::insert_rows(9, limits::rows_per_transaction, rows), add_stock("1")}).size(), 2U);
  EXPECT_EQ(count(Counter::commits), 2);
}

}  // namespace
}  // namespace rowsocket::exec
