// SPDX-License-Identifier: GPL-2.0-only
//
// The account that a session's requests run as, and whether they may. The session's THD takes on the account
// for a request, as the server does for the definer of a view: CURRENT_USER() in defaults is the account, and
// so is USER() in triggers (whose CURRENT_USER() is their definer, as in SQL).
//
//   become ... a table is opened, rows are read and changed ... leave
//
// What an account may do is what SQL would say now. An answer is kept for a turn at most: the server has no
// event, and no counter, that tells of every GRANT, REVOKE, DROP USER or change of a role. Of the server's
// own structures nothing is kept from call to call, since any such statement frees them.
//
// To find an account, the server walks through all of its grants on databases, of which there can be
// thousands. So that is done once a second, and where the number of accounts is another one: a new one may be
// taken for this one. In the turns between, the server is asked whether the account is still there, and
// whether it finds the same global privileges where it found the account's: that is a short way.
//
// The privilege to write in spite of read_only is left out: read_only holds for every client.
//
// One session owns it, on its thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"
#include "engine/engine.h"
#include "mariadb/accounts.h"
#include "mariadb/server_headers.h"
#include "request/error.h"

namespace rowsocket::mariadb {

struct Binding;

/// What was allowed, and when: one comparison per request.
struct Allowed {
  uint64_t epoch = 0;
  engine::Demand demand;
  bool hides_kept_id = false;  ///< it may not SELECT what Demand::tells_kept_id is about
};

/// What the server knows of the account now, but for its rights on databases. False if it is gone, or can not
/// be told from others. `context` keeps pointers into `names`.
[[nodiscard]] bool take_account(Security_context& context, const AccountNames& names);

/// Whether the server has the account (still); else its number is ended. From any thread of the server.
[[nodiscard]] bool is_there(const Account& account);

class Rights {
 public:
  explicit Rights(THD* thd);
  ~Rights() { leave(); }
  Rights(const Rights&) = delete;
  Rights& operator=(const Rights&) = delete;

  /// What was allowed before has to be asked again.
  void forget_answers() { ++epoch_; }
  [[nodiscard]] bool is_known(const Allowed& allowed, const engine::Demand& demand) const {
    return allowed.epoch == epoch_ && allowed.demand == demand;
  }

  /// The THD acts as this account from here on. An error if there is no such account (any more).
  [[nodiscard]] Error become(uint64_t number);
  void leave() { act_as(thd_->main_security_ctx, own_user_, own_host_or_ip_); }
  [[nodiscard]] uint64_t number() const { return number_; }
  /// Of the account that the THD acts as: how long one of its requests may take, in microseconds. 0 = as the
  /// server says for all.
  [[nodiscard]] uint64_t statement_us_max() const {
    return number_ == engine::own_account ? 0 : names_.statement_us_max;
  }
  /// Of the account that the THD acts as; "rowsocket" for RowSocket itself.
  [[nodiscard]] const char* client_host() const {
    return number_ == engine::own_account ? own_host_or_ip_ : names_.shown_host;
  }

  // As the account that the THD acts as. RowSocket itself may do everything.

  /// Before the table is opened: a table that may not be seen, and one that is not there, give the same
  /// error. Nothing in `demand`: whether the account may do anything with the table.
  [[nodiscard]] Error check_table(const engine::SelectionDescription& names, const engine::Demand& demand);
  /// Right behind `check_table`, with the same arguments, when the table is open.
  [[nodiscard]] Error check_columns(const engine::SelectionDescription& names, const engine::Demand& demand,
                                    const Binding& binding);
  /// Behind these: the sequences that defaults of the table draw from.
  [[nodiscard]] Error check_sequences(const engine::SelectionDescription& names, const engine::Demand& demand,
                                      TABLE* table);
  /// Behind all of them, where they found no error: what is to be remembered of it.
  [[nodiscard]] Allowed allowed(const engine::SelectionDescription& names, const engine::Demand& demand,
                                const TABLE* table);

 private:
  /// USER() and CURRENT_USER() from here on.
  void act_as(Security_context& context, const char* user, const char* host_or_ip) {
    thd_->security_ctx = &context;
    thd_->main_security_ctx.user = user;
    thd_->main_security_ctx.host_or_ip = host_or_ip;
  }
  /// What was found the last time, by the long way.
  struct Found {
    std::weak_ptr<const Account> account;
    privilege_t access = NO_ACL;  ///< its global privileges
    bool by_address = false;      ///< see `stand_at`
    ulonglong until_us = 0;       ///< it is to be looked for again
    uint64_t of_accounts = 0;     ///< so many accounts there were
  };
  /// Of the account that `context_` is. SHOW PROCESSLIST may read them at any time: they live as long as the
  /// THD.
  struct Names {
    char user[USERNAME_LENGTH + 1] = {};
    char host[MAX_HOSTNAME + 1] = {};
    char ip[MAX_HOSTNAME + 1] = {};
    const char* shown_user = "";  ///< for USER(), as is the next
    const char* shown_host = "";
    uint64_t statement_us_max = 0;
  };
  /// The table that was checked last.
  struct Checked {
    GRANT_INFO grant;
    privilege_t by_column = NO_ACL;  ///< what the grants on it lack, unless columns have it
  };

  void become_own();
  [[nodiscard]] bool take_names(const std::shared_ptr<const Account>& account);
  [[nodiscard]] bool find_account(const std::shared_ptr<const Account>& account);
  [[nodiscard]] bool is_as_found(const Found& found, const AccountNames& names);
  [[nodiscard]] bool look_up(const AccountNames& names, privilege_t& access);
  void take_role(const std::string& role);
  [[nodiscard]] privilege_t read_table_privileges(const engine::SelectionDescription& names);
  [[nodiscard]] std::string told(privilege_t missing) const;
  [[nodiscard]] Error deny(privilege_t missing, const engine::SelectionDescription& names) const;
  [[nodiscard]] Error check_column(privilege_t wanted, const engine::SelectionDescription& names,
                                   const Field* field);

  THD* thd_;
  const char* own_user_;
  const char* own_host_or_ip_;
  uint64_t epoch_ = 1;
  uint64_t number_ = engine::own_account;  ///< whose `context_` is
  uint64_t number_epoch_ = 0;              ///< when it was read
  Security_context context_;
  std::array<Found, limits::found_accounts> found_;  ///< by their numbers, as far as there is room
  Names names_;
  Checked checked_;
};

/// The THD acts as an account no more when the scope ends, also where memory was refused, unless `stay` was
/// called.
class LeavesAccount {
 public:
  explicit LeavesAccount(Rights& rights) : rights_(&rights) {}
  ~LeavesAccount() {
    if (rights_ != nullptr) {
      rights_->leave();
    }
  }
  LeavesAccount(const LeavesAccount&) = delete;
  LeavesAccount& operator=(const LeavesAccount&) = delete;

  void stay() { rights_ = nullptr; }

 private:
  Rights* rights_;
};

}  // namespace rowsocket::mariadb
