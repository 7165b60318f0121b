// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <algorithm>
#include <charconv>

#include "mariadb/binding.h"
#include "mariadb/open_table.h"
#include "mariadb/server_differences.h"
#include "mariadb/text_bounds.h"

namespace rowsocket::mariadb {
namespace {

bool same_name(const LEX_CSTRING& name, std::string_view wanted) {
  return system_charset_info->strnncoll(name.str, name.length, wanted.data(), wanted.size()) == 0;
}

bool find_key(const TABLE* table, std::string_view wanted, uint32_t& key_number) {
  if (!wanted.empty() && wanted[0] >= '0' && wanted[0] <= '9') {
    const auto [end, failure] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), key_number);
    return failure == std::errc() && end == wanted.data() + wanted.size() && key_number < table->s->keys;
  }
  const std::string_view name = wanted.empty() ? std::string_view("PRIMARY") : wanted;
  for (key_number = 0; key_number < table->s->keys; ++key_number) {
    if (same_name(table->key_info[key_number].name, name)) {
      return true;
    }
  }
  return false;
}

/// What stands behind a name that is not there, in a text for people.
std::string in_table(const TABLE* table) {
  const TABLE_SHARE* const share = table->s;
  return " in " + std::string(share->db.str, share->db.length) + "." +
         std::string(share->table_name.str, share->table_name.length);
}

/// The parts that the index was declared with. Behind them the server puts the end of the row's life, where
/// the table has a history. It is the same for all current rows.
uint32_t declared_part_count(const TABLE* table, const KEY& key) {
  const uint32_t count = key.user_defined_key_parts;
  const bool has_row_end = count > 1 && table->versioned() &&
                           key.key_part[count - 1].fieldnr - 1U == table->vers_end_field()->field_index;
  return has_row_end ? count - 1 : count;
}

/// The index allows no two current rows that are equal in these columns, which are all of its own.
bool is_unique_over(const TABLE* table, const KEY& key, std::string_view wanted) {
  if ((key.flags & HA_NOSAME) == 0) {
    return false;
  }
  for (uint32_t part = 0; part < declared_part_count(table, key); ++part) {
    const KEY_PART_INFO& info = key.key_part[part];
    const std::string_view name = wanted.substr(0, wanted.find(','));
    if ((info.key_part_flag & HA_PART_KEY_SEG) != 0 ||
        !same_name(table->field[info.fieldnr - 1]->field_name, name)) {
      return false;
    }
    wanted.remove_prefix(std::min(name.size() + 1, wanted.size()));
  }
  return wanted.empty();
}

/// The same, and whichever columns they are.
bool is_unique_over(const TABLE* table, const KEY& key, uint32_t part_count) {
  return (key.flags & HA_NOSAME) != 0 && declared_part_count(table, key) == part_count &&
         std::none_of(key.key_part, key.key_part + part_count,
                      [](const KEY_PART_INFO& info) { return (info.key_part_flag & HA_PART_KEY_SEG) != 0; });
}

/// As SELECT * has them.
void find_all_columns(const TABLE* table, std::vector<uint16_t>& numbers) {
  numbers.clear();
  for (Field** field = table->field; *field != nullptr; ++field) {
    if ((*field)->invisible == VISIBLE) {
      numbers.push_back((*field)->field_index);
    }
  }
}

Error find_columns(const TABLE* table, std::string_view names, std::vector<uint16_t>& numbers) {
  numbers.clear();
  while (!names.empty()) {
    const size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    Field** field = table->field;
    while (*field != nullptr && !same_name((*field)->field_name, name)) {
      ++field;
    }
    if (*field == nullptr) {
      return Error(ErrorCode::no_such_column, "no column '" + std::string(name) + "'" + in_table(table));
    }
    numbers.push_back((*field)->field_index);
    if (comma == std::string_view::npos) {
      break;
    }
    names.remove_prefix(comma + 1);
    if (names.empty()) {
      return Error(ErrorCode::no_such_column, "the list of columns ends with a comma");
    }
  }
  return {};
}

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

