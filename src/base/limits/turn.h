// SPDX-License-Identifier: GPL-2.0-only
//
// One turn of a worker: how long it, its transaction and its memory may become.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits/protocols.h"
#include "base/limits/request.h"
#include "base/limits/units.h"

namespace rowsocket::limits {

// How long a turn may become: its replies wait for its end, and so does DDL on its tables.

/// Over all connections of the turn. Where finds come 16 at a time, one takes 1.2 µs (docs/benchmarks), so
/// that a full turn of them takes about 10 ms. No other value was measured.
inline constexpr uint32_t requests_per_turn = 8192;
/// An eighth of the turn, so that one connection with a full pipeline leaves room for others.
inline constexpr uint32_t requests_per_connection_turn = 1024;
/// Of one connection, that are parsed before the first of them is executed, and how many bytes those have
/// behind which another one is parsed. Other values were not measured.
inline constexpr size_t requests_ahead_max = 16;
inline constexpr size_t bytes_ahead_max = 4096;
/// Beside others a connection has so many requests for each of them. Requests that come in a row cost about a
/// fifth of one that comes alone, so the others keep half of the turn.
inline constexpr uint32_t requests_per_other = 4;
/// ... and at least so many. Not measured.
inline constexpr uint32_t requests_beside_others_min = 64;
/// Pipelines that share this: of those that write so many have as much as one that reads. They come behind
/// those that read, and the more of them share a commit, the fewer commits there are.
inline constexpr size_t pipelines_in_share_of_commit = 5;
/// A connection has so much time, where its requests are short: then a turn is no longer than clients notice.
inline constexpr uint32_t turn_us_of_one = 1000;
/// Where its requests take longer than this, it has as much time as the others take, each about so long.
inline constexpr uint32_t long_request_us = 50;
inline constexpr uint32_t turn_us_per_other = 5;
/// Where there are no others. A commit serves all requests of a turn, so it is more. Not measured.
inline constexpr uint32_t turn_us_of_one_alone = 10'000;
/// Of a pipeline, after so many requests the clock is asked: a request that comes in a row takes a
/// microsecond, and the clock a fortieth of that.
inline constexpr uint32_t requests_per_look_at_time = 8;

// Who costs the loop much time comes behind the others, in line (server/intake.h).

/// A connection is heavy whose requests walk for so long in a turn. They are half of that with each turn that
/// they do not.
inline constexpr uint32_t heavy_us = 50;
/// A connection is middling whose requests usually take so long in a turn, ten times what one row takes ...
inline constexpr uint32_t middling_us = 10;
/// ... where no more of one turn counts: others may have had the processor.
inline constexpr uint32_t middling_us_per_turn_max = 75;
/// After a middling one the light ones have the loop for so many times as long: they keep two thirds of it.
inline constexpr uint32_t middling_share = 2;
/// Where none of them comes at once, a turn takes the middling ones for so long. Not measured.
inline constexpr uint32_t middling_us_meanwhile = 100;
/// Where no light one has come for so long, they do not wait at all: the way into the line costs, too.
inline constexpr uint32_t middling_ms_after_light = 100;
/// A heavy one whose requests usually walk for less takes little: it does not wait for all those that take
/// much.
inline constexpr uint32_t little_us = 200;
/// Requests of few rows are no walk, and are measured each by itself. What they take by themselves
/// adds up (server/own_time.h). So much of each turn is free: it is to be more than what 50 rows take, by
/// key, since what is heavy has a quarter of the loop, where others come ...
inline constexpr uint32_t own_us_free_per_turn = 100;
/// ... and so much of each request that reads, or writes, if it takes as long: a pipeline of many short ones
/// is not meant. A write takes 10 to 25 µs, and now and then twice as much.
inline constexpr uint32_t own_us_free_per_read = 10;
inline constexpr uint32_t own_us_free_per_write = 50;
/// No more of one turn counts: tables may have had to be opened, or others had the processor.
inline constexpr uint32_t own_us_per_turn_max = 600;
/// Who has added up so much is heavy: not before the third turn. With two, `./x bench fair` had a light
/// client wait for 234 ms, most likely since others had taken the processor from its requests twice.
inline constexpr uint32_t heavy_own_us = 1200;
/// Where a request leaves so much to the commit, it has a commit of its own, which counts as its own time. It
/// is to be more than a commit of one row keeps the processor busy, also where its caches are cold.
inline constexpr uint32_t fulltext_us_dear = 500;
/// It adds up to no more, so that who was heavy is light again after nine turns.
inline constexpr uint32_t own_us_max = 2000;
/// After so many turns a client is known.
inline constexpr uint32_t own_turns_until_known = 4;
/// Where the requests of a selection usually take so long, unknown clients that ask for it are heavy.
inline constexpr uint32_t unknown_own_us_max = 125;
/// Of a request, fewer ticks than that count as nothing, so that most need no division: 7 µs of a processor
/// of 3 GHz, 20 µs where a tick is a nanosecond.
inline constexpr uint64_t own_ticks_min = 20'000;
/// After a long request the light ones have the loop for so many times as long: they keep three quarters of
/// it.
inline constexpr uint32_t long_requests_share = 3;
/// The same after what was received of a large request: its sender keeps the system busy, too. Not measured.
inline constexpr uint32_t large_senders_share = 8;
/// What heavy ones have not used adds up to this: where a commit takes long, several of them share it.
inline constexpr uint32_t heavy_credit_us = 20'000;
/// A turn takes no further heavy one after so much time, since the replies of those before wait for its end.
inline constexpr uint32_t heavy_us_per_turn = 10'000;
/// ... or this, where there is no commit to be shared: to begin another turn costs a few microseconds.
inline constexpr uint32_t heavy_us_per_turn_of_reads = 1000;
/// Where memory is short, one large sender at a time goes on. One that sends nothing for so long lets another
/// one go on. Longer than a round trip to most clients; not measured.
inline constexpr uint32_t sole_sender_ms = 100;

// How much a turn may hold.

/// A turn takes no further request once it has staged this much. Together with the arena the memory that a
/// worker holds beside rowsocket_max_held_bytes stays in the tens of MiB. Not measured.
inline constexpr size_t reply_bytes_per_turn = 8 * mebibyte;
/// The same of what staged requests were parsed into. A request of a few bytes can name thousands of empty
/// values, and while writes are staged none of them is given back. Twice the replies; not measured.
inline constexpr size_t arena_bytes_per_turn = 16 * mebibyte;

/// The arena's first block, which it keeps from turn to turn. Not measured.
inline constexpr size_t arena_bytes_first = 16 * kibibyte;

// How long a transaction may become: others wait for the rows that it has locked.

/// A turn commits before its end once it has changed this many rows ... Not measured.
inline constexpr uint32_t rows_per_transaction = 10'000;
/// ... or its transaction has lasted this long: a turn that waits for others' locks holds its own for as
/// long. A tenth of the second that a row is waited for. Not measured.
inline constexpr uint32_t transaction_ms = 100;

inline constexpr uint32_t events_per_poll = 1024;  ///< more show up with the next poll; not measured
/// Free buffers that a worker keeps between turns ... 256 of those that one recv fills. Not measured.
inline constexpr size_t pool_bytes_busy = 16 * mebibyte;
/// ... and while it sleeps. Not measured.
inline constexpr size_t pool_bytes_idle = 256 * kibibyte;
/// rowsocket_max_held_bytes. More than twice the longest request with the largest reply, and else not
/// measured.
inline constexpr size_t held_bytes_default = 256 * mebibyte;
inline constexpr size_t held_bytes_min = 1 * mebibyte;
inline constexpr size_t held_bytes_max = size_t{1024} * 1024 * mebibyte;
/// When the connections of a worker hold too much, a session that keeps less than this of what they have open
/// goes on keeping it.
inline constexpr size_t kept_bytes_min = 1 * mebibyte;
/// Connections of an account that has too much under way: so many are looked at each `presence_ms`.
inline constexpr uint32_t waiting_per_look = 16;
inline constexpr uint32_t sweep_interval_ms = 100;      ///< how exactly time-outs are kept
inline constexpr uint32_t activity_interval_ms = 1000;  ///< how often SHOW PROCESSLIST may change
/// Metadata locks are given back before a worker blocks longer than this. Opening a table costs more than a
/// lookup, so a busy worker should not do it between two turns. Not measured.
inline constexpr uint32_t hold_tables_us = 1000;

// After a commit that flushed, a turn waits a moment for the clients that the commit answered: decision 0012,
// and docs/benchmarks/findings.md for what it gave. Other values than these were not measured.

/// It waits this part of what the commit took ...
inline constexpr uint32_t return_wait_share = 8;
/// ... not at all if that is less than this: then the commit did not flush ...
inline constexpr uint32_t return_wait_us_min = 20;
/// ... and never longer than this.
inline constexpr uint32_t return_wait_us_max = 200;

static_assert(insert_rows_max <= rows_per_transaction && flush_rows_per_step <= rows_per_transaction);
static_assert(group_requests_max <= requests_per_connection_turn);
static_assert(requests_per_connection_turn <= requests_per_turn);
static_assert(held_bytes_min <= held_bytes_default && held_bytes_default <= held_bytes_max);
static_assert(pool_bytes_idle <= pool_bytes_busy && arena_bytes_first <= arena_bytes_per_turn);

}  // namespace rowsocket::limits
