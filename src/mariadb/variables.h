// SPDX-License-Identifier: GPL-2.0-only
//
// The system variables rowsocket_*: their declaration to the server, their bounds, and the `Config` that they
// make.
#pragma once

#include <cstdint>
#include <string>

#include "server/config.h"

class sys_var;
struct st_mysql_sys_var;

namespace rowsocket::mariadb {

extern st_mysql_sys_var* system_variables[];

/// Tell the server the bounds of those of our variables that are numbers, for
/// information_schema.SYSTEM_VARIABLES. `first`: the plugin's chain.
void declare_bounds(sys_var* first);

/// Called (under the server's lock for global variables) whenever a variable was changed at run time.
using SettingsChanged = void (*)(const Settings& settings);

/// What SET GLOBAL rowsocket_kill asks for.
struct Killing {
  bool (*has_client)(uint64_t number);
  /// As soon as can be, without waiting for it. Does nothing where there is no such client (any more).
  void (*kill_client)(uint64_t number);
};

/// Take over what the variables say at load; from then on report changes. False with a reason if a value is
/// not acceptable.
[[nodiscard]] bool load_variables(server::Config& config, SettingsChanged changed, const Killing& killing,
                                  std::string& failure);

}  // namespace rowsocket::mariadb
