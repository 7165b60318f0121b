// SPDX-License-Identifier: GPL-2.0-only
//
// How far a request may go. A table of 1,000 rows, and a find that looks at all of them: its filter passes
// none.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

constexpr uint64_t row_count = 1000;

/// A client that has left.
struct Left final : Presence {
  [[nodiscard]] bool is_gone() const override { return true; }
};

/// Each look at it takes some time.
struct SlowClock final : Clock {
  [[nodiscard]] uint64_t now_us() const override { return now += us_per_look; }
  [[nodiscard]] uint64_t unix_time_us() const override { return now_us(); }
  void sleep_us(uint64_t microseconds) override { now += microseconds; }

  uint64_t us_per_look = 1;
  mutable uint64_t now = 1;
};

TEST(RequestBounds, a_request_begins_with_nothing_of_the_one_before) {
  ManualClock clock;
  RequestBounds bounds(clock, [](uint64_t) { return false; });
  bounds.begin(nullptr);
  bounds.let_be_given_up(true);
  EXPECT_EQ(bounds.reason_to_end(1), ErrorCode::none);
  EXPECT_FALSE(bounds.is_due());
  clock.advance_us(2 * limits::slice_us);
  EXPECT_EQ(bounds.reason_to_end(2), ErrorCode::took_too_long);
  EXPECT_EQ(bounds.longest_silence_us(), 2 * limits::slice_us);
  clock.advance_us(7);

  bounds.begin(nullptr);
  EXPECT_EQ(bounds.asked_for_us(), 0U);
  EXPECT_EQ(bounds.longest_silence_us(), 0U);
  EXPECT_FALSE(bounds.is_due());
  EXPECT_EQ(bounds.reason_to_end(1), ErrorCode::none);
  EXPECT_EQ(bounds.longest_silence_us(), 0U);
  clock.advance_us(2 * limits::slice_us);
  EXPECT_EQ(bounds.reason_to_end(2), ErrorCode::none);  // nobody said that it can be given up
}

TEST(RequestBounds, the_next_question_comes_with_the_first_row_that_is_too_many) {
  const ManualClock clock;
  RequestBounds bounds(clock, {});
  bounds.begin(nullptr);
  EXPECT_EQ(bounds.rows_to_next_question(5), limits::rows_per_question);
  bounds.set_limits(10, 0);
  bounds.add_rows(3);
  EXPECT_EQ(bounds.rows_to_next_question(0), std::min<uint64_t>(8, limits::rows_per_question));
  for (const auto& [rows, left] : {std::pair{6, 2}, {7, 1}, {9, 1}}) {
    EXPECT_EQ(bounds.rows_to_next_question(rows), left) << rows;
  }
}

TEST(RequestBounds, parts_that_ask_nothing_are_due_once_in_a_slice) {
  ManualClock clock;
  RequestBounds bounds(clock, {});
  bounds.begin(nullptr);
  EXPECT_FALSE(bounds.is_due());
  clock.advance_us(limits::slice_us - 1);
  EXPECT_FALSE(bounds.is_due());
  clock.advance_us(1);
  EXPECT_TRUE(bounds.is_due());
  EXPECT_FALSE(bounds.is_due());
  clock.advance_us(limits::slice_us);
  EXPECT_TRUE(bounds.is_due());
}

class RequestBoundsTest : public ExecutorTest {
 protected:
  RequestBoundsTest() {
    engine.create_table("shop.many",
                        {.columns = {engine::memory::integer("id"), engine::memory::integer("n")},
                         .indexes = {{"PRIMARY", {"id"}, true}}});
    for (uint64_t id = 1; id <= row_count; ++id) {
      EXPECT_TRUE(engine.insert("shop.many", {std::to_string(id), "0"}));
    }
    executor = std::make_unique<Executor>(*session, counters, shared_settings(), slow_clock);
    EXPECT_EQ(ask(client, Ask::open(0, "shop.many", "", "id,n", "n")), "ok");
  }

