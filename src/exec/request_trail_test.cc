// SPDX-License-Identifier: GPL-2.0-only
//
// The host's logs are told of each request once: when it comes, and when its answer is final.
#include "exec/executor_fixture.h"
#include "exec/trail_fixture.h"

namespace rowsocket::exec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RequestTrailTest : public ExecutorTest {
 protected:
  static Ask add_stock(const std::string& id) { return Ask::find(0, {id}).add({"1"}); }
  static Ask read(const std::string& id) { return Ask::find(0, {id}); }
  static std::string read_text(const std::string& id) {
    return "received ROWSOCKET FIND shop.item [index 0] = " + id + " LIMIT 1 COLUMNS stock, name, id";
  }
  static std::string add_text(const std::string& id) {
    return "received ROWSOCKET UPDATE shop.item [index 0] = " + id + " SET stock += 1 LIMIT 1";
  }

  void SetUp() override { look_again(); }
  void TearDown() override { EXPECT_EQ(trail.open_entries, 0); }

  /// Until it looks again, the host wants to know of nothing.
  void look_away() { engine.tell(nullptr); }
  void look_again() { engine.tell(&trail); }

  RecordingTrail trail;
  Connection& one = shopper();
};

TEST_F(RequestTrailTest, a_request_for_nothing_is_told_of_to_nobody) {
  ask(one, Ask::nothing());
  EXPECT_THAT(trail.take(), IsEmpty());
}

TEST_F(RequestTrailTest, a_request_is_told_of_when_it_comes_and_when_it_ends) {
  ask(one, read("1"));
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", read_text("1"), "ended 1/1/0 ok"));
  ask(one, read("99"));
  EXPECT_THAT(trail.take(), ElementsAre(read_text("99"), "ended 0/0/0 ok"));
  EXPECT_EQ(trail.turns, 2);
}

TEST_F(RequestTrailTest, what_the_engine_says_meanwhile_is_of_that_request) {
  engine::TrailEntry* meanwhile = nullptr;
  engine.on_next_request([&] { meanwhile = trail.followed; });
  ask(one, read("1"));
  EXPECT_NE(meanwhile, nullptr);
}

TEST_F(RequestTrailTest, the_host_is_told_where_values_are_to_be_hidden) {
  ask(one, read("1"));
  EXPECT_FALSE(trail.hides_values);
  settings.logged_value_bytes_max = 0;
  use_settings();
  ask(one, read("1"));
  EXPECT_TRUE(trail.hides_values);
}

TEST_F(RequestTrailTest, a_client_has_its_number_in_the_logs_from_its_first_request_that_they_have) {
  look_away();
  ask(one, read("1"));
  EXPECT_EQ(one.client.log_number, 0U);
  look_again();
  ask(one, read("1"));
  EXPECT_EQ(one.client.log_number, 14U);
  look_away();
  ask(one, read("1"));
  EXPECT_EQ(one.client.log_number, 14U);
}

TEST_F(RequestTrailTest, a_read_ends_with_the_bytes_of_its_reply) {
  const std::string reply = ask(one, read("1"));
  EXPECT_THAT(trail.reply_bytes, ElementsAre(reply.size() + 1));
}

TEST_F(RequestTrailTest, a_write_ends_with_its_commit) {
  begin();
  send(one, add_stock("1"));
  send(one, read("1"));
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", add_text("1"), read_text("1")));
  end();
  EXPECT_THAT(trail.take(), ElementsAre("ended 1/0/1 ok", "ended 1/1/0 ok"));
  EXPECT_THAT(trail.reply_bytes, ElementsAre(4, 15));
}

TEST_F(RequestTrailTest, a_request_that_runs_again_is_told_of_once) {
  engine.lose_transaction_at_write(2);
  turn(one, {add_stock("1"), add_stock("2")});
  EXPECT_THAT(trail.take(),
              ElementsAre("nameless ", add_text("1"), add_text("2"), "ended 1/0/1 ok", "ended 1/0/1 ok"));
}

TEST_F(RequestTrailTest, replies_that_a_failed_commit_changed_have_the_bytes_that_are_sent) {
  engine.fail_commit(Error(ErrorCode::engine, 135));
  begin();
  send(one, add_stock("5"));
  send(one, read("5"));  // of 10, and then again of 9
  end();
  const std::vector<std::string> sent = replies(one);
  ASSERT_THAT(sent, ElementsAre("error engine 135", "rows/3 9 jar 5"));
  EXPECT_THAT(trail.reply_bytes, ElementsAre(sent[0].size() + 1, sent[1].size() + 1));
}

TEST_F(RequestTrailTest, a_request_that_must_be_first_counts_its_own_rows) {
  begin();
  send(one, add_stock("1"));
  engine.ask_to_commit_first(1);
  send(one, add_stock("2"));
  end();
  EXPECT_THAT(trail.take(),
              ElementsAre("nameless ", add_text("1"), add_text("2"), "ended 1/0/1 ok", "ended 1/0/1 ok"));
}

