// SPDX-License-Identifier: GPL-2.0-only
//
// Containers: how protocols without names of tables (memcached's) find their rows. A container names a table,
// its unique index, key columns, value columns, and optional columns for flags, a version (cas) and an expiry
// time. The rows of one table of the server say which containers there are; it has the shape of
// `innodb_memcache.containers`. That table is the administrator's.
//
// One immutable list for all readers. It travels with the settings (Settings::containers);
// server/container_watch.h reads the table and publishes a new list when it has changed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "request/request.h"
#include "request/value_writer.h"

namespace rowsocket {

/// The columns of the table of containers, in the order in which a row's values are given.
inline constexpr std::string_view container_table_columns =
    "name,db_schema,db_table,key_columns,value_columns,flags,cas_column,expire_time_column,"
    "unique_idx_name_on_key";
inline constexpr size_t container_field_count = 9;
using ContainerFields = std::array<std::string, container_field_count>;  ///< NULL is the empty string

/// Of several key parts, or several value columns, in one key or value of a protocol.
inline constexpr char container_separator = '|';

/// One container, with the selections that protocols ask for. Where it has no such column, a position is
/// `none`.
struct Container {
  explicit Container(const ContainerFields& fields);
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  static constexpr uint32_t none = static_cast<uint32_t>(-1);

  std::string name;
  std::string problem;  ///< why it can not be used; empty = it can, as far as its own row tells

  uint32_t key_part_count = 0;
  uint32_t value_count = 0;
  bool table_keeps_cas = false;  ///< the column is written by the table itself (generated, ON UPDATE)
  bool has_flags = false;
  bool has_cas = false;
  bool has_expiry = false;
  [[nodiscard]] bool writes_cas() const { return has_cas && !table_keeps_cas; }

  // Selections of the same rows. All have the unique index, and as filter columns expiry and cas, as far as
  // the container has them. Those that have the flags have them as a filter column, too: filter columns are
  // known to hold integers.
  SelectionNames keys;      ///< key parts alone, for walks that go on later
  SelectionNames contents;  ///< values alone
  SelectionNames expiry;    ///< the expiry time alone
  SelectionNames values;    ///< values, flags
  SelectionNames row;       ///< values, flags, cas, expiry
  /// Key parts, values, flags, cas and expiry: what an insert gives. A cas that the table keeps stands
  /// behind them.
  SelectionNames whole;

  // Positions in `row`, and among the filter columns.
  uint32_t flags_at = none;
  uint32_t cas_at = none;
  uint32_t cas_in_whole = none;
  uint32_t expiry_at = none;
  uint32_t expiry_in_whole = none;
  uint32_t expiry_filter = none;
  uint32_t cas_filter = none;

 private:
  std::vector<std::string_view> add_optional_columns(const ContainerFields& fields);

  std::string database_, table_, index_, key_columns_;
  std::string contents_columns_, expiry_column_, values_columns_, row_columns_, whole_columns_,
      filter_columns_, integer_columns_;
};

class Containers {
 public:
  /// There are none.
  explicit Containers(std::string why_none) : why_none_(std::move(why_none)) {}
  /// In the order of the table's primary key. May throw std::bad_alloc.
  explicit Containers(std::vector<std::unique_ptr<const Container>> all);

  /// nullptr if there is none of this name.
  [[nodiscard]] const Container* find(std::string_view name) const;
  /// `default`, or else the first; nullptr if there is none at all.
  [[nodiscard]] const Container* of_no_name() const { return of_no_name_; }
  [[nodiscard]] size_t size() const { return by_name_.size(); }
  /// Why there is none at all.
  [[nodiscard]] const std::string& why_none() const { return why_none_; }

 private:
  std::vector<std::unique_ptr<const Container>> by_name_;
  const Container* of_no_name_ = nullptr;
  std::string why_none_;
};

/// A key of a protocol, as it names its container: `@@name.rest`, or only the rest.
struct ContainerKey {
  const Container* container = nullptr;  ///< nullptr: `problem` says why
  std::string_view rest = {};
  std::string_view name = {};     ///< the container's, where there is a problem; empty = it is about all
  std::string_view problem = {};  ///< empty = the container can be used, as far as its own row tells
};
/// `chosen` names the container of keys that name none; empty = the default one. `containers` may be nullptr.
[[nodiscard]] ContainerKey find_container(const Containers* containers, std::string_view key,
                                          std::string_view chosen);
/// The key has as many parts as its container has key columns, or more.
[[nodiscard]] bool has_all_parts(const ContainerKey& key);
/// The parts of a key, as many as its container has key columns. The last takes what is left.
void split_key(std::string_view rest, std::span<Value> parts);
/// The value's parts, one for each value column; the columns behind the last part get NULL.
void split_value(std::string_view value, std::span<Value> parts);

/// A filter that passes rows which have not expired, of a container whose rows can. `now_s` as text.
[[nodiscard]] Filter unexpired(const Container& container, const Value& now_s);
/// Filters that pass rows which have expired. Empty where memory is refused.
[[nodiscard]] std::span<const Filter> expired(Arena& arena, const Container& container, const Value& now_s);

/// Have the separator stand before each value but the first, in rows of so many columns; the values begin at
/// column `first`. A container of one value needs none. False where memory is refused.
[[nodiscard]] bool put_separators(Arena& arena, const Container& container, size_t first, size_t column_count,
                                  PerColumn& per_column);

}  // namespace rowsocket