  /// It answers whether another thread is free.
  void on_long_request(std::function<bool()> is_thread_free) {
    executor = std::make_unique<Executor>(
        *session, counters, shared_settings(), slow_clock,
        Executor::Notices{
            .takes_long = [is_thread_free = std::move(is_thread_free)](uint64_t) { return is_thread_free(); },
            .settled = {}});
  }
  void let_no_thread_be_free() {
    on_long_request([] { return false; });
    slow_clock.us_per_look = limits::slice_us / 3;
  }
  /// A turn of this request alone: it is presented again in a later turn, and nothing is told of it.
  [[nodiscard]] bool is_given_up(const Ask& ask) {
    begin();
    const Executed executed = send(client, ask);
    end();
    return executed == Executed::parked && client.put_back.size() == 1 && client.out.size() == 0;
  }
  void limit_rows(uint64_t rows_max) {
    settings.rows_examined_max = rows_max;
    use_settings();
  }
  /// Looks at the first so many rows.
  static Ask look_at(uint64_t rows) {
    return Ask::find(0, {"1"}, KeyOperator::at_or_after)
        .to(KeyOperator::at_or_before, {std::to_string(rows)})
        .limit(9)
        .skip_unless(0, Comparison::equal, "-1");
  }
  static Ask change_first(uint64_t rows) {
    return Ask::find(0, {"1"}, KeyOperator::at_or_after).limit(rows).change(1, Operation::set, "7");
  }
  static Ask change_all() { return change_first(row_count); }
  /// So many new rows.
  static Ask insert_rows(uint64_t rows) {
    std::vector<Cell> values;
    for (uint64_t id = row_count + 1; id <= row_count + rows; ++id) {
      values.insert(values.end(), {std::to_string(id), "0"});
    }
    return Ask::insert_rows(0, static_cast<uint32_t>(rows), std::move(values));
  }
  [[nodiscard]] bool is_unchanged() const {
    const auto rows = engine.rows("shop.many");
    return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row[1] == "0"; });
  }

  SlowClock slow_clock;
  Connection& client = connect();
};

TEST_F(RequestBoundsTest, a_request_looks_at_as_many_rows_as_it_may_and_not_at_one_more) {
  for (const uint64_t rows_max : {1, 2, 63, 64, 65, 128, 500}) {
    limit_rows(rows_max);
    EXPECT_EQ(ask(client, look_at(rows_max)), "rows/2") << rows_max;
    EXPECT_EQ(ask(client, look_at(rows_max + 1)), "error too_many_rows") << rows_max;
  }
}

TEST_F(RequestBoundsTest, without_a_limit_it_looks_at_any_number) {
  limit_rows(0);
  EXPECT_EQ(ask(client, look_at(row_count)), "rows/2");
}

TEST_F(RequestBoundsTest, the_rows_of_all_keys_of_a_list_count) {
  limit_rows(3);
  const auto list = [](std::vector<Cell> values) {
    return Ask::find(0, {"1"}).limit(9).in(0, std::move(values)).skip_unless(0, Comparison::equal, "-1");
  };
  EXPECT_EQ(ask(client, list({"1", "2", "3"})), "rows/2");
  EXPECT_EQ(ask(client, list({"1", "2", "3", "4"})), "error too_many_rows");
}

TEST_F(RequestBoundsTest, the_rows_of_all_members_of_a_group_count) {
  limit_rows(100);
  EXPECT_THAT(turn(client, {Ask::group({look_at(60), look_at(60)})}),
              testing::Contains(testing::HasSubstr("too_many_rows")));
  EXPECT_EQ(ask(client, look_at(60)), "rows/2") << "the next request begins anew";
}

TEST_F(RequestBoundsTest, a_change_that_goes_too_far_is_undone) {
  limit_rows(row_count - 1);
  EXPECT_EQ(ask(client, change_all()), "error too_many_rows");
  EXPECT_TRUE(is_unchanged());
}

TEST_F(RequestBoundsTest, a_request_that_takes_too_long_ends) {
  settings.request_ms_max = 5;
  use_settings();
  slow_clock.us_per_look = 1000;
  EXPECT_EQ(ask(client, look_at(row_count)), "error took_too_long");
  EXPECT_EQ(ask(client, look_at(64)), "rows/2");
}

TEST_F(RequestBoundsTest, a_request_whose_client_has_left_ends_and_is_undone) {
  const Left left;
  client.client.presence = &left;
  slow_clock.us_per_look = limits::presence_ms * 1000;
  EXPECT_EQ(ask(client, look_at(row_count)), "error client_gone");
  EXPECT_TRUE(client.client.left_at.has_value()) << "nothing behind it is to be begun";
  EXPECT_EQ(ask(client, change_all()), "error client_gone");
  EXPECT_TRUE(is_unchanged());
}

