// SPDX-License-Identifier: GPL-2.0-only
//
// Before a write that is expected to take long, the turn commits.
#include "exec/long_requests.h"

#include <optional>
#include <set>

#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

class LongRequestsTest : public ExecutorTest {
 protected:
  LongRequestsTest() {
    open_for_insert(one);
    open_for_insert(other);
    executor = std::make_unique<Executor>(*session, counters, shared_settings(), clock, Executor::Notices{},
                                          nullptr, &long_requests);
  }
  static Ask add_stock() { return Ask::find(0, {"1"}).add({"1"}); }
  static Ask read() { return Ask::find(0, {"1"}); }
  Ask insert() {
    return Ask::insert(9, {std::to_string(++inserted), "1", "x" + std::to_string(inserted), "1"});
  }

  /// That was the last request of the connection. It went on beside the loop.
  void took(Connection& connection, std::optional<uint64_t> us, Runner::Walked walked = {}) {
    executor->note_took(connection.client, {.us = us, .walked = walked, .was_beside = true});
  }
  /// The next commit that changes something takes so long.
  void commit_for(uint64_t us) {
    engine.on_next_commit([this, us] { clock.advance_us(us); });
  }

  /// Whether what another connection has changed in the same turn is committed before this request begins.
  bool commits_before(const Ask& request) { return commits_before_of(other, request); }
  bool commits_before_of(Connection& connection, const Ask& request) {
    bool is_settled = false;
    commit_for(commit_us);
    begin();
    send(&connection == &one ? other : one, Ask::find(0, {"2"}).add({"1"}));
    engine.on_next_request([&] { is_settled = executor->nothing_staged(); });
    send(connection, request);
    end();
    return is_settled;
  }
  /// One turn, whose last request takes long.
  void take_long(const std::vector<Ask>& requests) {
    begin();
    for (const Ask& request : requests) {
      send(one, request);
    }
    took(one, took_us);
    end();
  }
  /// A turn of one insert, which takes so long.
  void insert_for(Connection& connection, uint64_t us, Runner::Walked walked = {}) {
    begin();
    send(connection, insert());
    took(connection, us, walked);
    end();
  }

  /// Before inserts of the other connection, which together take as long as a long write did.
  void pay_with_two_commits() {
    for (int time = 0; time < 2; ++time) {
      begin();
      send(one, add_stock());
      commit_for(took_us / 2);
      send(other, insert());
      end();
    }
  }

  void other_writes_quickly(int times, std::optional<Ask> request = {}) {
    for (int time = 0; time < times; ++time) {
      begin();
      send(other, request.has_value() ? *request : insert());
      end();
    }
  }

  /// In a turn of its own.
  Executed ask_for(const Ask& request, uint64_t us) {
    begin();
    const Executed executed = send(one, request);
    took(one, us);
    executor->end_usual(one.client);
    end();
    return executed;
  }

  static constexpr uint64_t took_us = 20'000;
  static constexpr uint64_t commit_us = 1'000;
  static constexpr int behind_count = took_us / commit_us;

  LongRequests long_requests{1};
  Connection& one = shopper();
  Connection& other = shopper();
  int inserted = 100;
};

TEST_F(LongRequestsTest, whoever_asks_for_it_again) {
  EXPECT_FALSE(commits_before(insert()));
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert()));
  EXPECT_EQ(counters.read(Counter::commits_before_long), 1U);
}

TEST_F(LongRequestsTest, other_writes_of_the_table_share_their_commit) {
  take_long({insert()});
  EXPECT_FALSE(commits_before(add_stock()));
}

TEST_F(LongRequestsTest, a_member_of_a_group_is_expected_to_take_as_long_as_alone) {
  take_long({Ask::group({add_stock(), insert()})});
  EXPECT_TRUE(commits_before(insert()));
  EXPECT_TRUE(commits_before(add_stock()));
}

TEST_F(LongRequestsTest, a_read_of_a_group_is_not_expected_to_take_long) {
  take_long({Ask::group({read(), insert()})});
  EXPECT_FALSE(commits_before(Ask::group({read(), add_stock()})));
}

