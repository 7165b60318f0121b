// SPDX-License-Identifier: GPL-2.0-only
//
// The table of system variables; the declarations to the server, the bounds and the `Config` are made from
// it. Those that need checks of their own (`engines`, `anonymous_account`, `kill`) are in variables.cc. The
// ports and sockets are those of the doors in server/protocols.h.
//
//   ROWSOCKET_TEXT(name, field of Config, default, what it is)                   as the server starts
//   ROWSOCKET_NUMBER(name, field of Config, when, default, least, most, what)    when: at_start or any_time
//   ROWSOCKET_SECRET(name, what it is)                                           at any time
//   ROWSOCKET_SWITCH(name, field of Config, when, default, what it is)           0 = off
//
// Secrets are the field of Settings that has their name.
#pragma once

#include "base/limits.h"
#include "server/protocols.h"

// clang-format off
#define ROWSOCKET_DOOR(name, folder, access, default_port, what) \
  ROWSOCKET_NUMBER(port_##name, doors[server::door_##name].port, at_start, default_port, 0, \
      server::port_off, \
      "TCP port for " what "; 0 = a free port; 65536 = none; two of one protocol with the same number = one" \
                  " port for both") \
  ROWSOCKET_TEXT(socket_##name, doors[server::door_##name].socket, "", \
      "Unix socket for " what "; empty = none")

#define ROWSOCKET_VARIABLES \
  ROWSOCKET_TEXT(address, address, "127.0.0.1,::1", \
      "Addresses to listen on, comma-separated numbers like 127.0.0.1,::1; * = all; empty = no TCP") \
  ROWSOCKET_DOORS \
  ROWSOCKET_TEXT(containers, containers, "", \
      "Table of containers, as database.table, for protocols that name none (memcached, RESP); empty = " \
      "there are none") \
  ROWSOCKET_NUMBER(threads_read, threads_read, at_start, 0, 0, limits::threads_max, \
      "Worker threads for the read port; 0 = as many as cores, and more while requests wait for the disk " \
      "all the time") \
  ROWSOCKET_NUMBER(threads_write, threads_write, at_start, 0, 0, limits::threads_max, \
      "Worker threads for the write port; 0 = a quarter of the cores, or as many as cores where no port " \
      "serves reads only") \
  ROWSOCKET_NUMBER(threads_max, threads_max, at_start, limits::all_threads_default, 0, \
      limits::all_threads_max, \
      "Threads of all workers together. Where a request keeps a worker waiting or busy, another thread " \
      "serves the worker's other clients, as long as there are fewer than this; 0 = none does") \
  ROWSOCKET_SWITCH(io_uring, may_use_io_uring, at_start, 1, \
      "Send the replies of many connections with one call of the system, where the kernel allows io_uring") \
  ROWSOCKET_NUMBER(idle_timeout, settings.idle_timeout_s, any_time, limits::idle_timeout_s_default, 0, \
      limits::idle_timeout_s_max, \
      "Seconds after which a connection without traffic is closed; 0 = never") \
  ROWSOCKET_NUMBER(max_connections, settings.max_connections, any_time, limits::connections_default, 1, \
      limits::connections_max, \
      "Connections served at once") \
  ROWSOCKET_NUMBER(max_account_connections, settings.account_connections_max, any_time, 0, 0, \
      limits::connections_max, \
      "Connections of one account at once, those of SQL not counted. One more is refused when it logs in; " \
      "0 = any number") \
  ROWSOCKET_NUMBER(max_account_requests, settings.account_requests_max, any_time, 0, 0, \
      limits::account_requests_max, \
      "Requests of one account that are executed, or wait for a lock or a commit, at once. Further ones " \
      "wait, and nothing more is received of their connections meanwhile; 0 = any number") \
  ROWSOCKET_NUMBER(max_account_bytes, settings.account_bytes_max, any_time, 0, 0, limits::held_bytes_max, \
      "Bytes that the connections of one account may hold together: halves of requests, replies not read, " \
      "opened ids. The one that holds most is closed; 0 = any number") \
  ROWSOCKET_NUMBER(max_line_bytes, settings.line_bytes_max, any_time, limits::line_bytes_default, \
      limits::line_bytes_min, limits::line_bytes_max, \
      "Longest request in bytes") \
  ROWSOCKET_NUMBER(max_reply_bytes, settings.reply_bytes_max, any_time, limits::reply_bytes_default, \
      limits::reply_bytes_min, limits::reply_bytes_max, \
      "Largest reply in bytes") \
  ROWSOCKET_NUMBER(max_held_bytes, settings.held_bytes_max, any_time, limits::held_bytes_default, \
      limits::held_bytes_min, limits::held_bytes_max, \
      "Bytes that the connections of one worker may hold together: halves of requests, replies not read, " \
      "opened ids. The connection that holds most is closed") \
  ROWSOCKET_NUMBER(max_rows_examined, settings.rows_examined_max, any_time, \
      limits::rows_examined_default, 0, limits::rows_examined_max, \
      "Rows that one request, or one group, may look at; 0 = any number") \
  ROWSOCKET_NUMBER(max_request_ms, settings.request_ms_max, any_time, limits::request_ms_default, 0, \
      limits::request_ms_max, \
      "Milliseconds that one request, or one group, may go from row to row; 0 = any time") \
  ROWSOCKET_NUMBER(max_in_values, settings.in_values_max, any_time, limits::in_list_default, 1, \
                  limits::in_list_max, \
      "Values of one IN list") \
  ROWSOCKET_NUMBER(max_indexes, settings.id_max, any_time, limits::index_id_default, 1, \
                  limits::index_id_max, \
      "Indexes that a connection may have open; ids are below this") \
  ROWSOCKET_NUMBER(log_value_bytes, settings.logged_value_bytes_max, any_time, \
      limits::logged_value_bytes_default, 0, limits::logged_value_bytes_max, \
      "Bytes of each value that the general log, the slow log and audit plugins are told; 0 = no value") \
  ROWSOCKET_SECRET(secret_read, \
      "What clients must send to read; empty = nothing. Shown as (set). Without rowsocket_secret_write it " \
      "guards writing too") \
  ROWSOCKET_SECRET(secret_write, \
      "What clients must send to write; empty = nothing. Shown as (set)") \
  ROWSOCKET_SWITCH(error_detail, settings.error_detail, any_time, 0, \
      "Add a text for people to error replies, as one more token") \
  ROWSOCKET_SWITCH(require_tls, settings.require_tls, any_time, 0, \
      "Refuse clients that come over TCP without TLS; a unix socket is as good as TLS") \
  ROWSOCKET_SWITCH(allows_flush, settings.allows_flush, any_time, 0, \
      "Clients of memcached may empty the table of a container with flush_all") \
  ROWSOCKET_SWITCH(statistics, settings.statistics, any_time, 1, \
      "Count requests by table and index, for information_schema.ROWSOCKET_TABLES") \
  ROWSOCKET_SWITCH(request_times, settings.request_times, any_time, 0, \
      "With rowsocket_statistics: measure how long each request takes, for information_schema's " \
      "ROWSOCKET_LATENCY and ROWSOCKET_PERCENTILES") \
  ROWSOCKET_SWITCH(strict, settings.strict, any_time, 0, \
      "Refuse what is served only because earlier servers did: values beyond the columns, empty amounts, " \
      "keys that are no value of their column")
// clang-format on