TEST_F(RequestBoundsTest, a_walk_looks_soon_and_often_whether_its_connection_is_lost) {
  struct Comes final : Presence {
    [[nodiscard]] bool is_gone() const override { return false; }
    [[nodiscard]] bool is_lost() const override { return ++looks == 3; }
    mutable int looks = 0;
  } comes;
  client.client.presence = &comes;
  slow_clock.us_per_look = limits::walk_loss_us / 2;
  EXPECT_EQ(ask(client, look_at(row_count)), "error client_gone");
  EXPECT_EQ(comes.looks, 3);
}

TEST_F(RequestBoundsTest, a_client_that_has_ended_its_side_has_some_time_for_a_walk) {
  const Left left;
  client.client.presence = &left;
  slow_clock.us_per_look = limits::walk_loss_us;
  EXPECT_EQ(ask(client, look_at(4 * limits::rows_per_question)), "rows/2");
  EXPECT_EQ(ask(client, look_at(row_count)), "error client_gone");
}

TEST_F(RequestBoundsTest, a_change_is_bounded_row_by_row) {
  settings.request_ms_max = 5;
  use_settings();
  slow_clock.us_per_look = 1000;
  EXPECT_EQ(ask(client, change_first(20)), "error took_too_long");
  EXPECT_TRUE(is_unchanged());
}

TEST_F(RequestBoundsTest, an_insert_is_bounded_row_by_row_and_undone) {
  settings.request_ms_max = 5;
  use_settings();
  slow_clock.us_per_look = 1000;
  EXPECT_EQ(ask(client, insert_rows(20)), "error took_too_long");
  EXPECT_EQ(engine.rows("shop.many").size(), row_count);
}

TEST_F(RequestBoundsTest, the_rows_of_an_insert_count) {
  limit_rows(3);
  EXPECT_EQ(ask(client, insert_rows(4)), "error too_many_rows");
  EXPECT_EQ(engine.rows("shop.many").size(), row_count);
  EXPECT_NE(ask(client, insert_rows(3)), "error too_many_rows");
  EXPECT_EQ(engine.rows("shop.many").size(), row_count + 3);
}

TEST_F(RequestBoundsTest, an_insert_whose_client_has_left_ends_and_is_undone) {
  const Left left;
  client.client.presence = &left;
  slow_clock.us_per_look = limits::presence_ms * 1000;
  EXPECT_EQ(ask(client, insert_rows(20)), "error client_gone");
  EXPECT_EQ(engine.rows("shop.many").size(), row_count);
}

TEST_F(RequestBoundsTest, rows_that_are_inserted_alone_fail_from_the_bound_on) {
  settings.request_ms_max = 5;
  use_settings();
  slow_clock.us_per_look = 1000;
  const std::string reply = ask(client, insert_rows(20).rows_alone());
  EXPECT_THAT(reply, testing::HasSubstr("took_too_long"));
  EXPECT_EQ(std::count(reply.begin(), reply.end(), ' '), 20) << "each row is told";
  EXPECT_GT(engine.rows("shop.many").size(), row_count);
  EXPECT_LT(engine.rows("shop.many").size(), row_count + 20);
}

TEST_F(RequestBoundsTest, of_rows_that_are_inserted_alone_as_many_are_as_may_be) {
  limit_rows(3);
  EXPECT_THAT(ask(client, insert_rows(5).rows_alone()), testing::HasSubstr("too_many_rows"));
  EXPECT_EQ(engine.rows("shop.many").size(), row_count + 3);
}

TEST_F(RequestBoundsTest, a_group_is_bounded_from_its_first_write_on) {
  settings.request_ms_max = 5;
  use_settings();
  slow_clock.us_per_look = 6000;  // one look behind the first member, and one behind the second
  const std::vector<Ask> members(3, change_first(1));
  EXPECT_THAT(turn(client, {Ask::group(members)}), testing::Contains(testing::HasSubstr("took_too_long")));
}

TEST_F(RequestBoundsTest, a_group_is_bounded_behind_each_member_that_writes) {
  settings.request_ms_max = 5;
  use_settings();
  slow_clock.us_per_look = 2000;
  const std::vector<Ask> members(10, change_first(1));
  EXPECT_THAT(turn(client, {Ask::group(members)}), testing::Contains(testing::HasSubstr("took_too_long")));
  EXPECT_TRUE(is_unchanged());
}

