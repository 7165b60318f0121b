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

bool satisfies(int order, Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::not_equal:
      return order != 0;
    case Comparison::less:
      return order < 0;
    case Comparison::less_or_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    case Comparison::greater_or_equal:
      return order >= 0;
    case Comparison::greater_or_unset:
      return order > 0;  // what is unset, the engine knows
  }
  return false;
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

}  // namespace rowsocket::engine
