// SPDX-License-Identifier: GPL-2.0-only
//
// One request of any protocol, its text in the host's logs, and one reply.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits/units.h"

namespace rowsocket::limits {

// ---- one request

/// rowsocket_max_line_bytes. 16 MiB is what the server takes as max_allowed_packet by default, so a value
/// that SQL could send fits.
inline constexpr size_t line_bytes_default = 16 * mebibyte;
inline constexpr size_t line_bytes_min = 4 * kibibyte;
inline constexpr size_t line_bytes_max = 1024 * mebibyte;  ///< what max_allowed_packet may be at most
/// Values of one insert, update or key. No table of the server has more columns.
inline constexpr uint32_t value_count_max = 4096;
inline constexpr uint32_t in_list_default = 10'000;  ///< rowsocket_max_in_values; not measured
inline constexpr uint32_t in_list_max = 1'000'000;
/// Values of all kinds of one request, or of all requests of one group. Without it a line of separators, each
/// of which is an empty value of 16 bytes, could ask for sixteen times its size in every clause. The next
/// power of two beyond the longest list of keys.
inline constexpr size_t request_values_max = 1'048'576;
inline constexpr uint32_t filter_count_max = 256;  ///< not measured
/// rowsocket_max_rows_examined: most of a minute, where all rows are in memory. Not measured.
inline constexpr uint64_t rows_examined_default = 100'000'000;
inline constexpr uint64_t rows_examined_max = 1'000'000'000'000;
/// rowsocket_max_request_ms. Longer than any read that a client waits for with ordinary time-outs.
inline constexpr uint64_t request_ms_default = 300'000;
inline constexpr uint64_t request_ms_max = 31'536'000'000;
/// How often a walk looks at the clock: so seldom that rows are not slower for it.
inline constexpr uint32_t rows_per_question = 64;
/// Rows that a cursor passes over by itself before its caller is asked whether it may go on.
inline constexpr uint32_t rows_passed_per_step = rows_per_question;
/// How often a walk, or a request that waits for a lock, looks whether its client is still there.
inline constexpr uint32_t presence_ms = 20;
/// Behind requests that took so many ticks, who comes next in the turn is looked for: 20 ms of a processor of
/// 3 GHz, 60 ms where a tick is a nanosecond.
inline constexpr uint64_t look_ticks = 60'000'000;
/// How often a walk looks whether its client has reset the connection, or was killed: a look is a call of the
/// system, which takes half a microsecond. Many walks of clients that go at once take the less of the
/// processors, the sooner they look. (One that has ended its side may still read what is done quickly.)
inline constexpr uint32_t walk_loss_us = 2000;
/// A request that is no walk, and whose client has gone, has so much time to end by itself: what a client
/// sends before it closes is to be done, also where a disk is slow.
inline constexpr uint32_t end_by_itself_ms = 40;
/// rowsocket_max_indexes: ids of a connection are below this. The list of ids grows with the largest, and is
/// counted as held memory. Not measured.
inline constexpr uint32_t index_id_default = 4096;
inline constexpr uint32_t index_id_max = 1'000'000;
/// Rows of one insert. As many as a transaction changes before it is committed.
inline constexpr uint32_t insert_rows_max = 10'000;
/// Requests of one group that is done. As many as one connection may ask in a turn.
inline constexpr uint32_t group_requests_max = 1024;
/// Requests of one group that is answered line by line, be it with errors. Not measured.
inline constexpr uint32_t group_lines_max = 16'384;
/// Column lists of single requests that an opened index remembers. They are looked for one by one with each
/// such request, so the list is short. Not measured.
inline constexpr uint32_t column_lists_per_index = 8;
/// Selections that requests name in full, and a connection remembers. Looked for one by one, too. Not
/// measured.
inline constexpr uint32_t selections_per_client = 16;
/// Database, table, index and column names: 64 characters of 4 bytes.
inline constexpr size_t name_bytes_max = 64 * 4;
/// Of a longer value the bytes to escape are counted before room is made for them. A shorter one is given
/// twice its size, so that the loop over it needs no check. Not measured.
inline constexpr size_t value_bytes_measured = 4 * kibibyte;

// ---- a request as text, for the host's logs

/// rowsocket_log_value_bytes. Enough to tell keys apart; not measured.
inline constexpr uint32_t logged_value_bytes_default = 64;
inline constexpr uint32_t logged_value_bytes_max = 4096;
/// Behind so much text of one request no further values and columns are named, but counted.
inline constexpr size_t logged_text_bytes = 8 * kibibyte;

// ---- one reply

/// Text of an error that clients of RESP and memcached are told: one line, and readable.
inline constexpr size_t error_text_bytes_max = 512;

/// rowsocket_max_reply_bytes. A turn's replies are kept until its commit. Not measured.
inline constexpr size_t reply_bytes_default = 64 * mebibyte;
inline constexpr size_t reply_bytes_min = 64 * kibibyte;
inline constexpr size_t reply_bytes_max = 1024 * mebibyte;
/// Room beyond the largest reply, since room for a value is estimated: twice a value that is not measured,
/// and what stands around it.
inline constexpr size_t reply_slack_bytes = 16 * kibibyte;

static_assert(rows_examined_default <= rows_examined_max && request_ms_default <= request_ms_max);
static_assert(line_bytes_min <= line_bytes_default && line_bytes_default <= line_bytes_max);
static_assert(reply_bytes_min <= reply_bytes_default && reply_bytes_default <= reply_bytes_max);
static_assert(2 * value_bytes_measured + kibibyte <= reply_slack_bytes);
static_assert(in_list_default <= in_list_max && index_id_default <= index_id_max);
static_assert(in_list_max + 3 * value_count_max <= request_values_max,
              "key, other end, list and new values of a find");
static_assert(group_requests_max <= group_lines_max);

}  // namespace rowsocket::limits