/// In the server's time zone two moments may have the same text.
bool clock_may_go_back(const TABLE* table) {
  const Time_zone* const zone = table->in_use->variables.time_zone;
  const std::string_view name(zone->get_name()->ptr(), zone->get_name()->length());
  if (name == "SYSTEM") {
    return daylight != 0;
  }
  return name != "UTC" && !name.starts_with('+') && !name.starts_with('-');
}

/// The first column whose rows may stand elsewhere in the index than their values, given as text, do: a FLOAT
/// shows fewer digits than it has, a CHAR that does not pad stands there with spaces.
const Field* first_apart_from_text(TABLE* table, const KEY& index) {
  for (uint part = 0; part < declared_part_count(table, index); ++part) {
    const Field* const field = table->field[index.key_part[part].fieldnr - 1];
    const enum_field_types type = field->type();
    if (type == MYSQL_TYPE_FLOAT || is_trimmed_char(field) ||
        (type == MYSQL_TYPE_TIMESTAMP && clock_may_go_back(table))) {
      return field;
    }
  }
  return nullptr;
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

Error Binding::resolve_names(const engine::SelectionDescription& description, TABLE* table) {
  if (!find_key(table, description.index, key_number) || !table->s->keys_in_use.is_set(key_number)) {
    return Error(ErrorCode::no_such_index, "no index '" + description.index + "'" + in_table(table));
  }
  if (has_no_order(table->key_info[key_number])) {
    return Error(ErrorCode::no_such_index, "index '" + description.index + "' has no order to walk");
  }
  if (!description.unique_columns.empty() &&
      !is_unique_over(table, table->key_info[key_number], description.unique_columns)) {
    return Error(ErrorCode::no_such_index,
                 "index '" + description.index + "' is not unique over " + description.unique_columns);
  }
  const KEY& index = table->key_info[key_number];
  index_name.assign(index.name.str, index.name.length);
  const bool is_of_whole_key = description.key_columns_first && description.unique_key_parts == 0;
  if (const uint32_t parts =
          is_of_whole_key ? declared_part_count(table, index) : description.unique_key_parts;
      parts > 0 && !is_unique_over(table, index, parts)) {
    return Error(ErrorCode::no_such_index, "index '" + description.index + "'" + in_table(table) +
                                               " is not unique over " + std::to_string(parts) +
                                               (parts == 1 ? " column" : " columns"));
  }
  if (const Field* const field = is_of_whole_key ? first_apart_from_text(table, index) : nullptr;
      field != nullptr) {
    return Error(ErrorCode::no_such_index, "index '" + description.index + "'" + in_table(table) +
                                               " is not in the order of the texts of column '" +
                                               field->field_name.str + "'");
  }
  if (Error error = find_columns(table, description.columns, column_numbers_); !error.ok()) {
    return error;
  }
  if (description.key_columns_first) {
    std::vector<uint16_t> key_columns;
    for (uint32_t part = 0; part < declared_part_count(table, index); ++part) {
      key_columns.push_back(static_cast<uint16_t>(index.key_part[part].fieldnr - 1));
    }
    column_numbers_.insert(column_numbers_.begin(), key_columns.begin(), key_columns.end());
  }
  if (description.all_columns) {
    find_all_columns(table, column_numbers_);
  }
  return find_columns(table, description.filter_columns, filter_numbers_);
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
    const bool is_of_members = field->real_type() == MYSQL_TYPE_ENUM || field->real_type() == MYSQL_TYPE_SET;
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
                         .is_of_members = is_of_members,
                         .may_stand_twice = is_moment || is_text_apart || is_of_members,
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

// Into the table's own sets: the server goes on using them after this binding may be gone.
void Binding::use_columns(TABLE* table, bool with_key_columns) const {
  bitmap_copy(&table->def_read_set, with_key_columns ? &range_read_set_ : &read_set_);
  bitmap_copy(&table->def_write_set, &write_set_);
  table->column_bitmaps_set(&table->def_read_set, &table->def_write_set);
}

}  // namespace rowsocket::mariadb
