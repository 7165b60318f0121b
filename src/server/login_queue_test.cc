// SPDX-License-Identifier: GPL-2.0-only
#include "server/login_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/logins.h"

namespace rowsocket::server {
namespace {

using Lane = LoginQueue::Lane;
using Outcome = LoginQueue::Outcome;

class LoginQueueTest : public testing::Test {
 protected:
  std::shared_ptr<Login> login() {
    return std::make_shared<Login>(Authenticate(), -1, net::Peer(), nullptr, account_loads_, 0, nullptr);
  }
  bool add(const std::string& party, const std::string& user) {
    return queue_.add(party, user, login(), now_ms_);
  }
  LoginQueue::Try pick() { return queue_.pick(now_ms_, next_at_ms_); }
  /// The next one is tried, and over at once. False if none may be tried now.
  bool try_next(Outcome outcome) {
    const LoginQueue::Try turn = pick();
    if (turn.login != nullptr) {
      user_ = turn.claim->user;
      queue_.end(turn, outcome, now_ms_);
    }
    return turn.login != nullptr;
  }
  /// How many of those that wait are tried now.
  int try_all(Outcome outcome) {
    int count = 0;
    while (try_next(outcome)) {
      ++count;
    }
    return count;
  }
  void log_in(const std::string& party, const std::string& user) {
    EXPECT_TRUE(add(party, user));
    EXPECT_TRUE(try_next(Outcome::right));
  }

  AccountLoads account_loads_;
  LoginQueue queue_;
  uint64_t now_ms_ = 1'000'000;
  uint64_t next_at_ms_ = 0;
  std::string user_;
};

TEST_F(LoginQueueTest, guesses_for_one_account_do_not_slow_down_another_of_the_same_address) {
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(add("host", "root"));
  }
  EXPECT_EQ(try_all(Outcome::wrong), static_cast<int>(limits::guesses_at_once));
  EXPECT_TRUE(add("host", "app"));
  EXPECT_TRUE(try_next(Outcome::right));
  EXPECT_EQ(user_, "app");
}

TEST_F(LoginQueueTest, guesses_for_many_accounts_from_one_address_are_slowed_down_together) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(add("host", std::to_string(i)));
  }
  EXPECT_EQ(try_all(Outcome::wrong), static_cast<int>(limits::party_guesses_at_once));
  now_ms_ += limits::party_guess_interval_ms;
  EXPECT_EQ(try_all(Outcome::wrong), 1);
}

TEST_F(LoginQueueTest, who_is_proven_comes_first_and_is_slowed_down_by_no_other_of_its_address) {
  log_in("host", "app");
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(add("host", std::to_string(i)));
  }
  try_all(Outcome::wrong);
  EXPECT_TRUE(add("host", "app"));
  EXPECT_TRUE(try_next(Outcome::right));
  EXPECT_EQ(user_, "app");
}

TEST_F(LoginQueueTest, an_account_that_is_known_comes_before_a_flood_of_strangers) {
  log_in("host", "app");
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(add(std::to_string(i), "any" + std::to_string(i)));
  }
  EXPECT_TRUE(add("other", "app"));
  EXPECT_TRUE(try_next(Outcome::right));
  EXPECT_EQ(user_, "app");
}

TEST_F(LoginQueueTest, an_account_that_others_guess_at_is_a_strangers_from_elsewhere_only) {
  log_in("host", "app");
  EXPECT_TRUE(add("attacker", "app"));
  EXPECT_TRUE(try_next(Outcome::wrong));
  EXPECT_TRUE(add("new", "app"));
  EXPECT_EQ(pick().lane, Lane::strange);
  EXPECT_TRUE(add("host", "app"));
  EXPECT_EQ(pick().lane, Lane::proven);
}

TEST_F(LoginQueueTest, an_account_that_is_known_is_a_strangers_from_where_others_guess) {
  log_in("host", "app");
  EXPECT_TRUE(add("office", "app"));
  EXPECT_EQ(pick().lane, Lane::plausible);
  EXPECT_TRUE(add("attacker", "any"));
  EXPECT_TRUE(try_next(Outcome::wrong));
  EXPECT_TRUE(add("attacker", "app"));
  EXPECT_EQ(pick().lane, Lane::strange);
}

TEST_F(LoginQueueTest, a_wrong_guess_costs_who_is_proven_its_place) {
  log_in("host", "app");
  EXPECT_TRUE(add("host", "app"));
  EXPECT_TRUE(try_next(Outcome::wrong));
  EXPECT_TRUE(add("host", "app"));
  EXPECT_EQ(pick().lane, Lane::strange);
}

