// SPDX-License-Identifier: GPL-2.0-only
#include "request/containers.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/limits.h"

namespace rowsocket {
namespace {

enum Field : size_t { name, db_schema, db_table, key_columns, value_columns, flags, cas, expiry, index };

/// What InnoDB's memcached takes between two columns.
constexpr std::string_view separators = " ;,|\n";
/// Says of a single column that the table writes it.
constexpr char kept_by_table = '=';

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

std::vector<std::string_view> columns_of(std::string_view list) {
  std::vector<std::string_view> columns;
  while (!list.empty()) {
    const std::string_view column = list.substr(0, list.find_first_of(separators));
    if (!column.empty()) {
      columns.push_back(column);
    }
    list.remove_prefix(std::min(column.size() + 1, list.size()));
  }
  return columns;
}

/// `0` means that there is no such column, as in InnoDB's.
std::string_view optional_column(std::string_view text) {
  text = trimmed(text);
  return text == "0" ? std::string_view() : text;
}

void add(std::string& list, std::string_view column) {
  list += list.empty() ? "" : ",";
  list += column;
}

std::string why_not(std::initializer_list<std::string_view> names, std::vector<std::string_view> columns) {
  const auto is_too_long = [](std::string_view one) { return one.size() > limits::name_bytes_max; };
  if (std::any_of(names.begin(), names.end(), is_too_long) ||
      std::any_of(columns.begin(), columns.end(), is_too_long)) {
    return "a name in it is longer than any can be";
  }
  if (columns.size() > limits::container_columns_max) {
    return "it names too many columns";
  }
  std::sort(columns.begin(), columns.end());
  const auto twice = std::adjacent_find(columns.begin(), columns.end());
  return twice == columns.end() ? "" : "it names column '" + std::string(*twice) + "' twice";
}

}  // namespace

Container::Container(const ContainerFields& fields)
    : name(fields[Field::name]),
      database_(trimmed(fields[Field::db_schema])),
      table_(trimmed(fields[Field::db_table])),
      index_(trimmed(fields[Field::index])) {
  std::vector<std::string_view> all = columns_of(fields[Field::key_columns]);
  key_part_count = static_cast<uint32_t>(all.size());
  for (const std::string_view column : all) {
    add(key_columns_, column);
  }
  whole_columns_ = key_columns_;
  for (const std::string_view column : columns_of(fields[Field::value_columns])) {
    all.push_back(column);
    add(values_columns_, column);
    add(whole_columns_, column);
    ++value_count;
  }
  row_columns_ = values_columns_;
  contents_columns_ = values_columns_;
  for (const std::string_view column : add_optional_columns(fields)) {
    all.push_back(column);
  }
  problem = database_.empty() || table_.empty() || key_part_count == 0 || value_count == 0
                ? "it names no schema, no table, no key column or no value column"
                : why_not({database_, table_, index_}, std::move(all));
  const auto names = [this](std::string_view columns, std::string_view integers) {
    return SelectionNames{.database = database_,
                          .table = table_,
                          .index = index_,
                          .columns = columns,
                          .filter_columns = integers,
                          .unique_columns = key_columns_,
                          .integer_filters = true};
  };
  keys = names(key_columns_, filter_columns_);
  keys.walked_in_steps = true;
  contents = names(contents_columns_, filter_columns_);
  expiry = names(expiry_column_, filter_columns_);
  values = names(values_columns_, integer_columns_);
  row = names(row_columns_, integer_columns_);
  whole = names(whole_columns_, integer_columns_);
}

/// Flags, cas and expiry, as far as the container has them. Returns their names.
std::vector<std::string_view> Container::add_optional_columns(const ContainerFields& fields) {
  uint32_t position = value_count;
  uint32_t filter = 0;
  std::vector<std::string_view> added;
  const std::string_view flags_column = optional_column(fields[Field::flags]);
  std::string_view cas_column = optional_column(fields[Field::cas]);
  const std::string_view expiry_column = optional_column(fields[Field::expiry]);
  if (!cas_column.empty() && cas_column[0] == kept_by_table) {
    table_keeps_cas = true;
    cas_column = trimmed(cas_column.substr(1));
  }
  has_flags = !flags_column.empty();
  has_cas = !cas_column.empty();
  has_expiry = !expiry_column.empty();
  if (has_flags) {
    added.push_back(flags_column);
    add(values_columns_, flags_column);
    add(row_columns_, flags_column);
    add(whole_columns_, flags_column);
    flags_at = position++;
  }
  if (has_cas) {
    added.push_back(cas_column);
    add(row_columns_, cas_column);
    if (!table_keeps_cas) {
      add(whole_columns_, cas_column);
    }
    cas_at = position++;
  }
  if (has_expiry) {
    added.push_back(expiry_column);
    add(row_columns_, expiry_column);
    add(whole_columns_, expiry_column);
    add(filter_columns_, expiry_column);
    expiry_column_ = expiry_column;
    expiry_at = position++;
    expiry_filter = filter++;
  }
  if (has_expiry) {
    expiry_in_whole = key_part_count + expiry_at - (table_keeps_cas && has_cas ? 1 : 0);
  }
  if (has_cas) {
    const uint32_t in_front = key_part_count + cas_at;
    cas_in_whole = table_keeps_cas && has_expiry ? in_front + 1 : in_front;
    if (table_keeps_cas) {
      add(whole_columns_, cas_column);
    }
    add(filter_columns_, cas_column);
    cas_filter = filter++;
  }
  integer_columns_ = filter_columns_;
  if (has_flags) {
    add(integer_columns_, flags_column);
  }
  return added;
}

Containers::Containers(std::vector<std::unique_ptr<const Container>> all) : by_name_(std::move(all)) {
  if (by_name_.empty()) {
    why_none_ = "the table of containers has no row";
    return;
  }
  of_no_name_ = by_name_.front().get();
  std::sort(by_name_.begin(), by_name_.end(),
            [](const auto& left, const auto& right) { return left->name < right->name; });
  if (const Container* const by_default = find("default"); by_default != nullptr) {
    of_no_name_ = by_default;
  }
}

const Container* Containers::find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [](const auto& one, std::string_view wanted) { return one->name < wanted; });
  return found == by_name_.end() || (*found)->name != name ? nullptr : found->get();
}

