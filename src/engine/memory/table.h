// SPDX-License-Identifier: GPL-2.0-only
//
// One table of the memory engine: its rows by number, and per index an ordered set of keys that point to
// rows. It knows values, order and uniqueness; transactions are the session's business. Not thread-safe: the
// engine's mutex is held by every caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/memory/memory_engine.h"

namespace rowsocket::engine::memory {

using RowNumber = uint64_t;

/// -1, 0 or 1. NULL comes first; integers compare as numbers of any length, text as bytes.
[[nodiscard]] int compare(ColumnType type, const Cell& left, const Cell& right);

/// "-007" becomes "-7"; false if the text is not a decimal integer.
[[nodiscard]] bool canonical_integer(std::string_view text, std::string& canonical);

/// Where a search in an index goes: before or behind all entries that begin with `prefix`.
struct Bound {
  std::span<const Cell> prefix;
  bool behind;
};

struct Entry {
  std::vector<Cell> key;
  RowNumber row;
};

class EntryLess {
 public:
  using is_transparent = void;
  explicit EntryLess(std::vector<ColumnType> types) : types_(std::move(types)) {}
  bool operator()(const Entry& left, const Entry& right) const;
  bool operator()(const Entry& entry, const Bound& bound) const;
  /// How the entry's first parts compare to the prefix.
  [[nodiscard]] int compare_prefix(const Entry& entry, std::span<const Cell> prefix) const;

 private:
  std::vector<ColumnType> types_;
};

struct KeyIndex {
  std::vector<size_t> columns;  ///< positions in the table
  bool unique;
  EntryLess less;
  std::set<Entry, EntryLess> entries;
};

class Table {
 public:
  explicit Table(TableDefinition definition);

  [[nodiscard]] const std::vector<Column>& columns() const { return definition_.columns; }
  [[nodiscard]] bool has_transactions() const { return definition_.has_transactions; }
  [[nodiscard]] const std::string& copies_to() const { return definition_.copies_to; }
  [[nodiscard]] const KeyIndex& key_index(size_t position) const { return key_indexes_[position]; }
  [[nodiscard]] size_t key_index_count() const { return key_indexes_.size(); }
  [[nodiscard]] Entry entry_of(const KeyIndex& index, const Row& row, RowNumber number) const;
  [[nodiscard]] const std::map<RowNumber, Row>& rows() const { return rows_; }
  /// nullptr if there is no such row.
  [[nodiscard]] const Row* row(RowNumber number) const;

  /// Position of a column or of an index (by name, by ordinal, or empty for PRIMARY); nullopt if there is
  /// none.
  [[nodiscard]] std::optional<size_t> find_column(std::string_view name) const;
  [[nodiscard]] std::optional<size_t> find_index(std::string_view name) const;

  /// The value as the column stores it; an error where strict SQL would refuse it.
  Error convert(size_t column, const Value& value, Cell& cell) const;
  /// Another row that has the same key in a unique index, which `key_index` is told.
  [[nodiscard]] std::optional<RowNumber> duplicate_of(const Row& row, std::optional<RowNumber> itself,
                                                      size_t* key_index = nullptr) const;

  void put(RowNumber number, Row row);  ///< insert or replace
  void erase(RowNumber number);

  [[nodiscard]] RowNumber next_row_number() { return next_row_number_++; }
  [[nodiscard]] bool has_next_id() const { return next_id_ < INT64_MAX; }
  [[nodiscard]] int64_t next_id() { return next_id_++; }
  void note_id(int64_t id);  ///< a caller gave this AUTO_INCREMENT value

  bool busy = false;           ///< requests get Begin::wait, or wait in place where they are patient
  std::thread::id busy_since;  ///< the thread that made it busy, and could not end that if it waited
  bool dropped = false;        ///< no longer the engine's table of this name

 private:
  TableDefinition definition_;
  std::vector<KeyIndex> key_indexes_;
  std::map<RowNumber, Row> rows_;
  RowNumber next_row_number_ = 1;
  int64_t next_id_ = 1;
};

}  // namespace rowsocket::engine::memory
