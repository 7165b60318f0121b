// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "mariadb/row_text.h"

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

char* write_digits(char* to, uint32_t number, int count) {
  for (int i = count - 1; i >= 0; --i, number /= 10) {
    to[i] = static_cast<char>('0' + number % 10);
  }
  return to + count;
}

char* write_date(char* to, uint32_t year, uint32_t month, uint32_t day) {
  to = write_digits(to, year, 4);
  *to++ = '-';
  to = write_digits(to, month, 2);
  *to++ = '-';
  return write_digits(to, day, 2);
}

/// DATE as it lies in the record: 3 bytes, of day 5, month 4 and year 15 bits.
void write_date(const Field* field, ValueWriter& writer) {
  const uint32_t packed = uint3korr(field->ptr);
  char text[10];
  write_date(text, packed >> 9, packed >> 5 & 15, packed & 31);
  writer.plain({text, sizeof(text)});
}

/// DATETIME without fractions: 5 bytes, the first the highest, with a sign that is always positive; of second
/// 6, minute 6, hour 5, day 5 bits, and the rest 13 * year + month.
void write_datetime(const Field* field, ValueWriter& writer) {
  constexpr uint64_t sign = 0x8000000000;
  const auto packed = static_cast<uint64_t>(mi_uint5korr(field->ptr)) - sign;
  const auto time = static_cast<uint32_t>(packed & 0x1FFFF);
  const auto day = static_cast<uint32_t>(packed >> 17 & 31);
  const auto months = static_cast<uint32_t>(packed >> 22);
  char text[19];
  char* to = write_date(text, months / 13, months % 13, day);
  *to++ = ' ';
  to = write_digits(to, time >> 12, 2);
  *to++ = ':';
  to = write_digits(to, time >> 6 & 63, 2);
  *to++ = ':';
  write_digits(to, time & 63, 2);
  writer.plain({text, sizeof(text)});
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
    case ColumnKind::date:
      write_date(field, writer);
      return;
    case ColumnKind::datetime:
      write_datetime(field, writer);
      return;
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

}  // namespace rowsocket::mariadb
