// SPDX-License-Identifier: GPL-2.0-only
//
// How rows come into a table of information_schema, and who may see them.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/engine.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

/// One row, column by column in their order.
class SchemaRow {
 public:
  explicit SchemaRow(TABLE* table) : table_(table) {}

  SchemaRow& text(std::string_view value);
  SchemaRow& text_or_null(std::string_view value);  ///< NULL where it is empty
  SchemaRow& number(uint64_t value);
  SchemaRow& number_or_null(uint64_t value) { return value == 0 ? null() : number(value); }
  /// In microseconds, with three digits behind the point.
  SchemaRow& microseconds(uint64_t ns);
  SchemaRow& null();
  /// True if it failed: the server knows why.
  [[nodiscard]] bool store(THD* thd);

 private:
  [[nodiscard]] Field& next();

  TABLE* table_;
  uint32_t column_ = 0;
};

[[nodiscard]] bool has_process_privilege(const THD* thd);
/// The session's account has some right on the table, as for information_schema.TABLES. What has no table is
/// for accounts that may see everything.
[[nodiscard]] bool may_see(THD* thd, const engine::TablePlace& place);

}  // namespace rowsocket::mariadb
