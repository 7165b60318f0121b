// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <cstring>
#include <string>

#include "mariadb/binding.h"
#include "mariadb/diagnostics.h"
#include "mariadb/rights.h"
#include "mariadb/server_differences.h"
#include "mariadb/server_thread.h"

namespace rowsocket::mariadb {
namespace {

using engine::Demand;

constexpr privilege_t row_privileges = SELECT_ACL | INSERT_ACL | UPDATE_ACL | DELETE_ACL;
constexpr uint32_t reads =
    Demand::reads_columns | Demand::reads_key | Demand::reads_filters | Demand::reads_changed;

privilege_t privileges_for(const Demand& demand) {
  privilege_t wanted = NO_ACL;
  if ((demand.kinds & reads) != 0) {
    wanted |= SELECT_ACL;
  }
  if ((demand.kinds & Demand::updates) != 0) {
    wanted |= UPDATE_ACL;
  }
  if ((demand.kinds & Demand::deletes) != 0) {
    wanted |= DELETE_ACL;
  }
  if ((demand.kinds & Demand::inserts) != 0) {
    wanted |= INSERT_ACL;
  }
  return wanted;
}

/// The first one of them, as SQL calls it.
const char* name_of(privilege_t privileges) {
  if ((privileges & SELECT_ACL) != NO_ACL) {
    return "SELECT";
  }
  if ((privileges & INSERT_ACL) != NO_ACL) {
    return "INSERT";
  }
  return (privileges & UPDATE_ACL) != NO_ACL ? "UPDATE" : "DELETE";
}

template <size_t size>
const char* keep(char (&place)[size], const std::string& text) {
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
  return text.empty() ? nullptr : place;
}

/// The server takes what a Security_context keeps of one database for the account's rights on the THD's. In a
/// session of ours the two need not belong together: the database is that of the last row that needed one,
/// and accounts change with requests. So rights are read as in a session that has entered no database.
class OutsideDatabase {
 public:
  explicit OutsideDatabase(THD* thd) : thd_(thd), database_(thd->db) {
    if (database_.str != nullptr) [[unlikely]] {
      thd_->reset_db(&null_clex_str);
    }
  }
  ~OutsideDatabase() {
    if (database_.str != nullptr) [[unlikely]] {
      thd_->reset_db(&database_);
    }
  }
  OutsideDatabase(const OutsideDatabase&) = delete;
  OutsideDatabase& operator=(const OutsideDatabase&) = delete;

