// SPDX-License-Identifier: GPL-2.0-only
//
// What requests mean, in a model so simple that it can be read: a list of rows, changed one request after the
// other, and copied before each so that a failure can be undone.
#pragma once

#include <algorithm>
#include <climits>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor_model_command.h"

namespace rowsocket::exec::model {

using Lines = std::vector<std::string>;

inline std::string text(const Number& number) {
  return number.has_value() ? std::to_string(*number) : "NULL";
}

class Model {
 public:
  std::vector<Item> items;  ///< in order of insertion

  /// Execute, and give the lines of the reply. `changes` counts rows touched by requests that succeeded.
  Lines execute(const Command& command, int& changes) {
    return command.kind == RequestKind::group ? group(command, changes) : Lines{statement(command, changes)};
  }

 private:
  std::string statement(const Command& command, int& changes) {
    const std::vector<Item> before = items;
    int rows_changed = 0;
    std::string reply =
        command.kind == RequestKind::insert ? insert(command, rows_changed) : find(command, rows_changed);
    if (reply.starts_with("error")) {
      items = before;
    } else {
      changes += rows_changed;
    }
    return reply;
  }

  Lines group(const Command& command, int& changes) {
    for (size_t number = 0; number < command.members.size(); ++number) {
      if (command.members[number].is_refused()) {
        return replies_of_undone_group(command, number, "error bad_operator");
      }
    }
    const std::vector<Item> before = items;
    int changed_by_all = 0;
    Lines replies = {"ok"};
    for (size_t number = 0; number < command.members.size(); ++number) {
      const Command& member = command.members[number];
      int changed = 0;
      std::string reply = statement(member, changed);
      if (command.must_change && member.writes() && changed == 0 && !reply.starts_with("error")) {
        reply = "error nothing_changed";
      }
      if (reply.starts_with("error")) {
        items = before;
        return replies_of_undone_group(command, number, reply);
      }
      changed_by_all += changed;
      replies.push_back(reply);
    }
    changes += changed_by_all;
    replies.emplace_back("ok");
    return replies;
  }

  static Lines replies_of_undone_group(const Command& command, size_t failed_member,
                                       const std::string& error) {
    Lines replies(command.members.size() + 2, "error undone_with_group");
    replies.front() = "ok";
    replies[failed_member + 1] = error;
    return replies;
  }

  // ---- Unique keys

  using Place = std::vector<Item>::iterator;

