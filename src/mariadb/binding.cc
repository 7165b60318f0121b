// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include "mariadb/binding.h"
#include "mariadb/open_table.h"
#include "mariadb/server_differences.h"
#include "mariadb/text_bounds.h"

namespace rowsocket::mariadb {
namespace {

uint8_t integer_bytes(const Field* field) {
  switch (field->real_type()) {
    case MYSQL_TYPE_TINY:
      return 1;
    case MYSQL_TYPE_SHORT:
      return 2;
    case MYSQL_TYPE_INT24:
      return 3;
    case MYSQL_TYPE_LONG:
      return 4;
    case MYSQL_TYPE_LONGLONG:
      return 8;
    default:
      return 0;
  }
}

ColumnKind kind_of(const Field* field, bool raw) {
  if (integer_bytes(field) > 0 && (field->flags & ZEROFILL_FLAG) == 0) {
    return (field->flags & UNSIGNED_FLAG) != 0 ? ColumnKind::unsigned_integer : ColumnKind::signed_integer;
  }
  const CHARSET_INFO* const charset = field->charset();
  const bool as_it_is =
      raw || charset == &my_charset_bin || ((charset->state & MY_CS_UNICODE) != 0 && charset->mbminlen == 1);
  if (is_string_column(field)) {
    if (!as_it_is) {
      return ColumnKind::text_to_convert;
    }
    const bool plain_varchar = field->real_type() == MYSQL_TYPE_VARCHAR &&
                               field->type_handler() == &type_handler_varchar &&
                               field->compression_method() == nullptr;
    return plain_varchar ? ColumnKind::text : ColumnKind::other_text;
  }
  switch (field->real_type()) {
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET:
      return as_it_is ? ColumnKind::other_text : ColumnKind::text_to_convert;
    case MYSQL_TYPE_BIT:
    case MYSQL_TYPE_GEOMETRY:
      return ColumnKind::other_text;
    case MYSQL_TYPE_NEWDATE:
      return ColumnKind::date;
    case MYSQL_TYPE_DATETIME2:
      return field->decimals() == 0 ? ColumnKind::datetime : ColumnKind::formatted;
    default:
      return ColumnKind::formatted;
  }
}

/// Aria's index over CHAR of ucs2 or utf32 does not find what it holds (seen on 10.11.18): a row may stand
/// where it does not belong.
bool is_disordered(const TABLE* table, const Field* field) {
  return table->file->partition_ht()->db_type == DB_TYPE_ARIA && field->real_type() == MYSQL_TYPE_STRING &&
         field->has_charset() && field->charset()->mbminlen > 1;
}

}  // namespace

bool is_string_column(const Field* field) {
  switch (field->real_type()) {
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_VAR_STRING:
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
      return true;
    case MYSQL_TYPE_STRING:  // also what UUID and INET6 call themselves
      return field->has_charset() || field->type_handler() == &type_handler_string;
    default:
      return false;
  }
}

bool is_trimmed_char(const Field* field) {
  return field->real_type() == MYSQL_TYPE_STRING && field->has_charset() &&
         (field->charset()->state & MY_CS_NOPAD) != 0;
}

bool is_of_members(const Field* field) {
  return field->real_type() == MYSQL_TYPE_ENUM || field->real_type() == MYSQL_TYPE_SET;
}

void Binding::resolve_key(TABLE* table) {
  key = &table->key_info[key_number];
  whole_key_is_unique = (key->flags & HA_NOSAME) != 0;
  whole_key_only = (table->file->index_flags(key_number, 0, true) & HA_ONLY_WHOLE_INDEX) != 0;
  key_parts.clear();
  has_padded_text = false;
  is_merged_loosely = false;
  goes_up_only = false;
  uint32_t key_offset = 0;
  for (uint32_t i = 0; i < key->user_defined_key_parts; ++i) {
    KEY_PART_INFO* const info = &key->key_part[i];
    Field* const field = table->field[info->fieldnr - 1];
    const bool is_prefix = (info->key_part_flag & HA_PART_KEY_SEG) != 0 || (field->flags & BLOB_FLAG) != 0;
    const bool is_padded_text =
        field->real_type() == MYSQL_TYPE_STRING && is_string_column(field) && field->charset()->mbmaxlen > 1;
    const bool is_trimmed = is_trimmed_char(field);
    const bool is_moment = field->type() == MYSQL_TYPE_TIMESTAMP;
    const bool has_members = is_of_members(field);
    const bool is_text_apart =
        is_string_column(field) && (is_prefix || !is_trimmed) && may_compare_apart(field->charset());
    key_parts.push_back({.info = info,
                         .field = field,
                         .key_offset = key_offset,
                         .integer_bytes = integer_bytes(field),
                         .is_unsigned = (field->flags & UNSIGNED_FLAG) != 0,
                         .is_nullable = info->null_bit != 0,
                         .is_descending = (info->key_part_flag & HA_REVERSE_SORT) != 0,
                         .is_prefix = is_prefix,
                         .is_padded_text = is_padded_text,
                         .is_moment = is_moment,
                         .is_text_apart = is_text_apart,
                         .is_of_members = has_members,
                         .may_stand_twice = is_moment || is_text_apart || has_members,
                         .decides_in_part = is_prefix || is_trimmed || is_disordered(table, field)});
    has_padded_text = has_padded_text || is_padded_text;
    is_merged_loosely = is_merged_loosely || (table->part_info != nullptr && is_prefix);
    goes_up_only = goes_up_only || (table->part_info != nullptr && !field->stored_in_db());
    key_offset += info->store_length;
  }
}

void Binding::resolve_columns(const engine::SelectionDescription& description, TABLE* table,
                              engine::Intent intent) {
  keeps_key = description.key_columns_first;
  columns.clear();
  filter_columns.clear();
  const size_t words = bitmap_buffer_size(table->s->fields) / sizeof(my_bitmap_map) + 1;
  bitmap_words_.assign(3 * words, 0);
  my_bitmap_init(&read_set_, bitmap_words_.data(), table->s->fields);
  my_bitmap_init(&write_set_, bitmap_words_.data() + words, table->s->fields);
  my_bitmap_init(&range_read_set_, bitmap_words_.data() + 2 * words, table->s->fields);

  // mark_column_with_deps marks in the table's own read set: what a virtual column needs comes with it.
  MY_BITMAP* const saved_read_set = table->read_set;
  table->read_set = &read_set_;
  for (const uint16_t number : column_numbers_) {
    Field* const field = table->field[number];
    columns.push_back({field, kind_of(field, description.raw)});
    table->mark_column_with_deps(field);
    bitmap_set_bit(&write_set_, number);
  }
  for (const uint16_t number : filter_numbers_) {
    filter_columns.push_back(table->field[number]);
    table->mark_column_with_deps(table->field[number]);
  }
  tells_names = description.all_columns;
  row_end = table->versioned() ? table->vers_end_field() : nullptr;
  row_start = reads_past && row_end != nullptr ? table->vers_start_field() : nullptr;
  for (Field* const field : {row_start, row_end}) {
    if (field != nullptr) {
      table->mark_column_with_deps(field);
    }
  }
  for (const KeyPart& part : key_parts) {
    if (part.is_prefix) {  // the index alone can not tell whether a long value matches
      table->mark_column_with_deps(part.field);
    }
  }
  table->read_set = saved_read_set;

  const bool is_clustered =
      key_number == table->s->primary_key && table->file->pk_is_clustering_key(key_number);
  covering = intent == engine::Intent::read && !is_clustered &&
             (table->file->index_flags(key_number, 0, true) & HA_KEYREAD_ONLY) != 0;
  for (uint32_t i = 0; covering && i < table->s->fields; ++i) {
    covering = !bitmap_is_set(&read_set_, i) || table->field[i]->part_of_key.is_set(key_number);
  }
  if (intent == engine::Intent::write) {
    bitmap_set_all(&read_set_);  // the row before the change, whole: for row events, constraints and defaults
  }
  bitmap_copy(&range_read_set_, &read_set_);
  table->read_set = &range_read_set_;
  for (const KeyPart& part : key_parts) {
    table->mark_column_with_deps(part.field);
  }
  table->read_set = saved_read_set;
}

Error Binding::resolve(const engine::SelectionDescription& description, const OpenTable& open, bool past) {
  TABLE* const table = open.table();
  reads_past = past;
  if (reads_past && table->versioned(VERS_TRX_ID)) {
    generation = 0;
    return Error(ErrorCode::sql, ER_VERS_ENGINE_UNSUPPORTED,
                 "system_versioning_asof is set, and the table's history is by transaction");
  }
  const uint64_t share_version = table->s->get_table_ref_version();
  if (share_version_ != share_version || generation == 0) {
    generation = 0;
    if (Error error = resolve_names(description, table); !error.ok()) {
      return error;
    }
    share_version_ = share_version;
  }
  resolve_key(table);
  resolve_columns(description, table, open.intent());
  generation = open.generation();
  static thread_local uint64_t last_serial = 0;
  serial = ++last_serial;
  return {};
}

size_t Binding::held_bytes() const {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are what the list holds
  const auto bytes_of = [](const auto& list) { return list.capacity() * sizeof list[0]; };
  return bytes_of(key_parts) + bytes_of(columns) + bytes_of(filter_columns) + bytes_of(column_numbers_) +
         bytes_of(filter_numbers_) + bytes_of(bitmap_words_) + index_name.capacity();
}

bool Binding::column_types(engine::ColumnTypes& types, size_t bytes_max) const {
  for (const Column& column : columns) {
    StringBuffer<MAX_FIELD_WIDTH> type(system_charset_info);
    column.field->sql_type(type);
    if (type.length() > bytes_max) {
      return false;
    }
    bytes_max -= type.length();
    types.emplace_back(type.ptr(), type.length());
  }
  return true;
}

uint64_t Binding::key_shape() const {
  std::string shape;
  for (const KeyPart& part : key_parts) {
    StringBuffer<MAX_FIELD_WIDTH> type(system_charset_info);
    part.field->sql_type(type);
    shape.append(part.field->field_name.str, part.field->field_name.length).push_back('\0');
    shape.append(type.ptr(), type.length()).push_back('\0');
    shape.append(std::to_string(part.field->charset()->number)).push_back(part.is_descending ? '<' : '>');
  }
  return std::hash<std::string>()(shape);
}

// Into the table's own sets: the server goes on using them after this binding may be gone.
void Binding::use_columns(TABLE* table, bool with_key_columns) const {
  bitmap_copy(&table->def_read_set, with_key_columns ? &range_read_set_ : &read_set_);
  bitmap_copy(&table->def_write_set, &write_set_);
  table->column_bitmaps_set(&table->def_read_set, &table->def_write_set);
}

}  // namespace rowsocket::mariadb
