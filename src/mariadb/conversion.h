// SPDX-License-Identifier: GPL-2.0-only
//
// Text from the wire into columns, as strict SQL would: a value must fit exactly, or it is an error.
#pragma once

#include <string_view>

#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/value.h"
#include "sql_values/dates.h"

namespace rowsocket::mariadb {

/// Store into the field where it points now; strict: anything but an exact fit is an error. A FLOAT or DOUBLE
/// takes the nearest number that it has.
[[nodiscard]] Error store_value(THD* thd, Field* field, const Value& value, bool raw);

/// The same as strict SQL does it: it drops digits and white space with a note at most. `is_noted`: it did.
/// (It drops digits of a number and of a fraction, and white space behind a CHAR, without one.)
[[nodiscard]] Error store_as_sql(THD* thd, Field* field, const Value& value, bool raw, bool& is_noted);

/// Why the server could not store into the field: `thd->is_error()`.
[[nodiscard]] Error take_storing_error(THD* thd, Field* field);

/// SQL drops what is behind the length of a CHAR without a word, if it is white space. Blanks mean nothing
/// there, but a TAB does. False if more than blanks of the text would go.
[[nodiscard]] bool fits_char(const Field* field, std::string_view text, CHARSET_INFO* charset);

/// False if a text column has dropped a part of a value that it took.
[[nodiscard]] bool holds_whole_text(const Field* field, const Value& value, bool raw, bool is_noted);

/// False if a number has digits behind its point that a DECIMAL, or a FLOAT or DOUBLE of so many digits,
/// would round away.
[[nodiscard]] bool keeps_digits(const Field* field, std::string_view number);
/// A value, of which the field would keep less than all.
[[nodiscard]] Error not_held_whole(const Field* field);

[[nodiscard]] sql_values::TimeKind time_kind(const Field* field);

/// The character set that a value for the field comes in.
[[nodiscard]] CHARSET_INFO* wire_charset(const Field* field, bool raw);

/// The current time as text, as NOW() would be stored in the field or compared with it. `text` is where it
/// stands.
[[nodiscard]] std::string_view now_as_text(THD* thd, const Field* field,
                                           char (&text)[MAX_DATE_STRING_REP_LENGTH]);

}  // namespace rowsocket::mariadb
