// SPDX-License-Identifier: GPL-2.0-only
//
// The tables of information_schema: each is a plugin of its own in this library, declared in plugin.cc behind
// the plugin that serves. A row is a copy of what the workers publish; no worker waits for a reader.
//
// The server may end the plugin that serves while a table is read: a table that is read is ended when
// its reader is done. So the tables know the running server only between two calls of
// `show_in_schema_tables`, and it is used under a lock, for short.
#pragma once

#include "server/server.h"

struct st_mysql_information_schema;

namespace rowsocket::mariadb {

/// The tables tell of this server; nullptr: of none. When this returns, the server before it is not used any
/// more.
void show_in_schema_tables(server::Server* server);

extern st_mysql_information_schema schema_table_info;

// What the server calls when it has loaded a table's plugin. 1 = nothing is served: the table is not there.
// (A server with --bootstrap has the tables, empty: else it would log an error for each.)
int init_connections_table(void* table);
int init_tables_table(void* table);
int init_latency_table(void* table);
int init_percentiles_table(void* table);

}  // namespace rowsocket::mariadb
