// SPDX-License-Identifier: GPL-2.0-only
//
// What one protocol alone is bounded by: RESP, memcached, and the table of containers of both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits/units.h"

namespace rowsocket::limits {

// ---- one request of RESP

/// A command that is a line of words. Redis's own limit.
inline constexpr size_t resp_line_bytes_max = 64 * kibibyte;
/// The head of an array or a string. No number of 64 bits is longer.
inline constexpr size_t resp_length_bytes_max = 32;
/// A request of which less has come is read from its beginning again when more comes. Not measured.
inline constexpr size_t resp_bytes_read_again = 4 * kibibyte;
/// Longer than any command's name.
inline constexpr size_t resp_name_bytes_max = 32;
/// The name that a client gives to its connection. Not measured.
inline constexpr size_t resp_client_name_bytes_max = 256;
/// What is repeated of a command that there is none of. As much as Redis does.
inline constexpr size_t resp_told_bytes_max = 128;
/// Values of a key. No index of the server has more.
inline constexpr size_t resp_key_parts_max = 32;
/// Rows that one SCAN looks at, whatever its COUNT. Not measured.
inline constexpr uint32_t scan_rows_max = 10'000;
inline constexpr uint32_t scan_rows_default = 10;  ///< as in Redis
/// Of SCAN's pattern. Each key may be compared with all of it, from each of the key's bytes on: at most 3
/// million steps for a key of 3072 bytes. Not measured.
inline constexpr size_t scan_pattern_bytes_max = kibibyte;
/// Places of scans that are remembered, of all clients together; each step of a scan is one. An index of
/// InnoDB has keys of 3072 bytes, so they come to 12 MiB at most. Not measured.
inline constexpr uint32_t scan_places_max = 4096;
/// Of them, those of one connection: so that a client that begins scans and ends none ends its own. Clients
/// take one step behind the other. Not measured.
inline constexpr uint32_t scan_places_per_connection = 16;
/// Of a place whose key is longer, nothing is remembered: the scan fails.
inline constexpr size_t scan_place_bytes_max = 16 * kibibyte;

// ---- one request of memcached

inline constexpr size_t memcached_key_bytes_max = 250;  ///< with `@@container.` where it is there
/// What memcached takes as the size of a value. With a line end behind it, it still fits 31 bits.
inline constexpr size_t memcached_value_bytes_max = 2'147'483'645;
/// The line of a command with a value. It is read again with each piece of the value that comes. memcached's
/// own limit.
inline constexpr size_t memcached_store_line_bytes_max = 2 * kibibyte;
/// An expiry beyond a month is a time since 1970, and no time from now.
inline constexpr int64_t memcached_relative_expiry_s_max = 60 * 60 * 24 * 30;
inline constexpr size_t memcached_opaque_bytes_max = 32;  ///< the token of a meta command's O
/// More than there are flags. Each may stand once.
inline constexpr size_t memcached_flag_count_max = 24;
/// Longer than the line of any meta command's reply: each flag stands in it once at most, and key and opaque
/// token are bounded.
inline constexpr size_t memcached_meta_line_bytes_max = 1024;
/// Rows that one step of a flush_all deletes. The lock on them lasts as long as a step. Not measured.
inline constexpr uint32_t flush_rows_per_step = 1000;

// ---- the table of containers

/// Rows of it that are taken. Not measured.
inline constexpr size_t containers_max = 1024;
/// Longest field, on average over a row. The table's shape allows 250 characters, of up to four bytes.
inline constexpr size_t container_field_bytes_max = 4 * kibibyte;
inline constexpr size_t container_columns_max = 64;  ///< of one container, of all kinds; not measured
/// How often it is looked at: what an administrator changes is in force while they watch.
inline constexpr uint32_t containers_interval_ms = 1000;

static_assert(scan_rows_default <= scan_rows_max);

}  // namespace rowsocket::limits
