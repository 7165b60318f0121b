// SPDX-License-Identifier: GPL-2.0-only
//
// Whose requests take long comes behind the others of a turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "server/intake.h"
#include "server/turn_loop_fixture.h"

namespace rowsocket::server {
namespace {

class HeavyTest : public TurnLoopTest {
 protected:
  static constexpr uint64_t long_us = 1000;
  static_assert(long_us >= limits::heavy_us);

  TestClient connect_heavy() {
    TestClient client = connect_with_items();
    connection(loop_->connections().size() - 1).note_walk(1'000'000);
    return client;
  }
  std::string insert_another() { return "0\t+\t2\t" + std::to_string(++inserted_) + "\tcup\n"; }
  /// Requests of few rows that take so long make a connection heavy after so many turns.
  static constexpr uint64_t slow_us = 500;
  static constexpr int slow_turns = 4;

  /// Heavy ones, each of which has sent a request that takes long.
  std::deque<TestClient> many_that_ask(std::string_view request = find_pen) {
    std::deque<TestClient> heavy;
    for (int number = 0; number < 20; ++number) {
      heavy.push_back(connect_heavy());
    }
    each_takes(long_us);
    for (TestClient& one : heavy) {
      one.send(request);
    }
    return heavy;
  }
  int inserted_ = 100;

  /// The next reply. While none is there the loop waits for a while, and goes on with what is there then.
  std::string reply_to(TestClient& client) {
    std::string reply = client.received();
    for (int turns = 0; reply.empty() && turns < 100; ++turns) {
      EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::well);
      reply = client.received();
    }
    return reply;
  }
};

TEST_F(HeavyTest, after_a_long_request_the_others_have_the_loop_for_a_while) {
  TestClient heavy = connect_heavy();
  TestClient light = connect_known();
  clock_.advance_ms(100);
  const auto ask_both = [&] {
    heavy.send(find_pen);
    each_takes(0);
    light.send(find_ink);
    engine_.on_next_request([this] { each_takes(long_us); });  // the light one comes first
    turn();
    EXPECT_EQ(light.received(), ink);
  };
  constexpr uint64_t far_too_often = limits::heavy_credit_us / long_us;
  uint64_t answered = 0;
  do {
    ask_both();
  } while (!heavy.received().empty() && ++answered < far_too_often);
  EXPECT_LT(answered, far_too_often) << "it has used up its time";
  clock_.advance_us(limits::long_requests_share * long_us);
  ask_both();
  EXPECT_NE(heavy.received(), "");
}

TEST_F(HeavyTest, where_no_light_one_comes_they_do_not_wait) {
  TestClient heavy = connect_heavy();
  each_takes(long_us);
  for (int times = 0; times < 10; ++times) {
    heavy.send(find_pen);
    EXPECT_EQ(reply_to(heavy), pen);
  }
}

TEST_F(HeavyTest, a_turn_ends_before_it_has_executed_too_many_of_them) {
  std::deque<TestClient> heavy = many_that_ask();
  for (size_t answered = 0; answered < heavy.size();) {
    const uint64_t began_us = clock_.now_us();
    EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::well);
    EXPECT_LE(clock_.now_us() - began_us, limits::heavy_us_per_turn);
    answered += static_cast<size_t>(
        std::count_if(heavy.begin(), heavy.end(), [](TestClient& one) { return !one.received().empty(); }));
  }
}

TEST_F(HeavyTest, they_take_turns) {
  std::deque<TestClient> heavy = many_that_ask();
  for (TestClient& one : heavy) {
    EXPECT_EQ(reply_to(one), pen);
  }
}

TEST_F(HeavyTest, who_takes_little_does_not_wait_for_all_who_take_much) {
  TestClient little = connect_with_items();
  connection(0).walked_us = limits::heavy_us;
  std::deque<TestClient> much = many_that_ask();
  turn();
  little.send(find_pen);
  turn(4);
  EXPECT_EQ(little.received(), pen);
  for (TestClient& one : much) {
    EXPECT_EQ(reply_to(one), pen);
  }
}

