// SPDX-License-Identifier: GPL-2.0-only
//
// A description (names) resolved against one opening of its table: key, columns, and which columns a walk
// fetches. Stale as soon as the table is closed; resolving again is cheap, and goes by number while the
// table's definition is the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "mariadb/server_headers.h"

namespace rowsocket::mariadb {

class OpenTable;

/// How a field's values become text, decided once per binding.
enum class ColumnKind : uint8_t {
  signed_integer,
  unsigned_integer,
  text,             ///< VARCHAR: bytes that are UTF-8 already (or raw, or binary)
  text_to_convert,  ///< a character column of another character set
  other_text,       ///< as `text`, but only val_str knows how
  date,
  datetime,  ///< without fractions of a second
  formatted  ///< val_str gives ASCII without control bytes: other numbers and times, UUID, ...
};

struct Column {
  Field* field;
  ColumnKind kind;
};

struct KeyPart {
  KEY_PART_INFO* info;
  Field* field;           ///< the table's whole column, even for a prefix part
  uint32_t key_offset;    ///< where the part begins in a key image
  uint8_t integer_bytes;  ///< 0 = not an integer part
  bool is_unsigned;
  bool is_nullable;
  bool is_descending;
  bool is_prefix;        ///< the index holds only the beginning of the column
  bool is_padded_text;   ///< CHAR, with characters of several bytes
  bool is_moment;        ///< TIMESTAMP: the index has the moment, SQL compares what the clock shows
  bool is_text_apart;    ///< text whose collation may compare one character with two, or ignore one
  bool is_of_members;    ///< ENUM or SET: the index has numbers, SQL compares texts
  bool may_stand_twice;  ///< what equals a value may stand in two places of the index
  bool decides_in_part;  ///< a row is compared with the whole value, since the index does not decide it
};

struct Binding {
  uint64_t generation = 0;  ///< of the OpenTable; 0 = never resolved
  uint64_t serial = 0;      ///< of this resolving; no two of a thread have the same

  uint32_t key_number = 0;
  std::string index_name;
  KEY* key = nullptr;
  bool covering = false;  ///< the index holds every column that is fetched
  bool whole_key_is_unique = false;
  bool whole_key_only = false;  ///< a hash index
  bool goes_up_only = false;    ///< the server knows the order of the partitions' rows on the way up alone
  bool has_padded_text = false;
  /// Partitions whose index holds the beginnings of columns: the server merges their rows in another order
  /// than a range has (by bytes, not by characters). A row beyond the range's end may stand before its last.
  bool is_merged_loosely = false;
  /// Of a system-versioned table. A walk passes over the versions of its rows that are not of the time that
  /// is read, as a plain SELECT does.
  Field* row_end = nullptr;
  bool reads_past = false;     ///< the time that is read is `system_versioning_asof`, and not now
  Field* row_start = nullptr;  ///< the same, if it reads the past
  std::vector<KeyPart> key_parts;
  std::vector<Column> columns;
  bool keeps_key = false;    ///< its first columns are the key, which no change alters
  bool tells_names = false;  ///< of its columns, with their values
  std::vector<Field*> filter_columns;

  /// Resolve; on failure the binding is not to be used. `reads_past`: the session reads as of a moment.
  [[nodiscard]] Error resolve(const engine::SelectionDescription& description, const OpenTable& open,
                              bool reads_past);
  /// Have the table fetch and change these columns until its statement ends. `with_key_columns`: fetch the
  /// index's own, too.
  void use_columns(TABLE* table, bool with_key_columns = false) const;

  /// How much memory it takes beside its own size.
  [[nodiscard]] size_t held_bytes() const;

  /// See engine::Selection. While the table is open.
  [[nodiscard]] bool column_types(engine::ColumnTypes& types, size_t bytes_max) const;
  /// See engine::Cursor. While the table is open.
  [[nodiscard]] uint64_t key_shape() const;

 private:
  [[nodiscard]] Error resolve_names(const engine::SelectionDescription& description, TABLE* table);
  void resolve_key(TABLE* table);
  void resolve_columns(const engine::SelectionDescription& description, TABLE* table, engine::Intent intent);

  uint64_t share_version_ = 0;  ///< of the definition that the numbers are for
  std::vector<uint16_t> column_numbers_;
  std::vector<uint16_t> filter_numbers_;
  std::vector<my_bitmap_map> bitmap_words_;
  MY_BITMAP read_set_{};
  MY_BITMAP range_read_set_{};
  MY_BITMAP write_set_{};
};

/// True for CHAR, VARCHAR, TEXT and their binary twins (not ENUM, SET, UUID, ...).
[[nodiscard]] bool is_string_column(const Field* field);
/// A CHAR has no space at its end for SQL, not even where the collation takes "a " for another text than "a".
[[nodiscard]] bool is_trimmed_char(const Field* field);
/// True for ENUM and SET: a row has a number, and SQL compares texts.
[[nodiscard]] bool is_of_members(const Field* field);

}  // namespace rowsocket::mariadb
