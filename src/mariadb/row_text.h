// SPDX-License-Identifier: GPL-2.0-only
//
// Columns of the current row as text, straight into the reply.
#pragma once

#include <span>

#include "mariadb/binding.h"
#include "request/value_writer.h"

namespace rowsocket::mariadb {

void write_columns(std::span<const Column> columns, ValueWriter& writer);
/// The same, with their names.
void write_named_columns(std::span<const Column> columns, ValueWriter& writer);

}  // namespace rowsocket::mariadb
