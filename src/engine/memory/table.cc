// SPDX-License-Identifier: GPL-2.0-only
#include "engine/memory/table.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/memory/server_errors.h"

namespace rowsocket::engine::memory {
namespace {

int compare_sizes(size_t left, size_t right) { return left < right ? -1 : (left > right ? 1 : 0); }
int sign_of(int number) { return number < 0 ? -1 : (number > 0 ? 1 : 0); }

int compare_integers(std::string_view left, std::string_view right) {
  const bool left_negative = left.starts_with('-');
  const bool right_negative = right.starts_with('-');
  if (left_negative != right_negative) {
    return left_negative ? -1 : 1;
  }
  const int by_size = compare_sizes(left.size(), right.size());
  const int by_magnitude = by_size != 0 ? by_size : sign_of(left.compare(right));
  return left_negative ? -by_magnitude : by_magnitude;
}

std::vector<ColumnType> types_of(const TableDefinition& table, const std::vector<size_t>& columns) {
  std::vector<ColumnType> types;
  types.reserve(columns.size());
  for (const size_t column : columns) {
    types.push_back(table.columns[column].type);
  }
  return types;
}

}  // namespace

int compare(ColumnType type, const Cell& left, const Cell& right) {
  if (!left.has_value() || !right.has_value()) {
    return compare_sizes(left.has_value() ? 1 : 0, right.has_value() ? 1 : 0);
  }
  return type == ColumnType::integer ? compare_integers(*left, *right) : sign_of(left->compare(*right));
}

bool canonical_integer(std::string_view text, std::string& canonical) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text.empty() ||
      !std::all_of(text.begin(), text.end(), [](char digit) { return digit >= '0' && digit <= '9'; })) {
    return false;
  }
  const size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
  canonical.assign(negative && text[first] != '0' ? 1 : 0, '-');
  canonical.append(text.substr(first));
  return true;
}

int EntryLess::compare_prefix(const Entry& entry, std::span<const Cell> prefix) const {
  for (size_t part = 0; part < prefix.size(); ++part) {
    const int order = compare(types_[part], entry.key[part], prefix[part]);
    if (order != 0) {
      return order;
    }
  }
  return 0;
}

bool EntryLess::operator()(const Entry& left, const Entry& right) const {
  const int order = compare_prefix(left, right.key);
  return order != 0 ? order < 0 : left.row < right.row;
}

bool EntryLess::operator()(const Entry& entry, const Bound& bound) const {
  const int order = compare_prefix(entry, bound.prefix);
  return order < 0 || (order == 0 && bound.behind);
}

Table::Table(TableDefinition definition) : definition_(std::move(definition)) {
  for (const IndexDefinition& index : definition_.indexes) {
    std::vector<size_t> positions;
    for (const std::string& column : index.columns) {
      positions.push_back(find_column(column).value());
    }
    EntryLess less(types_of(definition_, positions));
    key_indexes_.push_back({std::move(positions), index.unique, less, std::set<Entry, EntryLess>(less)});
  }
}

const Row* Table::row(RowNumber number) const {
  const auto found = rows_.find(number);
  return found == rows_.end() ? nullptr : &found->second;
}

std::optional<size_t> Table::find_column(std::string_view name) const {
  for (size_t column = 0; column < definition_.columns.size(); ++column) {
    if (definition_.columns[column].name == name) {
      return column;
    }
  }
  return std::nullopt;
}

std::optional<size_t> Table::find_index(std::string_view name) const {
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') {
    size_t ordinal = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), ordinal);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
    return whole && ordinal < key_indexes_.size() ? std::optional<size_t>(ordinal) : std::nullopt;
  }
  const std::string_view wanted = name.empty() ? "PRIMARY" : name;
  for (size_t index = 0; index < definition_.indexes.size(); ++index) {
    if (definition_.indexes[index].name == wanted) {
      return index;
    }
  }
  return std::nullopt;
}

Error Table::convert(size_t column, const Value& value, Cell& cell) const {
  const Column& target = definition_.columns[column];
  if (value.is_null()) {
    cell.reset();
    return target.nullable
               ? Error()
               : Error(ErrorCode::sql, er_bad_null, "Column '" + target.name + "' cannot be null");
  }
  if (target.type == ColumnType::text) {
    if (value.size > target.bytes_max) {
      return {ErrorCode::sql, er_data_too_long, "Data too long for column '" + target.name + "'"};
    }
    cell.emplace(value.view());
    return {};
  }
  std::string canonical;
  if (!canonical_integer(value.view(), canonical)) {
    return {ErrorCode::sql, er_wrong_value, "Incorrect integer value for column '" + target.name + "'"};
  }
  int64_t number = 0;
  if (std::from_chars(canonical.data(), canonical.data() + canonical.size(), number).ec != std::errc()) {
    return {ErrorCode::sql, er_out_of_range, "Out of range value for column '" + target.name + "'"};
  }
  cell = std::move(canonical);
  return {};
}

Entry Table::entry_of(const KeyIndex& index, const Row& row, RowNumber number) const {
  Entry entry{{}, number};
  for (const size_t column : index.columns) {
    entry.key.push_back(row[column]);
  }
  return entry;
}

std::optional<RowNumber> Table::duplicate_of(const Row& row, std::optional<RowNumber> itself,
                                             size_t* key_index) const {
  for (const KeyIndex& index : key_indexes_) {
    const Entry entry = entry_of(index, row, 0);
    const bool has_null =
        std::any_of(entry.key.begin(), entry.key.end(), [](const Cell& cell) { return !cell.has_value(); });
    if (!index.unique || has_null) {
      continue;
    }
    const auto found = index.entries.lower_bound(Bound{entry.key, false});
    if (found != index.entries.end() && index.less.compare_prefix(*found, entry.key) == 0 &&
        found->row != itself) {
      if (key_index != nullptr) {
        *key_index = static_cast<size_t>(&index - key_indexes_.data());
      }
      return found->row;
    }
  }
  return std::nullopt;
}

void Table::put(RowNumber number, Row row) {
  erase(number);
  for (KeyIndex& index : key_indexes_) {
    index.entries.insert(entry_of(index, row, number));
  }
  rows_.emplace(number, std::move(row));
}

void Table::erase(RowNumber number) {
  const auto found = rows_.find(number);
  if (found == rows_.end()) {
    return;
  }
  for (KeyIndex& index : key_indexes_) {
    index.entries.erase(entry_of(index, found->second, number));
  }
  rows_.erase(found);
}

void Table::note_id(int64_t id) {
  if (id >= next_id_) {
    next_id_ = id == INT64_MAX ? id : id + 1;
  }
}

}  // namespace rowsocket::engine::memory
