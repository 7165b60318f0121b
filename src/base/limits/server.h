// SPDX-License-Identifier: GPL-2.0-only
//
// The server as a whole: its threads, ports and connections, what it counts and what it logs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rowsocket::limits {

// ---- the server

inline constexpr uint32_t threads_max = 1024;
/// Read workers while requests wait for the disk all the time (server/spread.h), where there are fewer cores.
/// `./x bench cold` on one core: 8 workers serve 45,000 requests/s, 12 46,000, 24 44,000, 1 13,600.
inline constexpr uint32_t spread_workers = 12;
/// That is so where they wait this often, in so many looks one after the other. Not measured.
inline constexpr uint32_t spread_waits_per_s = 2000;
inline constexpr uint32_t spread_cold_looks = 10;
inline constexpr uint32_t spread_look_ms = 50;
/// It is over when they have waited less than a quarter as often for so long. Not measured.
inline constexpr uint32_t spread_rest_ms = 5000;
/// It is tried: when the connections have moved, for so long. It stays if so many more pages are read (one in
/// 10). Else the next trial comes after a pause, which becomes twice as long each time. Not measured.
inline constexpr uint32_t spread_settle_ms = 300;
inline constexpr uint32_t spread_trial_ms = 1000;
inline constexpr uint32_t spread_gain_share = 10;
inline constexpr uint32_t spread_pause_ms = 60'000;
inline constexpr uint32_t spread_pause_ms_max = 3'600'000;
/// For so long a turn waits in place for pages, then stand-ins are called. Not measured.
inline constexpr uint32_t turn_in_place_ms = 2;
/// Connections that a worker moves between two turns: its other clients wait meanwhile. Not measured.
inline constexpr uint32_t moves_per_turn = 64;
/// A connection that holds more than this does not move: the bound on what is held is one for each worker.
inline constexpr size_t moved_bytes_max = 64 * kibibyte;
/// rowsocket_threads_max. As many requests can wait for a disk or a lock at a time, less the workers; a
/// thread that is not needed ends. SQL's default is 151 sessions. With 64, 100 clients whose inserts slept in
/// a trigger left the others 0.03 of their requests, and 0.6 to 1.0 with 256; 100 such threads took 20 MB.
inline constexpr uint32_t all_threads_default = 256;
inline constexpr uint32_t all_threads_max = 4096;
/// rowsocket_max_connections. An idle one owns no buffers, so the number costs little. Not measured beyond
/// the figures in docs/benchmarks.
inline constexpr uint32_t connections_default = 20'000;
inline constexpr uint32_t connections_max = 1'000'000;
/// rowsocket_max_account_requests and _bytes: beyond this there is no use for a limit.
inline constexpr uint32_t account_requests_max = 1'000'000;
inline constexpr uint32_t idle_timeout_s_default = 28'800;  ///< rowsocket_idle_timeout, as wait_timeout
inline constexpr uint32_t idle_timeout_s_max = 31'536'000;  ///< a year, as wait_timeout
/// What Linux allows at most by default (net.core.somaxconn).
inline constexpr uint32_t listen_backlog = 4096;
/// How often a port is picked that must be free on all addresses. One address takes a port away from another
/// seldom.
inline constexpr uint32_t port_picks_max = 32;
/// Before the next listener has its turn. Not measured.
inline constexpr uint32_t accepts_per_listener = 64;
/// Accepting rests this long when the process is out of descriptors: the listener stays readable, and would
/// keep the acceptor busy.
inline constexpr uint32_t accept_pause_ms = 100;

// ---- what is counted by table (exec/table_statistics.h)

/// Indexes that a thread counts for. With the histograms of two kinds of request one takes 4 KiB. One that
/// falls out costs about a microsecond when it comes again. Not measured beyond that.
inline constexpr size_t ledger_places_max = 256;
/// Indexes that are remembered by name beside those, over all threads.
inline constexpr size_t statistics_places_max = 4096;
/// Names of indexes, and records of them, that a reader copies in one go, whatever there is. A record with
/// the histograms of all kinds of requests takes 10 KiB. Meanwhile a thread that needs room for another index
/// waits. Not measured.
inline constexpr size_t statistics_places_per_look = 256;
inline constexpr size_t statistics_records_per_look = 16;
/// Requests after which a thread asks again how long a tick takes: that is known better and better, and
/// hardly changes.
inline constexpr uint32_t requests_per_look_at_ticks = 65'536;

/// Connections that a reader looks at in one go. Meanwhile no connection of their worker comes or goes. Not
/// measured.
inline constexpr size_t connections_per_look = 256;

// ---- rights (mariadb/rights.h)

/// Accounts that a session has found lately. One more costs it the long way, as after a second.
inline constexpr size_t found_accounts = 256;
/// The long way is as long as the account has grants on databases. A thread that is busy for it goes it once
/// in so long. Not measured.
inline constexpr uint64_t account_found_us = 1'000'000;

// ---- the error log

/// Lines of each thread for what clients can cause: an operator reads them, and no client fills the disk.
inline constexpr uint32_t log_lines_per_interval = 10;
inline constexpr uint32_t log_interval_ms = 10'000;
/// Invariants that were not true: a bug that strikes often must not fill a disk, either.
inline constexpr uint64_t broken_invariants_logged_max = 20;

static_assert(connections_default <= connections_max);

}  // namespace rowsocket::limits
