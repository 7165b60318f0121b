// SPDX-License-Identifier: GPL-2.0-only
//
// What the model understands: rows, and commands on them. executor_model_commands.h makes them at random, and
// makes requests of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "request/request.h"

namespace rowsocket::exec::model {

using Number = std::optional<int>;  ///< nullopt = NULL, which sorts first

/// Columns as opened for finds. `id` is unique, and so is `shelf, stock` where no part is NULL.
struct Item {
  Number stock;
  Number shelf;
  Number id;
  bool operator==(const Item&) const = default;
};

enum class Key : uint8_t { id, shelf, stock, place };
enum class Modification : uint8_t { none, update, remove, increment, decrement };
using Columns = std::vector<Number Item::*>;

inline const Columns& columns_of(Key index) {
  static const Columns columns[] = {
      {&Item::id}, {&Item::shelf}, {&Item::stock}, {&Item::shelf, &Item::stock}};
  return columns[static_cast<size_t>(index)];
}
inline const Columns& insert_columns() {
  static const Columns columns = {&Item::id, &Item::shelf, &Item::stock};
  return columns;
}

struct Condition {
  bool stop = false;
  bool of_shelf = false;  ///< else of stock
  Comparison comparison = Comparison::equal;
  Number value;
};

struct Command {
  RequestKind kind = RequestKind::find;

  Key index = Key::id;  ///< find, down to new_values
  KeyOperator key_operator = KeyOperator::equal;
  std::vector<Number> key;
  bool has_end = false;
  bool end_included = false;
  std::vector<Number> end_key;
  bool reverse = false;
  std::vector<Number> in_values;  ///< empty: no IN list
  bool in_whole_keys = false;
  uint32_t in_part = 0;
  int limit = 1;
  int offset = 0;
  int limit_per_value = 0;
  std::vector<Condition> conditions;
  Modification modification = Modification::none;
  Tell tell = Tell::rows;
  std::vector<Number> new_values;  ///< one or two

  std::vector<Item> rows;     ///< insert
  bool of_many_rows = false;  ///< insert: with the clauses that follow, and outcomes in the reply
  bool rows_alone = false;    ///< insert
  OnDuplicate on_duplicate = OnDuplicate::fail;  ///< insert
  std::vector<uint32_t> set_on_duplicate;        ///< insert
  std::vector<uint32_t> add_on_duplicate;        ///< insert

  std::vector<Command> members;  ///< group
  bool must_change = false;      ///< group

  [[nodiscard]] bool writes() const {
    return kind == RequestKind::insert || modification != Modification::none ||
           std::any_of(members.begin(), members.end(), [](const Command& member) { return member.writes(); });
  }
  /// Its ends do not face each other: it is refused before anything is run.
  [[nodiscard]] bool is_refused() const {
    return (kind == RequestKind::find && has_end && key_operator == KeyOperator::equal) ||
           std::any_of(members.begin(), members.end(),
                       [](const Command& member) { return member.is_refused(); });
  }
  /// The operator of the other end. There is none that faces `=`.
  [[nodiscard]] KeyOperator end_operator() const {
    const bool goes_up = key_operator == KeyOperator::after || key_operator == KeyOperator::at_or_after;
    if (goes_up) {
      return end_included ? KeyOperator::at_or_before : KeyOperator::before;
    }
    return end_included ? KeyOperator::at_or_after : KeyOperator::after;
  }
};

}  // namespace rowsocket::exec::model