TEST_F(RequestTrailTest, a_request_that_waits_is_told_of_once) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(one, read("1")), "parked");
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", read_text("1")));
  EXPECT_EQ(ask(one, read("1")), "parked");
  EXPECT_THAT(trail.take(), IsEmpty());
  engine.set_busy("shop.item", false);
  EXPECT_EQ(ask(one, read("1")), "rows/3 5 pen 1");
  EXPECT_THAT(trail.take(), ElementsAre("ended 1/1/0 ok"));
}

TEST_F(RequestTrailTest, what_is_put_back_behind_another_request_is_told_of_once) {
  engine.create_table("shop.other",
                      {.columns = {engine::memory::integer("id")}, .indexes = {{"PRIMARY", {"id"}, true}}});
  EXPECT_EQ(ask(one, Ask::open(5, "shop.other", "", "id")), "ok");
  trail.take();
  // The second request waits when it runs again: the third is put back with it.
  begin();
  send(one, add_stock("1"));
  send(one, Ask::insert(5, {"1"}));
  engine.on_next_write([] {});
  engine.set_busy("shop.other", true);
  engine.lose_transaction_at_write(1);
  send(one, add_stock("2"));
  end();
  EXPECT_THAT(trail.take(), ElementsAre(add_text("1"), "received ROWSOCKET INSERT shop.other (id) VALUES (1)",
                                        add_text("2"), "ended 1/0/1 ok"));
  engine.set_busy("shop.other", false);
  turn(one, one.put_back);
  EXPECT_THAT(trail.take(), ElementsAre("ended 0/0/1 ok", "ended 1/0/1 ok"));
  ask(one, read("1"));
  EXPECT_THAT(trail.take(), ElementsAre(read_text("1"), "ended 1/1/0 ok"));
}

TEST_F(RequestTrailTest, reads_that_are_put_back_together_are_told_of_once) {
  Connection& two = shopper();
  begin();
  send(two, add_stock("5"));
  send(one, read("1"));
  send(one, read("2"));
  engine.fail_commit(Error(ErrorCode::engine, 149));
  engine.on_next_commit([this] { engine.set_busy("shop.item", true); });  // all three are to run again
  end();
  trail.take();
  engine.set_busy("shop.item", false);
  const std::vector<Ask> write_again = two.put_back;
  turn(one, one.put_back);
  EXPECT_THAT(trail.take(), ElementsAre("ended 1/1/0 ok", "ended 1/1/0 ok"));
  turn(two, write_again);
  EXPECT_THAT(trail.take(), ElementsAre("ended 1/0/1 ok"));
}

TEST_F(RequestTrailTest, who_a_client_is_is_told_by_its_login_alone) {
  ask(one, read("1"));
  trail.take();
  ask(one, Ask::authenticate("sesame"));
  EXPECT_THAT(trail.take(), IsEmpty());
}

TEST_F(RequestTrailTest, a_request_that_waits_while_the_host_looks_away_is_told_of_once) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(one, read("1")), "parked");
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", read_text("1")));
  look_away();
  EXPECT_EQ(ask(one, read("1")), "parked");
  look_again();
  EXPECT_EQ(ask(one, read("1")), "parked");
  engine.set_busy("shop.item", false);
  EXPECT_EQ(ask(one, read("1")), "rows/3 5 pen 1");
  EXPECT_THAT(trail.take(), ElementsAre("ended 1/1/0 ok"));
}

TEST_F(RequestTrailTest, what_ends_while_the_host_looks_away_is_not_mixed_up_with_what_comes_behind_it) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(one, read("1")), "parked");
  look_away();
  engine.set_busy("shop.item", false);
  EXPECT_EQ(ask(one, read("1")), "rows/3 5 pen 1");
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", read_text("1")));
  EXPECT_EQ(std::exchange(trail.open_entries, 0), 1);
  look_again();
  ask(one, read("2"));
  EXPECT_THAT(trail.take(), ElementsAre(read_text("2"), "ended 1/1/0 ok"));
}

TEST_F(RequestTrailTest, what_waits_behind_another_request_is_told_of_when_the_host_looks_again) {
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(one, read("1")), "parked");
  look_away();
  begin();
  EXPECT_EQ(send(one, read("1")), Executed::parked);
  EXPECT_EQ(send(one, read("2")), Executed::parked);
  end();
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", read_text("1")));
  look_again();
  engine.set_busy("shop.item", false);
  turn(one, one.put_back);
  EXPECT_THAT(trail.take(), ElementsAre("ended 1/1/0 ok", read_text("2"), "ended 1/1/0 ok"));
}

