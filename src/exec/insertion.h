// SPDX-License-Identifier: GPL-2.0-only
//
// What an insert does with its rows, one after the other. Like a walk it begins and ends no request.
#pragma once

#include <cstddef>

#include "engine/engine.h"
#include "exec/request_bounds.h"
#include "exec/row_counts.h"
#include "request/request.h"

namespace rowsocket::exec {

class Insertion {
 public:
  /// `bounds`: of the request.
  Insertion(engine::Cursor& cursor, const Insert& insert, size_t column_count, RequestBounds& bounds,
            RowCounts& counts);

  /// All rows, and the reply is told what came of them. A failure to write the last bytes shows in its
  /// output.
  Error run(size_t reply_bytes_max);
  /// The row of this number only. The reply is told nothing yet.
  Error run_row(size_t number, RowOutcome& outcome);

 private:
  Error prepare();
  Error insert_row(size_t number, RowOutcome& outcome);
  Error insert_next_row(size_t number, RowOutcome& outcome);
  Error run_told_as_outcomes();
  Error run_told_as_rows(size_t reply_bytes_max);

  engine::Cursor& cursor_;
  const Insert& insert_;
  RequestBounds& bounds_;
  RowCounts& counts_;
  engine::RowToInsert row_;
  std::span<const uint32_t> order_ = {};  ///< of the rows; empty = as they stand
  const size_t value_count_;              ///< of a row
  const size_t column_count_;             ///< of the selection
};

}  // namespace rowsocket::exec
