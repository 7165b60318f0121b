// SPDX-License-Identifier: GPL-2.0-only
//
// One find's way over its rows: key by key (an IN list has many), past filters, offset and limit, to the reply or to the change
// of each row found. It decides what a find means; the cursor knows how rows are reached. It begins and ends no request: whoever
// calls it undoes what a failed walk changed, and cuts what it wrote.
//
// IN lists. With KeyOperator::equal and starts_with all rows of each value count, up to the limit in all. With the other
// operators each value gives at most one row, its first that passes the filters. A limit per value takes the place of both.
// Offset and limit count over the whole list; a filter that stops ends the current value's rows only. A value that the list names
// twice is walked twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/protocol.h"
#include "engine/engine.h"

namespace rowsocket::exec {

struct RowCounts {
  uint64_t read = 0;  ///< rows stood on, those that a filter or the offset skipped included
  uint64_t inserted = 0;
  uint64_t updated = 0;
  uint64_t deleted = 0;

  [[nodiscard]] uint64_t changed() const { return inserted + updated + deleted; }
  void add_changes(const RowCounts& other) {
    inserted += other.inserted;
    updated += other.updated;
    deleted += other.deleted;
  }
};

class Walk {
 public:
  /// `in_keys` is scratch memory, kept by the caller so that it need not be allocated again.
  Walk(engine::Cursor& cursor, const Request& request, const Protocol& protocol, Buffer& out, size_t reply_bytes_max,
       std::vector<Value>& in_keys, RowCounts& counts);

  /// Walk, change and reply. A failure to write the last bytes of the reply shows in `out`. May throw std::bad_alloc.
  [[nodiscard]] Error run(size_t column_count);

 private:
  // Each returns false when the walk failed; `error_` says why.
  [[nodiscard]] bool find_rows();
  [[nodiscard]] bool find_rows_of_list(KeyRange range);
  [[nodiscard]] bool find_rows_of(const KeyRange& range, uint64_t row_limit);
  [[nodiscard]] bool take_row();
  [[nodiscard]] bool finish_row();
  [[nodiscard]] bool write_row();
  [[nodiscard]] bool change_row();
  [[nodiscard]] bool change_collected_rows();
  [[nodiscard]] bool fail(Error error);

  engine::Cursor& cursor_;
  const Request& request_;
  const Protocol& protocol_;
  Buffer& out_;
  ValueWriter writer_;
  const size_t out_bytes_max_;  ///< of `out_`, this reply included
  std::vector<Value>& in_keys_;
  RowCounts& counts_;
  const bool replies_rows_;
  const bool collects_;                ///< find all rows before changing the first: changes could move rows into the way
  std::span<const Value> new_values_;  ///< as many as there are columns
  uint64_t offset_left_;
  uint64_t rows_taken_ = 0;
  uint64_t rows_changed_ = 0;
  Error error_;
};

}  // namespace rowsocket::exec
