// SPDX-License-Identifier: GPL-2.0-only
#include "server/account_loads.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

namespace rowsocket::server {
namespace {

class AccountLoadTest : public testing::Test {
 protected:
  /// All that one worker can have at once.
  uint32_t take_all(Inbox& worker, uint32_t count_max) {
    uint32_t all = 0;
    while (const uint32_t count = load_->take_requests(count_max, worker)) {
      all += count;
    }
    return all;
  }

  AccountLoads loads_;
  std::shared_ptr<AccountLoad> load_ = loads_.of("app@localhost");
  Inbox first_;
  Inbox second_;
};

TEST_F(AccountLoadTest, an_account_is_one_as_long_as_somebody_has_it) {
  EXPECT_EQ(loads_.of("app@localhost"), load_);
  EXPECT_NE(loads_.of("app@%"), load_);
}

TEST_F(AccountLoadTest, a_seat_is_free_again_when_its_owner_goes) {
  Seat first = load_->take_seat(2);
  Seat second = load_->take_seat(2);
  EXPECT_EQ(load_->take_seat(2).load(), nullptr);
  EXPECT_EQ(load_->take_seat(0).load(), load_.get()) << "0 = any number";
  EXPECT_EQ(load_->seat_count(), 2u);
  second = Seat();
  EXPECT_EQ(load_->take_seat(2).load(), load_.get());
  const Seat moved = std::move(first);
  EXPECT_EQ(load_->seat_count(), 1u);
}

TEST_F(AccountLoadTest, requests_are_taken_in_parts_and_never_beyond_the_limit) {
  EXPECT_EQ(load_->take_requests(8, first_), 4u);
  EXPECT_EQ(take_all(first_, 8), 4u);
  EXPECT_EQ(load_->request_count(), 8u);
}

TEST_F(AccountLoadTest, who_waits_comes_before_who_comes_later) {
  EXPECT_EQ(load_->take_requests(1, first_), 1u);
  EXPECT_EQ(load_->take_requests(1, second_), 0u);
  load_->give_back_requests(1);
  EXPECT_EQ(load_->take_requests(1, first_), 0u);
  EXPECT_EQ(load_->take_requests(1, second_), 1u);
}

TEST_F(AccountLoadTest, as_many_are_woken_as_may_go_on) {
  Inbox third;
  EXPECT_EQ(load_->take_requests(2, first_), 1u);
  EXPECT_EQ(load_->take_requests(2, first_), 1u);
  EXPECT_EQ(load_->take_requests(2, second_), 0u);
  EXPECT_EQ(load_->take_requests(2, third), 0u);
  load_->give_back_requests(2);
  for (Inbox* const worker : {&second_, &third}) {
    pollfd woken{worker->wakeup().fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&woken, 1, 0), 1);
  }
}

TEST_F(AccountLoadTest, who_does_not_want_any_more_keeps_nobody_waiting) {
  EXPECT_EQ(load_->take_requests(1, first_), 1u);
  EXPECT_EQ(load_->take_requests(1, second_), 0u);
  load_->stop_waiting(second_);
  load_->give_back_requests(1);
  EXPECT_EQ(load_->take_requests(1, first_), 1u);
}

TEST_F(AccountLoadTest, the_limit_may_come_down_while_it_is_in_use) {
  EXPECT_EQ(take_all(first_, 8), 8u);
  load_->stop_waiting(first_);
  EXPECT_EQ(load_->take_requests(2, second_), 0u);
  load_->give_back_requests(7);
  EXPECT_EQ(load_->take_requests(2, second_), 1u);
}

TEST_F(AccountLoadTest, the_worker_whose_connection_holds_most_is_told_to_close_it) {
  std::atomic<bool> first_must = false;
  std::atomic<bool> second_must = false;
  AccountLoad::Part first(first_, first_must);
  AccountLoad::Part second(second_, second_must);
  load_->add_part(first);
  load_->add_part(second);
  first.largest_bytes = 10;
  second.largest_bytes = 20;
  EXPECT_TRUE(load_->has_largest(second));
  EXPECT_FALSE(load_->has_largest(first));
  EXPECT_TRUE(second.must_close && second_must);
  EXPECT_FALSE(first.must_close || first_must);
  load_->remove_part(second);
  EXPECT_TRUE(load_->has_largest(first));
  load_->remove_part(first);
}

TEST(AccountLoads, an_account_that_is_in_use_keeps_its_load_whoever_comes_and_goes) {
  AccountLoads loads;
  const std::shared_ptr<AccountLoad> used = loads.of("app");
  for (size_t number = 0; number < 2 * limits::names_cleared_min; ++number) {
    static_cast<void>(loads.of(std::to_string(number)));
  }
  EXPECT_EQ(loads.of("app"), used);
}

TEST_F(AccountLoadTest, workers_that_compete_stay_within_the_limit_and_all_get_some) {
  constexpr uint32_t limit = 3;
  constexpr int rounds = 2000;
  std::atomic<uint32_t> under_way = 0;
  std::atomic<bool> went_beyond = false;
  std::vector<std::thread> workers;
  for (int number = 0; number < 4; ++number) {
    workers.emplace_back([&] {
      Inbox inbox;
      for (int round = 0; round < rounds;) {
        const uint32_t count = load_->take_requests(limit, inbox);
        if (count == 0) {
          std::this_thread::yield();
          continue;
        }
        if (under_way.fetch_add(count) + count > limit) {
          went_beyond = true;
        }
        under_way.fetch_sub(count);
        load_->give_back_requests(count);
        ++round;
      }
      load_->stop_waiting(inbox);
    });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  EXPECT_FALSE(went_beyond);
  EXPECT_EQ(load_->request_count(), 0u);
}

}  // namespace
}  // namespace rowsocket::server
