// SPDX-License-Identifier: GPL-2.0-only
//
// Tells a reply the rows that a cursor stands on, within the bytes that the reply may take.
#pragma once

#include <cstddef>

#include "engine/engine.h"
#include "request/reply.h"
#include "request/value_writer.h"

namespace rowsocket::exec {

class RowTeller {
 public:
  RowTeller(Reply& reply, size_t reply_bytes_max)
      : reply_(reply),
        out_(reply.out()),
        writer_(out_, reply.value_format(), reply.per_column()),
        tells_rows_(reply.tells_rows()),
        out_bytes_max_(out_.size() + reply_bytes_max) {}

  /// False if the reply has become too large.
  [[nodiscard]] bool tell(engine::Cursor& cursor, size_t key_number) {
    if (tells_rows_) [[unlikely]] {
      reply_.row_begins(key_number);
    }
    cursor.write_row(writer_);
    if (tells_rows_) [[unlikely]] {
      reply_.row_ends();
    }
    return !out_.failed() && out_.size() <= out_bytes_max_;
  }

 private:
  Reply& reply_;
  Buffer& out_;
  ValueWriter writer_;
  const bool tells_rows_;
  const size_t out_bytes_max_;  ///< of `out_`, this reply included
};

}  // namespace rowsocket::exec
