// SPDX-License-Identifier: GPL-2.0-only
//
// The table of system variables: each stands here and nowhere else; the declarations to the server, the bounds and the
// `Config` are made from it.
//
//   ROWSOCKET_TEXT(name, default, what it is)                                    as the server starts
//   ROWSOCKET_NUMBER(name, field of Config, when, default, least, most, what)    when: at_start or any_time
//   ROWSOCKET_SECRET(name, what it is)                                           at any time
//   ROWSOCKET_SWITCH(name, what it is)                                           at any time; off by default
#pragma once

// clang-format off
#define ROWSOCKET_VARIABLES                                                                                  \
  ROWSOCKET_TEXT(address, "127.0.0.1,::1",                                                                   \
      "Addresses to listen on, comma-separated numbers like 127.0.0.1,::1; * = all; empty = no TCP")         \
  ROWSOCKET_NUMBER(port_read, port_read, at_start, 9998, 0, 65535,                                           \
      "TCP port for reads; 0 = a free port")                                                                 \
  ROWSOCKET_NUMBER(port_write, port_write, at_start, 9999, 0, 65535,                                         \
      "TCP port for reads and writes; 0 = a free port; the same as rowsocket_port_read = one port for both") \
  ROWSOCKET_TEXT(socket_read, "",                                                                            \
      "Unix socket for reads; empty = none")                                                                 \
  ROWSOCKET_TEXT(socket_write, "",                                                                           \
      "Unix socket for reads and writes; empty = none")                                                      \
  ROWSOCKET_NUMBER(threads_read, threads_read, at_start, 0, 0, limits::threads_max,                          \
      "Worker threads for the read port; 0 = as many as cores")                                              \
  ROWSOCKET_NUMBER(threads_write, threads_write, at_start, 0, 0, limits::threads_max,                        \
      "Worker threads for the write port; 0 = a quarter of the cores, or as many as cores where no port "    \
      "serves reads only")                                                                                   \
  ROWSOCKET_NUMBER(idle_timeout, idle_timeout_s, any_time, limits::idle_timeout_s_default, 0, 31'536'000,    \
      "Seconds after which a connection without traffic is closed; 0 = never")                               \
  ROWSOCKET_NUMBER(max_connections, max_connections, any_time, limits::connections_default, 1,               \
      limits::connections_max,                                                                               \
      "Connections served at once")                                                                          \
  ROWSOCKET_NUMBER(max_line_bytes, max_line_bytes, any_time, limits::line_bytes_default,                     \
      limits::line_bytes_min, limits::line_bytes_max,                                                        \
      "Longest request in bytes")                                                                            \
  ROWSOCKET_NUMBER(max_reply_bytes, max_reply_bytes, any_time, limits::reply_bytes_default,                  \
      limits::reply_bytes_min, limits::reply_bytes_max,                                                      \
      "Largest reply in bytes")                                                                              \
  ROWSOCKET_NUMBER(max_held_bytes, max_held_bytes, any_time, limits::held_bytes_default,                     \
      limits::held_bytes_min, limits::held_bytes_max,                                                        \
      "Bytes that the connections of one worker may hold together: halves of requests, replies not read. "   \
      "Who holds most is closed")                                                                            \
  ROWSOCKET_NUMBER(max_in_values, max_in_values, any_time, limits::in_list_default, 1, limits::in_list_max,  \
      "Values of one IN list")                                                                               \
  ROWSOCKET_NUMBER(max_indexes, max_indexes, any_time, limits::index_id_default, 1, limits::index_id_max,    \
      "Indexes that a connection may have open; ids are below this")                                         \
  ROWSOCKET_SECRET(secret_read,                                                                              \
      "What clients must send to read; empty = nothing. Shown as (set). Without rowsocket_secret_write it "  \
      "guards writing too")                                                                                  \
  ROWSOCKET_SECRET(secret_write,                                                                             \
      "What clients must send to write; empty = nothing. Shown as (set)")                                    \
  ROWSOCKET_SWITCH(error_detail,                                                                             \
      "Add a text for people to error replies, as one more token")                                           \
  ROWSOCKET_SWITCH(strict,                                                                                   \
      "Refuse what is served only because earlier servers did: values beyond the columns, empty amounts, "   \
      "keys that are no value of their column")
// clang-format on