TEST_F(HeavyTest, who_takes_much_has_half_of_the_time_of_those_in_line) {
  std::deque<TestClient> all = many_that_ask();
  const size_t half = all.size() / 2;
  for (size_t number = 0; number < half; ++number) {
    connection(number).usual_walk_eighths = 8 * limits::heavy_us;
  }
  for (size_t served = 0; served < half; ++served) {
    turn();
  }
  const auto answered = [&](size_t from) {
    return std::count_if(all.begin() + static_cast<ptrdiff_t>(from),
                         all.begin() + static_cast<ptrdiff_t>(from + half),
                         [](TestClient& one) { return !one.received().empty(); });
  };
  EXPECT_NEAR(static_cast<double>(answered(0)), static_cast<double>(answered(half)), 2.0);
}

TEST_F(HeavyTest, who_did_not_wait_has_nothing_to_catch_up_with) {
  std::deque<TestClient> before = many_that_ask();
  for (TestClient& one : before) {
    EXPECT_EQ(reply_to(one), pen);
  }
  const size_t before_count = loop_->connections().size();
  std::deque<TestClient> all = many_that_ask();
  const size_t half = all.size() / 2;
  for (size_t number = 0; number < half; ++number) {
    connection(before_count + number).usual_walk_eighths = 8 * limits::heavy_us;
  }
  clock_.advance_ms(1000);  // the light requests with which they began are long over
  const auto is_answered = [](TestClient& one) { return !one.received().empty(); };
  for (size_t served = 0; served < half; ++served) {
    turn();
  }
  EXPECT_GT(std::count_if(all.begin(), all.begin() + static_cast<ptrdiff_t>(half), is_answered), 2);
  EXPECT_GT(std::count_if(all.begin() + static_cast<ptrdiff_t>(half), all.end(), is_answered), 2);
}

