// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <string>

#include "base/limits.h"
#include "mariadb/accounts.h"
#include "mariadb/engines.h"
#include "mariadb/searched_value.h"
#include "mariadb/server_differences.h"
#include "mariadb/variables.h"
#include "mariadb/variables_table.h"

// The server would quietly bend a number that is out of bounds to the nearest bound. An operator who asks for
// port 70000 wants to be told: so the variables are declared with wide bounds, and the table's own are
// checked at load and at SET. The server learns of those once it has read the options. The wide bounds are
// those of a signed number: of -1 the server would make 0, which often means no bound at all.

// What the table's macros take are names, which can not stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)

namespace rowsocket::mariadb {
namespace {

using server::Config;

struct Number {
  const char* name;
  long long min;
  long long max;
  long long value = 0;
};

/// The variable only shows whether the secret is set, since any account may read variables.
struct Secret {
  char* shown = nullptr;
  std::string secret = {};
};

// The values, each under the name of its variable.
#define ROWSOCKET_TEXT(name, field, default_value, what) char* name = nullptr;
#define ROWSOCKET_NUMBER(name, field, when, default_value, min, max, what) \
  Number name{"rowsocket_" #name, min, max};
#define ROWSOCKET_SECRET(name, what) Secret name;
#define ROWSOCKET_SWITCH(name, field, when, default_value, what) my_bool name = 0;
ROWSOCKET_VARIABLES
#undef ROWSOCKET_TEXT
#undef ROWSOCKET_NUMBER
#undef ROWSOCKET_SECRET
#undef ROWSOCKET_SWITCH
char* engines = nullptr;
char* anonymous_account = nullptr;

#define ROWSOCKET_TEXT(name, field, default_value, what)
#define ROWSOCKET_NUMBER(name, field, when, default_value, min, max, what) &name,
#define ROWSOCKET_SECRET(name, what)
#define ROWSOCKET_SWITCH(name, field, when, default_value, what)
const Number* const numbers[] = {ROWSOCKET_VARIABLES};
#undef ROWSOCKET_TEXT
#undef ROWSOCKET_NUMBER
#undef ROWSOCKET_SECRET
#undef ROWSOCKET_SWITCH

long long killed = 0;  ///< stays 0: see `update_kill`

SettingsChanged settings_changed = nullptr;
Killing killing{};

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

Config current_config() {
  Config config;
#define ROWSOCKET_TEXT(name, field, default_value, what) config.field = text_or_empty(name);
#define ROWSOCKET_NUMBER(name, field, when, default_value, min, max, what) \
  config.field = static_cast<decltype(config.field)>(name.value);
#define ROWSOCKET_SECRET(name, what) config.settings.name = name.secret;
#define ROWSOCKET_SWITCH(name, field, when, default_value, what) config.field = name != 0;
  ROWSOCKET_VARIABLES
#undef ROWSOCKET_TEXT
#undef ROWSOCKET_NUMBER
#undef ROWSOCKET_SECRET
#undef ROWSOCKET_SWITCH
  config.tcp = !config.address.empty();
  const std::string anonymous = text_or_empty(anonymous_account);
  config.settings.needs_account = anonymous.empty();
  config.settings.anonymous_account = whole_account_name(anonymous);
  Accounts::all().set_anonymous(anonymous);
  set_strict_keys(config.settings.strict);
  return config;
}

void report_change() {
  if (settings_changed != nullptr) {
    settings_changed(current_config().settings);
  }
}

const char* shown_secret(const std::string& secret) { return secret.empty() ? "" : "(set)"; }

bool is_in_bounds(const Number& number, std::string& failure) {
  if (number.value >= number.min && number.value <= number.max) {
    return true;
  }
  failure = std::string(number.name) + "=" + std::to_string(number.value) + ": takes a number from " +
            std::to_string(number.min) + " to " + std::to_string(number.max);
  return false;
}

// ---- called by the server on SET GLOBAL

template <const Number& number>
int check_number(MYSQL_THD, st_mysql_sys_var*, void* save, st_mysql_value* value) {
  long long given = 0;
  if (value->value_type(value) != MYSQL_VALUE_TYPE_INT || value->val_int(value, &given) != 0) {
    my_printf_error(ER_WRONG_TYPE_FOR_VAR, "%s takes a whole number", MYF(0), number.name);
    return 1;
  }
  const bool is_beyond_63_bits = given < 0 && value->is_unsigned(value) != 0;
  if (is_beyond_63_bits || given < number.min || given > number.max) {
    my_printf_error(ER_WRONG_VALUE_FOR_VAR, "%s takes a number from %lld to %lld", MYF(0), number.name,
                    number.min, number.max);
    return 1;
  }
  *static_cast<long long*>(save) = given;
  return 0;
}

void update_number(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) {
  *static_cast<long long*>(place) = *static_cast<const long long*>(save);
  report_change();
}

void update_switch(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) {
  *static_cast<my_bool*>(place) = *static_cast<const my_bool*>(save);
  report_change();
}

template <Secret& variable>
void update_secret(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) {
  variable.secret = text_or_empty(*static_cast<const char* const*>(save));
  *static_cast<const char**>(place) = shown_secret(variable.secret);
  report_change();
}

bool is_account_name(const char* name) {
  std::string user;
  std::string host;
  return name == nullptr || *name == '\0' || split_account_name(name, user, host);
}

/// As rights.cc takes it on. No error: the account may be made later.
void warn_of_unknown(MYSQL_THD thd, const std::string& name) {
  std::string user;
  std::string host;
  Security_context context;
  if (!name.empty() && split_account_name(name, user, host) &&
      (take_privileges(context, user, host.c_str(), host.c_str()) || host != context.priv_host)) {
    push_warning_printf(thd, Sql_condition::WARN_LEVEL_WARN, ER_WRONG_VALUE_FOR_VAR,
                        "there is no account %s: clients that name none may do nothing", name.c_str());
  }
}

int check_account(MYSQL_THD thd, st_mysql_sys_var*, void* save, st_mysql_value* value) {
  char room[USERNAME_LENGTH + MAX_HOSTNAME + 8];
  int size = sizeof room;
  const char* const name = value->val_str(value, room, &size);
  if (!is_account_name(name)) {
    my_printf_error(ER_WRONG_VALUE_FOR_VAR, "rowsocket_anonymous_account takes user@host, or nothing",
                    MYF(0));
    return 1;
  }
  warn_of_unknown(thd, text_or_empty(name));
  // The server copies it before what is on the stack is gone.
  *static_cast<const char**>(save) = name == nullptr ? "" : thd_strmake(thd, name, size);
  return 0;
}

void update_account(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) {
  auto* const kept = static_cast<char**>(place);
  char* const before = *kept;
  const std::string name = text_or_empty(*static_cast<const char* const*>(save));
  *kept = my_strdup(PSI_NOT_INSTRUMENTED, name.c_str(), MYF(MY_WME));
  my_free(before);
  report_change();
}

/// Like a KILL of others. SET GLOBAL itself asks for SUPER.
int check_kill(MYSQL_THD thd, st_mysql_sys_var*, void* save, st_mysql_value* value) {
  if (check_global_access(thd, PRIV_KILL_OTHER_USER_PROCESS)) {
    return 1;  // it has told the error
  }
  long long number = 0;
  if (value->value_type(value) != MYSQL_VALUE_TYPE_INT || value->val_int(value, &number) != 0) {
    my_printf_error(ER_WRONG_TYPE_FOR_VAR, "rowsocket_kill takes an ID of %s.ROWSOCKET_CONNECTIONS", MYF(0),
                    INFORMATION_SCHEMA_NAME.str);
    return 1;
  }
  if (killing.has_client == nullptr || !killing.has_client(static_cast<uint64_t>(number))) {
    my_error(ER_NO_SUCH_THREAD, MYF(0), static_cast<ulonglong>(number));
    return 1;
  }
  *static_cast<long long*>(save) = number;
  return 0;
}

/// The variable keeps its value. To stop a request takes locks of its THD, which do not belong below that of
/// all variables.
void update_kill(MYSQL_THD, st_mysql_sys_var*, void*, const void* save) {
  const auto number = static_cast<uint64_t>(*static_cast<const long long*>(save));
  mysql_mutex_unlock(&LOCK_global_system_variables);
  if (killing.kill_client != nullptr && number != 0) {
    killing.kill_client(number);
  }
  mysql_mutex_lock(&LOCK_global_system_variables);
}

// ---- what the server is told of each

constexpr long long any_min = LLONG_MIN;
constexpr long long any_max = LLONG_MAX;

// The flags of a number.
#define ROWSOCKET_at_start PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY
#define ROWSOCKET_any_time PLUGIN_VAR_RQCMDARG

#define ROWSOCKET_TEXT(name, field, default_value, what)                                          \
  MYSQL_SYSVAR_STR(name, name, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY, what, nullptr, nullptr, \
                   default_value);
#define ROWSOCKET_NUMBER(name, field, when, default_value, min, max, what)                           \
  MYSQL_SYSVAR_LONGLONG(name, name.value, ROWSOCKET_##when, what, check_number<name>, update_number, \
                        default_value, any_min, any_max, 0);
#define ROWSOCKET_SECRET(name, what) \
  MYSQL_SYSVAR_STR(name, name.shown, PLUGIN_VAR_RQCMDARG, what, nullptr, update_secret<name>, "");
#define ROWSOCKET_SWITCH(name, field, when, default_value, what)                                      \
  MYSQL_SYSVAR_BOOL(name, name, PLUGIN_VAR_OPCMDARG | ROWSOCKET_##when, what, nullptr, update_switch, \
                    default_value);
ROWSOCKET_VARIABLES
#undef ROWSOCKET_TEXT
#undef ROWSOCKET_NUMBER
#undef ROWSOCKET_SECRET
#undef ROWSOCKET_SWITCH
// These are no part of Config: the engine asks for them.
MYSQL_SYSVAR_STR(
    anonymous_account, anonymous_account, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
    "The account, as user@host, whose rights clients have that name no account: with the secret of "
    "their port, where it has one. Empty = they may do nothing",
    check_account, update_account, "");
MYSQL_SYSVAR_LONGLONG(kill, killed, PLUGIN_VAR_NOCMDOPT,
                      "Set to the ID of a client in information_schema.ROWSOCKET_CONNECTIONS, it closes that "
                      "client's connection, whatever the client does, and stops its request. Reads as 0",
                      check_kill, update_kill, 0, any_min, any_max, 0);
MYSQL_SYSVAR_STR(engines, engines, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                 "Storage engines whose tables are served, comma-separated. Those of the default were tried; "
                 "others may harm the server",
                 nullptr, nullptr, default_engines);

}  // namespace

#define ROWSOCKET_TEXT(name, field, default_value, what) MYSQL_SYSVAR(name),
#define ROWSOCKET_NUMBER(name, field, when, default_value, min, max, what) MYSQL_SYSVAR(name),
#define ROWSOCKET_SECRET(name, what) MYSQL_SYSVAR(name),
#define ROWSOCKET_SWITCH(name, field, when, default_value, what) MYSQL_SYSVAR(name),
st_mysql_sys_var* system_variables[] = {ROWSOCKET_VARIABLES MYSQL_SYSVAR(engines),
                                        MYSQL_SYSVAR(anonymous_account), MYSQL_SYSVAR(kill), nullptr};
#undef ROWSOCKET_TEXT
#undef ROWSOCKET_NUMBER
#undef ROWSOCKET_SECRET
#undef ROWSOCKET_SWITCH

void declare_bounds(sys_var* first) {
  mysql_prlock_wrlock(&LOCK_system_variables_hash);
  for (sys_var* variable = first; variable != nullptr; variable = variable->next) {
    for (const Number* const number : numbers) {
      if (std::string_view(variable->name.str, variable->name.length) == number->name) {
        variable->option.min_value = number->min;
        variable->option.max_value = number->max;
      }
    }
  }
  mysql_prlock_unlock(&LOCK_system_variables_hash);
}

bool load_variables(Config& config, SettingsChanged changed, const Killing& how_to_kill,
                    std::string& failure) {
#define ROWSOCKET_TEXT(name, field, default_value, what)
#define ROWSOCKET_NUMBER(name, field, when, default_value, min, max, what) \
  if (!is_in_bounds(name, failure)) {                                      \
    return false;                                                          \
  }
#define ROWSOCKET_SECRET(name, what)       \
  name.secret = text_or_empty(name.shown); \
  name.shown = const_cast<char*>(shown_secret(name.secret));
#define ROWSOCKET_SWITCH(name, field, when, default_value, what)
  ROWSOCKET_VARIABLES
#undef ROWSOCKET_TEXT
#undef ROWSOCKET_NUMBER
#undef ROWSOCKET_SECRET
#undef ROWSOCKET_SWITCH
  if (!is_account_name(anonymous_account)) {
    failure = std::string("rowsocket_anonymous_account=") + anonymous_account + ": takes user@host";
    return false;
  }
  set_engines_served(engines);
  settings_changed = changed;
  killing = how_to_kill;
  config = current_config();
  return true;
}

}  // namespace rowsocket::mariadb

// NOLINTEND(bugprone-macro-parentheses)
