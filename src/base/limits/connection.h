// SPDX-License-Identifier: GPL-2.0-only
//
// One connection: what is received of it, and what TLS may cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits/request.h"
#include "base/limits/units.h"

namespace rowsocket::limits {

// ---- one connection

/// The most that one recv takes. A turn spends one call on a connection, whatever else waits there. Not
/// measured.
inline constexpr size_t receive_bytes = 64 * kibibyte;
/// A buffer grows from here. What an ordinary client sends and is answered fits.
inline constexpr size_t buffer_bytes_first = 4 * kibibyte;
/// Room made for a recv while a connection sends little. With it the buffer of an ordinary client stays at
/// `buffer_bytes_first`.
inline constexpr size_t receive_bytes_first = 2 * kibibyte;
/// What a turn receives of all connections that send little. After that they get `receive_bytes_first` each:
/// the turn could not execute more. Not measured.
inline constexpr size_t receive_bytes_per_turn = mebibyte;
/// A connection that has sent so much of a request that is not complete yet sends a large one. Not measured.
inline constexpr size_t large_request_bytes = 16 * kibibyte;
/// A turn receives no more than this of all heavy ones, most of which send large requests: a thread that gets
/// no processor takes long for little.
inline constexpr size_t large_bytes_per_turn = 2 * receive_bytes;
/// Pooled buffers larger than this are given back to the allocator: one full recv is worth keeping.
inline constexpr size_t buffer_bytes_kept = 64 * kibibyte;
/// How long a client that is cut off for a bad stream may go on sending. If its bytes were not taken until
/// then, the system would reset the connection, and our last reply would be lost. Not measured.
inline constexpr uint32_t linger_ms = 2000;
/// Larger pieces of memory come from the system, and go back there at once. Smaller ones are the allocator's,
/// which may keep them for the next burst: its own threshold for this moves up with what is freed. Not
/// measured.
inline constexpr size_t mapped_bytes_min = 256 * kibibyte;

// ---- TLS

/// Handshakes that are under way. Where there are more, the party with the most loses its oldest.
inline constexpr uint32_t handshakes_max = 1024;
/// How long a handshake may take, as the server's connect_timeout by default.
inline constexpr uint32_t handshake_timeout_ms = 10'000;
/// What a session takes that is open and idle: 14 to 15 KB were measured, and 24 with a client's certificate.
inline constexpr size_t tls_session_bytes = 15 * kibibyte;
/// Each half of a record that was received or is still to be sent.
inline constexpr size_t tls_record_bytes = 17 * kibibyte;
/// A send encrypts about as much as sockets take at once, and leaves the rest for when there is room. Not
/// measured.
inline constexpr size_t tls_send_bytes = 256 * kibibyte;

/// What a client may send beside its bytes (mostly a new key, which costs time and brings nothing): so many
/// messages ...
inline constexpr uint32_t tls_messages_max = 16;
/// ... until it has sent or received so many bytes. Libraries change keys after gigabytes, people and tests
/// when they like. Not measured.
inline constexpr size_t tls_messages_per_bytes = 64 * kibibyte;
/// A receive goes on asking the socket while at least this part of what that gave was of use: else records of
/// a byte each, or of none, would take a turn for longer than requests do. A record takes 22 bytes beside its
/// contents, so requests of eight bytes are enough.
inline constexpr size_t tls_useful_share = 4;

static_assert(buffer_bytes_kept >= receive_bytes, "a pooled buffer takes one full receive");
static_assert(receive_bytes <= receive_bytes_per_turn && large_request_bytes < line_bytes_default);
static_assert(buffer_bytes_kept < mapped_bytes_min, "pooled buffers are the allocator's");
static_assert(receive_bytes_first <= receive_bytes && receive_bytes_first <= buffer_bytes_first);

}  // namespace rowsocket::limits
