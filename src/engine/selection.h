// SPDX-License-Identifier: GPL-2.0-only
//
// What a client has named, and what a request does with it: selections, and the demands on them. Descriptions
// and plain values; a Selection belongs to no thread (opened_selections.h). They are part of what engine.h
// says of a storage.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rowsocket::engine {

/// Numbers of accounts. RowSocket itself may do everything; clients that named no account share one number.
inline constexpr uint64_t own_account = 0;
inline constexpr uint64_t anonymous_account = 1;
inline constexpr uint64_t first_account = 2;

/// What a client names. Two equal descriptions are one Selection.
struct SelectionDescription {
  std::string database;
  std::string table;
  std::string index;                ///< name, ordinal (begins with a digit), or empty for PRIMARY
  std::string columns = {};         ///< comma-separated; empty = none
  std::string filter_columns = {};  ///< comma-separated; empty = none
  bool raw = false;                 ///< text as the column's own bytes
  uint64_t account = own_account;   ///< of the clients that share it: their requests run as it
  /// Comma-separated; where it is not empty, an index that is not unique, or is over other columns (or over
  /// the beginning of one), is no_such_index.
  std::string unique_columns = {};
  /// Where it is not 0, the same of an index that has another number of columns.
  uint32_t unique_key_parts = 0;
  /// The index's columns stand before `columns`: another index than a unique one of whole columns is refused.
  bool key_columns_first = false;
  /// A filter column that holds no integers is no_such_column.
  bool integer_filters = false;
  /// An index of which a row may stand elsewhere than its key, given as text, is refused.
  bool walked_in_steps = false;
  bool all_columns = false;  ///< in place of `columns` those of SELECT *, told with their names

  bool operator==(const SelectionDescription&) const = default;
};

/// An index, as the host calls it.
struct TablePlace {
  std::string database;
  std::string table;
  std::string index;

  auto operator<=>(const TablePlace&) const = default;
};

/// How many names a comma-separated list holds ("" holds none).
[[nodiscard]] size_t name_count(std::string_view comma_separated);

using ColumnTypes = std::vector<std::string>;

class OpenedSelections;

/// See opened_selections.h, which makes them.
class Selection {
 public:
  Selection(std::shared_ptr<OpenedSelections> opened, SelectionDescription description, std::string key,
            uint32_t slot, uint64_t serial);
  ~Selection();
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  [[nodiscard]] const SelectionDescription& description() const { return description_; }
  [[nodiscard]] size_t column_count() const { return column_count_; }
  [[nodiscard]] size_t filter_column_count() const { return filter_column_count_; }
  /// About how much memory it takes: its names, three times. What sessions keep of it is not counted here.
  [[nodiscard]] size_t held_bytes() const { return held_bytes_; }
  /// No two that clients have open at the same time have the same slot; slots are small numbers.
  [[nodiscard]] uint32_t slot() const { return slot_; }
  /// No two of one list ever have the same serial; never 0.
  [[nodiscard]] uint64_t serial() const { return serial_; }
  /// The same for all selections of one table that name the table alike.
  [[nodiscard]] size_t table_hash() const { return table_hash_; }
  /// The same for all selections that are described alike, whichever account they are of and whenever they
  /// are opened.
  [[nodiscard]] size_t names_hash() const { return names_hash_; }

 private:
  friend class OpenedSelections;

  std::shared_ptr<OpenedSelections> opened_;
  SelectionDescription description_;
  std::string key_;  ///< in the list
  size_t column_count_;
  size_t filter_column_count_;
  size_t held_bytes_;
  uint32_t slot_;
  uint64_t serial_;
  size_t table_hash_;
  size_t names_hash_;
};

enum class Intent : uint8_t {
  read,
  write,
  write_one_row  ///< of a request: `write`, where a failure leaves nothing to undo since one row is changed
                 ///< in one step
};

/// What a request does with the columns and rows of its selection: what its account must be allowed, and
/// which triggers it can fire.
struct Demand {
  enum Kind : uint32_t {
    reads_columns = 1,  ///< tells columns of rows
    reads_key = 2,      ///< walks the index
    reads_filters = 4,
    reads_changed = 8,  ///< what the changed columns become depends on what they are
    updates = 16,
    deletes = 32,
    inserts = 64,
    updates_inserted = 128,  ///< an upsert: SQL asks for UPDATE on all columns that it names
    tells_kept_id = 256      ///< the id of a row that was there: 0 without SELECT on it
  };
  uint32_t kinds = 0;
  uint64_t changed_columns = 0;     ///< bit n is column n of the selection
  uint32_t changed_column_end = 0;  ///< behind the last one; those without a bit count as changed up to here
  uint32_t inserted_column_count = 0;  ///< the first so many

  void add_changed(uint32_t column) {
    changed_columns |= column < 64 ? uint64_t{1} << column : 0;
    changed_column_end = column < changed_column_end ? changed_column_end : column + 1;
  }
  [[nodiscard]] bool changes(size_t column) const {
    return column < 64 ? ((changed_columns >> column) & 1) != 0 : column < changed_column_end;
  }
  [[nodiscard]] bool inserts_column(size_t column) const { return column < inserted_column_count; }

  bool operator==(const Demand&) const = default;
};

/// What a request is going to do.
struct Use {
  Use(Intent what) : intent(what) {}  // NOLINT(google-explicit-constructor): nothing that needs a grant
  Use(Intent what, const Demand& needed) : intent(what), demand(needed) {}

  Intent intent;
  Demand demand;
  /// It goes on with an insert whose rows stand alone: no transaction can begin with it.
  bool is_further_row = false;
};

}  // namespace rowsocket::engine
