// SPDX-License-Identifier: GPL-2.0-only
//
// One end of a walk over an index: the key in the server's own format, and which rows stand on the right side
// of it.
//
// A key that no row can have (longer than the column, out of its range) is replaced by the nearest one that a
// row can have, and the operator by the one that then gives the same rows. Where an index holds only the
// beginning of a column, it cannot decide: rows that share the beginning are candidates, and `passes_recheck`
// compares whole values. That holds for a short value, too. The index pads it with spaces, so it has the
// beginning of every row that goes on with a space, or with characters that do not count. A CHAR of a
// collation that does not pad is the same: the index has spaces behind it, where SQL compares without them.
//
// The index of a TIMESTAMP is in the order of moments, and SQL compares what the clock shows. A clock that is
// put back shows an hour twice. So all rows from the one moment to the other are candidates. An ENUM's error
// value is shown as a member that is the empty text, and a SET may not show that it has such a member. So all
// rows from the one number to the other are candidates. Text that fills a key may equal another beginning
// where a collation compares one character with two: there, see text_bounds.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mariadb/binding.h"
#include "mariadb/comparand.h"
#include "request/request.h"

namespace rowsocket::mariadb {

class TextPrefix;

class KeyBound {
 public:
  /// Convert a key. False if a value is malformed: `error` says how.
  [[nodiscard]] bool set(THD* thd, TABLE* table, const Binding& binding, KeyOperator key_operator,
                         std::span<const Value> key, bool raw, Error& error);
  /// No end: the index's own.
  void set_open(KeyOperator key_operator);
  /// The rows equal to the key in all parts but the last, whose text begins with the last value.
  [[nodiscard]] static bool set_prefix(THD* thd, TABLE* table, const Binding& binding,
                                       std::span<const Value> key, bool raw, KeyBound& low, KeyBound& high,
                                       TextPrefix& prefix, Error& error);
  /// Both ends of the rows equal to a key, once `set` for `equal`.
  static void open_between(KeyBound& low, KeyBound& high);

  [[nodiscard]] KeyOperator key_operator() const { return operator_; }
  [[nodiscard]] bool finds_nothing() const { return finds_nothing_; }
  /// True if the key was set for `equal` and at most one row can have it.
  [[nodiscard]] bool is_of_one_row() const { return is_of_one_row_; }
  [[nodiscard]] bool is_open() const { return map_ == 0; }
  [[nodiscard]] bool rechecks() const { return rechecks_; }
  /// True if the key was set for `equal` and the rows may lie apart in the index: `open_between` has the
  /// ends.
  [[nodiscard]] bool has_two_ends() const { return has_two_ends_; }

  [[nodiscard]] const uchar* image() const { return image_.data(); }
  [[nodiscard]] uint32_t image_bytes() const { return bytes_; }
  [[nodiscard]] key_part_map map() const { return map_; }

  /// By the index's order alone: whether the current row stands on the right side. Needs the index's columns.
  [[nodiscard]] bool admits_row() const;
  [[nodiscard]] bool passes_recheck() const;

 private:
  [[nodiscard]] bool prepare_recheck(THD* thd, std::span<const Value> key, bool raw, Error& error);
  [[nodiscard]] int order_of_row() const;
  [[nodiscard]] bool take_both_places(THD* thd, TABLE* table, const KeyPart& part, const Value& value,
                                      bool raw, Fit fit);
  void append_part(uint32_t number, const char* text, size_t size);

  const Binding* binding_ = nullptr;
  KeyOperator operator_ = KeyOperator::equal;
  std::vector<uchar> image_;
  uint32_t bytes_ = 0;
  key_part_map map_ = 0;
  bool finds_nothing_ = false;
  bool is_of_one_row_ = false;
  bool has_two_ends_ = false;
  std::vector<uchar> other_end_;  ///< of the last part
  bool rechecks_ = false;
  KeyOperator recheck_operator_ = KeyOperator::equal;
  std::vector<Comparand> recheck_;
  size_t recheck_count_ = 0;
};

}  // namespace rowsocket::mariadb
