// SPDX-License-Identifier: GPL-2.0-only
//
// The reply of SCAN: the next cursor, and keys. The rows that it is told have the columns of a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/resp/reply.h"
#include "wire/resp/scan_places.h"
#include "wire/resp/state.h"

namespace rowsocket::wire::resp {

/// Nothing is remembered for it, or its place is not to be found in these rows, or no more in their index.
inline constexpr std::string_view no_such_cursor =
    "-ERR the cursor is not, or no longer, one of this scan: begin again with 0";

class ScanReply final : public CommonReply {
 public:
  struct Shape {
    std::string_view rows = {};              ///< which are scanned, as ScanPlaces remembers it
    std::string_view lead = {};              ///< what a key has in front: `@@city.`, `shop.user:`
    std::string_view pattern = "*";          ///< of keys that are told
    bool is_of_table = false;                ///< keys are as those of rows, else as those of containers
    const State* state = nullptr;            ///< says what a key without a lead means
    uint64_t row_limit = 0;                  ///< of the find
    std::optional<uint64_t> key_shape = {};  ///< that the index had at the step before
    uint64_t unix_time_us = 0;
    ScanPlaces::Own* own_places = nullptr;
    std::span<ColumnEnd> ends = {};  ///< as many as a key can have columns
    uint32_t* column_count = nullptr;
  };
  ScanReply(Buffer& out, const Container* container, const Shape& shape)
      : CommonReply(out, Form::bare, 2, container), shape_(shape) {
    tells_rows_ = true;
    asks_key_shape_ = true;
    per_column_.ends = shape.ends.data();
    per_column_.told_count = shape.column_count;
  }
  void begin_rows(size_t) override;
  void key_shape(uint64_t shape) override { key_shape_ = shape; }
  void row_begins(size_t) override {
    row_begin_ = out().size();
    *shape_.column_count = 0;
  }
  void row_ends() override;
  void end_rows() override;

 private:
  [[nodiscard]] std::string_view column(size_t number) const;
  void remember_place();
  /// Other commands would take such a key for another one: it has to name its container.
  [[nodiscard]] bool needs_name(std::string_view key) const;
  /// The key stands behind its columns then. False if no client can name such a key: a column is NULL, or a
  /// container's separator stands in a column that others follow.
  [[nodiscard]] bool append_key();

  Shape shape_;
  size_t begin_ = 0;
  size_t row_begin_ = 0;
  uint64_t row_count_ = 0;
  uint64_t told_count_ = 0;
  uint64_t cursor_ = 0;
  uint64_t key_shape_ = 0;
  bool is_lost_ = false;  ///< there is more, and its place could not be remembered
};

}  // namespace rowsocket::wire::resp
