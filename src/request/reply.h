// SPDX-License-Identifier: GPL-2.0-only
//
// What the client of a request is told. The parser makes a reply object with each request, in the turn's
// arena. The code that executes the request tells the object what happened. The object alone knows bytes,
// order, silence (noreply), echoed keys and lengths that are known late. It appends to its connection's
// output, and may look back at the bytes that it appended.
//
//   a find      begin_rows, { of each key: { row_begins, the values, row_ends }, or missed }, end_rows
//               or counted, or changed
//   an insert   begin_outcomes, { inserted }, end_outcomes
//               or rows, as a find
//   a group     group_begins, what its members are told, group_ends [, committed]
//               or group_failed
//   others      done, opened
//   all         failed, in place of everything
//
// A request may run again. Then the bytes of its reply are cut off the output, and the reply is told
// everything anew. Or it is presented again later, with another reply. A reply that counts what its request
// came to does so in `count`.
//
// Virtual calls happen per request, and per row where a protocol asks for them (`tells_rows`,
// `tells_misses`); values go straight through a ValueWriter that the reply's format parametrises. If memory
// is refused, the buffer says so (`Buffer::failed`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "request/error.h"
#include "request/value_writer.h"

namespace rowsocket {

/// What came of one row of an insert.
struct RowOutcome {
  Error error;             ///< ok, or why the row is not there (only where rows stand alone)
  uint32_t rows_affected;  ///< 1 = inserted, 2 = another row replaced or updated, 0 = nothing changed
  bool has_id;             ///< the table has an AUTO_INCREMENT column
  uint64_t id;  ///< its value where it was generated, or of the row that was updated or kept; else 0
  bool id_is_negative = false;  ///< `id` is that of a signed column, and below 0: these bits as an int64_t
};

/// What came of a find that changes rows.
struct Changes {
  uint64_t rows_found;    ///< that no filter skipped
  uint64_t rows_matched;  ///< of them, those that no filter refused
  uint64_t rows_changed;  ///< of them, those that were changed
};

class Reply {
 public:
  [[nodiscard]] Buffer& out() const { return *out_; }
  [[nodiscard]] const ValueFormat& value_format() const { return *value_format_; }
  [[nodiscard]] PerColumn per_column() const { return per_column_; }
  /// Wants row_begins and row_ends around each row.
  [[nodiscard]] bool tells_rows() const { return tells_rows_; }
  /// Wants to know which keys of a list gave no row.
  [[nodiscard]] bool tells_misses() const { return tells_misses_; }
  /// Wants to know which columns the index has that is walked.
  [[nodiscard]] bool asks_key_shape() const { return asks_key_shape_; }
  /// Wants to know when its request is done for good.
  [[nodiscard]] bool counts() const { return counts_; }

  virtual void failed(const Error& error) = 0;
  /// Done, and there is nothing to tell.
  virtual void done();
  /// A selection was opened; `column_types` are the SQL types of its columns where they were asked for.
  virtual void opened(std::span<const std::string_view> column_types);

  virtual void begin_rows(size_t column_count);
  /// Behind `begin_rows`: the index that is walked has these columns, in one number. Only where it was asked
  /// for.
  virtual void key_shape(uint64_t shape);
  virtual void row_begins(size_t key_number);
  virtual void row_ends();
  virtual void missed(size_t key_number);
  virtual void end_rows();
  /// In place of rows.
  virtual void counted(uint64_t row_count);
  virtual void changed(const Changes& changes);

  virtual void begin_outcomes();
  virtual void inserted(const RowOutcome& outcome);
  virtual void end_outcomes();

  virtual void group_begins();
  virtual void group_ends();
  /// Nothing of the group was done. `member` says which member has the error; see the constants.
  virtual void group_failed(size_t member, const Error& error);
  static constexpr size_t group_itself =
      static_cast<size_t>(-1);  ///< it was refused before any member was looked at
  static constexpr size_t every_member = static_cast<size_t>(-2);  ///< all were done, and could not be kept
  /// The group is committed, and its client asked for the GTID: append the end of the group's reply to
  /// `text`. The output itself has more replies by now.
  virtual void committed(Buffer& text, std::string_view gtid);

  /// The request is done: what was told last is its answer. Once, only where it `counts`, also of a group's
  /// members.
  virtual void count();

 protected:
  Reply(Buffer& out, const ValueFormat& value_format) : out_(&out), value_format_(&value_format) {}
  ~Reply() = default;  // trivial: an arena runs no destructors

  bool tells_rows_ = false;
  bool tells_misses_ = false;
  bool asks_key_shape_ = false;
  bool counts_ = false;
  PerColumn per_column_;

 private:
  /// A call that this kind of reply does not expect.
  void unexpected();

  Buffer* out_;
  const ValueFormat* value_format_;
};

}  // namespace rowsocket
