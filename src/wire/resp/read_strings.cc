// SPDX-License-Identifier: GPL-2.0-only
//
// Values of containers: GET, MGET, STRLEN, GETDEL, GETEX.
#include "base/limits.h"
#include "wire/resp/commands.h"
#include "wire/resp/expiry.h"

namespace rowsocket::wire::resp {
namespace {

/// The reply that tells the value in rows of so many columns, of which the first are the value's. False where
/// memory is refused.
bool make_value_reply(const Scope& scope, const Container& container, size_t column_count, uint32_t header,
                      Find& find) {
  ValuesReply::Shape shape{.header = header};
  PerColumn per_column;
  if (column_count > 1 && !make_layout(scope, container, 0, column_count, shape.layout, per_column)) {
    return false;
  }
  return with_reply<ValuesReply>(scope, &find, scope.version(), &container, shape, per_column) != nullptr;
}

/// Some keys of one container.
Find* find_values(const Scope& scope, std::span<const Key> keys, uint32_t header) {
  const Container& container = *keys.front().container();
  Find* const find = find_in_container(scope, container, container.contents, keys.front().parts);
  if (find == nullptr || !ask_for_all(scope, keys, *find) ||
      !make_value_reply(scope, container, container.value_count, header, *find)) {
    return nullptr;
  }
  return find;
}

}  // namespace

void plan_get(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  if (take_key(scope, arguments[1], Wanted::container, key, plan)) {
    plan.add(find_values(scope, {&key, 1}, 0));
  }
}

/// Keys of one container are one walk. Keys of several are a find for each run of them, which see the same
/// instant.
void plan_mget(const Scope& scope, Arguments arguments, Plan& plan) {
  const Arguments texts = arguments.subspan(1);
  if (texts.size() > scope.parsing.settings.in_values_max) {
    plan.refuse("-ERR too many keys");
    return;
  }
  const auto keys = scope.arena().array<Key>(texts.size());
  if (keys.empty()) {
    plan.add(nullptr);
    return;
  }
  for (size_t number = 0; number < texts.size(); ++number) {
    if (!take_key(scope, texts[number], Wanted::container, keys[number], plan)) {
      return;
    }
  }
  for (size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end].container() == keys[begin].container()) {
      ++end;
    }
    const auto header = static_cast<uint32_t>(begin == 0 ? keys.size() : 0);
    plan.add(find_values(scope, keys.subspan(begin, end - begin), header));
  }
}

void plan_strlen(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  if (!take_key(scope, arguments[1], Wanted::container, key, plan)) {
    return;
  }
  const Container& container = *key.container();
  Layout layout;
  PerColumn per_column;
  if (!make_layout(scope, container, 0, container.value_count, layout, per_column)) {
    plan.add(nullptr);
    return;
  }
  plan.add(with_reply<NumberReply>(scope, find_in_container(scope, container, container.contents, key.parts),
                                   &container, NumberReply::Kind::length, layout, per_column));
}

void plan_getdel(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  if (!take_key(scope, arguments[1], Wanted::container, key, plan)) {
    return;
  }
  Find* const find = find_values(scope, {&key, 1}, 0);
  if (find != nullptr) {
    find->change.kind = Change::Kind::remove;
  }
  plan.add(find);
}

void plan_getex(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  ExpiryOptions options;
  if (!take_key(scope, arguments[1], Wanted::container, key, plan)) {
    return;
  }
  const Container& container = *key.container();
  for (size_t at = 2; at < arguments.size(); ++at) {
    if (!options.take(arguments, at) || options.keeps()) {
      plan.refuse(syntax_error);
      return;
    }
  }
  if (!options.read_time(scope, arguments, plan)) {
    return;
  }
  if (!options.is_given()) {
    plan.add(find_values(scope, {&key, 1}, 0));
    return;
  }
  if (!container.has_expiry && options.expires_s != 0) {
    plan.refuse(no_expiry);
    return;
  }
  Find* const find = find_in_container(scope, container, container.row, key.parts);
  if (find == nullptr ||
      !make_value_reply(scope, container, column_count_of(container.row.columns), 0, *find)) {
    plan.add(nullptr);
    return;
  }
  if (container.has_expiry) {
    const auto assignments = scope.arena().array<Assignment>(1);
    const Value expiry = number_value(scope, static_cast<int64_t>(options.expires_s));
    if (assignments.empty() || expiry.is_null()) {
      plan.add(nullptr);
      return;
    }
    assignments[0] = {.column = container.expiry_at, .value = expiry};
    find->change = {.kind = Change::Kind::assign, .assignments = assignments};
  }
  plan.add(find);
}

}  // namespace rowsocket::wire::resp
