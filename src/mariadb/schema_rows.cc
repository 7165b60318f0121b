// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "mariadb/schema_rows.h"
#include "mariadb/server_differences.h"

namespace rowsocket::mariadb {

Field& SchemaRow::next() {
  Field& field = *table_->field[column_++];
  field.set_notnull();
  return field;
}

SchemaRow& SchemaRow::text(std::string_view value) {
  next().store(value.data(), value.size(), system_charset_info);
  return *this;
}

SchemaRow& SchemaRow::text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }

SchemaRow& SchemaRow::number(uint64_t value) {
  next().store(static_cast<longlong>(value), true);
  return *this;
}

SchemaRow& SchemaRow::microseconds(uint64_t ns) {
  next().store(static_cast<double>(ns) / 1000);
  return *this;
}

SchemaRow& SchemaRow::null() {
  table_->field[column_++]->set_null();
  return *this;
}

bool SchemaRow::store(THD* thd) { return schema_table_store_record(thd, table_); }

bool has_process_privilege(const THD* thd) {
  return (thd->security_ctx->master_access & PROCESS_ACL) != NO_ACL;
}

bool may_see(THD* thd, const engine::TablePlace& place) {
  if (place.table.empty()) {
    return has_process_privilege(thd);
  }
  const LEX_CSTRING database = lex_string(place.database);
  const LEX_CSTRING table = lex_string(place.table);
  TABLE_LIST list;
  list.init_one_table(&database, &table, nullptr, TL_READ);
  list.grant.privilege = NO_ACL;
  constexpr bool no_errors = true;
  if (check_access(thd, SELECT_ACL, database.str, &list.grant.privilege, nullptr, false, no_errors)) {
    return false;
  }
  return (list.grant.privilege & TABLE_ACLS) != NO_ACL ||
         !check_grant(thd, TABLE_ACLS, &list, true, 1, no_errors);
}

}  // namespace rowsocket::mariadb
