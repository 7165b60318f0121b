// SPDX-License-Identifier: GPL-2.0-only
//
// One find's way over its rows: key by key (a list has many), past filters, offset and limit, to the reply or
// to the change of each row found. It decides what a find means; the cursor knows how rows are reached. It
// begins and ends no request: its caller undoes what a failed walk changed, and cuts what its reply was
// told.
//
// Lists. With KeyOperator::equal and starts_with all rows of each key count, up to the limit in all. With the
// other operators each key gives at most one row, its first that passes the filters. A limit per key takes
// the place of both. Offset and limit count over the whole list; a filter that stops ends the current key's
// rows only. A key that the list names twice is walked twice. Keys that the walk does not come to, since the
// limit is reached, are not missed.
//
// A row that a filter refuses (Mismatch::refuse) is found: it counts to offset and limit, and its key is not
// missed. It is neither told nor counted nor changed.
//
// Where no row is found, the walk can end with an insert (Find::otherwise).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "exec/request_bounds.h"
#include "exec/row_counts.h"
#include "exec/row_teller.h"
#include "request/request.h"

namespace rowsocket::exec {

/// What was collected for one key.
struct CollectedKey {
  size_t positions_end;  ///< its rows are those behind the key before, up to this
  bool is_missed;
};

/// Memory that walks use one after the other.
struct WalkScratch {
  std::vector<Value> key;               ///< both ends of the range, with a value of the list in its place
  std::vector<Assignment> assignments;  ///< those that fit the columns, where some do not
  std::vector<CollectedKey> keys;       ///< of a walk that collects rows
};

class Walk {
 public:
  /// `reply_bytes_max`: of this find's reply. `bounds`: of the request. `error` is ok, and will say why the
  /// walk failed.
  Walk(engine::Cursor& cursor, const Find& find, size_t reply_bytes_max, RequestBounds& bounds,
       WalkScratch& scratch, RowCounts& counts, Error& error);

  /// Walk, change and tell. A failure to write the last bytes of the reply shows in its output. May throw
  /// std::bad_alloc.
  void run(size_t column_count);

 private:
  void choose_assignments(size_t column_count);
  void begin_collecting();
  void end_collected_key();
  void tell_end();

  // Each returns false when the walk failed.
  [[nodiscard]] bool walk_keys();
  [[nodiscard]] bool walk_list();
  [[nodiscard]] bool walk_key(const KeyRange& range, uint64_t row_limit);
  [[nodiscard]] bool walk_range(const KeyRange& range, uint64_t row_limit);
  [[nodiscard]] bool take_row(bool is_refused);
  [[nodiscard]] bool finish_row();
  [[nodiscard]] bool tell_row();
  [[nodiscard]] bool change_row();
  [[nodiscard]] bool change_collected_rows();
  [[nodiscard]] bool still_passes();
  [[nodiscard]] bool may_take_step(bool stands_on_row) {
    return ++steps_ != question_at_ || may_go_on(stands_on_row);
  }
  [[nodiscard]] [[gnu::noinline]] bool may_go_on(bool stands_on_row);
  // Not inline: an error has a text, which the way of a row need not know how to destroy.
  [[nodiscard]] [[gnu::noinline]] bool fail(ErrorCode code);
  [[nodiscard]] [[gnu::noinline]] bool fail(const Error& error);

  engine::Cursor& cursor_;
  const Find& find_;
  Reply& reply_;
  RowTeller teller_;
  RequestBounds& bounds_;
  WalkScratch& scratch_;
  RowCounts& counts_;
  Error& error_;
  const bool tells_rows_;  ///< else a number
  const bool tells_misses_;
  bool collects_ = false;  ///< find all rows before changing the first: changes could move rows into the way
  bool key_has_row_ = false;                 ///< the key that is walked, so far
  std::span<const Assignment> assignments_;  ///< those for columns that there are
  const size_t reply_bytes_max_;
  size_t key_number_ = 0;  ///< of the list
  uint64_t offset_left_;
  uint64_t rows_taken_ = 0;    ///< behind the offset, those that a filter refuses included
  uint64_t rows_refused_ = 0;  ///< of them
  size_t rows_collected_ = 0;  ///< of them
  uint64_t rows_changed_ = 0;
  uint64_t steps_ = 0;        ///< rows looked at, and ends met
  uint64_t question_at_ = 0;  ///< the step at which the bounds are asked
};

}  // namespace rowsocket::exec