TEST_F(RequestBoundsTest, a_request_that_takes_long_says_so_again_and_again) {
  int said = 0;
  on_long_request([&said] { return ++said > 0; });
  EXPECT_EQ(ask(client, look_at(row_count)), "rows/2");
  EXPECT_EQ(said, 0);
  slow_clock.us_per_look = limits::slice_us / 3;
  const uint64_t began_us = slow_clock.now;
  EXPECT_EQ(ask(client, look_at(row_count)), "rows/2");
  EXPECT_GT(said, 1);
  EXPECT_LE(said, (slow_clock.now - began_us) / limits::slice_us) << "once per slice";
}

TEST_F(RequestBoundsTest, a_group_of_many_short_requests_is_bounded_too) {
  settings.request_ms_max = 5;
  use_settings();
  slow_clock.us_per_look = 10'000;
  const std::vector<Ask> members(200, look_at(1));
  EXPECT_THAT(turn(client, {Ask::group(members)}), testing::Contains(testing::HasSubstr("took_too_long")));
}

TEST_F(RequestBoundsTest, a_group_of_few_requests_that_take_long_asks_whether_its_client_is_there) {
  const Left left;
  client.client.presence = &left;
  const std::vector<Ask> members(10, look_at(1));
  EXPECT_THAT(turn(client, {Ask::group(members)}), testing::Each(testing::Not(testing::HasSubstr("gone"))));
  slow_clock.us_per_look = limits::presence_ms * 1000;
  EXPECT_THAT(turn(client, {Ask::group(members)}), testing::Contains(testing::HasSubstr("client_gone")));
}

TEST_F(RequestBoundsTest, a_short_request_asks_for_nobody) {
  const Left left;
  client.client.presence = &left;
  EXPECT_EQ(ask(client, look_at(row_count)), "rows/2");
}

TEST_F(RequestBoundsTest, a_walk_that_rests_is_not_silent_meanwhile) {
  ManualClock manual_clock;
  RequestBounds bounds(manual_clock, [&](uint64_t) {
    manual_clock.advance_us(10 * limits::slice_us);
    return true;
  });
  EXPECT_EQ(bounds.reason_to_end(1), ErrorCode::none);
  manual_clock.advance_us(limits::slice_us);
  EXPECT_EQ(bounds.reason_to_end(2), ErrorCode::none);
  EXPECT_EQ(bounds.longest_silence_us(), limits::slice_us);
}

// ---- no other thread is free

TEST_F(RequestBoundsTest, a_request_that_takes_long_is_given_up_and_begins_again_later) {
  let_no_thread_be_free();
  EXPECT_TRUE(is_given_up(look_at(row_count)));
  EXPECT_TRUE(client.client.lacks_thread);
  on_long_request([] { return true; });
  EXPECT_EQ(ask(client, look_at(row_count)), "rows/2");
  EXPECT_EQ(client.client.given_up.count, 0U);
}

TEST_F(RequestBoundsTest, a_write_that_is_given_up_has_changed_nothing) {
  let_no_thread_be_free();
  EXPECT_TRUE(is_given_up(change_all()));
  EXPECT_TRUE(is_unchanged());
}

TEST_F(RequestBoundsTest, a_group_that_is_given_up_has_changed_nothing) {
  let_no_thread_be_free();
  EXPECT_TRUE(is_given_up(Ask::group(std::vector<Ask>(200, change_first(1)))));
  EXPECT_TRUE(is_unchanged());
}

TEST_F(RequestBoundsTest, what_the_turn_changed_before_is_kept_where_a_request_is_given_up) {
  let_no_thread_be_free();
  Connection& other = connect();
  EXPECT_EQ(ask(other, Ask::open(0, "shop.many", "", "id,n", "n")), "ok");
  begin();
  EXPECT_EQ(send(other, change_first(1)), Executed::done);
  EXPECT_EQ(send(client, change_all()), Executed::parked);
  end();
  EXPECT_EQ(engine.rows("shop.many")[0][1], "7");
  EXPECT_EQ(engine.rows("shop.many")[1][1], "0");
}

TEST_F(RequestBoundsTest, a_request_that_has_its_thread_for_itself_is_not_given_up) {
  let_no_thread_be_free();
  executor->begin_turn(now_ms, true);
  EXPECT_EQ(send(client, look_at(row_count)), Executed::done);
  end();
  EXPECT_THAT(replies(client), testing::ElementsAre("rows/2"));
}