  /// The first other row that has a unique key of `row`; the end if there is none.
  Place duplicate_of(const Item& row, const Item* itself = nullptr) {
    for (const Key index : {Key::id, Key::place}) {
      const Columns& columns = columns_of(index);
      const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) {
        return &item != itself && std::all_of(columns.begin(), columns.end(), [&](auto column) {
          return (row.*column).has_value() && item.*column == row.*column;
        });
      });
      if (found != items.end()) {
        return found;
      }
    }
    return items.end();
  }

  // ---- Inserts. An error is what follows "error" in a reply.

  std::string insert(const Command& command, int& rows_changed) {
    std::string outcomes = "rows/2";
    for (const Item& row : command.rows) {
      const std::vector<Item> before = items;
      int rows_affected = 0;
      const std::string error = insert_row(command, row, rows_affected);
      if (error.empty()) {
        rows_changed += rows_affected > 0 ? 1 : 0;
        outcomes += " " + std::to_string(rows_affected) + "#";
        continue;
      }
      if (!command.rows_alone) {
        return "error " + error;
      }
      items = before;
      outcomes += " !" + error.substr(error.find(' ') + 1);
    }
    return command.of_many_rows ? outcomes : "ok";
  }

  std::string insert_row(const Command& command, const Item& row, int& rows_affected) {
    if (!row.id.has_value() || !row.shelf.has_value()) {
      return "sql 1048";
    }
    rows_affected = 1;
    for (Place there = duplicate_of(row); there != items.end(); there = duplicate_of(row)) {
      switch (command.on_duplicate) {
        case OnDuplicate::fail:
          return "engine 121";
        case OnDuplicate::keep:
          rows_affected = 0;
          return "";
        case OnDuplicate::change:
          return update_duplicate(command, row, *there, rows_affected);
        case OnDuplicate::replace:
          items.erase(there);
          rows_affected = 2;
          break;
      }
    }
    items.push_back(row);
    return "";
  }

  std::string update_duplicate(const Command& command, const Item& row, Item& there, int& rows_affected) {
    const Item before = there;
    for (const uint32_t position : command.set_on_duplicate) {
      there.*insert_columns()[position] = row.*insert_columns()[position];
    }
    for (const uint32_t position : command.add_on_duplicate) {
      add(there.*insert_columns()[position], row.*insert_columns()[position], 1);
    }
    rows_affected = there == before ? 0 : 2;
    return duplicate_of(there, &there) == items.end() ? "" : "engine 121";
  }

  // ---- Finds

  struct Ends {
    std::vector<Number> key;
    std::vector<Number> end_key;
  };

  /// What is walked, one after the other: more than one where there is a list.
  static std::vector<Ends> walks(const Command& command) {
    std::vector<Ends> all;
    const size_t stride = command.in_whole_keys ? command.key.size() : 1;
    for (size_t i = 0; i < command.in_values.size(); i += stride) {
      Ends& ends = all.emplace_back(command.key, command.end_key);
      if (command.in_whole_keys) {
        std::copy_n(command.in_values.begin() + static_cast<ptrdiff_t>(i), stride, ends.key.begin());
        continue;
      }
      ends.key[command.in_part] = command.in_values[i];
      if (command.in_part < ends.end_key.size()) {
        ends.end_key[command.in_part] = command.in_values[i];
      }
    }
    return command.in_values.empty() ? std::vector<Ends>{{command.key, command.end_key}} : all;
  }

  /// How the first parts of the item's key compare to `key`: less than, equal to or greater than 0.
  static int order(const Item& item, Key index, const std::vector<Number>& key) {
    for (size_t part = 0; part < key.size(); ++part) {
      const Number& value = item.*columns_of(index)[part];
      if (value != key[part]) {
        return value < key[part] ? -1 : 1;
      }
    }
    return 0;
  }

  static bool in_range(int order, KeyOperator key_operator) {
    switch (key_operator) {
      case KeyOperator::equal:
        return order == 0;
      case KeyOperator::after:
        return order > 0;
      case KeyOperator::at_or_after:
        return order >= 0;
      case KeyOperator::before:
        return order < 0;
      case KeyOperator::at_or_before:
        return order <= 0;
      case KeyOperator::starts_with:
        break;  // of text only
    }
    return false;
  }

  /// The ids of the rows in the range, in the order of the walk.
  [[nodiscard]] std::vector<Number> ids_between(const Command& command, const Ends& ends) const {
    std::vector<Item> found;
    std::copy_if(items.begin(), items.end(), std::back_inserter(found), [&](const Item& item) {
      return in_range(order(item, command.index, ends.key), command.key_operator) &&
             (!command.has_end || in_range(order(item, command.index, ends.end_key), command.end_operator()));
    });
    std::stable_sort(found.begin(), found.end(), [&](const Item& left, const Item& right) {
      std::vector<Number> key;
      for (const auto column : columns_of(command.index)) {
        key.push_back(right.*column);
      }
      return order(left, command.index, key) < 0;
    });
    const bool goes_down =
        command.key_operator == KeyOperator::before || command.key_operator == KeyOperator::at_or_before;
    if (goes_down != command.reverse) {
      std::reverse(found.begin(), found.end());
    }
    std::vector<Number> ids;
    std::transform(found.begin(), found.end(), std::back_inserter(ids),
                   [](const Item& item) { return item.id; });
    return ids;
  }

  static bool holds(const Condition& condition, const Item& item) {
    const Number& column = condition.of_shelf ? item.shelf : item.stock;
    switch (condition.comparison) {
      case Comparison::equal:
        return column == condition.value;
      case Comparison::not_equal:
        return column != condition.value;
      case Comparison::less:
        return column < condition.value;
      case Comparison::less_or_equal:
        return column <= condition.value;
      case Comparison::greater:
        return column > condition.value;
      case Comparison::greater_or_equal:
        return column >= condition.value;
      case Comparison::greater_or_unset:
        return column > condition.value || !column.has_value() || column == 0;
    }
    return false;
  }

  Item& item(const Number& id) {
    return *std::find_if(items.begin(), items.end(),
                         [&](const Item& candidate) { return candidate.id == id; });
  }

  static void write(const Item& row, std::string& rows) {
    rows += " " + text(row.stock) + " " + text(row.shelf) + " " + text(row.id);
  }

  static void add(Number& sum, const Number& amount, int sign) {
    if (sum.has_value() && amount.has_value()) {
      *sum += sign * *amount;
    }
  }

  /// Reply and change one row; an error ends the request.
  std::string finish(const Command& command, const Number& id, std::string& rows, int& rows_changed) {
    Item& row = item(id);
    const Item before = row;
    if (command.tell == Tell::rows) {
      write(row, rows);
    }
    if (command.modification == Modification::none) {
      return "";
    }
    ++rows_changed;
    if (command.modification == Modification::remove) {
      std::erase(items, before);
      return "";
    }
    const Columns columns = {&Item::stock, &Item::shelf};
    for (size_t i = 0; i < command.new_values.size(); ++i) {
      Number& value = row.*columns[i];
      const Number old = value;
      if (command.modification == Modification::update) {
        value = command.new_values[i];
        continue;
      }
      const bool subtracts = command.modification == Modification::decrement;
      add(value, command.new_values[i], subtracts ? -1 : 1);
      if (subtracts && old.has_value() && ((*old < 0 && *value > 0) || (*old > 0 && *value < 0))) {
        row = before;
        --rows_changed;
        return "";
      }
    }
    if (!row.shelf.has_value()) {
      return "sql 1048";
    }
    if (command.tell == Tell::rows_after) {
      write(row, rows);
    }
    return duplicate_of(row, &row) == items.end() ? "" : "engine 121";
  }

  /// A row that an update moves along the walk's index is changed only after all rows were found.
  static bool collects(const Command& command) {
    const bool sets =
        command.modification != Modification::none && command.modification != Modification::remove;
    const bool moves = command.index == Key::stock || command.index == Key::place ||
                       (command.index == Key::shelf && command.new_values.size() > 1);
    return sets && moves && command.limit > 1;
  }

  std::string find(const Command& command, int& rows_changed) {
    if (command.is_refused()) {
      return "error bad_operator";
    }
    const bool first_only = !command.in_values.empty() && command.key_operator != KeyOperator::equal;
    const int left_of_each =
        command.limit_per_value > 0 ? command.limit_per_value : (first_only ? 1 : INT_MAX);
    std::string rows = "rows/3";
    std::vector<Number> collected;
    int found = 0;
    int offset_left = command.offset;
    for (const Ends& ends : walks(command)) {
      int left = found < command.limit ? left_of_each : 0;
      for (const Number& id : ids_between(command, ends)) {
        const auto& conditions = command.conditions;
        const auto failed = std::find_if(conditions.begin(), conditions.end(),
                                         [&](auto& one) { return !holds(one, item(id)); });
        if (left == 0 || (failed != conditions.end() && failed->stop)) {
          break;
        }
        if (failed != conditions.end()) {
          continue;
        }
        --left;
        if (offset_left > 0) {
          --offset_left;
          continue;
        }
        left = ++found == command.limit ? 0 : left;
        const std::string error = collects(command) ? "" : finish(command, id, rows, rows_changed);
        if (!error.empty()) {
          return "error " + error;
        }
        collected.push_back(id);
      }
    }
    const auto still_passes = [&](const Number& id) {
      return std::all_of(command.conditions.begin(), command.conditions.end(),
                         [&](auto& one) { return holds(one, item(id)); });
    };
    for (const Number& id : collects(command) ? collected : std::vector<Number>()) {
      if (!still_passes(id)) {
        --found;
        continue;
      }
      if (const std::string error = finish(command, id, rows, rows_changed); !error.empty()) {
        return "error " + error;
      }
    }
    const int counted = command.modification == Modification::none ? found : rows_changed;
    return command.tell == Tell::count ? "= " + std::to_string(counted) : rows;
  }
};

}  // namespace rowsocket::exec::model
