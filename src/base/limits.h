// SPDX-License-Identifier: GPL-2.0-only
//
// Every limit of RowSocket, with the relations between them checked at compile time (invariant 3: everything
// is bounded). The `*_default` ones are system variables (rowsocket_*); the others are fixed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rowsocket::limits {

inline constexpr size_t kibibyte = 1024;
inline constexpr size_t mebibyte = 1024 * kibibyte;

// One request.
inline constexpr size_t line_bytes_default = 16 * mebibyte;  ///< rowsocket_max_line_bytes
inline constexpr size_t line_bytes_min = 4 * kibibyte;
inline constexpr size_t line_bytes_max = 1024 * mebibyte;
inline constexpr uint32_t value_count_max =
    4096;  ///< values of one insert, update or key; the server's own column limit
inline constexpr uint32_t in_list_default = 10'000;  ///< rowsocket_max_in_values
inline constexpr uint32_t in_list_max = 1'000'000;
inline constexpr size_t request_values_max =
    1'048'576;  ///< values of all kinds of one request, or of all requests of one group
inline constexpr uint32_t filter_count_max = 256;
inline constexpr uint32_t index_id_default =
    4096;  ///< rowsocket_max_indexes: ids of a connection are below this
inline constexpr uint32_t index_id_max = 1'000'000;
inline constexpr uint32_t insert_rows_max = 10'000;   ///< rows of one insert
inline constexpr uint32_t group_requests_max = 1024;  ///< requests of one group that is done
inline constexpr uint32_t group_lines_max =
    16'384;  ///< requests of one group that is answered, be it with errors
inline constexpr uint32_t column_lists_per_index =
    8;  ///< column lists of single requests that an opened index remembers
inline constexpr uint32_t selections_per_client =
    16;  ///< selections that requests name in full, and a connection remembers
inline constexpr size_t name_bytes_max = 64 * 4;  ///< database, table, index and column names: 64 characters

inline constexpr size_t value_bytes_measured =
    4 * kibibyte;  ///< longer values are measured before room is made for them

// One reply.
inline constexpr size_t reply_bytes_default = 64 * mebibyte;  ///< rowsocket_max_reply_bytes
inline constexpr size_t reply_bytes_min = 64 * kibibyte;
inline constexpr size_t reply_bytes_max = 1024 * mebibyte;
inline constexpr size_t reply_slack_bytes =
    16 * kibibyte;  ///< room beyond the largest reply, for estimates of a value's size

// One connection.
inline constexpr size_t receive_bytes = 64 * kibibyte;  ///< the most that one recv takes
inline constexpr size_t receive_bytes_first =
    2 * kibibyte;  ///< room made for a recv while a connection sends little
inline constexpr size_t buffer_bytes_kept =
    64 * kibibyte;  ///< pooled buffers larger than this are given back to the allocator
inline constexpr uint32_t linger_ms =
    2000;  ///< how long a client that is cut off for a bad stream may go on sending

inline constexpr size_t mapped_bytes_min =
    256 * kibibyte;  ///< larger pieces of memory come from the system, and go back there

// One worker and turn.
inline constexpr uint32_t requests_per_turn = 8192;  ///< over all its connections
inline constexpr uint32_t requests_per_connection_turn = 1024;
inline constexpr size_t reply_bytes_per_turn =
    8 * mebibyte;  ///< a turn takes no further request once it has staged this much
inline constexpr size_t arena_bytes_per_turn =
    16 * mebibyte;  ///< as much of what staged requests were parsed into
inline constexpr uint32_t rows_per_transaction =
    10'000;  ///< a turn commits before its end once it has changed this many rows ...
inline constexpr uint32_t transaction_ms = 100;  ///< ... or its transaction has lasted this long
inline constexpr uint32_t events_per_poll = 1024;
inline constexpr size_t pool_bytes_busy =
    16 * mebibyte;  ///< free buffers that a worker keeps between turns ...
inline constexpr size_t pool_bytes_idle = 256 * kibibyte;     ///< ... and while it sleeps
inline constexpr size_t held_bytes_default = 256 * mebibyte;  ///< rowsocket_max_held_bytes
inline constexpr size_t held_bytes_min = 1 * mebibyte;
inline constexpr size_t held_bytes_max = size_t{1024} * 1024 * mebibyte;
inline constexpr uint32_t sweep_interval_ms = 100;      ///< how exactly time-outs are kept
inline constexpr uint32_t activity_interval_ms = 1000;  ///< how often SHOW PROCESSLIST may change
inline constexpr uint32_t hold_tables_us =
    1000;  ///< metadata locks are given back before a worker blocks longer than this
