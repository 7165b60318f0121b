// SPDX-License-Identifier: GPL-2.0-only
//
// The plugin as the server sees it: declaration, load and unload, status variables, log. Glue and nothing
// else; the composition is src/server.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/log.h"
#include "mariadb/galera.h"
#include "mariadb/performance_schema.h"
#include "mariadb/schema_tables.h"
#include "mariadb/server_version.h"
#include "mariadb/session.h"
#include "mariadb/tls.h"
#include "mariadb/variables.h"
#include "request/counters.h"
#include "server/server.h"
#include "server/thread.h"

namespace rowsocket::mariadb {
namespace {

/// Every line names its source by itself.
class ServerLog final : public Log {
 public:
  void write(LogLevel level, std::string_view line) override {
    const int size = static_cast<int>(line.size());
    switch (level) {
      case LogLevel::error:
        sql_print_error("%.*s", size, line.data());
        return;
      case LogLevel::warning:
        sql_print_warning("%.*s", size, line.data());
        return;
      case LogLevel::note:
        sql_print_information("%.*s", size, line.data());
        return;
    }
  }
};

/// Everything that lives while the plugin is loaded.
struct Plugin {
  ServerLog log;
  SteadyClock clock;
  Engine engine;
  ServerTls tls;
  server::Server server{engine, log, clock, &tls};
};

// Written by load and unload only, which the server runs one at a time and never beside SHOW STATUS or SET of
// this plugin's variables. There is none where the plugin is loaded and serves nobody.
std::unique_ptr<Plugin> plugin;

/// Stops the server beside `unload`, which can not wait for that; but before the library goes.
class Stopper {
 public:
  Stopper() = default;
  ~Stopper() { join(); }
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  void begin() {
    std::string failure;
    const bool is_started = server::start_thread(
        thread_, "rowsocket-stop",
        [this] {
          my_thread_init();
          plugin->server.stop();
          my_thread_end();
          stopped_.set_value();
        },
        failure);
    if (!is_started) {
      sql_print_error("rowsocket: serves on: %s", failure.c_str());
    }
  }
  [[nodiscard]] bool stops_within(std::chrono::milliseconds time) {
    return thread_.joinable() && stopped_.get_future().wait_for(time) == std::future_status::ready;
  }
  void join() {
    if (thread_.joinable()) {
      thread_.join();
      stopped_ = {};
    }
  }