TEST_F(RequestTrailTest, a_request_that_is_put_off_is_told_of_once) {
  LongRequests long_requests{1};
  executor = std::make_unique<Executor>(*session, counters, shared_settings(), clock, Executor::Notices{},
                                        nullptr, &long_requests);
  one.client.is_unknown = true;
  for (int request = 0; request < 3; ++request) {
    begin();
    send(one, read("1"));
    executor->note_took(one.client, {.us = limits::own_us_per_turn_max});
    executor->end_usual(one.client);
    end();
  }
  trail.take();
  one.client.comes_behind = true;
  ask(one, read("1"));
  EXPECT_THAT(trail.take(), ElementsAre("ended 1/1/0 ok"));
}

TEST_F(RequestTrailTest, failures_end_with_their_error) {
  open_for_insert(one);
  trail.take();
  turn(one, {Ask::insert(9, {"2", "1", "x", "1"}), Ask::find(7, {"1"}), Ask::refused(ErrorCode::syntax)});
  EXPECT_THAT(
      trail.take(),
      ElementsAre("received ROWSOCKET INSERT shop.item (id, shelf, name, stock) VALUES (2, 1, 'x', 1)",
                  "received ROWSOCKET FIND [id 7] = 1 LIMIT 1", "received ROWSOCKET REFUSED [syntax]",
                  "ended 0/0/0 engine", "ended 0/0/0 unknown_id", "ended 0/0/0 syntax"));
}

TEST_F(RequestTrailTest, what_a_failed_request_has_read_counts) {
  engine.fail_write(2, Error(ErrorCode::engine, 135));
  ask(one, Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(2).update({"8"}));
  EXPECT_THAT(trail.take(), testing::Contains("ended 2/0/0 engine"));
}

TEST_F(RequestTrailTest, a_commit_that_fails_is_how_its_writes_end) {
  engine.fail_commit(Error(ErrorCode::engine, 135));
  turn(one, {add_stock("1"), read("1")});
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", add_text("1"), read_text("1"), "ended 1/0/0 engine",
                                        "ended 1/1/0 ok"));
}

TEST_F(RequestTrailTest, a_group_is_one_request) {
  turn(one, {Ask::group({read("1"), add_stock("2")})});
  EXPECT_THAT(
      trail.take(),
      ElementsAre("nameless ",
                  "received ROWSOCKET GROUP 2: FIND shop.item [index 0] = 1 LIMIT 1 COLUMNS stock, name, "
                  "id; UPDATE shop.item [index 0] = 2 SET stock += 1 LIMIT 1",
                  "ended 2/1/1 ok"));
}

TEST_F(RequestTrailTest, who_may_do_nothing_is_not_told_of) {
  settings.secret_read = "sesame";
  use_settings();
  Connection& stranger = connect();
  ask(stranger, Ask::open(0, "shop.item", "", "id"));
  ask(stranger, Ask::authenticate("wrong"));
  EXPECT_THAT(trail.take(), IsEmpty());
  ask(stranger, Ask::authenticate("sesame"));
  EXPECT_THAT(trail.take(), IsEmpty());
  ask(stranger, Ask::open(0, "shop.item", "", "id"));
  EXPECT_THAT(trail.take(), ElementsAre("nameless ", "received ROWSOCKET OPEN 0 shop.item PRIMARY COLUMNS id",
                                        "ended 0/0/0 ok"));
}

TEST_F(RequestTrailTest, who_was_somebody_meanwhile_comes_anew) {
  class Somebody final : public engine::Identity {
    [[nodiscard]] uint64_t number() const override { return 7; }
    [[nodiscard]] std::string account_name() const override { return "somebody"; }
    [[nodiscard]] uint64_t log_number() const override { return 70; }
  };
  ask(one, read("1"));
  one.client.account.set_outcome(std::make_shared<Somebody>());
  ask(one, Ask::authenticate("", Authenticate::Method::account));
  trail.take();
  ask(one, Ask::authenticate("", Authenticate::Method::nobody));
  ask(one, Ask::open(0, "shop.item", "", "id"));
  EXPECT_THAT(trail.take(), testing::Contains("nameless "));
}

TEST_F(RequestTrailTest, without_memory_for_the_log_a_request_goes_on) {
  trail.refuses_memory = true;
  EXPECT_EQ(ask(one, add_stock("1")), "= 1");
  engine.set_busy("shop.item", true);
  EXPECT_EQ(ask(one, read("1")), "parked");
  trail.refuses_memory = false;
  engine.set_busy("shop.item", false);
  EXPECT_EQ(ask(one, read("1")), "rows/3 6 pen 1");
  trail.take();
  ask(one, read("2"));
  EXPECT_THAT(trail.take(), ElementsAre(read_text("2"), "ended 1/1/0 ok"));
}

}  // namespace
}  // namespace rowsocket::exec
