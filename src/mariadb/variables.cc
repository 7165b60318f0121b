// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <array>
#include <cstring>

#include "base/limits.h"
#include "mariadb/engines.h"
#include "mariadb/searched_value.h"
#include "mariadb/variables.h"

// The server would quietly bend a number that is out of bounds to the nearest bound. An operator who asks for port 70000 wants to
// be told: so the variables are declared with wide bounds, and the real ones are in one table, checked at load and at SET.

namespace rowsocket::mariadb {
namespace {

using server::Config;

// The values as the server keeps them.
char* address_text;
char* socket_read_text;
char* socket_write_text;
char* secret_read_text;
char* secret_write_text;
char* engines_text;
unsigned long long port_read;
unsigned long long port_write;
unsigned long long threads_read;
unsigned long long threads_write;
unsigned long long idle_timeout;
unsigned long long max_connections_allowed;
unsigned long long max_line_bytes;
unsigned long long max_reply_bytes;
unsigned long long max_held_bytes;
unsigned long long max_in_values;
unsigned long long max_indexes;
my_bool error_detail;
my_bool strict;

// The secrets themselves; the variables only show whether one is set, since any account may read variables.
std::string secret_read;
std::string secret_write;
ConfigChanged config_changed = nullptr;

struct Bound {
  const char* name;
  const unsigned long long* value;
  unsigned long long min;
  unsigned long long max;
};

constexpr unsigned long long port_max = 65535;

const std::array bounds = {
    Bound{"rowsocket_port_read", &port_read, 0, port_max},
    Bound{"rowsocket_port_write", &port_write, 0, port_max},
    Bound{"rowsocket_threads_read", &threads_read, 0, limits::threads_max},
    Bound{"rowsocket_threads_write", &threads_write, 0, limits::threads_max},
    Bound{"rowsocket_idle_timeout", &idle_timeout, 0, 31'536'000},
    Bound{"rowsocket_max_connections", &max_connections_allowed, 1, limits::connections_max},
    Bound{"rowsocket_max_line_bytes", &max_line_bytes, limits::line_bytes_min, limits::line_bytes_max},
    Bound{"rowsocket_max_reply_bytes", &max_reply_bytes, limits::reply_bytes_min, limits::reply_bytes_max},
    Bound{"rowsocket_max_held_bytes", &max_held_bytes, limits::held_bytes_min, limits::held_bytes_max},
    Bound{"rowsocket_max_in_values", &max_in_values, 1, limits::in_list_max},
    Bound{"rowsocket_max_indexes", &max_indexes, 1, limits::index_id_max},
};

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

Config current_config() {
  Config config;
  config.address = text_or_empty(address_text);
  config.tcp = !config.address.empty();
  config.port_read = static_cast<uint32_t>(port_read);
  config.port_write = static_cast<uint32_t>(port_write);
  config.socket_read = text_or_empty(socket_read_text);
  config.socket_write = text_or_empty(socket_write_text);
  config.threads_read = static_cast<uint32_t>(threads_read);
  config.threads_write = static_cast<uint32_t>(threads_write);
  config.idle_timeout_s = static_cast<uint32_t>(idle_timeout);
  config.max_connections = static_cast<uint32_t>(max_connections_allowed);
  config.max_line_bytes = max_line_bytes;
  config.max_reply_bytes = max_reply_bytes;
  config.max_held_bytes = max_held_bytes;
  config.max_in_values = static_cast<uint32_t>(max_in_values);
  config.max_indexes = static_cast<uint32_t>(max_indexes);
  config.secret_read = secret_read;
  config.secret_write = secret_write;
  config.error_detail = error_detail != 0;
  config.strict = strict != 0;
  set_strict_keys(config.strict);
  return config;
}

void report_change() {
  if (config_changed != nullptr) {
    config_changed(current_config());
  }
}

const char* shown_secret(const std::string& secret) { return secret.empty() ? "" : "(set)"; }

// ---- called by the server on SET GLOBAL

template <size_t Number>
int check_number(MYSQL_THD, st_mysql_sys_var*, void* save, st_mysql_value* value) {
  const Bound& bound = bounds[Number];
  long long number = 0;
  if (value->value_type(value) != MYSQL_VALUE_TYPE_INT || value->val_int(value, &number) != 0) {
    my_printf_error(ER_WRONG_TYPE_FOR_VAR, "%s takes a whole number", MYF(0), bound.name);
    return 1;
  }
  const bool negative = number < 0 && value->is_unsigned(value) == 0;
  if (negative || static_cast<unsigned long long>(number) < bound.min || static_cast<unsigned long long>(number) > bound.max) {
    my_printf_error(ER_WRONG_VALUE_FOR_VAR, "%s takes a number from %llu to %llu", MYF(0), bound.name, bound.min, bound.max);
    return 1;
  }
  *static_cast<unsigned long long*>(save) = static_cast<unsigned long long>(number);
  return 0;
}

void update_number(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) {
  *static_cast<unsigned long long*>(place) = *static_cast<const unsigned long long*>(save);
  report_change();
}

void update_switch(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) {
  *static_cast<my_bool*>(place) = *static_cast<const my_bool*>(save);
  report_change();
}

void update_secret(std::string& secret, void* place, const void* save) {
  secret = text_or_empty(*static_cast<const char* const*>(save));
  *static_cast<const char**>(place) = shown_secret(secret);
  report_change();
}

void update_secret_read(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) { update_secret(secret_read, place, save); }
void update_secret_write(MYSQL_THD, st_mysql_sys_var*, void* place, const void* save) {
  update_secret(secret_write, place, save);
}

constexpr unsigned long long any_max = ~0ULL;

MYSQL_SYSVAR_STR(address, address_text, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                 "Addresses to listen on, comma-separated numbers like 127.0.0.1,::1; * = all; empty = no TCP", nullptr, nullptr,
                 "127.0.0.1,::1");
MYSQL_SYSVAR_ULONGLONG(port_read, port_read, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY, "TCP port for reads; 0 = a free port",
                       nullptr, nullptr, 9998, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(port_write, port_write, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                       "TCP port for reads and writes; 0 = a free port; the same as rowsocket_port_read = one port for both",
                       nullptr, nullptr, 9999, 0, any_max, 0);
MYSQL_SYSVAR_STR(socket_read, socket_read_text, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY, "Unix socket for reads; empty = none",
                 nullptr, nullptr, "");
MYSQL_SYSVAR_STR(socket_write, socket_write_text, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                 "Unix socket for reads and writes; empty = none", nullptr, nullptr, "");
MYSQL_SYSVAR_ULONGLONG(threads_read, threads_read, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                       "Worker threads for the read port; 0 = as many as cores", nullptr, nullptr, 0, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(
    threads_write, threads_write, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
    "Worker threads for the write port; 0 = a quarter of the cores, or as many as cores where no port serves reads only", nullptr,
    nullptr, 0, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(idle_timeout, idle_timeout, PLUGIN_VAR_RQCMDARG,
                       "Seconds after which a connection without traffic is closed; 0 = never", check_number<4>, update_number,
                       limits::idle_timeout_s_default, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(max_connections, max_connections_allowed, PLUGIN_VAR_RQCMDARG, "Connections served at once",
                       check_number<5>, update_number, limits::connections_default, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(max_line_bytes, max_line_bytes, PLUGIN_VAR_RQCMDARG, "Longest request in bytes", check_number<6>,
                       update_number, limits::line_bytes_default, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(max_reply_bytes, max_reply_bytes, PLUGIN_VAR_RQCMDARG, "Largest reply in bytes", check_number<7>,
                       update_number, limits::reply_bytes_default, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(
    max_held_bytes, max_held_bytes, PLUGIN_VAR_RQCMDARG,
    "Bytes that the connections of one worker may hold together: halves of requests, replies not read, opened ids. Who "
    "holds most is closed",
    check_number<8>, update_number, limits::held_bytes_default, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(max_in_values, max_in_values, PLUGIN_VAR_RQCMDARG, "Values of one IN list", check_number<9>, update_number,
                       limits::in_list_default, 0, any_max, 0);
MYSQL_SYSVAR_ULONGLONG(max_indexes, max_indexes, PLUGIN_VAR_RQCMDARG,
                       "Indexes that a connection may have open; ids are below this", check_number<10>, update_number,
                       limits::index_id_default, 0, any_max, 0);
MYSQL_SYSVAR_STR(
    secret_read, secret_read_text, PLUGIN_VAR_RQCMDARG,
    "What clients must send to read; empty = nothing. Shown as (set). Without rowsocket_secret_write it guards writing too",
    nullptr, update_secret_read, "");
MYSQL_SYSVAR_STR(secret_write, secret_write_text, PLUGIN_VAR_RQCMDARG,
                 "What clients must send to write; empty = nothing. Shown as (set)", nullptr, update_secret_write, "");
MYSQL_SYSVAR_BOOL(error_detail, error_detail, PLUGIN_VAR_OPCMDARG, "Add a text for people to error replies, as one more token",
                  nullptr, update_switch, 0);

MYSQL_SYSVAR_BOOL(
    strict, strict, PLUGIN_VAR_OPCMDARG,
    "Refuse what is served only because earlier servers did: values beyond the columns, empty amounts, keys that are no "
    "value of their column",
    nullptr, update_switch, 0);
MYSQL_SYSVAR_STR(
    engines, engines_text, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
    "Storage engines whose tables are served, comma-separated. Those of the default were tried; others may harm the server",
    nullptr, nullptr, default_engines);

}  // namespace

st_mysql_sys_var* system_variables[] = {
    MYSQL_SYSVAR(address),         MYSQL_SYSVAR(port_read),      MYSQL_SYSVAR(port_write),      MYSQL_SYSVAR(socket_read),
    MYSQL_SYSVAR(socket_write),    MYSQL_SYSVAR(threads_read),   MYSQL_SYSVAR(threads_write),   MYSQL_SYSVAR(idle_timeout),
    MYSQL_SYSVAR(max_connections), MYSQL_SYSVAR(max_line_bytes), MYSQL_SYSVAR(max_reply_bytes), MYSQL_SYSVAR(max_held_bytes),
    MYSQL_SYSVAR(max_in_values),   MYSQL_SYSVAR(max_indexes),    MYSQL_SYSVAR(secret_read),     MYSQL_SYSVAR(secret_write),
    MYSQL_SYSVAR(error_detail),    MYSQL_SYSVAR(engines),        MYSQL_SYSVAR(strict),          nullptr};

bool load_variables(Config& config, ConfigChanged changed, std::string& failure) {
  for (const Bound& bound : bounds) {
    if (*bound.value < bound.min || *bound.value > bound.max) {
      failure = std::string(bound.name) + "=" + std::to_string(*bound.value) + ": takes a number from " +
                std::to_string(bound.min) + " to " + std::to_string(bound.max);
      return false;
    }
  }
  secret_read = text_or_empty(secret_read_text);
  secret_write = text_or_empty(secret_write_text);
  secret_read_text = const_cast<char*>(shown_secret(secret_read));
  secret_write_text = const_cast<char*>(shown_secret(secret_write));
  set_engines_served(engines_text);
  config_changed = changed;
  config = current_config();
  return true;
}

}  // namespace rowsocket::mariadb
