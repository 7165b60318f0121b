// SPDX-License-Identifier: GPL-2.0-only
//
// A searched value as one part of a key image. Where equal rows may stand in two places of the index, both.
#pragma once

#include "mariadb/binding.h"
#include "mariadb/searched_value.h"
#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/value.h"

namespace rowsocket::mariadb {

/// Convert one key value into `image` (the part's place in a key image). Uses the table's second record as
/// scratch.
[[nodiscard]] Fit write_key_part(THD* thd, TABLE* table, const KEY* key, const KeyPart& part,
                                 const Value& value, bool raw, uchar* image, Error& error);

/// Of a TIMESTAMP, ENUM or SET that `write_key_part` has just written: the two places of the index where
/// equal rows stand. They are the moments at which the clock has shown the time, and the empty text as a
/// member and as none. False if there is one place.
[[nodiscard]] bool write_both_places(THD* thd, TABLE* table, const KEY* key, const KeyPart& part,
                                     uchar* lesser, uchar* greater);

/// Of text that fills the part of a key or is longer: the ends of what may equal it (see text_bounds.h).
[[nodiscard]] bool write_both_ends(TABLE* table, const KEY* key, const KeyPart& part, const Value& value,
                                   bool raw, bool is_equal, uchar* lesser, uchar* greater);

}  // namespace rowsocket::mariadb
