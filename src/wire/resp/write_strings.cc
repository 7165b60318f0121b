// SPDX-License-Identifier: GPL-2.0-only
//
// Changes of values of containers: SET and its kin, MSET, APPEND, INCR and its kin. Each is one step of one
// row, so that no other client comes between what was there and what is.
#include <algorithm>

#include "base/limits.h"
#include "wire/resp/commands.h"
#include "wire/resp/container_rows.h"
#include "wire/resp/expiry.h"

namespace rowsocket::wire::resp {
namespace {

std::string_view null_line(const Scope& scope) { return scope.version() == 2 ? "$-1" : "_"; }

// ---- SET

enum class If : uint8_t { always, missing, there };

struct Set {
  Key key = {};
  std::string_view value = {};
  If condition = If::always;
  bool tells_old = false;
  bool keeps_expiry = false;
  uint64_t expires_s = 0;
  OutcomeReply::Lines lines = {};
};

/// A change of the row that is there; the reply is still to be made.
Find* make_set_find(const Scope& scope, const Set& set, std::span<const Value> row) {
  const Container& container = *set.key.container();
  const RowShape shape(container);
  Find* const find = find_in_container(scope, container, container.whole, set.key.parts);
  const bool but_expiry = set.keeps_expiry && container.has_expiry;
  const uint32_t end = shape.size - (but_expiry ? 1 : 0);
  const auto assignments = scope.arena().array<Assignment>(end - shape.key_parts);
  if (find == nullptr || assignments.empty()) {
    return nullptr;
  }
  for (uint32_t column = shape.key_parts; column < end; ++column) {
    assignments[column - shape.key_parts] = {.column = column, .value = row[column]};
  }
  find->change.kind = Change::Kind::assign;
  if (set.condition != If::missing) {
    find->change.assignments = assignments;
  }
  return find;
}

/// What SET does where there is no row; the reply is the find's.
bool or_insert(const Scope& scope, const Set& set, std::span<const Value> row, Find& find) {
  const Existing existing = set.condition == If::missing ? Existing::keep
                            : set.keeps_expiry           ? Existing::replace_but_expiry
                                                         : Existing::replace;
  Insert* const insert = make_insert(scope, *set.key.container(), row, existing);
  if (insert == nullptr) {
    return false;
  }
  insert->reply = find.reply;
  find.otherwise = insert;
  return true;
}

/// SET with GET: the old value is told of the row that is there, else the row is inserted.
Find* make_set_and_get(const Scope& scope, const Set& set, std::span<const Value> row) {
  const Container& container = *set.key.container();
  Find* const find = make_set_find(scope, set, row);
  ValuesReply::Shape shape;
  PerColumn per_column;
  if (find == nullptr || !make_layout(scope, container, container.key_part_count,
                                      column_count_of(container.whole.columns), shape.layout, per_column)) {
    return nullptr;
  }
  if (with_reply<ValuesReply>(scope, find, scope.version(), &container, shape, per_column) == nullptr) {
    return nullptr;
  }
  return set.condition == If::there || or_insert(scope, set, row, *find) ? find : nullptr;
}

void plan_one(const Scope& scope, const Set& set, Plan& plan) {
  const Container& container = *set.key.container();
  const std::span<const Value> row = make_row(scope, set.key, set.value, set.expires_s);
  if (row.empty()) {
    plan.add(nullptr);
  } else if (set.tells_old) {
    plan.add(make_set_and_get(scope, set, row));
  } else if (set.condition == If::missing) {
    plan.add(with_reply<OutcomeReply>(scope, make_insert(scope, container, row, Existing::keep), &container,
                                      set.lines, true));
  } else {
    // The row that is there is looked for first: it may be one that no insert could make.
    Find* const find = with_reply<OutcomeReply>(scope, make_set_find(scope, set, row), &container, set.lines);
    if (find == nullptr || (set.condition == If::always && !or_insert(scope, set, row, *find))) {
      plan.add(nullptr);
      return;
    }
    find->tell = Tell::count;
    plan.add(find);
  }
}

/// The options behind key and value. False: the plan refuses the command.
bool take_set_options(const Scope& scope, Arguments arguments, Set& set, Plan& plan) {
  ExpiryOptions expiry;
  for (size_t at = 3; at < arguments.size(); ++at) {
    const std::string_view word = arguments[at];
    const If condition = is_word(word, "NX") ? If::missing : is_word(word, "XX") ? If::there : If::always;
    if (condition != If::always && (set.condition == If::always || set.condition == condition)) {
      set.condition = condition;
    } else if (is_word(word, "GET")) {
      set.tells_old = true;
    } else if (condition != If::always || is_word(word, "PERSIST") || !expiry.take(arguments, at)) {
      plan.refuse(syntax_error);
      return false;
    }
  }
  if (!expiry.read_time(scope, arguments, plan)) {
    return false;
  }
  set.keeps_expiry = expiry.keeps();
  set.expires_s = expiry.expires_s;
  if (set.expires_s != 0 && !set.key.container()->has_expiry) {
    plan.refuse(no_expiry);
    return false;
  }
  return true;
}

}  // namespace

void plan_set(const Scope& scope, Arguments arguments, Plan& plan) {
  Set set{.value = arguments[2]};
  set.lines = {.changed = "+OK", .refused = null_line(scope), .missed = null_line(scope), .inserted = "+OK"};
  if (take_key(scope, arguments[1], Wanted::container, set.key, plan) &&
      take_set_options(scope, arguments, set, plan)) {
    plan_one(scope, set, plan);
  }
}

void plan_setnx(const Scope& scope, Arguments arguments, Plan& plan) {
  Set set{.value = arguments[2], .condition = If::missing};
  set.lines = {.changed = ":1", .refused = ":0", .missed = ":0", .inserted = ":1"};
  if (take_key(scope, arguments[1], Wanted::container, set.key, plan)) {
    plan_one(scope, set, plan);
  }
}

void plan_getset(const Scope& scope, Arguments arguments, Plan& plan) {
  Set set{.value = arguments[2], .tells_old = true};
  if (take_key(scope, arguments[1], Wanted::container, set.key, plan)) {
    plan_one(scope, set, plan);
  }
}

namespace {

void plan_set_with_expiry(const Scope& scope, Arguments arguments, std::string_view option, Plan& plan) {
  const std::string_view words[] = {arguments[0], arguments[1], arguments[3], option, arguments[2]};
  plan_set(scope, words, plan);
}

}  // namespace

void plan_setex(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_set_with_expiry(scope, arguments, "EX", plan);
}
void plan_psetex(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_set_with_expiry(scope, arguments, "PX", plan);
}

// ---- MSET

namespace {

struct Pair {
  Key key;
  std::string_view value;
};

/// All clients lock the rows of tables in the same order, so that two of them never wait for each other.
/// Pairs of one table may be of one row, be they of two containers: they stay in the order of the command, so
/// that the last one counts.
bool locks_earlier(const Pair& one, const Pair& other) {
  const SelectionNames& left = one.key.container()->whole;
  const SelectionNames& right = other.key.container()->whole;
  if (is_less_but_for_case(left.database, right.database)) {
    return true;
  }
  return !is_less_but_for_case(right.database, left.database) &&
         is_less_but_for_case(left.table, right.table);
}

/// Pairs of one container, as rows of one insert, which locks them in the order of their keys: only the table
/// knows which keys are equal.
Insert* insert_pairs(const Scope& scope, std::span<const Pair> pairs, std::string_view line) {
  const Container& container = *pairs.front().key.container();
  const size_t row_size = RowShape(container).size;
  const auto values = scope.arena().array<Value>(pairs.size() * row_size);
  if (values.empty()) {
    return nullptr;
  }
  for (size_t number = 0; number < pairs.size(); ++number) {
    const Pair& pair = pairs[number];
    if (!fill_row(scope, pair.key, pair.value, 0, values.subspan(number * row_size, row_size))) {
      return nullptr;
    }
  }
  Insert* const insert = with_reply<StoredReply>(
      scope, make_insert(scope, container, values, Existing::replace), &container, line);
  if (insert == nullptr || pairs.size() == 1) {
    return insert;
  }
  insert->order = scope.arena().array<uint32_t>(pairs.size());
  return insert->order.empty() ? nullptr : insert;
}

}  // namespace

void plan_mset(const Scope& scope, Arguments arguments, Plan& plan) {
  const Arguments texts = arguments.subspan(1);
  if (texts.size() % 2 != 0) {
    plan.refuse("-ERR wrong number of arguments for 'mset' command");
    return;
  }
  if (texts.size() / 2 > limits::insert_rows_max) {
    plan.refuse("-ERR too many keys");
    return;
  }
  const auto pairs = scope.arena().array<Pair>(texts.size() / 2);
  if (pairs.empty()) {
    plan.add(nullptr);
    return;
  }
  for (size_t number = 0; number < pairs.size(); ++number) {
    pairs[number].value = texts[2 * number + 1];
    if (!take_key(scope, texts[2 * number], Wanted::container, pairs[number].key, plan)) {
      return;
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), locks_earlier);
  for (size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    while (end < pairs.size() && pairs[end].key.container() == pairs[begin].key.container()) {
      ++end;
    }
    plan.add(insert_pairs(scope, pairs.subspan(begin, end - begin), end == pairs.size() ? "+OK" : ""));
  }
}

// ---- APPEND, INCR

namespace {

/// The change of the row that is there, as the insert would make it. The reply is still to be made.
Find* make_combining_find(const Scope& scope, const Key& key, std::span<const Value> row,
                          const Insert* insert) {
  const Container& container = *key.container();
  Find* const find =
      insert == nullptr ? nullptr : find_in_container(scope, container, container.whole, key.parts);
  if (find == nullptr) {
    return nullptr;
  }
  const auto assignments = scope.arena().array<Assignment>(insert->duplicate_changes.size());
  if (assignments.empty()) {
    return nullptr;
  }
  std::transform(insert->duplicate_changes.begin(), insert->duplicate_changes.end(), assignments.begin(),
                 [&row](const DuplicateChange& change) {
                   return Assignment{.column = change.position,
                                     .operation = change.operation,
                                     .value = row[change.position]};
                 });
  find->change = {.kind = Change::Kind::assign, .assignments = assignments};
  find->tell = Tell::rows_after;
  return find;
}

/// The row that is there takes the operation, else the value is inserted; the reply is about what is there
/// then.
void plan_combined(const Scope& scope, const Key& key, std::string_view value, Operation operation,
                   NumberReply::Kind kind, Plan& plan) {
  const Container& container = *key.container();
  const std::span<const Value> row = make_row(scope, key, value, 0);
  Layout layout;
  PerColumn per_column;
  if (row.empty() || !make_layout(scope, container, container.key_part_count,
                                  column_count_of(container.whole.columns), layout, per_column)) {
    plan.add(nullptr);
    return;
  }
  if (kind == NumberReply::Kind::number) {
    layout.count = 1;
  }
  Insert* const insert = make_insert(scope, container, row, Existing::combine, operation);
  Find* const find = with_reply<NumberReply>(scope, make_combining_find(scope, key, row, insert), &container,
                                             kind, layout, per_column);
  if (find != nullptr) {
    find->change.is_increment = kind == NumberReply::Kind::number;
    insert->tells_rows = true;
    insert->reply = find->reply;
    find->otherwise = insert;
  }
  plan.add(find);
}

/// `sign`: 1 or -1.
void plan_sum(const Scope& scope, std::string_view text, int64_t amount, int64_t sign, Plan& plan) {
  Key key;
  if (!take_key(scope, text, Wanted::container, key, plan)) {
    return;
  }
  if (sign < 0 && amount == INT64_MIN) {
    plan.refuse("-ERR decrement would overflow");
    return;
  }
  const Value delta = number_value(scope, sign * amount);
  if (delta.is_null()) {
    plan.add(nullptr);
    return;
  }
  plan_combined(scope, key, delta.view(), Operation::add_whole, NumberReply::Kind::number, plan);
}

void plan_sum_of(const Scope& scope, Arguments arguments, int64_t sign, Plan& plan) {
  int64_t amount = 0;
  if (!parse_integer(arguments[2], amount)) {
    plan.refuse(not_an_integer);
    return;
  }
  plan_sum(scope, arguments[1], amount, sign, plan);
}

}  // namespace

void plan_append(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  if (!take_key(scope, arguments[1], Wanted::container, key, plan)) {
    return;
  }
  if (key.container()->value_count > 1) {
    plan.refuse("-ERR APPEND needs a container with one column for values");
    return;
  }
  plan_combined(scope, key, arguments[2], Operation::append, NumberReply::Kind::new_length, plan);
}

void plan_incr(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_sum(scope, arguments[1], 1, 1, plan);
}
void plan_decr(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_sum(scope, arguments[1], 1, -1, plan);
}
void plan_incrby(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_sum_of(scope, arguments, 1, plan);
}
void plan_decrby(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_sum_of(scope, arguments, -1, plan);
}

}  // namespace rowsocket::wire::resp
