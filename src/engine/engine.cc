// SPDX-License-Identifier: GPL-2.0-only
#include "engine/engine.h"

#include <algorithm>
#include <utility>

namespace rowsocket::engine {

size_t name_count(std::string_view comma_separated) {
  if (comma_separated.empty()) {
    return 0;
  }
  return static_cast<size_t>(std::count(comma_separated.begin(), comma_separated.end(), ',')) + 1;
}

Verdict verdict_of(Mismatch mismatch) {
  switch (mismatch) {
    case Mismatch::skip:
      return Verdict::skip;
    case Mismatch::stop:
      return Verdict::stop;
    case Mismatch::refuse:
      return Verdict::refuse;
  }
  return Verdict::skip;
}

namespace {

size_t bytes_of(const SelectionDescription& names, size_t column_count) {
  constexpr size_t index_bytes = 1024;
  constexpr size_t column_bytes = 64;  // of the rows that are read, and of those that are written
  const size_t text_bytes = names.database.size() + names.table.size() + names.index.size() +
                            names.columns.size() + names.filter_columns.size() + names.unique_columns.size();
  return index_bytes + 2 * text_bytes + column_count * column_bytes;
}

}  // namespace

Selection::Selection(SelectionDescription description)
    : description_(std::move(description)),
      column_count_(name_count(description_.columns)),
      filter_column_count_(name_count(description_.filter_columns)),
      held_bytes_(bytes_of(description_, column_count_ + filter_column_count_)) {}

}  // namespace rowsocket::engine