TEST_F(LongRequestsTest, what_the_client_reads_then_shares_the_commit) {
  take_long({insert()});
  EXPECT_FALSE(commits_before_of(one, read()));
}

TEST_F(LongRequestsTest, a_read_that_took_long_is_none_of_the_writes) {
  take_long({insert(), read()});
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, what_took_long_without_a_row_is_none_of_the_writes_before_it) {
  take_long({insert(), Ask::open(5, "shop.item", "", "id")});
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, one_that_is_not_over_yet) {
  begin();
  send(one, insert());
  const uint64_t noted =
      executor->write_under_way().note_longer(long_requests, clock.now_us(), clock.now_us() + took_us, 0);
  end();
  EXPECT_EQ(noted, took_us);
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, the_commit_of_a_full_transaction_is_not_the_own_time_of_its_last_write) {
  std::optional<uint64_t> noted_us;
  engine.make_transactions_long();
  engine.on_next_commit([&] {
    const uint64_t now_us = clock.now_us();
    noted_us = executor->write_under_way().note_longer(long_requests, now_us, now_us + took_us, 0);
  });
  ask(one, insert());
  EXPECT_EQ(noted_us, 0U);
}

TEST_F(LongRequestsTest, not_of_a_client_that_is_known_for_quick_ones) {
  other_writes_quickly(QuickWrites::known_count - 1);
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert()));
  take_long({insert()});
  EXPECT_FALSE(commits_before(insert()));
  EXPECT_TRUE(commits_before_of(one, insert()));
}

