// SPDX-License-Identifier: GPL-2.0-only
//
// The accounts that clients have logged in with, by number, and the account of those that named none. A
// number stands for one way to have an account: user and host as the server matched them, from where, and
// in which role. Clients that are the same in all of this share a number, and so what they opened.
//
// Nothing here says what an account may do: that is asked anew in each turn (rights.h), since no event tells
// that grants have changed.
//
// Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "engine/engine.h"

namespace rowsocket::mariadb {

/// As the server's Security_context has it. Empty host and ip: unknown.
struct AccountNames {
  std::string user;  ///< that the client said
  std::string host;
  std::string ip;
  std::string priv_user;  ///< the account's own name: what CURRENT_USER() says
  std::string priv_host;
  std::string role;
  /// Its own MAX_STATEMENT_TIME as it logged in; 0 = the server's max_statement_time is in force.
  uint64_t statement_us_max = 0;
};

struct Account {
  uint64_t number = engine::own_account;
  AccountNames names;

  /// As engine::Identity tells it.
  [[nodiscard]] std::string whole_name() const { return names.priv_user + "@" + names.priv_host; }
};

class Accounts {
 public:
  /// Of the whole plugin.
  static Accounts& all();

  /// The account of these names; a new number if no client has it now. May throw std::bad_alloc.
  [[nodiscard]] std::shared_ptr<const Account> entered(const AccountNames& names);
  /// nullptr if it is gone, or where no account was named for clients that name none.
  [[nodiscard]] std::shared_ptr<const Account> find(uint64_t number) const;
  /// The server has no such account any more. Who logged in with it has to log in again, even if another
  /// account comes to have its name. Nothing ends the account of clients that name none: it is whichever has
  /// that name.
  void end(uint64_t number);

  /// The account of clients that name none, as `user@host`; empty = none. `name` was split before. May throw
  /// std::bad_alloc.
  void set_anonymous(const std::string& name);
  /// The server has no such account. True the first time since its name was set: that is worth a line.
  [[nodiscard]] bool misses_anonymous();

 private:
  void forget_gone() ROWSOCKET_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_map<std::string, uint64_t> numbers_ ROWSOCKET_GUARDED_BY(mutex_);  ///< by all names
  std::unordered_map<uint64_t, std::weak_ptr<const Account>> accounts_ ROWSOCKET_GUARDED_BY(mutex_);
  std::shared_ptr<const Account> anonymous_ ROWSOCKET_GUARDED_BY(mutex_);
  bool was_anonymous_missed_ ROWSOCKET_GUARDED_BY(mutex_) = false;
  uint64_t last_number_ ROWSOCKET_GUARDED_BY(mutex_) = engine::first_account - 1;
  size_t size_after_clearing_ ROWSOCKET_GUARDED_BY(mutex_) = 0;
};

/// `user@host`, each perhaps in quotes ('app'@'10.%'). The host comes in small letters, as SQL makes it where
/// it reads such a name. False if it is no name of an account.
[[nodiscard]] bool split_account_name(std::string_view name, std::string& user, std::string& host);

/// As engine::Identity tells it; empty where it is no name of an account.
[[nodiscard]] std::string whole_account_name(std::string_view name);

}  // namespace rowsocket::mariadb
