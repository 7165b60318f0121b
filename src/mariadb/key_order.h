// SPDX-License-Identifier: GPL-2.0-only
//
// Keys in the order of their index, before any row has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mariadb/binding.h"
#include "mariadb/server_headers.h"
#include "request/value.h"

namespace rowsocket::mariadb {

/// See engine::Cursor::order_by_key. Uses the table's second record as scratch.
void order_by_key(THD* thd, const Binding& binding, TABLE* table, std::span<const Value> values,
                  size_t value_count, bool raw, std::span<uint32_t> order);

}  // namespace rowsocket::mariadb
