// SPDX-License-Identifier: GPL-2.0-only
//
// What the plugins for tests and benchmarks have in common: conformance, cursor_probe, handler_floor. They
// are in no package.
#pragma once

#include <string>

#include "mariadb/server_headers.h"
#include "mariadb/server_version.h"

namespace rowsocket::mariadb {

/// Whether the running server is the one that the plugin was built for. If not, the server's log is told.
[[nodiscard]] inline bool fits_server(const char* plugin) {
  const std::string mismatch = version_mismatch();
  if (!mismatch.empty()) {
    sql_print_error("%s: %s", plugin, mismatch.c_str());
  }
  return mismatch.empty();
}

}  // namespace rowsocket::mariadb

/// A library has one such line, outside of all namespaces. `info`, `load` and `variables` (or nullptr) are in
/// rowsocket::mariadb. The server finds the declaration by its name.
#define ROWSOCKET_TOOL_PLUGIN(name, type, info, what, load, variables) \
  _Pragma("GCC visibility push(default)") maria_declare_plugin(name){  \
      type,                                                            \
      &rowsocket::mariadb::info,                                       \
      #name,                                                           \
      "The RowSocket authors",                                         \
      what,                                                            \
      PLUGIN_LICENSE_GPL,                                              \
      rowsocket::mariadb::load,                                        \
      nullptr,                                                         \
      0x0001,                                                          \
      nullptr,                                                         \
      variables,                                                       \
      ROWSOCKET_VERSION,                                               \
      MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,                            \
  } maria_declare_plugin_end;                                          \
  _Pragma("GCC visibility pop")
