// SPDX-License-Identifier: GPL-2.0-only
//
// Keys of either kind: DEL, UNLINK, EXISTS, TYPE.
#include <algorithm>

#include "wire/resp/commands.h"

namespace rowsocket::wire::resp {
namespace {

/// Rows of the same container, or of the same index of the same table.
bool are_alike(const Key& one, const Key& other) {
  if (one.container() != nullptr || other.container() != nullptr) {
    return one.container() == other.container();
  }
  return one.names->table == other.names->table && one.names->index == other.names->index &&
         one.names->database == other.names->database && one.parts.size() == other.parts.size();
}

/// The rows of some keys that are alike, to be counted.
Find* find_rows(const Scope& scope, std::span<const Key> keys) {
  const Key& first = keys.front();
  Find* const find = first.container() != nullptr
                         ? find_in_container(scope, *first.container(), first.container()->row, first.parts)
                         : find_by_names(scope, first.names, first.parts);
  if (find == nullptr || !ask_for_all(scope, keys, *find)) {
    return nullptr;
  }
  find->tell = Tell::count;
  return find;
}

void plan_rows(const Scope& scope, Arguments texts, Change::Kind change, Plan& plan) {
  if (texts.size() > scope.parsing.settings.in_values_max) {
    plan.refuse("-ERR too many keys");
    return;
  }
  const auto keys = scope.arena().array<Key>(texts.size());
  auto* const sum = scope.arena().make<uint64_t>(0);
  if (keys.empty() || sum == nullptr) {
    plan.add(nullptr);
    return;
  }
  for (size_t number = 0; number < texts.size(); ++number) {
    if (!take_key(scope, texts[number], Wanted::either, keys[number], plan)) {
      return;
    }
  }
  for (size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && are_alike(keys[begin], keys[end])) {
      ++end;
    }
    Find* const find = with_reply<SumReply>(scope, find_rows(scope, keys.subspan(begin, end - begin)),
                                            keys[begin].container(), sum, begin == 0, end == keys.size());
    if (find != nullptr) {
      find->change.kind = change;
    }
    plan.add(find);
  }
}

}  // namespace

void plan_del(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_rows(scope, arguments.subspan(1), Change::Kind::remove, plan);
}

void plan_exists(const Scope& scope, Arguments arguments, Plan& plan) {
  plan_rows(scope, arguments.subspan(1), Change::Kind::none, plan);
}

void plan_type(const Scope& scope, Arguments arguments, Plan& plan) {
  Key key;
  if (!take_key(scope, arguments[1], Wanted::either, key, plan)) {
    return;
  }
  const std::string_view type = key.container() != nullptr ? "+string" : "+hash";
  plan.add(with_reply<OutcomeReply>(
      scope, find_rows(scope, {&key, 1}), key.container(),
      OutcomeReply::Lines{.changed = type, .refused = type, .missed = "+none", .inserted = type}));
}

}  // namespace rowsocket::wire::resp
