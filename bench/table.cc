// SPDX-License-Identifier: GPL-2.0-only
#include "bench/table.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace rowsocket::bench {

namespace {

constexpr uint64_t rows_per_statement = 500'000;  ///< so that no transaction is huge
constexpr int64_t copies_max = 64;

ColumnKind kind_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, ColumnKind>, 5> kinds{{{"TINYINT", ColumnKind::tiny},
                                                                          {"SMALLINT", ColumnKind::small},
                                                                          {"INT", ColumnKind::normal},
                                                                          {"BIGINT", ColumnKind::big},
                                                                          {"DATETIME", ColumnKind::datetime}}};
  for (const auto& [word, kind] : kinds) {
    if (type.starts_with(word)) {
      return kind;
    }
  }
  return ColumnKind::text;
}

/// One column, or as many as there are names. A `#` in their formula is the place of each.
void add_columns(std::string_view text, std::vector<Column>& columns) {
  constexpr std::string_view equals = " = ";
  const auto [words, rest] = split_word(text);
  const size_t split = rest.find(equals);
  if (split == std::string_view::npos) {
    throw std::runtime_error("a column is written: column NAME[,NAME...] TYPE = FORMULA");
  }
  const std::string_view type = trimmed(rest.substr(0, split));
  const std::string_view formula = trimmed(rest.substr(split + equals.size()));
  std::string_view names = words;
  for (size_t place = 1; !names.empty(); ++place) {
    const size_t comma = std::min(names.find(','), names.size());
    columns.push_back({std::string(names.substr(0, comma)), std::string(type), kind_of(type),
                       Formula::parse(replaced(std::string(formula), "#", std::to_string(place)), "n")});
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
}

}  // namespace

size_t Table::column_of(std::string_view wanted) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == wanted) {
      return i;
    }
  }
  throw std::runtime_error("table " + name + " has no column \"" + std::string(wanted) + "\"");
}

std::string Table::sql(uint32_t row_count) const {
  std::string definitions;
  std::string values;
  for (const Column& column : columns) {
    definitions += (definitions.empty() ? "" : ", ") + column.name + " " + column.type;
    values += (values.empty() ? "" : ", ") + column.formula.sql("seq");
  }
  for (const std::string& key : keys) {
    definitions += ", " + key;
  }
  std::string statements;
  for (uint32_t copy = 1; copy <= std::max(copies, 1u); ++copy) {
    const std::string full_name = copies == 0 ? name : name + std::to_string(copy);
    statements += "CREATE TABLE " + full_name + " (" + definitions + ") " + options + ";\n";
    for (uint64_t first = 1; first <= row_count; first += rows_per_statement) {
      const uint64_t last = std::min<uint64_t>(first + rows_per_statement - 1, row_count);
      statements += "INSERT INTO " + full_name + " SELECT " + values + " FROM seq_" + std::to_string(first) + "_to_" +
                    std::to_string(last) + ";\n";
    }
  }
  return statements;
}

Table parse_table(std::string_view text, Parameters& parameters) {
  Table table;
  for_each_line(text, parameters, [&](std::string_view word, std::string_view rest) {
    if (word == "table") {
      table.name = rest;
    } else if (word == "column") {
      add_columns(rest, table.columns);
    } else if (word == "key") {
      table.keys.emplace_back(rest);
    } else if (word == "copies") {
      table.copies = static_cast<uint32_t>(whole_number(rest, 1, copies_max));
    } else if (word == "options") {
      table.options = rest;
    } else {
      throw std::runtime_error("\"" + std::string(word) + "\" is none of table, copies, column, key, options, param");
    }
  });
  if (table.name.empty() || table.columns.empty()) {
    throw std::runtime_error("a table needs a table line and at least one column line");
  }
  return table;
}

}  // namespace rowsocket::bench