inline constexpr uint32_t return_wait_share =
    8;  ///< after writes a turn waits this part of the commit for its clients ...
inline constexpr uint32_t return_wait_us_min = 20;   ///< ... not at all if that is less than this ...
inline constexpr uint32_t return_wait_us_max = 200;  ///< ... and never longer than this
inline constexpr uint32_t parked_retry_us =
    1000;  ///< how soon a request that waits for a lock is tried again
inline constexpr uint32_t replay_retries =
    3;  ///< how often again for a request that loses its own transaction, too

inline constexpr uint32_t tick_ms = 1;  ///< how often workers are looked at for requests that take long ...
inline constexpr uint32_t idle_ticks = 500;   ///< ... until so many ticks in a row found none under way ...
inline constexpr uint32_t idle_tick_ms = 20;  ///< ... and then so often
inline constexpr uint32_t slice_us = 700;     ///< processor time of a request before a stand-in is called

// One session in MariaDB: how long it waits in place, where all clients of its worker wait with it.
inline constexpr uint32_t impatience_ms =
    5000;  ///< after a row was kept for long, nobody waits for rows in place
inline constexpr uint32_t cluster_replay_patience_s =
    10;  ///< for tables, after the cluster aborted a transaction
inline constexpr uint32_t new_history_patience_s =
    1;  ///< for a table that needs a new partition for its history
inline constexpr uint32_t new_history_long_ms = 500;    ///< if that took longer ...
inline constexpr uint32_t new_history_pause_ms = 5000;  ///< ... no new partition is tried for so long
inline constexpr uint32_t last_turn_ms = 300;  ///< at shutdown: what a session has before it is interrupted
inline constexpr uint32_t plugin_variables_interval_us =
    100'000;  ///< how often they are looked at, under their lock
inline constexpr uint32_t names_cleared_min =
    256;  ///< names of tables remembered before those not in use are dropped

// The server.
inline constexpr uint32_t threads_max = 1024;
inline constexpr uint32_t all_threads_default = 64;   ///< rowsocket_threads_max
inline constexpr uint32_t all_threads_max = 4096;
inline constexpr uint32_t connections_default = 20'000;  ///< rowsocket_max_connections
inline constexpr uint32_t connections_max = 1'000'000;
inline constexpr uint32_t idle_timeout_s_default = 28'800;  ///< rowsocket_idle_timeout, as wait_timeout
inline constexpr uint32_t listen_backlog = 4096;
inline constexpr uint32_t port_picks_max = 32;        ///< of a port that is free on all addresses
inline constexpr uint32_t accepts_per_listener = 64;  ///< before the next listener has its turn
inline constexpr uint32_t accept_pause_ms =
    100;  ///< accepting rests this long when the process is out of descriptors
inline constexpr uint32_t log_lines_per_interval = 10;  ///< of each thread, for what clients can cause
inline constexpr uint32_t log_interval_ms = 10'000;

static_assert(line_bytes_min <= line_bytes_default && line_bytes_default <= line_bytes_max);
static_assert(reply_bytes_min <= reply_bytes_default && reply_bytes_default <= reply_bytes_max);
static_assert(2 * value_bytes_measured + kibibyte <= reply_slack_bytes);
static_assert(in_list_default <= in_list_max && index_id_default <= index_id_max);
static_assert(in_list_max + 3 * value_count_max <= request_values_max,
              "key, other end, list and new values of a find");
static_assert(group_requests_max <= requests_per_connection_turn && group_requests_max <= group_lines_max);
static_assert(requests_per_connection_turn <= requests_per_turn);
static_assert(buffer_bytes_kept >= receive_bytes, "a pooled buffer takes one full receive");
static_assert(receive_bytes_first <= receive_bytes && pool_bytes_idle <= pool_bytes_busy);
static_assert(held_bytes_min <= held_bytes_default && held_bytes_default <= held_bytes_max);
static_assert(buffer_bytes_kept < mapped_bytes_min, "pooled buffers are the allocator's");
static_assert(connections_default <= connections_max);

}  // namespace rowsocket::limits