 private:
  THD* thd_;
  LEX_CSTRING database_;
};

/// The names of a Security_context, and its host: what the server finds accounts by. As for a definer, the
/// account's own host stands for the client's. Where that is a pattern which the pattern of another account
/// stands for, too ('10.%' and '10._'), the client's own address tells them apart.
void stand_at(Security_context& context, const AccountNames& names, bool by_address) {
  const char* const priv_host = names.priv_host.empty() ? "%" : names.priv_host.c_str();
  const std::string& host = names.host.empty() ? names.ip : names.host;
  context.init();
  context.user = names.priv_user.c_str();
  context.host = by_address ? host.c_str() : priv_host;
  context.ip = by_address ? names.ip.c_str() : priv_host;
  context.host_or_ip = context.host;
}

/// Of no version, so that the server reads them.
GRANT_INFO unread_grants() {
  GRANT_INFO grants;
  grants.grant_table_user = grants.grant_table_role = grants.grant_public = nullptr;
  grants.version = ~0U;
  grants.m_internal = {};
  return grants;
}

/// As the status variable Acl_users has it, which is read without a lock, too.
uint64_t count_of_accounts() {
  static const SHOW_VAR* const shown = [] {
    const SHOW_VAR* variable = acl_statistics;
    while (variable->name != nullptr && std::strcmp(variable->name, "users") != 0) {
      ++variable;
    }
    return variable;
  }();
  return shown->name != nullptr && shown->type == SHOW_SIZE_T
             ? __atomic_load_n(reinterpret_cast<const size_t*>(shown->value), __ATOMIC_RELAXED)
             : 0;
}

bool take_account(Security_context& context, const AccountNames& names, bool& by_address) {
  for (const bool is_second : {false, true}) {
    by_address = is_second;
    stand_at(context, names, by_address);
    if (*context.host != '\0' && !take_privileges(context, names.priv_user, context.host, context.ip) &&
        names.priv_host == context.priv_host) {
      context.db_access = NO_ACL;  // that of no database in particular
      return true;
    }
  }
  return false;
}

bool has_names(const AccountNames& names) {
  if (!names.priv_user.empty() && !names.priv_host.empty()) {
    return is_account(names.priv_user, names.priv_host);
  }
  Security_context context;
  return take_account(context, names);
}

}  // namespace

bool take_account(Security_context& context, const AccountNames& names) {
  bool by_address = false;
  return take_account(context, names, by_address);
}

bool is_there(const Account& account) {
  const bool is_known = has_names(account.names);
  if (!is_known) {
    Accounts::all().end(account.number);
  }
  return is_known;
}

Rights::Rights(THD* thd)
    : thd_(thd), own_user_(thd->main_security_ctx.user), own_host_or_ip_(thd->main_security_ctx.host_or_ip) {
  context_.init();
}

Error Rights::become(uint64_t number) {
  if (number == engine::own_account) {
    become_own();
    return {};
  }
  if (number_ != number || number_epoch_ != epoch_) [[unlikely]] {
    const std::shared_ptr<const Account> account = Accounts::all().find(number);
    become_own();
    ServerThread::of(thd_).random_numbers().forget();
    if (account == nullptr || !take_names(account)) {
      Accounts::all().end(number);
      return Error(ErrorCode::not_authenticated, "there is no such account (any more)");
    }
    number_ = number;
    number_epoch_ = epoch_;
    set_session_user(thd_, context_.priv_user, context_.priv_host);
  }
  act_as(context_, names_.shown_user, names_.shown_host);
  return {};
}

void Rights::become_own() {
  leave();
  if (number_ != engine::own_account) {
    number_ = engine::own_account;
    set_session_user(thd_, own_name, "");
  }
}

/// What the server knows of the account now. False if it is gone.
bool Rights::take_names(const std::shared_ptr<const Account>& account) {
  const AccountNames& names = account->names;
  const char* const user = keep(names_.user, names.user);
  const char* const host = keep(names_.host, names.host);
  const char* const ip = keep(names_.ip, names.ip);
  if (!find_account(account)) {
    context_.init();
    context_.host_or_ip = "";
    return false;
  }
  // An account may KILL the sessions that have its name. So the session still has none.
  context_.user = own_user_;
  context_.host = host;
  context_.ip = ip;
  context_.host_or_ip = own_host_or_ip_;
  names_.statement_us_max = names.statement_us_max;
  names_.shown_user = user != nullptr ? user : "";
  names_.shown_host = host != nullptr ? host : (ip != nullptr ? ip : "");
  if (!names.role.empty()) {
    take_role(names.role);
  }
  context_.master_access &= ~PRIV_IGNORE_READ_ONLY;
  return true;
}

/// Into `context_`, by the short way if that leads there.
bool Rights::find_account(const std::shared_ptr<const Account>& account) {
  Found& found = found_[account->number % found_.size()];
  const bool is_known = !found.account.owner_before(account) && !account.owner_before(found.account);
  const uint64_t of_accounts = count_of_accounts();
  if (is_known && thd_->start_utime < found.until_us && found.of_accounts == of_accounts &&
      is_as_found(found, account->names)) {
    return true;
  }
  found = {};
  bool by_address = false;
  if (!take_account(context_, account->names, by_address)) {
    return false;
  }
  privilege_t access = NO_ACL;
  if (look_up(account->names, access) && access == context_.master_access) {
    found = {.account = account,
             .access = access,
             .by_address = by_address,
             .until_us = thd_->start_utime + limits::account_found_us,
             .of_accounts = of_accounts};
  }
  return true;
}

bool Rights::is_as_found(const Found& found, const AccountNames& names) {
  stand_at(context_, names, found.by_address);
  strmake_buf(context_.priv_user, names.priv_user.c_str());
  strmake_buf(context_.priv_host, names.priv_host.c_str());
  return look_up(names, context_.master_access) && context_.master_access == found.access;
}

/// The global privileges of the account that the server finds for the names in `context_`. False where the
/// account is gone, or can not be found so.
bool Rights::look_up(const AccountNames& names, privilege_t& access) {
  if (names.priv_user.empty() || names.priv_host.empty() || !is_account(names.priv_user, names.priv_host)) {
    return false;
  }
  context_.user = own_user_;  // see `take_names`
  context_.host_or_ip = own_host_or_ip_;
  Security_context* const before = thd_->security_ctx;
  thd_->security_ctx = &context_;
  const bool failed = look_up_global_privileges(thd_, access);
  if (failed) {
    clear_diagnostics(thd_);
  }
  thd_->security_ctx = before;
  return !failed;
}

/// If it is still granted.
void Rights::take_role(const std::string& role) {
  const OutsideDatabase outside(thd_);
  Security_context* const before = thd_->security_ctx;
  thd_->security_ctx = &context_;
  if (take_role_of_account(thd_, role)) {
    clear_diagnostics(thd_);
  }
  thd_->security_ctx = before;
}

Error Rights::check_table(const engine::SelectionDescription& names, const Demand& demand) {
  const bool any = demand.kinds == 0;
  const privilege_t wanted = any ? row_privileges : privileges_for(demand);
  checked_.by_column = NO_ACL;
  const privilege_t global = wanted & context_.master_access;
  if (any ? global != NO_ACL : global == wanted) {
    return {};
  }
  const privilege_t missing = wanted & ~read_table_privileges(names);
  if (any ? missing != wanted : missing == NO_ACL) {
    return {};
  }
  TABLE_LIST list;
  const LEX_CSTRING database = {names.database.c_str(), names.database.size()};
  const LEX_CSTRING table = {names.table.c_str(), names.table.size()};
  list.init_one_table(&database, &table, nullptr, TL_READ);
  list.grant.privilege = checked_.grant.privilege;
  if (check_grant(thd_, missing, &list, any, 1, true)) {
    return deny(missing, names);
  }
  checked_.by_column = missing;
  return {};
}

/// Into `checked_`, too.
privilege_t Rights::read_table_privileges(const engine::SelectionDescription& names) {
  const OutsideDatabase outside(thd_);
  checked_.grant = unread_grants();
  fill_effective_table_privileges(thd_, &checked_.grant, names.database.c_str(), names.table.c_str());
  return checked_.grant.privilege;
}

/// What was denied, and to which account.
std::string Rights::told(privilege_t missing) const {
  std::string text(name_of(missing));
  text.append(" denied to '").append(context_.priv_user).append("'@'").append(context_.priv_host).append("'");
  return text;
}

Error Rights::deny(privilege_t missing, const engine::SelectionDescription& names) const {
  return denied(ER_TABLEACCESS_DENIED_ERROR, told(missing), "table " + names.database + "." + names.table);
}

/// What the server keeps of a table's grants is read again under its lock: it may be gone since.
Error Rights::check_column(privilege_t wanted, const engine::SelectionDescription& names,
                           const Field* field) {
  --checked_.grant.version;
  const privilege_t has = column_privileges(thd_, checked_.grant, names.database, names.table, field);
  const bool is_open = wanted == row_privileges;  // any of them will do
  if (is_open ? (has & wanted) != NO_ACL : (wanted & ~has) == NO_ACL) {
    return {};
  }
  return denied(
      ER_COLUMNACCESS_DENIED_ERROR, told(wanted & ~has),
      std::string("column ") + field->field_name.str + " in table " + names.database + "." + names.table);
}

Error Rights::check_columns(const engine::SelectionDescription& names, const Demand& demand,
                            const Binding& binding) {
  if (checked_.by_column == NO_ACL) [[likely]] {
    return {};
  }
  const bool any = demand.kinds == 0;
  const uint32_t kinds = any ? uint32_t{Demand::reads_columns | Demand::reads_filters} : demand.kinds;
  const bool reads_row = (checked_.by_column & SELECT_ACL) != NO_ACL;
  const bool updates = (kinds & Demand::updates) != 0 && (checked_.by_column & UPDATE_ACL) != NO_ACL;
  const bool inserts = (kinds & Demand::inserts) != 0 && (checked_.by_column & INSERT_ACL) != NO_ACL;
  for (size_t number = 0; number < binding.columns.size(); ++number) {
    const bool changes = demand.changes(number);
    privilege_t wanted = any ? row_privileges : NO_ACL;
    if (!any && reads_row &&
        ((kinds & Demand::reads_columns) != 0 || (changes && (kinds & Demand::reads_changed) != 0))) {
      wanted |= SELECT_ACL;
    }
    const bool is_inserted = demand.inserts_column(number);
    if (updates && (changes || (is_inserted && (kinds & Demand::updates_inserted) != 0))) {
      wanted |= UPDATE_ACL;
    }
    if (inserts && is_inserted) {
      wanted |= INSERT_ACL;
    }
    if (Error error = check_column(wanted, names, binding.columns[number].field); !error.ok()) {
      return error;
    }
  }
  for (const Field* field : binding.filter_columns) {
    if ((kinds & Demand::reads_filters) == 0 || !(reads_row || any)) {
      break;
    }
    if (Error error = check_column(any ? row_privileges : SELECT_ACL, names, field); !error.ok()) {
      return error;
    }
  }
  for (const KeyPart& part : binding.key_parts) {
    if ((kinds & Demand::reads_key) == 0 || !reads_row) {
      break;
    }
    if (Error error = check_column(SELECT_ACL, names, part.field); !error.ok()) {
      return error;
    }
  }
  return {};
}

/// As for INSERT, whichever columns it names.
Error Rights::check_sequences(const engine::SelectionDescription& names, const Demand& demand, TABLE* table) {
  if ((demand.kinds & Demand::inserts) == 0 || table->internal_tables == nullptr) [[likely]] {
    return {};
  }
  const OutsideDatabase outside(thd_);
  for (TABLE_LIST* sequence = table->internal_tables; sequence != nullptr; sequence = sequence->next_global) {
    sequence->grant = unread_grants();  // else the server goes by those of the account that was here before
  }
  if (!table->check_sequence_privileges(thd_)) {
    return {};
  }
  clear_diagnostics(thd_);
  return denied(ER_TABLEACCESS_DENIED_ERROR, told(INSERT_ACL),
                "a sequence that a default draws from in table " + names.database + "." + names.table);
}

Allowed Rights::allowed(const engine::SelectionDescription& names, const Demand& demand, const TABLE* table) {
  Allowed allowed{.epoch = epoch_, .demand = demand};
  const Field* const id = table->found_next_number_field;
  if ((demand.kinds & Demand::tells_kept_id) != 0 && id != nullptr) {
    const bool may_read = (context_.master_access & SELECT_ACL) != NO_ACL ||
                          (read_table_privileges(names) & SELECT_ACL) != NO_ACL ||
                          check_column(SELECT_ACL, names, id).ok();
    allowed.hides_kept_id = !may_read;
  }
  return allowed;
}

}  // namespace rowsocket::mariadb
