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

  /// Whether what another connection has changed in the same turn is committed before this request begins.
  bool commits_before(const Ask& request) { return commits_before_of(other, request); }
  bool commits_before_of(Connection& connection, const Ask& request) {
    bool is_settled = false;
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
    static_cast<void>(executor->note_long(took_us));
    end();
  }

  void other_writes_quickly(int times, std::optional<Ask> request = {}) {
    for (int time = 0; time < times; ++time) {
      begin();
      send(other, request.has_value() ? *request : insert());
      end();
    }
  }

  void other_writes_for(uint64_t us) {
    begin();
    send(other, insert());
    executor->note_took(other.client, us);
    end();
  }

  /// In a turn of its own.
  Executed ask_for(const Ask& request, uint64_t us) {
    begin();
    const Executed executed = send(one, request);
    executor->note_took(one.client, us);
    executor->end_usual();
    end();
    return executed;
  }

  static constexpr uint64_t took_us = 20'000;
  static constexpr int shorter_count = took_us / limits::long_write_us_per_commit;

  LongRequests long_requests{1};
  Connection& one = shopper();
  Connection& other = shopper();
  int inserted = 100;
};

TEST_F(LongRequestsTest, whoever_asks_for_it_again) {
  EXPECT_FALSE(commits_before(insert()));
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert()));
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
  const uint8_t noted =
      executor->write_under_way().note_longer(long_requests, clock.now_us(), clock.now_us() + took_us, 0);
  end();
  EXPECT_EQ(noted, shorter_count);
  EXPECT_TRUE(commits_before(insert()));
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

TEST_F(LongRequestsTest, of_nobody_it_is_known_that_its_writes_are_quick_once_that_was_wrong) {
  other_writes_quickly(QuickWrites::known_count);
  other_writes_for(limits::distrusted_us);
  other_writes_quickly(QuickWrites::known_count);
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert()));
  other_writes_quickly(limits::distrusted_us / limits::slow_write_us_per_write);
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert())) << "it is not known, though no slow one is expected of it";
  clock.advance_us(limits::distrusted_for_us);
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, who_was_kept_waiting_by_a_busy_machine_is_known_again_soon) {
  other_writes_quickly(QuickWrites::known_count);
  other_writes_for(limits::distrusted_us - 1);
  take_long({insert()});
  EXPECT_TRUE(commits_before(insert()));
  other_writes_quickly(QuickWrites::known_count);
  take_long({insert()});
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, of_a_client_for_as_many_of_its_writes_as_its_long_one_took_milliseconds) {
  other_writes_for(uint64_t{1'000'000});
  for (int time = 0; time < 1000; ++time) {
    EXPECT_TRUE(commits_before(insert())) << time;
  }
  EXPECT_FALSE(commits_before(insert()));
  EXPECT_FALSE(commits_before_of(one, insert()));
}

TEST_F(LongRequestsTest, of_a_client_whose_long_write_has_failed) {
  begin();
  send(other, Ask::insert(9, {"1", "1", "is there", "1"}));
  executor->note_took(other.client, limits::distrusted_us);
  end();
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, a_long_read_says_nothing_of_how_quick_the_writes_of_its_client_are) {
  other_writes_quickly(QuickWrites::known_count);
  begin();
  send(other, read());
  executor->note_took(other.client, took_us);
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
  const LongRequests::UsualPlace place = long_requests.usual_place_of(*selection, Find());
  EXPECT_NE(long_requests.usual_place_of(*selection, Insert()), place);
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
  EXPECT_TRUE(one.out.empty());
  EXPECT_EQ(ask_for(add_stock(), 0), Executed::done);
  one.client.is_unknown = false;
  EXPECT_EQ(ask_for(read(), 0), Executed::done);
  one.client.is_unknown = one.client.comes_behind = true;
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
      executor->note_took(one.client, us);
    }
    executor->end_usual();
    end();
  }
  begin();
  EXPECT_EQ(send(one, read()), Executed::put_off);
  end();
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
    places.insert(long_requests.usual_place_of(*selection, Find()));
  }
  EXPECT_GT(places.size(), 1U);
  EXPECT_LE(places.size(), 8U);
}

TEST_F(LongRequestsTest, which_tables_share_a_place_is_a_secret) {
  const auto selections = std::make_shared<engine::OpenedSelections>();
  const auto selection = selections->find_or_add({.database = "d", .table = "t"});
  std::set<LongRequests::Place> places;
  for (uint64_t secret = 1; secret <= 64; ++secret) {
    places.insert(LongRequests(secret).place_of(*selection, Insert()));
  }
  EXPECT_GT(places.size(), 50U);
}

TEST_F(LongRequestsTest, a_commit_before_it_that_takes_long_is_not_its_own_time) {
  take_long({insert()});
  for (int count = 0; count < shorter_count; ++count) {
    take_long({add_stock(), insert()});
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, its_own_time_behind_a_commit_counts) {
  take_long({insert()});
  for (int count = 0; count <= shorter_count; ++count) {
    begin();
    send(one, add_stock());
    engine.on_next_request([&] { clock.advance_us(limits::long_write_us_per_commit); });
    send(other, insert());
    EXPECT_EQ(executor->note_long(took_us), limits::long_write_us_per_commit) << "without the commit";
    end();
  }
  EXPECT_TRUE(commits_before(insert()));
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, what_was_put_back_has_not_been_done) {
  engine.set_busy("shop.item", true);
  begin();
  EXPECT_EQ(send(one, insert()), Executed::parked);
  static_cast<void>(executor->note_long(took_us));
  end();
  engine.set_busy("shop.item", false);
  one.put_back.clear();
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, the_members_of_a_large_group_are_remembered_each_once) {
  std::vector<Ask> members(20, add_stock());
  members.push_back(insert());
  take_long({Ask::group(members)});
  EXPECT_TRUE(commits_before(insert()));
}

TEST_F(LongRequestsTest, what_took_hardly_longer_than_a_commit_is_not_worth_one) {
  begin();
  send(one, insert());
  static_cast<void>(executor->note_long(limits::long_write_us_per_commit - 1));
  end();
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, the_longest_of_late_counts) {
  take_long({insert()});
  begin();
  send(one, insert());
  static_cast<void>(executor->note_long(limits::long_write_us_per_commit));
  end();
  for (int count = 1; count < shorter_count; ++count) {
    EXPECT_TRUE(commits_before(insert()));
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, of_a_very_long_one_as_many_are_remembered_as_can_be_counted) {
  begin();
  send(one, insert());
  static_cast<void>(executor->note_long(uint64_t{3600} * 1'000'000));
  end();
  for (int count = 0; count < LongRequests::count_max; ++count) {
    EXPECT_TRUE(commits_before(insert()));
    other.client.quick_writes = {};
  }
  EXPECT_FALSE(commits_before(insert()));
}

TEST_F(LongRequestsTest, what_was_short_often_enough_is_expected_to_be_short) {
  take_long({insert()});
  for (int count = 0; count < shorter_count; ++count) {
    EXPECT_TRUE(commits_before(insert()));
  }
  EXPECT_FALSE(commits_before(insert()));
}

}  // namespace
}  // namespace rowsocket::exec