/// It comes before all that its client asked behind it.
TEST_F(RequestBoundsTest, a_request_that_changes_the_state_is_not_given_up_where_it_runs_again) {
  let_no_thread_be_free();
  engine.lose_transaction_at_read(1);
  begin();
  EXPECT_EQ(send(client, look_at(row_count).changing_state()), Executed::done);
  end();
  EXPECT_THAT(replies(client), testing::ElementsAre("rows/2"));
}

TEST_F(RequestBoundsTest, rows_that_are_inserted_alone_are_not_given_up) {
  let_no_thread_be_free();
  EXPECT_NE(ask(client, insert_rows(20).rows_alone()), "");
  EXPECT_EQ(engine.rows("shop.many").size(), row_count + 20);
}

TEST_F(RequestBoundsTest, each_time_it_has_twice_as_long_so_that_one_that_is_little_too_long_ends) {
  let_no_thread_be_free();
  int given_up = 0;
  for (; given_up < 10 && is_given_up(look_at(row_count)); ++given_up) {
  }
  EXPECT_GT(given_up, 1);
  EXPECT_LT(given_up, 10);
}

TEST_F(RequestBoundsTest, an_insert_that_was_given_up_has_its_ids_again) {
  let_no_thread_be_free();
  engine.set_generated_ids({{.table = 1, .id = 6}});
  EXPECT_TRUE(is_given_up(insert_rows(20)));
  on_long_request([] { return true; });
  engine.set_generated_ids({{.table = 1, .id = 7}});
  EXPECT_NE(ask(client, insert_rows(20)), "");
  const std::vector<engine::GeneratedId> ids = session->generated_ids();
  ASSERT_EQ(ids.size(), 1U);
  EXPECT_EQ(ids.front().id, 6U);
}

TEST_F(RequestBoundsTest, the_wait_for_a_lock_before_it_was_given_up_does_not_count_for_the_next_lock) {
  let_no_thread_be_free();
  client.client.parked_since_ms = 5;
  EXPECT_TRUE(is_given_up(change_all()));
  EXPECT_EQ(client.client.parked_since_ms, 0U);
}

TEST_F(RequestBoundsTest, the_time_that_a_request_may_take_counts_from_its_first_try) {
  settings.request_ms_max = 20;
  use_settings();
  let_no_thread_be_free();
  slow_clock.us_per_look = 2 * limits::slice_us;
  EXPECT_TRUE(is_given_up(look_at(row_count)));
  slow_clock.now += 20'000;
  EXPECT_EQ(ask(client, look_at(row_count)), "error took_too_long");
}

TEST_F(RequestBoundsTest, of_a_write_what_takes_long_between_two_questions_is_no_walk) {
  LongRequests long_requests{1};
  executor = std::make_unique<Executor>(*session, counters, shared_settings(), slow_clock,
                                        Executor::Notices{}, nullptr, &long_requests);
  EXPECT_EQ(ask(client, Ask::open(1, "shop.many", "", "id,n")), "ok");
  const LongRequests::Place place = long_requests.place_of(0, *client.client.selection(1), Insert());
  int inserted = 2000;
  const auto is_long = [&](uint64_t us_per_look, auto as) {
    slow_clock.us_per_look = us_per_look;
    Ask ask = Ask::insert_rows(
        1, 3,
        {std::to_string(++inserted), "0", std::to_string(++inserted), "0", std::to_string(++inserted), "0"});
    static_cast<void>(executor->take_walked());
    begin();
    send(client, as(std::move(ask)));
    const Runner::Walked walked = executor->take_walked();
    executor->note_took(client.client, {.us = walked.us, .walked = walked, .was_beside = true});
    end();
    const bool is_expected = long_requests.expects(place);
    long_requests.note_commit(place, limits::commits_behind_us_max);
    return is_expected;
  };
  const auto whole = [](Ask ask) { return ask; };
  EXPECT_FALSE(is_long(limits::long_write_us_min / 4, whole));
  EXPECT_TRUE(is_long(limits::long_write_us_min, whole));
  EXPECT_TRUE(is_long(limits::long_write_us_min / 2, [](Ask ask) { return std::move(ask).rows_alone(); }))
      << "some of its rows may be committed already";
}

}  // namespace
}  // namespace rowsocket::exec