TEST_F(LongRequestsTest, nor_of_one_that_writes_into_a_few_tables_in_turn) {
  for (int time = 0; time < QuickWrites::known_count; ++time) {
    other_writes_quickly(1);
    other_writes_quickly(1, add_stock());
  }
  take_long({insert()});
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, of_all_clients_of_the_account_once_one_that_was_known_for_quick_ones_takes_long) {
  other_writes_quickly(QuickWrites::known_count);
  insert_for(one, 100 * took_us);
  EXPECT_FALSE(commits_before(insert()));
  Connection& third = shopper();
  open_for_insert(third);
  for (int time = 0; time < QuickWrites::known_count; ++time) {
    insert_for(third, 0);
  }
  insert_for(third, took_us);
  for (int time = 0; time < behind_count; ++time) {
    EXPECT_TRUE(commits_before(insert())) << time;
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, not_of_all_where_one_takes_long_that_was_known_but_has_its_own_long_write_to_pay) {
  other_writes_quickly(QuickWrites::known_count);
  Connection& third = shopper();
  open_for_insert(third);
  const auto take_long_behind_quick_ones = [&] {
    for (int time = 0; time < QuickWrites::known_count; ++time) {
      insert_for(third, 0);
    }
    insert_for(third, took_us);
  };
  take_long_behind_quick_ones();
  for (int time = 0; time < behind_count; ++time) {
    EXPECT_TRUE(commits_before(insert())) << time;
  }
  take_long_behind_quick_ones();
  EXPECT_FALSE(commits_before(insert()));
  EXPECT_TRUE(commits_before_of(third, insert()));
}

TEST_F(LongRequestsTest, who_was_known_and_takes_long_has_to_show_anew_that_it_is_quick) {
  other_writes_quickly(QuickWrites::known_count);
  insert_for(other, took_us);
  for (int time = 0; time < QuickWrites::known_count; ++time) {
    insert_for(one, 10 * took_us);
    EXPECT_TRUE(commits_before(insert())) << time;
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, of_the_client_itself_also_where_others_of_its_account_have_paid) {
  insert_for(other, took_us);
  for (int count = 0; count < behind_count; ++count) {
    EXPECT_TRUE(commits_before_of(one, insert()));
    one.client.quick_writes = {};
  }
  EXPECT_FALSE(commits_before_of(one, insert()));
  for (int count = 0; count < behind_count; ++count) {
    EXPECT_TRUE(commits_before(insert()));
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, not_of_other_accounts) {
  const auto selections = std::make_shared<engine::OpenedSelections>();
  const auto selection = selections->find_or_add({.database = "d", .table = "t", .index = ""});
  std::set<LongRequests::Place> places;
  for (uint64_t account = 0; account < 64; ++account) {
    places.insert(long_requests.place_of(account, *selection, Insert()));
  }
  EXPECT_GT(places.size(), 50U);
}

TEST_F(LongRequestsTest, of_an_account_whenever_and_from_wherever_its_clients_log_in) {
  const auto selections = std::make_shared<engine::OpenedSelections>();
  const auto place_of = [&](uint64_t login) {
    const auto selection =
        selections->find_or_add({.database = "d", .table = "t", .index = "", .account = login});
    return long_requests.usual_place_of(1, *selection, Find());
  };
  EXPECT_EQ(place_of(engine::first_account), place_of(engine::first_account + 1));
}

TEST_F(LongRequestsTest, commits_of_nothing_do_not_make_good_for_it) {
  take_long({insert()});
  for (int time = 0; time < behind_count; ++time) {
    begin();
    send(one, Ask::find(0, {"77"}).add({"1"}));
    send(other, insert());
    end();
    other.client.quick_writes = {};
  }
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, where_a_commit_takes_longer_fewer_make_good_for_it) {
  take_long({insert()});
  pay_with_two_commits();
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, of_its_own_client_too_for_no_longer_than_it_took) {
  insert_for(other, took_us);
  pay_with_two_commits();
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, where_nobody_goes_on_with_the_loop_a_busy_machine_may_be_the_reason) {
  const auto insert_unseen = [&](uint64_t us) {
    begin();
    send(one, insert());
    executor->note_took(one.client, {.us = us});
    end();
  };
  insert_unseen(limits::long_write_us_min_unseen - 1);
  EXPECT_FALSE(commits_before(insert()));
  insert_unseen(limits::long_write_us_min_unseen);
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, who_writes_alone_has_no_commit_before_and_the_next_one_pays) {
  take_long({insert()});
  other_writes_quickly(2 * behind_count);
  other.client.quick_writes = {};
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, of_a_client_whose_long_write_has_failed) {
  other_writes_quickly(QuickWrites::known_count);
  begin();
  send(other, Ask::insert(9, {"1", "1", "is there", "1"}));
  took(other, took_us);
  end();
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, of_a_client_whose_long_write_is_put_back) {
  other_writes_quickly(QuickWrites::known_count);
  engine.set_busy("shop.item", true);
  begin();
  EXPECT_EQ(send(other, insert()), Executed::parked);
  took(other, took_us);
  end();
  engine.set_busy("shop.item", false);
  other.put_back.clear();
  other.client.parked_since_ms = 0;
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest,
       of_all_where_one_that_was_known_takes_long_before_it_is_put_back_with_its_own_to_pay) {
  other_writes_quickly(QuickWrites::known_count);
  Connection& third = shopper();
  open_for_insert(third);
  for (int time = 0; time < QuickWrites::known_count; ++time) {
    insert_for(third, 0);
  }
  third.client.long_us_left = 1;
  third.client.parked_since_ms = 1;  // it was put back before
  insert_for(third, took_us);
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, not_of_all_where_the_engine_wanted_a_commit_before_it) {
  other_writes_quickly(2 * QuickWrites::known_count);
  begin();
  send(one, Ask::find(0, {"2"}).add({"1"}));
  engine.ask_to_commit_first(1);
  send(other, insert());
  took(other, took_us);
  end();
  EXPECT_FALSE(long_requests.expects_of_all(long_requests.place_of(0, *other.client.selection(9), Insert())));
}

TEST_F(LongRequestsTest, who_wrote_where_others_had_to_write_again_has_to_show_anew_that_it_is_quick) {
  other_writes_quickly(QuickWrites::known_count);
  begin();
  send(other, insert());
  took(other, std::nullopt);
  end();
  EXPECT_FALSE(commits_before(insert())) << "nobody is known to take long";
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, a_walk_is_not_long_as_it_can_be_given_up) {
  insert_for(one, took_us, {.us = took_us, .stuck_us = limits::long_write_us_min - 1});
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, a_long_read_says_nothing_of_how_quick_the_writes_of_its_client_are) {
  other_writes_quickly(QuickWrites::known_count);
  begin();
  send(other, read());
  took(other, took_us);
  end();
  take_long({insert()});
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, writes_of_no_row_and_writes_that_fail_say_nothing_of_how_quick_a_client_is) {
  other_writes_quickly(QuickWrites::known_count, Ask::find(0, {"77"}).add({"1"}));
  other_writes_quickly(QuickWrites::known_count, Ask::insert(9, {"1", "1", "is there", "1"}));
  take_long({add_stock()});
  EXPECT_TRUE(commits_before(add_stock()));
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, what_clients_of_whom_nothing_is_known_usually_take_is_a_mean_of_the_last_ones) {
  const auto selections = std::make_shared<engine::OpenedSelections>();
  const auto selection = selections->find_or_add({.database = "d", .table = "t", .index = ""});
  const LongRequests::UsualPlace place = long_requests.usual_place_of(0, *selection, Find());
  EXPECT_NE(long_requests.usual_place_of(0, *selection, Insert()), place);
  EXPECT_EQ(long_requests.usual_us(place), 0U);
  long_requests.note_usual(place, 3'600'000'000);
  EXPECT_LT(long_requests.usual_us(place), limits::unknown_own_us_max);  // others may have had the processor
  for (int request = 0; request < 50; ++request) {
    long_requests.note_usual(place, 400);
  }
  EXPECT_NEAR(long_requests.usual_us(place), 400, 10);
  for (int request = 0; request < 50; ++request) {
    long_requests.note_usual(place, 0);
  }
  EXPECT_EQ(long_requests.usual_us(place), 0U);
}

TEST_F(LongRequestsTest, of_a_client_of_whom_nothing_is_known_as_of_those_who_asked_for_the_same) {
  one.client.is_unknown = true;
  EXPECT_EQ(ask_for(read(), 600), Executed::done);
  EXPECT_EQ(ask_for(read(), 600), Executed::done);
  replies(one);
  EXPECT_EQ(ask_for(read(), 0), Executed::put_off);
  EXPECT_EQ(counters.read(Counter::requests_put_off), 1U);
  EXPECT_TRUE(one.out.empty());
  EXPECT_EQ(ask_for(add_stock(), 0), Executed::done);
  one.client.is_unknown = false;
  EXPECT_EQ(ask_for(read(), 0), Executed::done);
  one.client.is_unknown = one.client.comes_behind = true;
  one.client.has_taken_long = false;  // another one
  for (int request = 0; request < 4; ++request) {
    EXPECT_EQ(ask_for(read(), 0), Executed::done);
  }
  one.client.comes_behind = false;
  EXPECT_EQ(ask_for(read(), 0), Executed::done);
}

TEST_F(LongRequestsTest, who_asks_quick_ones_beside_a_slow_one_is_no_example_for_others) {
  one.client.is_unknown = true;
  for (int client = 0; client < 3; ++client) {
    begin();
    for (const uint64_t us : {0, 600, 0, 0, 0, 0}) {
      send(one, read());
      took(one, us);
    }
    executor->end_usual(one.client);
    end();
    one.client.has_taken_long = false;  // another one
  }
  begin();
  EXPECT_EQ(send(one, read()), Executed::put_off);
  end();
}

TEST_F(LongRequestsTest, who_asks_quick_ones_behind_a_slow_one_is_no_example_for_others) {
  for (int client = 0; client < 3; ++client) {
    one.client.has_taken_long = false;
    one.client.is_unknown = one.client.comes_behind = true;
    begin();
    for (const uint64_t us : {600, 0, 0, 0}) {
      send(one, read());
      took(one, us);
      send(one, add_stock());
      took(one, 0);
    }
    executor->end_usual(one.client);
    end();
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(ask_for(read(), 0), Executed::done);
    }
  }
  one.client.has_taken_long = false;
  one.client.comes_behind = false;
  EXPECT_EQ(ask_for(read(), 0), Executed::put_off);
}

TEST_F(LongRequestsTest, what_is_not_done_is_no_example_for_others) {
  one.client.is_unknown = true;
  const auto is_there = [](const std::string& name) { return Ask::insert(9, {"1", "1", name, "1"}); };
  for (int slow = 0; slow < 2; ++slow) {
    EXPECT_EQ(ask_for(insert(), 600), Executed::done);
  }
  one.client.comes_behind = true;
  for (int quick = 0; quick < 20; ++quick) {
    EXPECT_EQ(ask_for(is_there("fails"), 0), Executed::done);
  }
  one.client.comes_behind = false;
  EXPECT_EQ(ask_for(insert(), 0), Executed::put_off);
}

TEST_F(LongRequestsTest, the_columns_in_another_order_are_unknown_a_few_times_only) {
  const auto selections = std::make_shared<engine::OpenedSelections>();
  std::set<LongRequests::UsualPlace> places;
  for (int number = 0; number < 100; ++number) {
    const auto selection = selections->find_or_add(
        {.database = "d", .table = "t", .index = "", .columns = "c" + std::to_string(number)});
    places.insert(long_requests.usual_place_of(0, *selection, Find()));
  }
  EXPECT_GT(places.size(), 1U);
  EXPECT_LE(places.size(), 8U);
}

TEST_F(LongRequestsTest, which_tables_share_a_place_is_a_secret) {
  const auto selections = std::make_shared<engine::OpenedSelections>();
  const auto selection = selections->find_or_add({.database = "d", .table = "t", .index = ""});
  std::set<LongRequests::Place> places;
  for (uint64_t secret = 1; secret <= 64; ++secret) {
    places.insert(LongRequests(secret).place_of(0, *selection, Insert()));
  }
  EXPECT_GT(places.size(), 50U);
}

TEST_F(LongRequestsTest, the_members_of_a_large_group_are_remembered_each_once) {
  std::vector<Ask> members(20, add_stock());
  members.push_back(insert());
  take_long({Ask::group(members)});
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, what_took_hardly_longer_than_a_commit_is_not_worth_one) {
  insert_for(one, limits::long_write_us_min - 1);
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, the_longest_of_late_counts) {
  take_long({insert()});
  insert_for(one, limits::long_write_us_min);
  for (int count = 0; count < behind_count; ++count) {
    EXPECT_TRUE(commits_before(insert()));
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, for_a_very_long_one_nobody_pays_for_longer_than_a_second) {
  insert_for(one, uint64_t{3600} * 1'000'000);
  for (uint64_t paid_us = 0; paid_us < limits::commits_behind_us_max; paid_us += commit_us) {
    EXPECT_TRUE(commits_before(insert())) << paid_us;
    other.client.quick_writes = {};
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, who_tries_again_has_a_commit_before_it_if_a_try_took_long) {
  take_long({insert()});
  const auto is_tried_behind_a_commit = [&](uint64_t us) {
    engine.set_busy("shop.item", true);
    begin();
    EXPECT_EQ(send(other, insert()), Executed::parked);
    took(other, us);
    end();
    engine.set_busy("shop.item", false);
    other.put_back.clear();
    return commits_before(insert());
  };
  EXPECT_FALSE(is_tried_behind_a_commit(0));
  EXPECT_TRUE(is_tried_behind_a_commit(took_us));
}

TEST_F(LongRequestsTest, a_group_of_a_client_that_is_known_in_all_its_tables_has_no_commit_before_it) {
  const Ask group = Ask::group({add_stock(), Ask::find(0, {"3"}).add({"1"})});
  other_writes_quickly(QuickWrites::known_count - 1, group);
  take_long({add_stock(), insert()});
  take_long({add_stock()});
  // Before a group there is a commit in any case.
  const auto is_expected_long = [&](const Ask& ask) {
    const uint64_t before = counters.read(Counter::commits_before_long);
    static_cast<void>(commits_before(ask));
    return counters.read(Counter::commits_before_long) > before;
  };
  EXPECT_TRUE(is_expected_long(group));
  EXPECT_FALSE(is_expected_long(group));
  EXPECT_TRUE(is_expected_long(Ask::group({add_stock(), insert()})));
}

}  // namespace
}  // namespace rowsocket::exec
