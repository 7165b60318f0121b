// SPDX-License-Identifier: GPL-2.0-only
//
// Rows as hashes, read: HGET, HMGET, HGETALL, HKEYS, HVALS, HLEN, HSTRLEN, HEXISTS. A column is a field, and
// a field that is not there is a column that is NULL.
#include "wire/resp/commands.h"

namespace rowsocket::wire::resp {
namespace {

/// A find of some columns of the row that the command's key names; the reply is still to be made. nullptr:
/// the plan says why.
Find* find_columns(const Scope& scope, Arguments arguments, Arguments columns, Plan& plan) {
  Key key;
  std::string_view list;
  if (!take_key(scope, arguments[1], Wanted::row, key, plan) || !take_columns(scope, columns, list, plan)) {
    return nullptr;
  }
  Find* const find = find_by_names(scope, names_of(scope, key, list), key.parts);
  if (find == nullptr) {
    plan.add(nullptr);
  }
  return find;
}

/// The same of all columns.
Find* find_all_columns(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  if (!take_key(scope, arguments[1], Wanted::row, key, plan)) {
    return nullptr;
  }
  SelectionNames* const names = names_of(scope, key, {});
  Find* const find = find_by_names(scope, names, key.parts);
  if (find == nullptr) {
    plan.add(nullptr);
  } else {
    names->all_columns = true;
  }
  return find;
}

void plan_values(const Scope& scope, Arguments arguments, bool is_list, Plan& plan) {
  Find* const find = find_columns(scope, arguments, arguments.subspan(2), plan);
  if (find == nullptr) {
    return;
  }
  const auto count = static_cast<uint32_t>(arguments.size() - 2);
  const ValuesReply::Shape shape{.header = is_list ? count : 0, .null_count = count};
  plan.add(with_reply<ValuesReply>(scope, find, scope.version(), nullptr, shape, PerColumn{}));
}

void plan_hash(const Scope& scope, Arguments arguments, Form form, Plan& plan) {
  Find* const find = find_all_columns(scope, arguments, plan);
  if (find == nullptr) {
    return;
  }
  auto* const count = scope.arena().make<uint32_t>(0);
  plan.add(count == nullptr ? nullptr : with_reply<HashReply>(scope, find, scope.version(), form, count));
}

void plan_counted(const Scope& scope, Find* find, Plan& plan) {
  if (find == nullptr) {
    return;
  }
  auto* const count = scope.arena().make<uint32_t>(0);
  plan.add(count == nullptr ? nullptr : with_reply<CountedReply>(scope, find, count));
}

}  // namespace

void plan_hget(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_values(scope, arguments, false, plan);
}
void plan_hmget(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_values(scope, arguments, true, plan);
}
void plan_hgetall(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_hash(scope, arguments, Form::names_and_values, plan);
}
void plan_hkeys(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_hash(scope, arguments, Form::names, plan);
}
void plan_hvals(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_hash(scope, arguments, Form::values_there, plan);
}
void plan_hlen(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_counted(scope, find_all_columns(scope, arguments, plan), plan);
}
void plan_hexists(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_counted(scope, find_columns(scope, arguments, arguments.subspan(2), plan), plan);
}

void plan_hstrlen(const Scope& scope, Arguments arguments, Plan& plan) {
  Find* const find = find_columns(scope, arguments, arguments.subspan(2), plan);
  if (find != nullptr) {
    plan.add(with_reply<NumberReply>(scope, find, nullptr, NumberReply::Kind::length, Layout{}, PerColumn{}));
  }
}

}  // namespace rowsocket::wire::resp
