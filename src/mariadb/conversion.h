// SPDX-License-Identifier: GPL-2.0-only
//
// Text from the wire into columns, keys and comparisons, as strict SQL would.
//
// A value to be stored must fit exactly, or it is an error. A value to be searched for may be one that no row can have (out of
// range, too long): then the nearest value that a row can have takes its place, together with the side on which the real one
// lies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/request.h"
#include "base/value.h"
#include "mariadb/binding.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// Store into the field where it points now; strict: anything but an exact fit is an error.
[[nodiscard]] Error store_value(THD* thd, Field* field, const Value& value, bool raw);

/// The character set that a value for the field comes in.
[[nodiscard]] CHARSET_INFO* wire_charset(const Field* field, bool raw);

/// Where the searched value lies, seen from the one that took its place.
enum class Fit : uint8_t {
  exact,
  below,
  above,
  lower_end,  ///< before every value of the column; nothing took its place
  malformed   ///< not a value of the column's type
};

/// Convert one key value into `image` (the part's place in a key image). Uses the table's second record as scratch.
[[nodiscard]] Fit write_key_part(THD* thd, TABLE* table, const KEY* key, const KeyPart& part, const Value& value, bool raw,
                                 uchar* image, Error& error);

/// One side of a comparison with a column of the current row.
class Comparand {
 public:
  [[nodiscard]] Error prepare(THD* thd, Field* field, const Value& value, bool raw);
  /// Less than, equal to or greater than 0 as the row's value is before, equal to or after. NULL is before everything.
  [[nodiscard]] int compare_row() const;

 private:
  enum class Kind : uint8_t { null, integer, text, image };

  [[nodiscard]] Error prepare_text(const Value& value, bool raw);
  [[nodiscard]] Error prepare_image(THD* thd, const Value& value, bool raw);

  Field* field_ = nullptr;
  Kind kind_ = Kind::null;
  bool is_negative_ = false;
  uint64_t magnitude_ = 0;
  Fit fit_ = Fit::exact;
  std::vector<char> bytes_;  ///< kept between requests, so that the steady state allocates nothing
};

}  // namespace rowsocket::mariadb
