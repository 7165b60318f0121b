// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "mariadb/accounts.h"
#include "mariadb/lower_case.h"

namespace rowsocket::mariadb {
namespace {

std::string key_of(const AccountNames& names) {
  std::string key;
  for (const std::string* part :
       {&names.user, &names.host, &names.ip, &names.priv_user, &names.priv_host, &names.role}) {
    key.append(*part).push_back('\0');
  }
  return key.append(std::to_string(names.statement_us_max));
}

/// Without the quotes around it, if it has any.
std::string_view unquoted(std::string_view name) {
  const bool is_quoted = name.size() >= 2 && name.front() == name.back() &&
                         (name.front() == '\'' || name.front() == '"' || name.front() == '`');
  return is_quoted ? name.substr(1, name.size() - 2) : name;
}

}  // namespace

bool split_account_name(std::string_view name, std::string& user, std::string& host) {
  const size_t at = name.rfind('@');
  if (at == std::string_view::npos) {
    return false;
  }
  user = unquoted(name.substr(0, at));
  host = unquoted(name.substr(at + 1));
  to_lower_case(host);
  const bool has_nul = name.find('\0') != std::string_view::npos;
  return !has_nul && !user.empty() && user.size() < USERNAME_LENGTH && !host.empty() &&
         host.size() < MAX_HOSTNAME;
}

std::string whole_account_name(std::string_view name) {
  std::string user;
  std::string host;
  return split_account_name(name, user, host) ? user.append(1, '@').append(host) : std::string();
}

Accounts& Accounts::all() {
  static Accounts accounts;
  return accounts;
}

std::shared_ptr<const Account> Accounts::entered(const AccountNames& names) {
  const MutexLock lock(mutex_);
  forget_gone();
  std::string key = key_of(names);
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    if (std::shared_ptr<const Account> account = accounts_[known->second].lock(); account != nullptr) {
      return account;
    }
    accounts_.erase(known->second);
  }
  auto account = std::make_shared<const Account>(Account{.number = last_number_ + 1, .names = names});
  accounts_[account->number] = account;
  numbers_[std::move(key)] = account->number;
  ++last_number_;
  return account;
}

std::shared_ptr<const Account> Accounts::find(uint64_t number) const {
  const MutexLock lock(mutex_);
  if (number == engine::anonymous_account) {
    return anonymous_;
  }
  const auto known = accounts_.find(number);
  return known == accounts_.end() ? nullptr : known->second.lock();
}

void Accounts::end(uint64_t number) {
  const MutexLock lock(mutex_);
  if (accounts_.erase(number) > 0) {  // once: who was refused may go on asking
    std::erase_if(numbers_, [number](const auto& entry) { return entry.second == number; });
  }
}

void Accounts::set_anonymous(const std::string& name) {
  std::shared_ptr<const Account> account;
  AccountNames names;
  if (split_account_name(name, names.user, names.host)) {
    names.priv_user = names.user;
    names.priv_host = names.host;
    names.ip = names.host;  // as for the definer of a view
    account = std::make_shared<const Account>(Account{.number = engine::anonymous_account, .names = names});
  }
  const MutexLock lock(mutex_);
  const bool is_same =
      anonymous_ != nullptr && account != nullptr && anonymous_->whole_name() == account->whole_name();
  was_anonymous_missed_ = was_anonymous_missed_ && is_same;  // any variable's change sets the name again
  anonymous_ = std::move(account);
}

bool Accounts::misses_anonymous() {
  const MutexLock lock(mutex_);
  return !std::exchange(was_anonymous_missed_, true);
}

/// Forgets names that no client is logged in with, now and then: clients come from many addresses.
void Accounts::forget_gone() {
  if (numbers_.size() < std::max<size_t>(limits::names_cleared_min, 2 * size_after_clearing_)) {
    return;
  }
  std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(numbers_, [this](const auto& entry) {
    mutex_.assume_held();
    return !accounts_.contains(entry.second);
  });
  size_after_clearing_ = numbers_.size();
}

}  // namespace rowsocket::mariadb
