// SPDX-License-Identifier: GPL-2.0-only
//
// The packets of MariaDB's client protocol, as far as the load needs them: two kinds of requests, rows, and what stands before
// and after the rows of a result. Pure functions over buffers.
//
//   packet    length (3 bytes, little endian), sequence number (1), payload
//   result    column count | column definitions ... | end | row ... | end
//             '------------- head, the same every time -----'  '--- tail, too
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "bench/table.h"

namespace rowsocket::bench::sql {

inline constexpr char command_query = 0x03;
inline constexpr char command_execute = 0x17;

void append_little_endian(Buffer& out, uint64_t value, size_t byte_count);
/// A number in the protocol's own variable length, as it stands before texts.
void append_length(Buffer& out, uint64_t length);

/// Opens a packet at the end of a buffer; `finish` puts its length before it. Throws std::runtime_error beyond 16 MiB.
class Packet {
 public:
  Packet(Buffer& out, uint8_t sequence);
  void finish();

 private:
  Buffer& out_;
  size_t begin_;
};

/// A text with its length before it: a value in the text format.
void append_text(Buffer& out, std::string_view bytes);
/// A value in the format of prepared statements; `text` is what the column's formula gives.
void append_binary_value(Buffer& out, ColumnKind kind, std::string_view text);

/// What stands around the rows of a result, learned from a first one.
struct ResultFrame {
  std::string head;          ///< whole packets
  uint8_t first_row = 0;     ///< sequence number
  std::string tail_payload;  ///< of the last packet

  bool operator==(const ResultFrame&) const = default;
};

/// Nothing while the result is not whole. Throws std::runtime_error if it is an error, or no result with rows.
[[nodiscard]] std::optional<ResultFrame> parse_result(std::string_view bytes);

/// The answer to a write.
struct Ok {
  size_t size = 0;
  uint64_t rows_changed = 0;
};
/// Nothing while it is not whole; size 0 if it is another answer.
[[nodiscard]] std::optional<Ok> parse_ok(std::string_view bytes);

}  // namespace rowsocket::bench::sql
