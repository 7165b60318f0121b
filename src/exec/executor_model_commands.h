// SPDX-License-Identifier: GPL-2.0-only
//
// The model's commands as a test needs them: made at random, printed where an example fails, and turned into
// requests.
#pragma once

#include <gtest/gtest.h>
// after gtest.h
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor_fixture.h"
#include "exec/executor_model.h"

namespace rowsocket::exec::model {

// ---- What a failing example prints.

inline std::ostream& operator<<(std::ostream& out, const std::vector<Number>& numbers) {
  for (const Number& number : numbers) {
    out << ' ' << text(number);
  }
  return out;
}

inline std::ostream& print_find(std::ostream& out, const Command& command) {
  static constexpr const char* operators[] = {"=", ">", ">=", "<", "<="};
  static constexpr const char* comparisons[] = {"=", "!=", "<", "<=", ">", ">=", ">|unset"};
  static constexpr const char* modifications[] = {"", " U", " D", " +", " -"};
  static constexpr const char* tells[] = {"?", "!", "#"};
  out << "find " << static_cast<int>(command.index) << operators[static_cast<int>(command.key_operator)]
      << command.key;
  if (command.has_end) {
    out << " to" << (command.end_included ? " included" : "") << command.end_key;
  }
  if (!command.in_values.empty()) {
    out << (command.in_whole_keys ? " keys" : " in " + std::to_string(command.in_part)) << command.in_values
        << " each " << command.limit_per_value;
  }
  out << (command.reverse ? " reverse" : "") << " limit " << command.limit << " offset " << command.offset;
  for (const Condition& condition : command.conditions) {
    out << (condition.stop ? " W" : " F") << (condition.of_shelf ? " shelf" : " stock")
        << comparisons[static_cast<int>(condition.comparison)] << text(condition.value);
  }
  return out << modifications[static_cast<int>(command.modification)] << tells[static_cast<int>(command.tell)]
             << command.new_values;
}

inline std::ostream& print_insert(std::ostream& out, const Command& command) {
  static constexpr const char* on_duplicate[] = {"", " keep", " replace", " update"};
  out << (command.of_many_rows ? "insert many" : "insert");
  for (const Item& row : command.rows) {
    out << " (" << text(row.id) << ' ' << text(row.shelf) << ' ' << text(row.stock) << ')';
  }
  out << on_duplicate[static_cast<int>(command.on_duplicate)];
  for (const uint32_t position : command.set_on_duplicate) {
    out << " set " << position;
  }
  for (const uint32_t position : command.add_on_duplicate) {
    out << " add " << position;
  }
  return out << (command.rows_alone ? " alone" : "");
}

inline std::ostream& operator<<(std::ostream& out, const Command& command) {
  if (command.kind != RequestKind::group) {
    return command.kind == RequestKind::insert ? print_insert(out, command) : print_find(out, command);
  }
  out << "group" << (command.must_change ? " must" : "");
  for (const Command& member : command.members) {
    out << "\n    " << member;
  }
  return out;
}

// ---- Random commands. The parts that do not fit together are cut to fit.

inline rc::Gen<Number> gen_number(int low, int high) {
  return rc::gen::map(rc::gen::inRange(low - 1, high),
                      [low](int number) { return number < low ? Number() : Number(number); });
}
inline rc::Gen<std::vector<Number>> gen_numbers(size_t count) {
  return rc::gen::container<std::vector<Number>>(count, gen_number(0, 8));
}

template <typename Enum>
rc::Gen<Enum> gen_enum(Enum last) {
  return rc::gen::map(rc::gen::inRange(0, static_cast<int>(last) + 1),
                      [](int number) { return static_cast<Enum>(number); });
}
/// True once in `among`.
inline rc::Gen<bool> gen_once_in(int among) {
  return rc::gen::map(rc::gen::inRange(0, among), [](int number) { return number == 1; });
}
/// At most so many. The size that rapidcheck scales everything by is for their number only: a small one would
/// make every range of numbers inside small too.
template <typename Element>
rc::Gen<std::vector<Element>> gen_few(int count_max, rc::Gen<Element> element) {
  return rc::gen::resize(count_max, rc::gen::container<std::vector<Element>>(
                                        rc::gen::resize(rc::kNominalSize, std::move(element))));
}

inline rc::Gen<Condition> gen_condition() {
  using rc::gen::set;
  return rc::gen::build<Condition>(set(&Condition::stop), set(&Condition::of_shelf),
                                   set(&Condition::comparison, gen_enum(Comparison::greater_or_unset)),
                                   set(&Condition::value, gen_number(-3, 8)));
}

inline Command fitting_find(Command find) {
  const size_t parts_max = columns_of(find.index).size();
  find.key.resize(std::min(find.key.size(), parts_max));
  find.end_key.resize(std::min(find.end_key.size(), parts_max));
  find.in_part %= static_cast<uint32_t>(find.key.size());
  if (find.in_whole_keys) {
    find.in_values.resize(find.in_values.size() / find.key.size() * find.key.size());
  }
  find.limit_per_value = find.in_values.empty() ? 0 : find.limit_per_value;
  const bool sets = find.modification != Modification::none && find.modification != Modification::remove;
  if (!sets) {
    find.new_values.clear();
    find.tell = find.tell == Tell::rows_after ? Tell::rows : find.tell;
  }
  return find;
}

inline rc::Gen<Command> gen_find() {
  using rc::gen::inRange;
  using rc::gen::join;
  using rc::gen::set;
  const auto one_or_two = [](const rc::Gen<Number>& number) {
    return join(rc::gen::map(inRange<size_t>(1, 3), [number](size_t count) {
      return rc::gen::container<std::vector<Number>>(count, number);
    }));
  };
  return rc::gen::map(
      rc::gen::build<Command>(
          set(&Command::index, gen_enum(Key::place)),
          set(&Command::key_operator, gen_enum(KeyOperator::at_or_before)),
          set(&Command::key, one_or_two(gen_number(0, 8))), set(&Command::has_end, gen_once_in(3)),
          set(&Command::end_included), set(&Command::end_key, one_or_two(gen_number(0, 8))),
          set(&Command::reverse, gen_once_in(3)),
          set(&Command::in_values,
              rc::gen::oneOf(rc::gen::just(std::vector<Number>()), gen_few(5, gen_number(0, 8)))),
          set(&Command::in_whole_keys), set(&Command::in_part, inRange(0U, 2U)),
          set(&Command::limit, inRange(0, 6)),
          set(&Command::offset, rc::gen::map(inRange(-3, 3), [](int rows) { return std::max(rows, 0); })),
          set(&Command::limit_per_value, inRange(0, 3)),
          set(&Command::conditions, gen_few(2, gen_condition())),
          set(&Command::modification, gen_enum(Modification::decrement)),
          set(&Command::tell, gen_enum(Tell::count)),
          set(&Command::new_values, one_or_two(gen_number(-3, 8)))),
      fitting_find);
}

inline Command fitting_insert(Command insert) {
  insert.kind = RequestKind::insert;
  if (!insert.of_many_rows) {
    insert.rows.resize(1);
    insert.rows_alone = false;
    insert.on_duplicate = OnDuplicate::fail;
  }
  if (insert.on_duplicate != OnDuplicate::change) {
    insert.set_on_duplicate.clear();
  }
  for (const uint32_t position : std::exchange(insert.set_on_duplicate, {})) {
    (position < 3 ? insert.set_on_duplicate : insert.add_on_duplicate).push_back(position % 3);
  }
  return insert;
}

inline rc::Gen<Command> gen_insert() {
  using rc::gen::set;
  const auto gen_row =
      rc::gen::build<Item>(set(&Item::id, gen_number(0, 8)), set(&Item::shelf, gen_number(0, 8)),
                           set(&Item::stock, gen_number(-3, 8)));
  const std::vector<std::vector<uint32_t>> positions = {{0},    {1},    {2},    {5},
                                                        {2, 4}, {1, 5}, {1, 2}, {0, 4, 5}};  // from 3 on: add
  return rc::gen::map(rc::gen::build<Command>(set(&Command::rows, rc::gen::nonEmpty(gen_few(3, gen_row))),
                                              set(&Command::of_many_rows), set(&Command::rows_alone),
                                              set(&Command::on_duplicate, gen_enum(OnDuplicate::change)),
                                              set(&Command::set_on_duplicate, rc::gen::elementOf(positions))),
                      fitting_insert);
}

inline rc::Gen<Command> gen_statement() { return rc::gen::oneOf(gen_find(), gen_find(), gen_insert()); }

inline rc::Gen<Command> gen_command() {
  using rc::gen::set;
  const auto gen_group = rc::gen::build<Command>(set(&Command::kind, rc::gen::just(RequestKind::group)),
                                                 set(&Command::must_change, gen_once_in(3)),
                                                 set(&Command::members, gen_few(4, gen_statement())));
  return rc::gen::oneOf(gen_statement(), gen_statement(), gen_statement(), gen_group);
}

// ---- Commands as requests

inline Cell cell(const Number& number) { return number.has_value() ? Cell(std::to_string(*number)) : Cell(); }
inline std::vector<Cell> cells(const std::vector<Number>& numbers) {
  std::vector<Cell> all;
  std::transform(numbers.begin(), numbers.end(), std::back_inserter(all), cell);
  return all;
}

inline Ask modify(Ask ask, const Command& command) {
  switch (command.modification) {
    case Modification::none:
      break;
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
  switch (command.tell) {
    case Tell::rows:
      return std::move(ask).rows_before();
    case Tell::rows_after:
      return std::move(ask).rows_after();
    case Tell::count:
      break;
  }
  return std::move(ask).count();
}

inline Ask find_of(const Command& command) {
  Ask ask = Ask::find(static_cast<uint32_t>(command.index), cells(command.key), command.key_operator)
                .limit(static_cast<uint64_t>(command.limit), static_cast<uint64_t>(command.offset));
  if (command.has_end) {
    ask = std::move(ask).to(command.end_operator(), cells(command.end_key));
  }
  if (command.reverse) {
    ask = std::move(ask).reverse();
  }
  if (!command.in_values.empty()) {
    ask = command.in_whole_keys ? std::move(ask).in_keys(cells(command.in_values))
                                : std::move(ask).in(command.in_part, cells(command.in_values));
    ask = std::move(ask).limit_per_value(static_cast<uint64_t>(command.limit_per_value));
  }
  for (const Condition& condition : command.conditions) {
    const uint32_t column = condition.of_shelf ? 1 : 0;
    ask = condition.stop ? std::move(ask).stop_unless(column, condition.comparison, cell(condition.value))
                         : std::move(ask).skip_unless(column, condition.comparison, cell(condition.value));
  }
  return modify(std::move(ask), command);
}

inline constexpr uint32_t id_of_inserts = 4;  ///< below it: finds on the index of that number

inline Ask insert_of(const Command& command) {
  std::vector<Cell> values;
  for (const Item& row : command.rows) {
    values.insert(values.end(), {cell(row.id), cell(row.shelf), cell(row.stock)});
  }
  if (!command.of_many_rows) {
    return Ask::insert(id_of_inserts, values);
  }
  Ask ask = Ask::insert_rows(id_of_inserts, static_cast<uint32_t>(command.rows.size()), values)
                .on_duplicate(command.on_duplicate, command.set_on_duplicate, command.add_on_duplicate);
  return command.rows_alone ? std::move(ask).rows_alone() : ask;
}

inline Ask ask_of(const Command& command) {
  if (command.kind != RequestKind::group) {
    return command.kind == RequestKind::insert ? insert_of(command) : find_of(command);
  }
  std::vector<Ask> members;
  std::transform(command.members.begin(), command.members.end(), std::back_inserter(members), ask_of);
  return command.must_change ? Ask::group(members).must_change() : Ask::group(members);
}

}  // namespace rowsocket::exec::model