// ---- keys and values of protocols

ContainerKey find_container(const Containers* containers, std::string_view key, std::string_view chosen) {
  constexpr std::string_view lead = "@@";
  if (containers == nullptr || containers->size() == 0) {
    return {.problem = containers == nullptr ? "rowsocket_containers names no table, or it was not read yet"
                                             : std::string_view(containers->why_none())};
  }
  std::string_view name = chosen;
  std::string_view rest = key;
  if (key.starts_with(lead)) {
    const size_t dot = std::min(key.find('.'), key.size());
    name = key.substr(lead.size(), dot - lead.size());
    rest = key.substr(std::min(dot + 1, key.size()));
  }
  const Container* const container = name.empty() ? containers->of_no_name() : containers->find(name);
  if (container == nullptr) {
    return {.rest = rest, .name = name, .problem = "there is no such container"};
  }
  return {.container = container, .rest = rest, .name = container->name, .problem = container->problem};
}

bool has_all_parts(const ContainerKey& key) {
  if (key.container->key_part_count <= 1) {
    return true;
  }
  const auto separator_count = std::count(key.rest.begin(), key.rest.end(), container_separator);
  return static_cast<size_t>(separator_count) + 1 >= key.container->key_part_count;
}

void split_key(std::string_view rest, std::span<Value> parts) {
  for (size_t part = 0; part + 1 < parts.size(); ++part) {
    const size_t end = std::min(rest.find(container_separator), rest.size());
    parts[part] = Value(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  parts.back() = Value(rest);
}

void split_value(std::string_view value, std::span<Value> parts) {
  bool is_over = false;
  for (size_t part = 0; part < parts.size(); ++part) {
    const size_t end =
        part + 1 == parts.size() ? value.size() : std::min(value.find(container_separator), value.size());
    parts[part] = is_over ? Value() : Value(value.substr(0, end));
    is_over = is_over || end == value.size();
    value.remove_prefix(std::min(end + 1, value.size()));
  }
}

Filter unexpired(const Container& container, const Value& now_s) {
  return {.mismatch = Mismatch::skip,
          .comparison = Comparison::greater_or_unset,
          .filter_column = container.expiry_filter,
          .value = now_s};
}

std::span<const Filter> expired(Arena& arena, const Container& container, const Value& now_s) {
  const auto filters = arena.array<Filter>(3);
  if (filters.empty()) {
    return {};
  }
  const Filter expiry{.mismatch = Mismatch::skip, .filter_column = container.expiry_filter, .value = {}};
  std::fill(filters.begin(), filters.end(), expiry);
  filters[0].comparison = Comparison::less_or_equal;
  filters[0].value = now_s;
  filters[1].comparison = Comparison::not_equal;
  filters[1].value = Value("0");
  filters[2].comparison = Comparison::not_equal;  // NULL, which is less than anything
  return filters;
}

bool put_separators(Arena& arena, const Container& container, size_t first, size_t column_count,
                    PerColumn& per_column) {
  if (container.value_count <= 1) {
    return true;
  }
  const auto prefixes = arena.array<std::string_view>(column_count);
  if (prefixes.empty()) {
    return false;
  }
  for (size_t value = 1; value < container.value_count; ++value) {
    prefixes[first + value] = {&container_separator, 1};
  }
  per_column.prefixes = prefixes.data();
  return true;
}

}  // namespace rowsocket
