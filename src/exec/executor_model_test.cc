// SPDX-License-Identifier: GPL-2.0-only
//
// Random turns of random requests, with and without faults, against a model so simple that it can be read: a list of rows. Every
// reply and every committed state must be the model's.
#include <gtest/gtest.h>
// after gtest.h
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

using Number = std::optional<int>;  ///< nullopt = NULL

/// Columns as opened, and their filter: stock, shelf, id | stock.
struct Item {
  Number stock;
  Number shelf;
  Number id;
  bool operator==(const Item&) const = default;
};

enum class Key : uint8_t { id, shelf, stock };

struct Command {
  bool insert = false;
  Key index = Key::id;
  KeyOperator key_operator = KeyOperator::equal;
  Number key;
  std::vector<Number> in_values;  ///< empty: no IN list
  int limit = 1;
  int offset = 0;
  bool filtered = false;
  bool stop = false;
  Comparison comparison = Comparison::equal;
  Number filter_value;
  Modification modification = Modification::none;
  std::vector<Number> new_values;  ///< one or two
  bool rows_before = false;
};

enum class Fault : uint8_t { none, deadlock_at_write, deadlock_at_commit, failed_commit };

struct Turn {
  std::vector<Command> commands;
  Fault fault = Fault::none;
  int nth = 1;
};

std::string text(const Number& number) { return number.has_value() ? std::to_string(*number) : "NULL"; }
Cell cell(const Number& number) { return number.has_value() ? Cell(std::to_string(*number)) : Cell(); }
std::vector<Cell> cells(const std::vector<Number>& numbers) {
  std::vector<Cell> all;
  std::transform(numbers.begin(), numbers.end(), std::back_inserter(all), cell);
  return all;
}

// ---- What a failing example prints.

