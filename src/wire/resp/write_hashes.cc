// SPDX-License-Identifier: GPL-2.0-only
//
// Rows as hashes, changed: HSET, HMSET, HSETNX, HINCRBY, HINCRBYFLOAT, HDEL. The row that is there is
// changed; where there is none, one is inserted with the key, the fields, and defaults for the others.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/limits.h"
#include "wire/resp/commands.h"

namespace rowsocket::wire::resp {
namespace {

/// One command's row and fields.
struct Fields {
  Key key = {};
  const SelectionNames* names = nullptr;  ///< the key's columns, then those of the fields
  std::span<const Value> values = {};     ///< of both

  [[nodiscard]] uint32_t key_parts() const { return static_cast<uint32_t>(key.parts.size()); }
};

/// False: the plan refuses the command.
bool take_fields(const Scope& scope, std::string_view key, std::span<const std::string_view> columns,
                 std::span<const Value> given, Fields& fields, Plan& plan) {
  std::string_view list;
  if (!take_key(scope, key, Wanted::row, fields.key, plan) || !take_columns(scope, columns, list, plan)) {
    return false;
  }
  SelectionNames* const names = names_of(scope, fields.key, list);
  const auto values = scope.arena().array<Value>(fields.key.parts.size() + given.size());
  if (names == nullptr || values.empty()) {
    plan.add(nullptr);
    return false;
  }
  names->key_columns_first = true;
  std::copy(fields.key.parts.begin(), fields.key.parts.end(), values.begin());
  std::copy(given.begin(), given.end(), values.begin() + static_cast<ptrdiff_t>(fields.key.parts.size()));
  fields.names = names;
  fields.values = values;
  return true;
}

/// A change of the row that is there by one operation on each field, else an insert of it. Both replies are
/// still to be made. nullptr where memory is refused.
struct Upsert {
  Find* find = nullptr;
  Insert* insert = nullptr;
};
Upsert make_upsert(const Scope& scope, const Fields& fields, Operation operation) {
  Find* const find = find_by_names(scope, fields.names, fields.key.parts);
  auto* const insert = scope.arena().make<Insert>();
  const uint32_t key_parts = fields.key_parts();
  const size_t count = fields.values.size() - key_parts;
  const auto assignments = scope.arena().array<Assignment>(count);
  const auto changes = scope.arena().array<DuplicateChange>(count);
  if (find == nullptr || insert == nullptr || assignments.empty() || changes.empty()) {
    return {};
  }
  for (uint32_t number = 0; number < count; ++number) {
    const uint32_t column = key_parts + number;
    assignments[number] = {.column = column, .operation = operation, .value = fields.values[column]};
    changes[number] = {.position = column, .operation = operation};
  }
  find->change = {.kind = Change::Kind::assign, .assignments = assignments};
  find->otherwise = insert;
  insert->selection.names = fields.names;
  insert->values = fields.values;
  insert->on_duplicate = OnDuplicate::change;  // by another session, since the row was looked for
  insert->duplicate_changes = changes;
  insert->names_row = true;
  return {find, insert};
}

/// Each column once, though the command may name it more often, in the order of their names. Empty where
/// memory is refused.
std::span<std::string_view> without_repeats(const Scope& scope, Arguments columns) {
  const auto once = scope.arena().array<std::string_view>(columns.size());
  if (once.empty()) {
    return {};
  }
  std::copy(columns.begin(), columns.end(), once.begin());
  std::sort(once.begin(), once.end(), is_less_but_for_case);
  const auto end = std::unique(once.begin(), once.end(), is_same_column);
  return once.first(static_cast<size_t>(end - once.begin()));
}

/// How many fields a new row has of these. Empty where memory is refused.
std::string_view count_line(const Scope& scope, Arguments columns) {
  const Arguments once = without_repeats(scope, columns);
  if (once.empty()) {
    return {};
  }
  const Value text = number_value(scope, static_cast<int64_t>(once.size()));
  const std::string_view parts[] = {":", text.view()};
  return joined(scope, parts, {});
}

void plan_set_fields(const Scope& scope, Arguments arguments, std::string_view line, Plan& plan) {
  const Arguments pairs = arguments.subspan(2);
  if (pairs.size() % 2 != 0) {
    plan.refuse(line.empty() ? "-ERR wrong number of arguments for 'hset' command"
                             : "-ERR wrong number of arguments for 'hmset' command");
    return;
  }
  const size_t count = pairs.size() / 2;
  if (count > limits::value_count_max) {
    plan.refuse(too_many_columns);
    return;
  }
  const auto columns = scope.arena().array<std::string_view>(count);
  const auto values = scope.arena().array<Value>(count);
  if (columns.empty() || values.empty()) {
    plan.add(nullptr);
    return;
  }
  for (size_t number = 0; number < count; ++number) {
    columns[number] = pairs[2 * number];
    values[number] = Value(pairs[2 * number + 1]);
  }
  const std::string_view inserted = line.empty() ? count_line(scope, columns) : line;
  if (inserted.empty()) {
    plan.add(nullptr);
    return;
  }
  Fields fields;
  if (!take_fields(scope, arguments[1], columns, values, fields, plan)) {
    return;
  }
  const std::string_view changed = line.empty() ? ":0" : line;
  const auto [find, insert] = make_upsert(scope, fields, Operation::set);
  if (with_reply<OutcomeReply>(
          scope, find, nullptr,
          OutcomeReply::Lines{
              .changed = changed, .refused = changed, .missed = changed, .inserted = inserted}) == nullptr) {
    plan.add(nullptr);
    return;
  }
  find->tell = Tell::count;
  insert->reply = find->reply;
  plan.add(find);
}

}  // namespace

void plan_hset(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_set_fields(scope, arguments, {}, plan);
}
void plan_hmset(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_set_fields(scope, arguments, "+OK", plan);
}

void plan_hsetnx(const Scope& scope, Arguments arguments, Plan& plan) {
  const Value value(arguments[3]);
  Fields fields;
  if (!take_fields(scope, arguments[1], arguments.subspan(2, 1), {&value, 1}, fields, plan)) {
    return;
  }
  auto* const names = scope.arena().make<SelectionNames>(*fields.names);
  const auto filters = scope.arena().array<Filter>(1);
  if (names == nullptr || filters.empty()) {
    plan.add(nullptr);
    return;
  }
  names->filter_columns = names->columns;
  filters[0] = {.mismatch = Mismatch::refuse, .comparison = Comparison::equal, .value = Value()};
  fields.names = names;
  const auto [find, insert] = make_upsert(scope, fields, Operation::set);
  if (with_reply<OutcomeReply>(
          scope, find, nullptr,
          OutcomeReply::Lines{.changed = ":1", .refused = ":0", .missed = ":0", .inserted = ":1"},
          true) == nullptr) {
    plan.add(nullptr);
    return;
  }
  find->filters = filters;
  find->tell = Tell::count;
  insert->duplicate_filters = filters;
  insert->reply = find->reply;
  plan.add(find);
}

namespace {

void plan_sum(const Scope& scope, Arguments arguments, const Value& amount, NumberReply::Kind kind,
              Plan& plan) {
  Fields fields;
  if (amount.is_null()) {
    plan.add(nullptr);
    return;
  }
  if (!take_fields(scope, arguments[1], arguments.subspan(2, 1), {&amount, 1}, fields, plan)) {
    return;
  }
  const bool counts = kind == NumberReply::Kind::number;
  const auto [find, insert] =
      make_upsert(scope, fields, counts ? Operation::add_whole : Operation::add_from_zero);
  const auto ends = scope.arena().array<ColumnEnd>(fields.values.size());
  const Layout layout{.ends = ends, .first = fields.key_parts()};
  if (ends.empty() || with_reply<NumberReply>(scope, find, nullptr, kind, layout,
                                              PerColumn{.ends = ends.data()}) == nullptr) {
    plan.add(nullptr);
    return;
  }
  find->tell = Tell::rows_after;
  insert->tells_rows = true;
  insert->reply = find->reply;
  plan.add(find);
}

/// A number with or without a fraction, and perhaps an exponent; nothing else.
bool is_float(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(number);
}

}  // namespace

void plan_hincrby(const Scope& scope, Arguments arguments, Plan& plan) {
  int64_t amount = 0;
  if (!parse_integer(arguments[3], amount)) {
    plan.refuse(not_an_integer);
    return;
  }
  plan_sum(scope, arguments, number_value(scope, amount), NumberReply::Kind::number, plan);
}

void plan_hincrbyfloat(const Scope& scope, Arguments arguments, Plan& plan) {
  if (!is_float(arguments[3])) {
    plan.refuse("-ERR value is not a valid float");
    return;
  }
  plan_sum(scope, arguments, Value(arguments[3]), NumberReply::Kind::text, plan);
}

void plan_hdel(const Scope& scope, Arguments arguments, Plan& plan) {
  const Arguments named = arguments.subspan(2);
  Key key;
  std::string_view list;
  if (named.size() > limits::value_count_max) {
    plan.refuse(too_many_columns);
    return;
  }
  const Arguments columns = without_repeats(scope, named);
  if (columns.empty()) {
    plan.add(nullptr);
    return;
  }
  if (!take_key(scope, arguments[1], Wanted::row, key, plan) || !take_columns(scope, columns, list, plan)) {
    return;
  }
  Find* const find = find_by_names(scope, names_of(scope, key, list), key.parts);
  const auto assignments = scope.arena().array<Assignment>(columns.size());
  auto* const count = scope.arena().make<uint32_t>(0);
  if (find == nullptr || assignments.empty() || count == nullptr) {
    plan.add(nullptr);
    return;
  }
  for (uint32_t column = 0; column < assignments.size(); ++column) {
    assignments[column] = {.column = column, .value = Value()};
  }
  find->change = {.kind = Change::Kind::assign, .assignments = assignments};
  plan.add(with_reply<CountedReply>(scope, find, count));
}

}  // namespace rowsocket::wire::resp