 private:
  std::thread thread_;
  std::promise<void> stopped_;
};
Stopper stopper;

void settings_changed(const Settings& settings) {
  if (plugin != nullptr) {
    plugin->server.reconfigure(settings);
  }
}

bool has_client(uint64_t number) { return plugin != nullptr && plugin->server.has_connection(number); }

void kill_client(uint64_t number) {
  try {
    if (plugin != nullptr) {
      plugin->server.kill_connection(number);
    }
  } catch (const std::exception&) {
    my_error(ER_OUT_OF_RESOURCES, MYF(0));
  }
}

bool is_server_built_for(std::string& failure) {
  failure =
      version_mismatch(std::strlen(ROWSOCKET_BUILT_FOR) > 0 ? ROWSOCKET_BUILT_FOR : MYSQL_SERVER_VERSION);
  if (failure.empty()) {
    return true;
  }
  failure += ": not loaded. Install the rowsocket.so that was built for this server.";
  return false;
}

/// What SQL has not bound yet at the server's start is free for us, and the server would end without it.
bool leaves_sql_its_doors(const server::Config& config, std::string& failure) {
  const uint32_t sql_port = mysqld_port == 0 ? MYSQL_PORT : mysqld_port;
  for (const server::Door& door : config.doors) {
    const std::string name(door.name);
    const bool is_sql_port = door.port != 0 && (door.port == sql_port || door.port == mysqld_extra_port);
    if (config.tcp && !opt_disable_networking && is_sql_port) {
      failure = "rowsocket_port_" + name + "=" + std::to_string(door.port) + ": is the port of SQL";
      return false;
    }
    if (!door.socket.empty() && mysqld_unix_port != nullptr && door.socket == mysqld_unix_port) {
      failure = "rowsocket_socket_" + name + "=" + door.socket + ": is the socket of SQL";
      return false;
    }
  }
  return true;
}

/// For tests: see server/drill.h. The environment of a server does not change.
bool is_drill() {
  return std::getenv("ROWSOCKET_STAND_IN_DRILL") != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

bool start(st_plugin_int& own, std::string& failure) {
  if (!is_server_built_for(failure)) {
    return false;
  }
  register_with_performance_schema();
  if (opt_bootstrap != 0) {
    // The server makes its own tables, as for mariadb-install-db, and ends. There are no accounts yet, and a
    // port that it took would be missing to the server that is meant to have it.
    return true;
  }
  plugin = std::make_unique<Plugin>();
  if (!plugin->tls.fits()) {
    plugin->log.write(LogLevel::warning,
                      "rowsocket: serves no TLS: the server has another TLS library than the plugin");
  }
  server::Config config;
  declare_bounds(own.system_vars);
  if (!load_variables(config, settings_changed, {has_client, kill_client}, failure) ||
      !leaves_sql_its_doors(config, failure)) {
    return false;
  }
  config.is_drill = is_drill();
  if (config.is_drill) {
    plugin->log.write(LogLevel::warning,
                      "rowsocket: drills its stand-ins (ROWSOCKET_STAND_IN_DRILL is set): for tests only");
  }
  if (!plugin->server.start(config, failure)) {
    return false;
  }
  show_in_schema_tables(&plugin->server);
  return true;
}

void stop() {
  show_in_schema_tables(nullptr);
  stopper.join();
  if (plugin != nullptr) {
    plugin->server.stop();
    plugin.reset();
  }
}

int load(void* own) {
  std::string failure;
  try {
    if (start(*static_cast<st_plugin_int*>(own), failure)) {
      return 0;
    }
  } catch (const std::exception& exception) {
    failure = exception.what();
  }
  sql_print_error("rowsocket: %s", failure.c_str());
  my_printf_error(ER_CANT_INITIALIZE_UDF, "rowsocket: %s", MYF(0), failure.c_str());
  stop();
  return 1;
}

/// Is longer than any stop that was measured, and not so long that a cluster is missed.
constexpr std::chrono::milliseconds stop_beside_commits{1000};

/// The server ends a plugin in the thread that gives back the last of what uses it: the code of a trigger
/// that names a variable of ours, say. One of our own threads can neither wait for itself nor lose its code.
/// And workers may wait for a place behind UNINSTALL in the order of a cluster's commits, so UNINSTALL must
/// not wait for them. Then the server is told that the plugin is busy: it keeps the library, and does not ask
/// again.
int unload(void*) {
  const bool is_ours = server::is_own_thread();
  if (plugin != nullptr && (is_ours || Galera::holds_commits(current_thd))) [[unlikely]] {
    show_in_schema_tables(nullptr);
    stopper.begin();
    if (is_ours || !stopper.stops_within(stop_beside_commits)) {
      sql_print_warning("rowsocket: stops, and can be installed again when the server has been restarted: %s",
                        is_ours
                            ? "the code of a trigger or routine has kept it loaded behind UNINSTALL, for it "
                              "names a variable of RowSocket"
                            : "commits wait for the end of UNINSTALL");
      return 1;
    }
  }
  stop();
  return 0;
}

// ---- SHOW STATUS LIKE 'Rowsocket%'

constexpr size_t counter_count = static_cast<size_t>(Counter::count_);

struct StatusSnapshot {
  st_mysql_show_var variables[counter_count + server::door_count + 8];
  unsigned long long numbers[counter_count + server::door_count + 6];
  double requests_per_turn;
};
static_assert(sizeof(StatusSnapshot) <= SHOW_VAR_FUNC_BUFF_SIZE, "the server lends this much");

int show_status(MYSQL_THD, st_mysql_show_var* variable, void* buffer, system_status_var*, enum_var_type) {
  auto* const snapshot = new (buffer) StatusSnapshot{};
  variable->type = SHOW_ARRAY;
  variable->value = snapshot->variables;
  if (plugin == nullptr) {
    return 0;
  }
  size_t count = 0;
  const auto add = [&](const char* name, unsigned long long number) {
    snapshot->numbers[count] = number;
    snapshot->variables[count] = {name, &snapshot->numbers[count], SHOW_ULONGLONG};
    ++count;
  };
  const server::Server& server = plugin->server;
  for (size_t i = 0; i < counter_count; ++i) {
    add(counter_name(static_cast<Counter>(i)).data(), server.counter(static_cast<Counter>(i)));
  }
  add("connections_read", server.connections_read());
  add("connections_write", server.connections_write());
  add("connections_tls", server.connections_tls());
  add("threads", server.threads());
  add("stand_ins_idle", server.idle_threads());
  add("broken_invariants", broken_invariants());
#define ROWSOCKET_DOOR(name, folder, access, default_port, what) add("port_" #name, server.port(#name));
  ROWSOCKET_DOORS
#undef ROWSOCKET_DOOR
  const auto turns = static_cast<double>(server.counter(Counter::turns));
  snapshot->requests_per_turn =
      turns > 0 ? static_cast<double>(server.counter(Counter::turn_requests)) / turns : 0;
  snapshot->variables[count++] = {"requests_per_turn", &snapshot->requests_per_turn, SHOW_DOUBLE};
  return 0;
}

st_mysql_show_var status_variables[] = {{"Rowsocket", reinterpret_cast<void*>(show_status), SHOW_FUNC},
                                        {nullptr, nullptr, SHOW_UNDEF}};

st_mysql_daemon daemon_info = {MYSQL_DAEMON_INTERFACE_VERSION};

}  // namespace
}  // namespace rowsocket::mariadb

/// A table of information_schema. The server begins these behind the plugin that serves, and ends them before
/// it, but for one that is being read.
#define ROWSOCKET_SCHEMA_TABLE(name, init, what) \
  {MYSQL_INFORMATION_SCHEMA_PLUGIN,              \
   &rowsocket::mariadb::schema_table_info,       \
   name,                                         \
   "The RowSocket authors",                      \
   what,                                         \
   PLUGIN_LICENSE_GPL,                           \
   rowsocket::mariadb::init,                     \
   nullptr,                                      \
   0x0001,                                       \
   nullptr,                                      \
   nullptr,                                      \
   ROWSOCKET_VERSION,                            \
   MariaDB_PLUGIN_MATURITY_EXPERIMENTAL}

// The server finds these by name.
#pragma GCC visibility push(default)
maria_declare_plugin(rowsocket){
    MYSQL_DAEMON_PLUGIN,
    &rowsocket::mariadb::daemon_info,
    "rowsocket",
    "The RowSocket authors",
    "Key-value traffic straight on the server's tables",
    PLUGIN_LICENSE_GPL,
    rowsocket::mariadb::load,
    rowsocket::mariadb::unload,
    0x0001,
    rowsocket::mariadb::status_variables,
    rowsocket::mariadb::system_variables,
    ROWSOCKET_VERSION,
    MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
},
    ROWSOCKET_SCHEMA_TABLE("ROWSOCKET_CONNECTIONS", init_connections_table, "The clients of RowSocket, now"),
    ROWSOCKET_SCHEMA_TABLE("ROWSOCKET_TABLES", init_tables_table, "What RowSocket's clients asked, by index"),
    ROWSOCKET_SCHEMA_TABLE("ROWSOCKET_LATENCY", init_latency_table,
                           "How long requests took, as histograms by index and operation"),
    ROWSOCKET_SCHEMA_TABLE("ROWSOCKET_PERCENTILES", init_percentiles_table,
                           "How long requests took, as percentiles by index and operation")
        maria_declare_plugin_end;
#pragma GCC visibility pop
