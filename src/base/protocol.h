// SPDX-License-Identifier: GPL-2.0-only
//
// What a wire protocol is to the rest of RowSocket: pure functions over buffers, with no state of their own. One constant object
// per protocol serves every connection and thread. Virtual calls happen per request, never per row or value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/request.h"
#include "base/value_writer.h"

namespace rowsocket {

/// The limits that a parse respects; some are system variables.
struct ParseLimits {
  size_t line_bytes_max;
  uint32_t in_values_max;
  uint32_t index_id_max;  ///< ids are below this
  bool strict = false;    ///< refuse what is served only because earlier servers did
};

struct Parsed {
  enum class Status : uint8_t {
    request,    ///< `request` is filled; the first `consumed_bytes` of the input are its own
    need_more,  ///< no complete request yet
    fatal,      ///< the stream can not be followed any further: answer `request.parse_error` and close
    foreign     ///< another protocol's, which may carry requests of ours in it: close without an answer
  };
  Status status;
  size_t consumed_bytes;
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Decode the next request of `input` into `request`. `scanned_bytes` remembers, between calls for one connection, how much of
  /// the input is known to hold no end of a request (0 at first, and reset to 0 by the caller when it consumes a request).
  [[nodiscard]] virtual Parsed parse(std::string_view input, const ParseLimits& limits, Arena& arena, size_t& scanned_bytes,
                                     Request& request) const = 0;

  // Replies. Each call appends to `out`.
  virtual void reply_ok(Buffer& out) const = 0;
  virtual void reply_number(Buffer& out, uint64_t number) const = 0;      ///< rows found or changed, or the new id of an insert
  virtual void reply_text(Buffer& out, std::string_view text) const = 0;  ///< one value: a GTID
  // What came of each row of an insert: begin_rows of two columns, these, end_rows.
  virtual void append_outcome(Buffer& out, const RowOutcome& outcome) const = 0;
  virtual void begin_rows(Buffer& out, size_t column_count) const = 0;
  virtual void end_rows(Buffer& out) const = 0;
  /// `with_detail` adds the text for people.
  virtual void reply_error(Buffer& out, const Error& error, bool with_detail) const = 0;
  [[nodiscard]] virtual const ValueFormat& value_format() const = 0;
};

}  // namespace rowsocket
