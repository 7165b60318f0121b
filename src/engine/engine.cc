// SPDX-License-Identifier: GPL-2.0-only
#include "engine/engine.h"

#include <algorithm>
#include <numeric>
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

void Cursor::order_rows(std::span<const Value> values, size_t value_count, std::span<uint32_t> order) {
  std::iota(order.begin(), order.end(), 0U);
  order_by_key(values, value_count, order);
}

bool Session::find_place(const Selection& selection, TablePlace& place) {
  const SelectionDescription& names = selection.description();
  place = {names.database, names.table, names.index.empty() ? "PRIMARY" : names.index};
  return true;
}

}  // namespace rowsocket::engine
