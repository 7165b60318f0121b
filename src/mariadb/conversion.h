// SPDX-License-Identifier: GPL-2.0-only
//
// Text from the wire into columns, as strict SQL would: a value must fit exactly, or it is an error.
#pragma once

#include <string_view>

#include "mariadb/server_headers.h"
#include "request/error.h"
#include "request/value.h"

namespace rowsocket::mariadb {

/// Store into the field where it points now; strict: anything but an exact fit is an error.
[[nodiscard]] Error store_value(THD* thd, Field* field, const Value& value, bool raw);

/// The character set that a value for the field comes in.
[[nodiscard]] CHARSET_INFO* wire_charset(const Field* field, bool raw);

/// The current time as text, as NOW() would be stored in the field or compared with it. `text` is where it
/// stands.
[[nodiscard]] std::string_view now_as_text(THD* thd, const Field* field,
                                           char (&text)[MAX_DATE_STRING_REP_LENGTH]);

}  // namespace rowsocket::mariadb
