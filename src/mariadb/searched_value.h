// SPDX-License-Identifier: GPL-2.0-only
//
// Text from the wire as a value that is searched for, in keys and comparisons.
//
// It may be one that no row can have (out of range, too long, a date that is none): then the nearest value
// that a row can have takes its place, together with the side on which the real one lies.
#pragma once

#include <cstdint>
#include <string_view>

#include "mariadb/binding.h"
#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/value.h"
#include "sql_values/fit.h"

namespace rowsocket::mariadb {

/// Whether a searched value that is none of its column's type (a key of letters for a number) is an error.
/// Else it finds what SQL's comparison finds. Any thread.
void set_strict_keys(bool strict);

using sql_values::Fit;

/// NOW() as text, and the empty text in a number column as 0, as SQL compares; clients walk a table from its
/// start with it.
[[nodiscard]] Value searched_value(THD* thd, const Field* field, const Value& value,
                                   char (&now_text)[MAX_DATE_STRING_REP_LENGTH]);
/// Store a searched value into the field where it points now.
[[nodiscard]] Fit store_searched(THD* thd, Field* field, const Value& value, bool raw, Error& error);

/// The text in the column's character set. False if that lacks a character of it.
[[nodiscard]] bool in_charset_of(const Field* field, const Value& value, bool raw, String& text);

/// A text column has no row before or after a text with characters that its character set lacks.
[[nodiscard]] Error no_order(const Field* field);

/// Points a field at the table's second record while it lives.
class SecondRecord {
 public:
  SecondRecord(TABLE* table, Field* field) : field_(field), distance_(table->record[1] - table->record[0]) {
    field_->move_field_offset(distance_);
  }
  SecondRecord(const SecondRecord&) = delete;
  SecondRecord& operator=(const SecondRecord&) = delete;
  ~SecondRecord() { field_->move_field_offset(-distance_); }

 private:
  Field* field_;
  my_ptrdiff_t distance_;
};

}  // namespace rowsocket::mariadb