TEST_F(HeavyTest, one_walk_that_the_machine_interrupted_makes_nobody_take_much) {
  TestClient client = connect_with_items();
  ClientConnection& one = connection(0);
  one.note_walk(70);
  one.note_walk(4'000);
  EXPECT_TRUE(one.takes_little());
  one.note_walk(0);
  one.note_walk(70);
  one.note_walk(4'000);
  EXPECT_FALSE(one.takes_little()) << "that was no exception";
  for (int turns = 0; turns < 12; ++turns) {
    one.note_walk(70);
  }
  EXPECT_TRUE(one.takes_little());
}

TEST_F(HeavyTest, who_walks_for_long_takes_much_from_the_first_walk_on) {
  TestClient client = connect_with_items();
  ClientConnection& one = connection(0);
  one.note_walk(limits::little_us);
  EXPECT_FALSE(one.takes_little());
}

TEST_F(HeavyTest, whose_requests_of_few_rows_take_long_takes_much) {
  TestClient client = connect_with_items();
  ClientConnection& one = connection(0);
  EXPECT_TRUE(one.takes_little());
  one.own_time.presume_heavy();
  EXPECT_FALSE(one.takes_little());
}

TEST_F(HeavyTest, who_takes_turns_with_short_and_long_walks_takes_much) {
  TestClient client = connect_with_items();
  ClientConnection& one = connection(0);
  for (int turns = 0; turns < 10; ++turns) {
    one.note_walk(700);
    EXPECT_FALSE(one.takes_little());
    one.note_walk(60);
    EXPECT_FALSE(one.takes_little());
  }
}

TEST_F(HeavyTest, who_went_on_beside_the_loop_takes_much) {
  TestClient client = connect_with_items();
  ClientConnection& one = connection(0);
  one.note_walk(70);
  one.note_beside(limits::slice_us - 1);
  EXPECT_TRUE(one.takes_little()) << "it has waited";
  EXPECT_FALSE(one.outlasts_slice());
  one.note_beside(limits::slice_us);
  EXPECT_FALSE(one.takes_little());
  EXPECT_TRUE(one.outlasts_slice());
}

TEST_F(HeavyTest, who_waits_in_line_or_rests_is_not_idle) {
  settings_.idle_timeout_s = 1;
  reconfigure();
  TestClient in_line = connect_with_items();
  TestClient resting = connect_with_items();
  connection(0).is_in_line = true;
  connection(1).rests_until_ms = clock_.now_ms() + 5000;
  EXPECT_EQ(ask(resting, find_pen), pen);
  for (int seconds = 0; seconds < 3; ++seconds) {
    clock_.advance_ms(1000);
    turn();
  }
  EXPECT_EQ(loop_->connections().size(), 2U);
  connection(0).is_in_line = false;
  clock_.advance_ms(1000);
  turn();
  EXPECT_EQ(loop_->connections().size(), 1U);
}

TEST_F(HeavyTest, what_others_changed_is_committed_before_a_request_that_may_go_on_without_the_loop) {
  TestClient heavy = connect_heavy();
  TestClient light = connect_with_items();
  for (const bool outlasts : {true, false}) {
    connection(0).walked_us = outlasts ? 2 * limits::slice_us : 2 * limits::heavy_us;
    bool is_settled = false;
    engine_.on_next_request([&] {  // of the light one
      engine_.on_next_request([&] { is_settled = turn_->settled() == turn_->reached(); });
    });
    heavy.send(find_pen);
    light.send("0\t=\t1\t1\t1\t0\tU\t1\n");
    turn();
    EXPECT_EQ(is_settled, outlasts);
    EXPECT_NE(light.received(), "");
    EXPECT_EQ(heavy.received(), pen);
  }
}

TEST_F(HeavyTest, what_is_received_in_the_middle_of_a_turn_needs_a_newer_snapshot) {
  TestClient heavy = connect_heavy();
  TestClient light = connect_with_items();
  light.send(find_pen);
  heavy.send(find_pen);
  const uint64_t before = engine_.snapshots_expired();
  turn();
  EXPECT_EQ(light.received() + heavy.received(), std::string(pen).append(pen));
  EXPECT_EQ(engine_.snapshots_expired() - before, 1U);
}

TEST_F(HeavyTest, who_asks_short_requests_for_some_turns_is_light_again) {
  TestClient client = connect_with_items();
  connection(0).note_walk(limits::heavy_us);
  EXPECT_TRUE(connection(0).takes_long());
  EXPECT_EQ(ask(client, find_pen, 3), pen);
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, who_asks_requests_of_few_rows_that_take_long_is_heavy_after_some_turns) {
  TestClient client = connect_with_items();
  each_takes(slow_us);
  for (int turns = 0; turns < slow_turns; ++turns) {
    EXPECT_FALSE(connection(0).takes_long());
    EXPECT_EQ(ask(client, find_pen), pen);
  }
  EXPECT_TRUE(connection(0).takes_long());
  each_takes(0);
  for (int turns = 0; turns < slow_turns; ++turns) {
    client.send(find_pen);
    EXPECT_EQ(reply_to(client), pen);
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, who_comes_anew_for_each_request_is_heavy_where_what_it_asks_usually_takes_long) {
  TestClient light = connect_with_items();
  const auto newcomer_is_answered_at_once = [&] {
    TestClient newcomer = connect_with_items();
    newcomer.send(find_pen);
    light.send("nothing\n");
    turn();
    light.received();
    const bool is_answered = newcomer.received() == pen;
    EXPECT_TRUE(is_answered || ask(newcomer, "", 3) == pen);
    return is_answered;
  };
  EXPECT_TRUE(newcomer_is_answered_at_once());
  each_takes(slow_us);
  EXPECT_TRUE(newcomer_is_answered_at_once());
  for (int number = 0; number < 10; ++number) {
    newcomer_is_answered_at_once();
  }
  EXPECT_FALSE(newcomer_is_answered_at_once());
  each_takes(0);
  for (int number = 0; number < 20; ++number) {
    newcomer_is_answered_at_once();
  }
  EXPECT_TRUE(newcomer_is_answered_at_once());
}

TEST_F(HeavyTest, what_a_newcomer_asked_before_in_the_same_turn_makes_it_no_lighter) {
  TestClient light = connect_known();
  std::deque<TestClient> newcomers;
  for (int number = 0; number < 5; ++number) {
    each_takes(slow_us);
    newcomers.push_back(connect());
    newcomers.back().send(std::string(open_items) + std::string(find_pen));
    light.send("nothing\n");
    turn();
  }
  EXPECT_EQ(newcomers.back().received(), ok);
  EXPECT_TRUE(connection(loop_->connections().size() - 1).takes_long());
  turn(3);
  EXPECT_EQ(newcomers.back().received(), pen);
}

TEST_F(HeavyTest, a_pipeline_of_short_requests_is_not_heavy) {
  TestClient client = connect_with_items();
  each_takes(limits::own_us_free_per_read);
  for (int turns = 0; turns < 2 * slow_turns; ++turns) {
    EXPECT_EQ(ask(client, repeat(find_pen, 50)), repeat(pen, 50));
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, more_is_free_of_a_write_than_of_a_read) {
  TestClient client = connect_with_items();
  const auto write_for = [&](uint64_t us) {
    for (int turns = 0; turns < slow_turns; ++turns) {
      each_takes(us);
      std::string writes;
      std::string replies;
      for (int number = 0; number < 20; ++number) {
        writes += insert_another();
        replies += ok;
      }
      EXPECT_EQ(ask(client, writes, 20), replies);
    }
  };
  write_for(limits::own_us_free_per_write);
  EXPECT_FALSE(connection(0).takes_long());
  write_for(2 * limits::own_us_free_per_write);
  EXPECT_TRUE(connection(0).takes_long());
}

TEST_F(HeavyTest, what_requests_leave_to_the_commit_is_their_own_time) {
  TestClient client = connect_with_items();
  for (int turns = 0; turns < slow_turns; ++turns) {
    EXPECT_EQ(ask(client, insert_another()), ok);
  }
  EXPECT_FALSE(connection(0).takes_long());
  engine_.leave_to_commits(slow_us + limits::own_us_free_per_write);
  for (int turns = 0; turns < slow_turns; ++turns) {
    EXPECT_EQ(ask(client, insert_another()), ok);
  }
  EXPECT_TRUE(connection(0).takes_long());
}

TEST_F(HeavyTest, requests_that_take_nothing_hide_no_slow_one_beside_them) {
  constexpr std::string_view refused_write = "9\t+\t1\t1\n";
  constexpr std::string_view refused_read = "9\t=\t1\t1\n";
  for (const std::string_view quick : {refused_write, refused_read, find_pen}) {
    TestClient client = connect_with_items();
    for (int turns = 0; turns < slow_turns; ++turns) {
      engine_.on_next_request([this] { clock_.advance_us(slow_us + limits::own_us_free_per_read); });
      EXPECT_NE(ask(client, std::string(find_pen).append(repeat(quick, 60))), "");
    }
    EXPECT_TRUE(connection(loop_->connections().size() - 1).takes_long()) << quick;
  }
}

TEST_F(HeavyTest, a_long_write_of_a_client_that_was_known_for_quick_ones_is_expected_again) {
  TestClient client = connect_known();
  for (int writes = 0; writes < exec::QuickWrites::known_count; ++writes) {
    EXPECT_EQ(ask(client, insert_another()), ok);
  }
  const exec::LongRequests::Place place =
      long_requests_.place_of(0, *connection(0).client.selection(0), Insert());
  const auto take_long = [&](std::string_view request) {
    engine_.on_next_request([this] { clock_.advance_us(limits::long_write_us_min_unseen); });
    client.send(request);
    EXPECT_NE(reply_to(client), "");
  };
  take_long(find_pen);
  EXPECT_FALSE(long_requests_.expects(place));
  EXPECT_TRUE(connection(0).client.quick_writes.is_known(place)) << "that was a read";
  take_long(insert_another());
  EXPECT_TRUE(long_requests_.expects_of_all(place));
  EXPECT_FALSE(connection(0).client.quick_writes.is_known(place));
}

TEST_F(HeavyTest, a_long_write_that_makes_all_run_again_is_expected_again) {
  TestClient client = connect_known();
  for (int writes = 0; writes < exec::QuickWrites::known_count; ++writes) {
    EXPECT_EQ(ask(client, insert_another()), ok);
  }
  const exec::LongRequests::Place place =
      long_requests_.place_of(0, *connection(0).client.selection(0), Insert());
  engine_.lose_transaction_at_write(1);
  engine_.on_next_request([this] { clock_.advance_us(limits::long_write_us_min_unseen); });
  client.send(insert_another());
  EXPECT_EQ(reply_to(client), ok);
  EXPECT_TRUE(long_requests_.expects_of_all(place));
  EXPECT_FALSE(connection(0).client.quick_writes.is_known(place));
}

TEST_F(HeavyTest, of_a_long_write_a_commit_in_the_middle_is_left_out_once) {
  TestClient client = connect_with_items();
  const exec::LongRequests::Place place =
      long_requests_.place_of(0, *connection(0).client.selection(0), Insert());
  const auto is_long_behind_a_commit = [&](uint64_t us) {
    long_requests_.note_long(place, 1, false);
    engine_.on_next_commit([this] {
      turn_->note_wait_for_others();
      clock_.advance_ms(1000);
      turn_->note_wait_over();
    });
    engine_.on_next_request([this, us] { engine_.on_next_request([this, us] { clock_.advance_us(us); }); });
    EXPECT_EQ(ask(client, insert_another() + insert_another(), 2), std::string(ok) + std::string(ok));
    return long_requests_.expects(place);
  };
  EXPECT_FALSE(is_long_behind_a_commit(0));
  EXPECT_TRUE(is_long_behind_a_commit(limits::long_write_us_min_unseen));
}

TEST_F(HeavyTest, who_waits_for_others_for_long_is_not_heavy) {
  TestClient client = connect_with_items();
  for (int turns = 0; turns < 2 * slow_turns; ++turns) {
    engine_.on_next_request([this] {
      turn_->note_wait_for_others();
      clock_.advance_ms(10);
      turn_->note_wait_over();
    });
    EXPECT_EQ(ask(client, find_pen), pen);
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, a_commit_in_the_middle_is_not_measured) {
  TestClient client = connect_with_items();
  for (int turns = 0; turns < 2 * slow_turns; ++turns) {
    engine_.on_next_commit([this] { clock_.advance_ms(10); });
    // An open behind a write: what was asked before it is committed.
    EXPECT_EQ(ask(client, "0\t=\t1\t1\t1\t0\tU\t1\nP\t7\tshop\titem\t\tid\n", 2), "0\t1\t1\n0\t1\n");
  }
  EXPECT_FALSE(connection(0).takes_long());
}

TEST_F(HeavyTest, what_comes_before_a_commit_in_the_middle_and_behind_it_is_measured) {
  const std::string change = "0\t=\t1\t1\t1\t0\tU\t1\n";
  const std::string open = "P\t7\tshop\titem\t\tid\n";
  std::deque<TestClient> clients;
  for (const bool before : {false, true}) {
    TestClient& client = clients.emplace_back(connect_with_items());
    const std::string finds = repeat(find_pen, 4);
    const std::string pens = repeat(pen, 4);
    for (int turns = 0; turns < slow_turns; ++turns) {
      each_takes(slow_us);
      EXPECT_EQ(ask(client, before ? change + finds + open : change + open + finds, 2),
                before ? "0\t1\t1\n" + pens + "0\t1\n" : "0\t1\t1\n0\t1\n" + pens);
    }
    EXPECT_TRUE(connection(clients.size() - 1).takes_long()) << before;
  }
}

TEST_F(HeavyTest, those_that_are_slow_by_themselves_share_a_commit) {
  TestClient client = connect_with_items();
  for (int turns = 0; turns < slow_turns; ++turns) {
    connection(0).own_time.add(slow_us);
  }
  EXPECT_TRUE(connection(0).takes_long());
  EXPECT_FALSE(connection(0).outlasts_slice());
}

TEST_F(HeavyTest, a_turn_takes_more_of_those_that_share_its_commit) {
  const auto answered_in_a_turn = [this](std::string_view request) {
    std::deque<TestClient> heavy = many_that_ask(request);
    EXPECT_EQ(loop_->run(*turn_), TurnLoop::Ended::well);
    return std::count_if(heavy.begin(), heavy.end(), [](TestClient& one) { return !one.received().empty(); });
  };
  EXPECT_EQ(answered_in_a_turn(find_pen), limits::heavy_us_per_turn_of_reads / long_us);
  EXPECT_GT(answered_in_a_turn("0\t=\t1\t1\t1\t0\tU\t1\n"), limits::heavy_us_per_turn_of_reads / long_us);
}

TEST_F(HeavyTest, one_that_goes_while_it_waits_in_line_is_forgotten) {
  TestClient light = connect_with_items();
  {
    TestClient heavy = connect_heavy();
    each_takes(long_us);
    for (int times = 0; times < 4; ++times) {
      heavy.send(repeat(find_pen, 2));
      light.send(find_ink);
      turn();
    }
  }
  clock_.advance_ms(100);
  turn(10);
  EXPECT_EQ(loop_->connections().size(), 1U);
}

TEST_F(HeavyTest, what_one_has_asked_that_resets_the_connection_in_line_is_not_begun) {
  TestClient light = connect_with_items();
  const size_t rows = engine_.rows("shop.item").size();
  {
    TestClient heavy = connect_heavy();
    each_takes(long_us);
    for (int times = 0; times < 8; ++times) {  // until it has had all of its time
      heavy.send(times < 7 ? std::string(find_pen) : insert_another());
      light.send(find_ink);
      turn();
    }
    EXPECT_EQ(engine_.rows("shop.item").size(), rows) << "it waits in line";
  }
  clock_.advance_ms(100);
  turn(2);
  EXPECT_EQ(engine_.rows("shop.item").size(), rows);
}

TEST_F(HeavyTest, a_request_that_was_given_up_is_over_where_its_client_has_gone) {
  TestClient heavy = connect_with_items();
  connection(0).client.given_up.count = 1;
  heavy.send(find_pen);
  heavy.close();
  turn(2);
  EXPECT_EQ(loop_->connections().size(), 0U);
  EXPECT_EQ(count(Counter::requests_stopped), 1U);
  EXPECT_EQ(count(Counter::requests_find), 0U);
}

TEST_F(HeavyTest, who_owes_a_rest_is_answered_when_it_is_over) {
  TestClient client = connect_with_items();
  connection(0).rests_until_ms = clock_.now_ms() + 20;
  EXPECT_EQ(ask(client, find_pen), pen) << "this one was asked before";
  EXPECT_EQ(ask(client, find_pen), "");
  clock_.advance_ms(19);
  turn();
  EXPECT_EQ(client.received(), "");
  clock_.advance_ms(1);
  turn(2);
  EXPECT_EQ(client.received(), pen);
}

TEST_F(HeavyTest, who_owes_a_rest_and_has_asked_nothing_is_answered_later) {
  TestClient client = connect_with_items();
  connection(0).rests_until_ms = clock_.now_ms() + 20;
  EXPECT_EQ(ask(client, find_pen), pen);
  clock_.advance_ms(20);
  turn();
  EXPECT_EQ(ask(client, find_pen), pen);
}

TEST_F(HeavyTest, who_has_rested_and_asks_nothing_takes_no_place_in_the_line) {
  TestClient rested = connect_heavy();
  connection(0).rests_until_ms = clock_.now_ms() + 20;
  EXPECT_EQ(ask(rested, find_pen), pen);
  auto others = many_that_ask();
  turn();
  clock_.advance_ms(20);
  turn();
  EXPECT_TRUE(connection(10).is_in_line);
  EXPECT_FALSE(connection(0).is_in_line);
}

}  // namespace
}  // namespace rowsocket::server
