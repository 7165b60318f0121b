// SPDX-License-Identifier: GPL-2.0-only
//
// Which tables are served at all: users' tables, in storage engines that were tried.
#pragma once

#include <string>

#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// The engines that the tests run on; the value that rowsocket_engines has by default.
inline constexpr const char* default_engines = "InnoDB,ROCKSDB,Aria,MyISAM,MEMORY";

/// Comma-separated names, in any case. Once, before the first table is opened.
void set_engines_served(const char* names);
/// True if the engine of the table (of its partitions) is served; `name` is the engine's own.
[[nodiscard]] bool is_engine_served(const TABLE* table, std::string& name);

/// True for what belongs to the server itself: decided by the table's category and by the folder that its
/// files are in.
[[nodiscard]] bool is_system_table(const TABLE* table);

}  // namespace rowsocket::mariadb