TEST_F(LoginQueueTest, strangers_never_have_all_threads) {
  log_in("host", "app");
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(add(std::to_string(i), "any"));
  }
  for (uint32_t i = 0; i < limits::login_threads_for_strange; ++i) {
    EXPECT_NE(pick().login, nullptr);
  }
  EXPECT_EQ(pick().login, nullptr);
  EXPECT_TRUE(add("elsewhere", "app"));
  EXPECT_EQ(pick().lane, Lane::plausible);
  EXPECT_TRUE(add("host", "app"));
  EXPECT_EQ(pick().lane, Lane::proven);
}

TEST_F(LoginQueueTest, those_that_are_not_proven_never_have_all_threads_together) {
  log_in("host", "app");
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(add(std::to_string(i), "any"));
  }
  for (uint32_t i = 0; i < limits::login_threads_for_strange; ++i) {
    EXPECT_NE(pick().login, nullptr);
  }
  for (int i = 100; i < 200; ++i) {
    EXPECT_TRUE(add(std::to_string(i), "app"));
  }
  for (uint32_t i = limits::login_threads_for_strange; i < limits::login_threads_for_unproven; ++i) {
    EXPECT_NE(pick().login, nullptr);
  }
  EXPECT_EQ(pick().login, nullptr);
  EXPECT_TRUE(add("host", "app"));
  EXPECT_NE(pick().login, nullptr) << "who is proven";
}

TEST_F(LoginQueueTest, a_flood_of_newcomers_takes_one_turn_in_many) {
  log_in("host", "app");
  log_in("other", "known");
  constexpr uint32_t rounds = 3;
  for (uint32_t number = 0; number < 4 * rounds; ++number) {
    EXPECT_TRUE(add(std::to_string(number), "known"));
  }
  uint32_t newcomers = 0;
  for (uint32_t number = 0; number < rounds * (limits::login_lane_passed_over_max + 1); ++number) {
    EXPECT_TRUE(add("host", "app"));
    EXPECT_TRUE(try_next(Outcome::right));
    newcomers += user_ == "known" ? 1 : 0;
  }
  EXPECT_EQ(newcomers, rounds);
}

TEST_F(LoginQueueTest, a_flood_of_right_logins_keeps_no_newcomer_out) {
  log_in("host", "app");
  log_in("other", "known");
  EXPECT_TRUE(add("host", "known"));
  EXPECT_TRUE(add("host", "new"));
  std::vector<std::string> newcomers;
  for (uint32_t number = 0; number < 3 * limits::login_lane_passed_over_max; ++number) {
    EXPECT_TRUE(add("host", "app"));
    EXPECT_TRUE(try_next(Outcome::right));
    if (user_ != "app") {
      newcomers.push_back(user_);
    }
  }
  EXPECT_EQ(newcomers, (std::vector<std::string>{"known", "new"}));
}

