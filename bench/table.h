// SPDX-License-Identifier: GPL-2.0-only
//
// A table of the benchmark: its columns, and a formula for what stands in each in row n. The generator checks replies by it, and
// makes of it the SQL that creates and fills the table, so the two cannot differ. Files: tables/*.txt, described in README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/definition.h"
#include "bench/formula.h"

namespace rowsocket::bench {

/// As far as a protocol cares.
enum class ColumnKind : uint8_t { tiny, small, normal, big, datetime, text };

struct Column {
  std::string name;
  std::string type;
  ColumnKind kind = ColumnKind::text;
  Formula formula;
};

[[nodiscard]] inline bool is_integer(ColumnKind kind) { return kind < ColumnKind::datetime; }

struct Table {
  std::string name;
  std::vector<Column> columns;
  std::vector<std::string> keys;
  uint32_t copies = 0;  ///< 0 = one table; else so many of the same rows, called name1, name2, ...
  std::string options = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4";

  /// Its position. Throws std::runtime_error.
  [[nodiscard]] size_t column_of(std::string_view name) const;
  /// Statements, each on a line of its own with its `;`, that make the table and fill it with rows 1..row_count.
  [[nodiscard]] std::string sql(uint32_t row_count) const;
};

/// Throws std::runtime_error with a text for people.
[[nodiscard]] Table parse_table(std::string_view text, Parameters& parameters);

}  // namespace rowsocket::bench
