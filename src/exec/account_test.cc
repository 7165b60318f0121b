// SPDX-License-Identifier: GPL-2.0-only
//
// What an account says of its client, to those who ask no request of it.
#include "exec/account.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace rowsocket::exec {
namespace {

class Named final : public engine::Identity {
 public:
  Named(uint64_t number, std::string name) : number_(number), name_(std::move(name)) {}
  [[nodiscard]] uint64_t number() const override { return number_; }
  [[nodiscard]] std::string account_name() const override { return name_; }
  [[nodiscard]] uint64_t log_number() const override { return 0; }

 private:
  uint64_t number_;
  std::string name_;
};

Authenticate request_of(Authenticate::Method method, Value secret = Value(std::string_view("s"))) {
  Authenticate request;
  request.method = method;
  request.password = secret;
  return request;
}

class AccountTest : public testing::Test {
 protected:
  void log_in(Account& account, uint64_t number, const std::string& name = "anna@here") const {
    account.set_outcome(std::make_shared<Named>(number, name));
    EXPECT_TRUE(account.authenticate(request_of(Authenticate::Method::account), settings_).ok());
  }

  Settings settings_;
};

TEST_F(AccountTest, only_who_names_an_account_needs_a_login) {
  settings_.secret_read = "s";
  const Account account(Access::write, settings_);
  const Value other(std::string_view("other"));
  using Method = Authenticate::Method;
  EXPECT_TRUE(account.needs_login(request_of(Method::account), settings_));
  EXPECT_FALSE(account.needs_login(request_of(Method::nobody, other), settings_));
  EXPECT_FALSE(account.needs_login(request_of(Method::port_secret), settings_));
  EXPECT_FALSE(account.needs_login(request_of(Method::secret_or_account), settings_));
  EXPECT_TRUE(account.needs_login(request_of(Method::secret_or_account, other), settings_));
  Authenticate malformed = request_of(Method::account);
  malformed.mistake = ErrorCode::syntax;
  EXPECT_FALSE(account.needs_login(malformed, settings_));
}

TEST_F(AccountTest, people_see_who_a_client_is_unless_it_may_do_nothing) {
  Account stranger(Access::write, Access::none);
  EXPECT_EQ(stranger.shown_number(), engine::own_account);
  Account client(Access::write, settings_);
  EXPECT_EQ(client.shown_number(), engine::anonymous_account);
  client.set_barred(true);
  EXPECT_EQ(client.shown_number(), engine::own_account);
  log_in(client, 7);
  EXPECT_EQ(client.shown_number(), 7U);
  client.set_barred(false);
  EXPECT_EQ(client.shown_number(), 7U);
}

TEST_F(AccountTest, those_who_log_in_as_one_user_are_known_as_that_and_nobody_else_is) {
  Account first(Access::write, settings_);
  EXPECT_EQ(first.name_hash(), 0U);
  log_in(first, 7);
  Account second(Access::read, settings_);
  log_in(second, 8);
  EXPECT_NE(first.name_hash(), 0U);
  EXPECT_EQ(second.name_hash(), first.name_hash());
  log_in(second, 8, "bert@here");
  EXPECT_NE(second.name_hash(), first.name_hash());
  EXPECT_TRUE(second.authenticate(request_of(Authenticate::Method::nobody), settings_).ok());
  EXPECT_EQ(second.name_hash(), 0U);
}

}  // namespace
}  // namespace rowsocket::exec
