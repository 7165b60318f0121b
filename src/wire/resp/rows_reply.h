// SPDX-License-Identifier: GPL-2.0-only
//
// The replies of ROWS.FIND, of ROWS.CHANGE with RETURN, and of ROWS.INSERT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/resp/reply.h"

namespace rowsocket::wire::resp {

/// Rows, each a list of values, or a map of names and values.
class RowsReply final : public CommonReply {
 public:
  struct Shape {
    bool has_names = false;
    uint32_t column_count = 0;       ///< that are told; 0 = all of the table, which are counted
    std::span<ColumnEnd> ends = {};  ///< where columns behind those are not told
    uint32_t* told_count = nullptr;
  };
  RowsReply(Buffer& out, uint32_t version, const Shape& shape, const std::string_view* prefixes)
      : CommonReply(out, shape.column_count == 0 ? Form::named_row : Form::values, version, nullptr),
        shape_(shape) {
    tells_rows_ = true;
    per_column_ = {.prefixes = prefixes, .ends = shape.ends.data(), .told_count = shape.told_count};
  }
  void begin_rows(size_t) override {
    begin_ = out().size();
    row_count_ = 0;
  }
  void row_begins(size_t) override {
    ++row_count_;
    row_begin_ = out().size();
    if (shape_.told_count != nullptr) {
      *shape_.told_count = 0;
    } else {
      append_number(out(), lead(), static_cast<int64_t>(size_of(shape_.column_count)));
    }
  }
  void row_ends() override {
    if (out().failed()) {
      return;
    }
    if (shape_.told_count != nullptr) {
      put_in_front(out(), row_begin_, lead(), size_of(*shape_.told_count));
    } else if (!shape_.ends.empty()) {
      out().truncate(shape_.ends[shape_.column_count - 1].bytes);
    }
  }
  void end_rows() override { put_in_front(out(), begin_, '*', row_count_); }

 private:
  [[nodiscard]] char lead() const { return shape_.has_names && version() > 2 ? '%' : '*'; }
  [[nodiscard]] uint64_t size_of(uint32_t columns) const {
    return shape_.has_names && version() == 2 ? uint64_t{2} * columns : columns;
  }

  Shape shape_;
  size_t begin_ = 0;
  size_t row_begin_ = 0;
  uint64_t row_count_ = 0;
};

/// How many rows are new, or a list with a number or an error for each row.
class InsertedReply final : public CommonReply {
 public:
  enum class Tells : uint8_t { new_count, outcomes, ids };
  InsertedReply(Buffer& out, uint32_t version, Tells tells, uint32_t row_count)
      : CommonReply(out, Form::values, version, nullptr), tells_(tells), row_count_(row_count) {}
  void begin_outcomes() override {
    new_count_ = 0;
    if (tells_ != Tells::new_count) {
      append_number(out(), '*', row_count_);
    }
  }
  void inserted(const RowOutcome& outcome) override;
  void end_outcomes() override {
    if (tells_ == Tells::new_count) {
      append_number(out(), ':', new_count_);
    }
  }

 private:
  Tells tells_;
  uint32_t row_count_;
  uint32_t new_count_ = 0;
};

}  // namespace rowsocket::wire::resp
