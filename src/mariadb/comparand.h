// SPDX-License-Identifier: GPL-2.0-only
//
// One side of a comparison with a column of the row that a walk stands on: a filter's value, or the value of
// a key that the index alone can not decide.
#pragma once

#include <cstdint>
#include <vector>

#include "mariadb/searched_value.h"
#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/value.h"
#include "sql_values/whole_number.h"

namespace rowsocket::mariadb {

class Comparand {
 public:
  [[nodiscard]] Error prepare(THD* thd, Field* field, const Value& value, bool raw);
  /// False if no comparison with the value is true.
  [[nodiscard]] bool has_order() const { return fit_ != Fit::unordered; }
  /// False if the value has a character that the column's character set lacks: it equals no row, but SQL
  /// knows no order.
  [[nodiscard]] bool has_place() const { return kind_ != Kind::text || fit_ == Fit::exact; }
  /// Less than, equal to or greater than 0 as the row's value is before, equal to or after. NULL is before
  /// everything.
  [[nodiscard]] int compare_row() const;
  /// True if the row's value is NULL or 0.
  [[nodiscard]] bool row_is_unset() const;

 private:
  enum class Kind : uint8_t { null, integer, text, image, shown_time };

  [[nodiscard]] Error prepare_text(const Value& value, bool raw);
  [[nodiscard]] Error prepare_image(THD* thd, const Value& value, bool raw);

  THD* thd_ = nullptr;
  Field* field_ = nullptr;
  Kind kind_ = Kind::null;
  sql_values::WholeNumber number_;
  longlong shown_ = 0;  ///< packed, of a time that the clock has shown twice
  Fit fit_ = Fit::exact;
  std::vector<char> bytes_;  ///< kept between requests, so that the steady state allocates nothing
};

}  // namespace rowsocket::mariadb
