// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "mariadb/row_text.h"
#include "sql_values/packed_date.h"

namespace rowsocket::mariadb {
namespace {

/// VARCHAR as it lies in the record: 1 or 2 length bytes, then the text.
std::string_view varchar_bytes(const Field* field) {
  const auto* const varchar = static_cast<const Field_varstring*>(field);
  const uchar* const at = varchar->ptr;
  const size_t size = varchar->length_bytes == 1 ? *at : uint2korr(at);
  return {reinterpret_cast<const char*>(at) + varchar->length_bytes, size};
}

void write_converted(Field* field, ValueWriter& writer) {
  StringBuffer<MAX_FIELD_WIDTH> text;
  const String* const value = field->val_str(&text);
  StringBuffer<MAX_FIELD_WIDTH> converted;
  uint failed_characters = 0;
  converted.copy(value->ptr(), value->length(), value->charset(), &my_charset_utf8mb4_general_ci,
                 &failed_characters);
  writer.text({converted.ptr(), converted.length()});
}

void write_column(const Column& column, ValueWriter& writer) {
  Field* const field = column.field;
  if (field->is_null()) {
    writer.null();
    return;
  }
  switch (column.kind) {
    case ColumnKind::signed_integer:
      writer.integer(field->val_int());
      return;
    case ColumnKind::unsigned_integer:
      writer.unsigned_integer(static_cast<uint64_t>(field->val_int()));
      return;
    case ColumnKind::text:
      writer.text(varchar_bytes(field));
      return;
    case ColumnKind::text_to_convert:
      write_converted(field, writer);
      return;
    case ColumnKind::date: {
      sql_values::DateText text;
      writer.plain(sql_values::date_text(uint3korr(field->ptr), text));
      return;
    }
    case ColumnKind::datetime: {
      sql_values::DatetimeText text;
      writer.plain(sql_values::datetime_text(mi_uint5korr(field->ptr), text));
      return;
    }
    case ColumnKind::other_text:
    case ColumnKind::formatted: {
      StringBuffer<MAX_FIELD_WIDTH> buffer;
      const String* const value = field->val_str(&buffer);
      if (column.kind == ColumnKind::formatted) {
        writer.plain({value->ptr(), value->length()});
      } else {
        writer.text({value->ptr(), value->length()});
      }
      return;
    }
  }
}

}  // namespace

void write_columns(std::span<const Column> columns, ValueWriter& writer) {
  for (const Column& column : columns) {
    write_column(column, writer);
  }
}

void write_named_columns(std::span<const Column> columns, ValueWriter& writer) {
  for (const Column& column : columns) {
    const LEX_CSTRING& name = column.field->field_name;
    writer.name({name.str, name.length});
    write_column(column, writer);
  }
}

}  // namespace rowsocket::mariadb
