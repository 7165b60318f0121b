// SPDX-License-Identifier: GPL-2.0-only
//
// Adding to a column and subtracting from it, exact over the column's type.
#pragma once

#include "request/error.h"
#include "request/value.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

enum class Addition : uint8_t {
  done,
  refused,  ///< a decrement would carry the value across zero
  failed
};

/// Add the amount to the field (subtract it, with `decrement`) where it points now. Neither is NULL.
[[nodiscard]] Addition add_to_field(THD* thd, Field* field, const Value& amount, bool decrement, Error& error);

}  // namespace rowsocket::mariadb
