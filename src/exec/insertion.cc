// SPDX-License-Identifier: GPL-2.0-only
#include "exec/insertion.h"

#include <algorithm>

#include "exec/row_teller.h"

namespace rowsocket::exec {

Insertion::Insertion(engine::Cursor& cursor, const Insert& insert, size_t column_count, RequestBounds& bounds,
                     RowCounts& counts)
    : cursor_(cursor),
      insert_(insert),
      bounds_(bounds),
      counts_(counts),
      row_{.values = {},
           .on_duplicate = insert.on_duplicate,
           .duplicate_changes = insert.duplicate_changes,
           .filters_duplicates =
               insert.on_duplicate == OnDuplicate::change && !insert.duplicate_filters.empty(),
           .mismatch_changes = insert.mismatch_changes,
           .names_row = insert.names_row,
           .tells_row = insert.tells_rows && !insert.rows_alone},
      value_count_(insert.values.size() / insert.row_count),
      column_count_(column_count) {}

Error Insertion::run(size_t reply_bytes_max) {
  if (Error error = prepare(); !error.ok()) {
    return error;
  }
  if (insert_.order.size() == insert_.row_count) {
    cursor_.order_rows(insert_.values, value_count_, insert_.order);
    order_ = insert_.order;
  }
  return row_.tells_row ? run_told_as_rows(reply_bytes_max) : run_told_as_outcomes();
}

Error Insertion::run_row(size_t number, RowOutcome& outcome) {
  if (Error error = prepare(); !error.ok()) {
    return error;
  }
  return insert_row(number, outcome);
}

Error Insertion::prepare() {
  return row_.filters_duplicates ? cursor_.set_filters(insert_.duplicate_filters) : Error();
}

Error Insertion::insert_row(size_t number, RowOutcome& outcome) {
  row_.values = insert_.values.subspan(number * value_count_, std::min(value_count_, column_count_));
  Error error = cursor_.insert_row(row_, outcome);
  if (error.ok() && outcome.rows_affected > 0) {
    ++(outcome.rows_affected == 1 ? counts_.inserted : counts_.updated);
  }
  return error;
}

/// A trigger can make each row take long, so the bounds are asked before each row but the first.
Error Insertion::insert_next_row(size_t number, RowOutcome& outcome) {
  if (number > 0) {
    if (const ErrorCode reason = bounds_.reason_to_end(number + 1); reason != ErrorCode::none) {
      return reason;
    }
  }
  return insert_row(order_.empty() ? number : order_[number], outcome);
}

Error Insertion::run_told_as_outcomes() {
  Reply& reply = *insert_.reply;
  reply.begin_outcomes();
  for (size_t number = 0; number < insert_.row_count; ++number) {
    RowOutcome outcome{};
    if (Error error = insert_next_row(number, outcome); !error.ok()) {
      return error;
    }
    reply.inserted(outcome);
  }
  reply.end_outcomes();
  return {};
}

Error Insertion::run_told_as_rows(size_t reply_bytes_max) {
  Reply& reply = *insert_.reply;
  RowTeller teller(reply, reply_bytes_max);
  reply.begin_rows(column_count_);
  for (size_t number = 0; number < insert_.row_count; ++number) {
    RowOutcome outcome{};
    if (Error error = insert_next_row(number, outcome); !error.ok()) {
      return error;
    }
    if (!teller.tell(cursor_, number)) {
      return ErrorCode::reply_too_large;
    }
    ++counts_.told;
  }
  reply.end_rows();
  return {};
}

}  // namespace rowsocket::exec