std::ostream& operator<<(std::ostream& out, const Command& command) {
  static constexpr const char* operators[] = {"=", ">", ">=", "<", "<="};
  static constexpr const char* comparisons[] = {"=", "!=", "<", "<=", ">", ">="};
  static constexpr const char* modifications[] = {"", "U", "D", "+", "-"};
  const auto list = [&out](const char* name, const std::vector<Number>& numbers) {
    out << name;
    for (const Number& number : numbers) {
      out << ' ' << text(number);
    }
  };
  if (command.insert) {
    return out << "insert " << text(command.key) << ' ' << text(command.new_values[0]) << ' ' << text(command.filter_value);
  }
  out << "find " << static_cast<int>(command.index) << operators[static_cast<int>(command.key_operator)] << text(command.key);
  list(" in", command.in_values);
  out << " limit " << command.limit << " offset " << command.offset;
  if (command.filtered) {
    out << (command.stop ? " W" : " F") << comparisons[static_cast<int>(command.comparison)] << text(command.filter_value);
  }
  if (command.modification != Modification::none) {
    out << ' ' << modifications[static_cast<int>(command.modification)] << (command.rows_before ? "?" : "");
    list("", command.new_values);
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Turn& turn) {
  out << "turn with fault " << static_cast<int>(turn.fault) << " at " << turn.nth << ":\n";
  for (const Command& command : turn.commands) {
    out << "  " << command << '\n';
  }
  return out;
}

// ---- The model: NULL sorts first, as nullopt does.

class Model {
 public:
  std::vector<Item> items;  ///< in order of insertion

  /// Execute, and give the reply. `changes` counts rows touched by requests that succeeded.
  std::string execute(const Command& command, int& changes) {
    const std::vector<Item> before = items;
    int rows_changed = 0;
    std::string reply = command.insert ? insert(command, rows_changed) : find(command, rows_changed);
    if (reply.starts_with("error")) {
      items = before;
    } else {
      changes += rows_changed;
    }
    return reply;
  }

 private:
  static Number part(const Item& item, Key index) {
    return index == Key::id ? item.id : (index == Key::shelf ? item.shelf : item.stock);
  }

  static bool in_range(const Number& part, KeyOperator key_operator, const Number& key) {
    switch (key_operator) {
      case KeyOperator::equal:
        return part == key;
      case KeyOperator::after:
        return part > key;
      case KeyOperator::at_or_after:
        return part >= key;
      case KeyOperator::before:
        return part < key;
      case KeyOperator::at_or_before:
        return part <= key;
      case KeyOperator::starts_with:
        break;  // of text only
    }
    return false;
  }

  static bool matches(const Number& stock, Comparison comparison, const Number& value) {
    switch (comparison) {
      case Comparison::equal:
        return stock == value;
      case Comparison::not_equal:
        return stock != value;
      case Comparison::less:
        return stock < value;
      case Comparison::less_or_equal:
        return stock <= value;
      case Comparison::greater:
        return stock > value;
      case Comparison::greater_or_equal:
        return stock >= value;
    }
    return false;
  }

  std::string insert(const Command& command, int& rows_changed) {
    const Number shelf = command.new_values[0];
    if (!command.key.has_value() || !shelf.has_value()) {
      return "error sql 1048";
    }
    if (std::any_of(items.begin(), items.end(), [&](const Item& item) { return item.id == command.key; })) {
      return "error engine 121";
    }
    items.push_back({command.filter_value, shelf, command.key});
    rows_changed = 1;
    return "ok";
  }

  /// Positions of the rows in the range, in the order of the walk.
  [[nodiscard]] std::vector<Number> walk(const Command& command, const Number& key) const {
    std::vector<std::pair<Number, Number>> found;  // part of the key, id
    for (const Item& item : items) {
      if (in_range(part(item, command.index), command.key_operator, key)) {
        found.emplace_back(part(item, command.index), item.id);
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& left, const auto& right) { return left.first < right.first; });
    if (command.key_operator == KeyOperator::before || command.key_operator == KeyOperator::at_or_before) {
      std::reverse(found.begin(), found.end());
    }
    std::vector<Number> ids;
    std::transform(found.begin(), found.end(), std::back_inserter(ids), [](const auto& pair) { return pair.second; });
    return ids;
  }

  Item& item(const Number& id) {
    return *std::find_if(items.begin(), items.end(), [&](const Item& candidate) { return candidate.id == id; });
  }

  /// Change one row; false if an error ends the request. Appends the row as it was.
  bool finish(const Command& command, const Number& id, std::string& rows, int& rows_changed) {
    Item& row = item(id);
    rows += " " + text(row.stock) + " " + text(row.shelf) + " " + text(row.id);
    Number* const columns[] = {&row.stock, &row.shelf};
    if (command.modification == Modification::none) {
      return true;
    }
    ++rows_changed;
    if (command.modification == Modification::remove) {
      std::erase(items, Item(row));
      return true;
    }
    const Item before = row;
    for (size_t column = 0; column < command.new_values.size(); ++column) {
      const Number& value = command.new_values[column];
      if (command.modification == Modification::update) {
        *columns[column] = value;
      } else if (value.has_value() && columns[column]->has_value()) {
        const int old = **columns[column];
        const int sum = command.modification == Modification::increment ? old + *value : old - *value;
        if (command.modification == Modification::decrement && ((old < 0 && sum > 0) || (old > 0 && sum < 0))) {
          row = before;
          --rows_changed;
          return true;
        }
        *columns[column] = sum;
      }
    }
    return row.shelf.has_value();
  }

  /// A row that an update moves along the walk's index is changed only after all rows were found.
  static bool collects(const Command& command) {
    const bool sets = command.modification != Modification::none && command.modification != Modification::remove;
    const bool moves = command.index == Key::stock || (command.index == Key::shelf && command.new_values.size() > 1);
    return sets && moves && command.limit > 1;
  }

  std::string find(const Command& command, int& rows_changed) {
    std::vector<Number> keys = command.in_values;
    if (keys.empty()) {
      keys.push_back(command.key);
    }
    std::string rows;
    std::vector<Number> collected;
    int offset_left = command.offset;
    int left = command.limit;
    for (size_t key = 0; key < keys.size() && left > 0; ++key) {
      for (const Number& id : walk(command, keys[key])) {
        if (command.filtered && !matches(item(id).stock, command.comparison, command.filter_value)) {
          if (command.stop) {
            break;
          }
          continue;
        }
        if (offset_left > 0) {
          --offset_left;
        } else {
          --left;
          if (collects(command)) {
            collected.push_back(id);
          } else if (!finish(command, id, rows, rows_changed)) {
            return "error sql 1048";
          }
        }
        if (left == 0 || (!command.in_values.empty() && command.key_operator != KeyOperator::equal)) {
          break;
        }
      }
    }
    for (const Number& id : collected) {
      if (!finish(command, id, rows, rows_changed)) {
        return "error sql 1048";
      }
    }
    const bool replies_rows = command.modification == Modification::none || command.rows_before;
    return replies_rows ? "rows/3" + rows : "= " + std::to_string(rows_changed);
  }
};

// ---- Random turns.

rc::Gen<Number> gen_number(int low, int high) {
  return rc::gen::map(rc::gen::inRange(low - 1, high), [low](int number) { return number < low ? Number() : Number(number); });
}

template <typename Enum>
rc::Gen<Enum> gen_enum(Enum last) {
  return rc::gen::map(rc::gen::inRange(0, static_cast<int>(last) + 1), [](int number) { return static_cast<Enum>(number); });
}

rc::Gen<Command> gen_command() {
  using rc::gen::inRange;
  using rc::gen::set;
  return rc::gen::build<Command>(
      set(&Command::insert, rc::gen::map(inRange(0, 4), [](int number) { return number == 0; })),
      set(&Command::index, gen_enum(Key::stock)), set(&Command::key_operator, gen_enum(KeyOperator::at_or_before)),
      set(&Command::key, gen_number(0, 8)),
      set(&Command::in_values, rc::gen::oneOf(rc::gen::just(std::vector<Number>()),
                                              rc::gen::resize(4, rc::gen::container<std::vector<Number>>(gen_number(0, 8))))),
      set(&Command::limit, inRange(0, 6)), set(&Command::offset, inRange(0, 3)), set(&Command::filtered), set(&Command::stop),
      set(&Command::comparison, gen_enum(Comparison::greater_or_equal)), set(&Command::filter_value, gen_number(-3, 8)),
      set(&Command::modification, gen_enum(Modification::decrement)),
      set(&Command::new_values,
          rc::gen::apply([](Number first, Number second,
                            bool both) { return both ? std::vector<Number>{first, second} : std::vector<Number>{first}; },
                         gen_number(-3, 8), gen_number(-3, 8), rc::gen::arbitrary<bool>())),
      set(&Command::rows_before));
}

rc::Gen<Turn> gen_turn() {
  return rc::gen::build<Turn>(
      rc::gen::set(&Turn::commands, rc::gen::resize(12, rc::gen::container<std::vector<Command>>(gen_command()))),
      rc::gen::set(&Turn::fault, gen_enum(Fault::failed_commit)), rc::gen::set(&Turn::nth, rc::gen::inRange(1, 12)));
}

Ask ask_of(const Command& command) {
  if (command.insert) {
    return Ask::insert(3, {cell(command.key), cell(command.new_values[0]), cell(command.filter_value)});
  }
  Ask ask = Ask::find(static_cast<uint32_t>(command.index), {cell(command.key)}, command.key_operator)
                .limit(static_cast<uint64_t>(command.limit), static_cast<uint64_t>(command.offset));
  if (!command.in_values.empty()) {
    ask = std::move(ask).in(0, cells(command.in_values));
  }
  if (command.filtered) {
    ask = command.stop ? std::move(ask).stop_unless(0, command.comparison, cell(command.filter_value))
                       : std::move(ask).skip_unless(0, command.comparison, cell(command.filter_value));
  }
  switch (command.modification) {
    case Modification::none:
      return ask;
    case Modification::update:
      ask = std::move(ask).update(cells(command.new_values));
      break;
    case Modification::remove:
      ask = std::move(ask).remove();
      break;
    case Modification::increment:
      ask = std::move(ask).add(cells(command.new_values));
      break;
    case Modification::decrement:
      ask = std::move(ask).subtract(cells(command.new_values));
      break;
  }
  return command.rows_before ? std::move(ask).rows_before() : ask;
}

class ModelFixture : public ExecutorFixture {
 public:
  ModelFixture() {
    using engine::memory::integer;
    engine.create_table("m.t", {.columns = {integer("id"), integer("shelf"), engine::memory::nullable(integer("stock"))},
                                .indexes = {{"PRIMARY", {"id"}, true}, {"by_shelf", {"shelf"}}, {"by_stock", {"stock"}}}});
    for (uint32_t id = 0; id < 3; ++id) {
      RC_ASSERT(ask(connection, Ask::open(id, "m.t", std::to_string(id), "stock,shelf,id", "stock")) == "ok");
    }
    RC_ASSERT(ask(connection, Ask::open(3, "m.t", "", "id,shelf,stock")) == "ok");
  }

  void arm(const Turn& turn) {
    const auto nth = static_cast<uint32_t>(turn.nth);
    engine.lose_transaction_at_write(nth, turn.fault == Fault::deadlock_at_write ? 1 : 0);
    const bool commit_fails = turn.fault == Fault::deadlock_at_commit || turn.fault == Fault::failed_commit;
    engine.fail_commit(Error(ErrorCode::engine, turn.fault == Fault::failed_commit ? 135 : 149), commit_fails ? 1 : 0);
  }

  /// What the model says of a turn whose commit fails for good: writes fail, reads after the first write see none of them.
  std::vector<std::string> replies_of_failed_commit(const std::vector<Command>& commands) {
    std::vector<std::string> expected;
    int changes = 0;
    for (const Command& command : commands) {
      const bool writes = command.insert || command.modification != Modification::none;
      expected.push_back(writes ? "error engine 135" : model.execute(command, changes));
    }
    return expected;
  }

  void run(const Turn& turn) {
    arm(turn);
    const Model before = model;
    int changes = 0;
    std::vector<std::string> expected;
    std::vector<Ask> asks;
    for (const Command& command : turn.commands) {
      expected.push_back(model.execute(command, changes));
      asks.push_back(ask_of(command));
    }
    if (turn.fault == Fault::failed_commit && changes > 0) {
      model = before;
      expected = replies_of_failed_commit(turn.commands);
    }
    RC_ASSERT(ExecutorFixture::turn(connection, asks) == expected);
    std::vector<Row> rows;
    for (const Item& item : model.items) {
      rows.push_back({cell(item.id), cell(item.shelf), cell(item.stock)});
    }
    std::sort(rows.begin(), rows.end());  // ids have one digit
    RC_ASSERT(engine.rows("m.t") == rows);
  }

  Connection& connection = connect();
  Model model;
};

RC_GTEST_PROP(ExecutorModelTest, every_reply_and_every_committed_row_is_the_models, ()) {
  const auto turns = *rc::gen::resize(8, rc::gen::container<std::vector<Turn>>(gen_turn()));
  ModelFixture fixture;
  for (const Turn& turn : turns) {
    fixture.run(turn);
  }
}

}  // namespace
}  // namespace rowsocket::exec