TEST_F(LoginQueueTest, all_guesses_together_are_bounded) {
  int tried = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(add(std::to_string(i), "root"));
  }
  for (const uint64_t end_ms = now_ms_ + 10'000; now_ms_ < end_ms; ++now_ms_) {
    tried += try_all(Outcome::wrong);
  }
  EXPECT_LE(tried, static_cast<int>(limits::all_guesses_at_once + 10'000 / limits::all_guess_interval_ms));
  EXPECT_GE(tried, 600);
}

TEST_F(LoginQueueTest, nobody_waits_for_ever) {
  EXPECT_TRUE(add("a", "root"));
  std::vector<std::shared_ptr<Login>> overdue;
  queue_.take_overdue(now_ms_, overdue);
  EXPECT_TRUE(overdue.empty());
  now_ms_ += limits::login_wait_ms;
  queue_.take_overdue(now_ms_, overdue);
  EXPECT_EQ(overdue.size(), 1U);
  EXPECT_EQ(pick().login, nullptr);
  EXPECT_EQ(next_at_ms_, UINT64_MAX);
}

TEST_F(LoginQueueTest, what_is_remembered_is_bounded) {
  uint32_t accepted = 0;
  while (accepted < 2 * limits::login_claims_per_party_max && add("host", std::to_string(accepted))) {
    ++accepted;
  }
  EXPECT_EQ(accepted, limits::login_claims_per_party_max);
  EXPECT_TRUE(add("other", "app"));
  now_ms_ += limits::login_wait_ms;
  std::vector<std::shared_ptr<Login>> overdue;
  queue_.take_overdue(now_ms_, overdue);
  EXPECT_TRUE(add("host", "late"));
}

TEST_F(LoginQueueTest, there_is_as_much_room_for_an_address_after_a_flood_as_before_it) {
  std::vector<std::shared_ptr<Login>> overdue;
  for (int flood = 0; flood < 3; ++flood) {
    for (uint32_t number = 0; number < limits::login_claims_per_party_max; ++number) {
      ASSERT_TRUE(add("host", std::to_string(flood) + "-" + std::to_string(number))) << number;
    }
    for (int more = 0; more < 5; ++more) {
      EXPECT_FALSE(add("host", "more" + std::to_string(more)));
    }
    now_ms_ += limits::login_wait_ms + limits::login_forget_interval_ms;
    queue_.take_overdue(now_ms_, overdue);
  }
}

TEST_F(LoginQueueTest, one_that_is_slowed_down_does_not_hold_up_those_behind_it) {
  for (uint32_t i = 0; i <= limits::guesses_at_once; ++i) {
    EXPECT_TRUE(add("host", "root"));
  }
  EXPECT_EQ(try_all(Outcome::wrong), static_cast<int>(limits::guesses_at_once));
  EXPECT_TRUE(add("other", "any"));
  EXPECT_TRUE(add("third", "any"));
  EXPECT_EQ(try_all(Outcome::wrong), 2);
}

TEST_F(LoginQueueTest, where_all_guesses_are_slowed_down_it_says_when_to_ask_again) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(add(std::to_string(i), "root"));
  }
  try_all(Outcome::wrong);
  EXPECT_GT(next_at_ms_, now_ms_);
  EXPECT_LE(next_at_ms_, now_ms_ + limits::all_guess_interval_ms);
}

TEST_F(LoginQueueTest, what_is_remembered_of_all_addresses_together_is_bounded) {
  for (uint32_t number = 0; number < limits::login_claims_max; ++number) {
    ASSERT_TRUE(add("host" + std::to_string(number), "any")) << number;
  }
  EXPECT_FALSE(add("another", "any"));
  EXPECT_TRUE(add("host0", "any")) << "that one is remembered";
}

TEST_F(LoginQueueTest, no_more_than_so_many_accounts_are_known) {
  for (uint32_t number = 0; number <= limits::login_accounts_max; ++number) {
    log_in("host" + std::to_string(number), "app" + std::to_string(number));
  }
  EXPECT_TRUE(add("other", "app" + std::to_string(limits::login_accounts_max - 1)));
  EXPECT_EQ(pick().lane, Lane::plausible);
  EXPECT_TRUE(add("other", "app" + std::to_string(limits::login_accounts_max)));
  EXPECT_EQ(pick().lane, Lane::strange);
}

TEST_F(LoginQueueTest, many_accounts_of_one_address_keep_none_of_its_others_out) {
  for (uint32_t number = 0; number < 3 * limits::login_claims_per_party_max; ++number) {
    ASSERT_TRUE(add("host", std::to_string(number))) << number;
    ASSERT_TRUE(try_next(Outcome::right)) << number;
  }
  for (const uint32_t last : {1U, 2U}) {
    EXPECT_TRUE(add("host", std::to_string(3 * limits::login_claims_per_party_max - last)));
    EXPECT_EQ(pick().lane, Lane::proven) << last;
  }
}

TEST_F(LoginQueueTest, of_the_proven_claims_the_one_that_was_used_least_recently_is_forgotten) {
  log_in("host", "often");
  log_in("host", "once");
  for (uint32_t number = 2; number <= limits::login_claims_per_party_max; ++number) {
    log_in("host", "often");
    log_in("host", std::to_string(number));
  }
  EXPECT_TRUE(add("host", "often"));
  EXPECT_EQ(pick().lane, Lane::proven);
  EXPECT_TRUE(add("host", "once"));
  EXPECT_EQ(pick().lane, Lane::plausible);
}

TEST_F(LoginQueueTest, guesses_for_many_names_cost_no_claim_its_proof) {
  log_in("host", "app");
  for (uint32_t number = 0; number < 2 * limits::login_claims_per_party_max; ++number) {
    static_cast<void>(add("host", "any" + std::to_string(number)));
  }
  EXPECT_TRUE(add("host", "app"));
  EXPECT_EQ(pick().lane, Lane::proven);
}

}  // namespace
}  // namespace rowsocket::server
