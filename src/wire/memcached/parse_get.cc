// SPDX-License-Identifier: GPL-2.0-only
//
// get, gets, gat, gats: any number of keys. Keys of one container are one walk, with those that are missed
// left out; keys of several containers are a group with one find for each run of keys of the same container,
// which see the same instant.
#include "base/limits.h"
#include "wire/memcached/parse_parts.h"

namespace rowsocket::wire::memcached {
namespace {

constexpr std::string_view too_many_keys = "CLIENT_ERROR too many keys";

struct Get {
  bool tells_cas = false;
  bool touches = false;
  int64_t exptime = 0;
};

/// All keys of the line, with their containers. False: `refusal` answers what is wrong (nullptr: memory).
bool take_keys(const Scope& scope, Words words, std::span<Key> keys, Request*& refusal) {
  for (Key& key : keys) {
    const std::string_view word = words.next();
    if (word.size() > limits::memcached_key_bytes_max) {
      refusal = refuse(scope, bad_format);
      return false;
    }
    if (!find_container(scope, word, false, key, refusal)) {
      return false;
    }
  }
  return true;
}

/// The find of some keys of one container. nullptr where memory is refused.
Request* find_keys(const Scope& scope, const Get& get, std::span<const Key> keys, bool is_whole) {
  const Container& container = *keys.front().container;
  const RowPlaces places =
      get.tells_cas || get.touches ? places_in_row(container) : places_in_values(container);
  const size_t part_count = container.key_part_count;
  RowLayout layout;
  PerColumn per_column;
  auto* const find = scope.arena().make<Find>();
  const auto wires = scope.arena().array<std::string_view>(keys.size());
  const auto parts = scope.arena().array<Value>(keys.size() * part_count);
  if (find == nullptr || wires.empty() || parts.empty() || !set_conditions(scope, container, {}, *find) ||
      !make_layout(scope, container, places, layout, per_column)) {
    return nullptr;
  }
  for (size_t number = 0; number < keys.size(); ++number) {
    wires[number] = keys[number].wire;
    split_key(keys[number].rest, parts.subspan(number * part_count, part_count));
  }
  find->selection.names = &places.names;
  find->range.key = parts.first(part_count);
  find->range.exact_values = true;
  find->limit = keys.size();
  if (keys.size() > 1) {
    find->list = {.is_given = true, .holds_whole_keys = true, .values = parts};
  }
  if (get.touches && container.has_expiry) {
    Assignments assignments(scope, 1);
    assignments.set_number(container.expiry_at, number_value(scope, expiry_of(scope, get.exptime)));
    if (!assignments.ok()) {
      return nullptr;
    }
    find->change = {.kind = Change::Kind::assign, .assignments = assignments.all()};
  }
  find->reply = scope.arena().make<ValuesReply>(scope.out(), container, layout, per_column,
                                                std::span<const std::string_view>(wires), get.tells_cas,
                                                is_whole, scope.state);
  return find->reply == nullptr ? nullptr : find;
}

/// The end of the keys at the front that are of the same container.
size_t run_length(std::span<const Key> keys) {
  size_t length = 1;
  while (length < keys.size() && keys[length].container == keys[0].container) {
    ++length;
  }
  return length;
}

Request* find_in_several(const Scope& scope, const Get& get, std::span<const Key> keys) {
  size_t run_count = 0;
  for (auto rest = keys; !rest.empty(); rest = rest.subspan(run_length(rest))) {
    ++run_count;
  }
  if (run_count > limits::group_requests_max) {
    return refuse(scope, too_many_keys);
  }
  const auto members = scope.arena().array<Request*>(run_count);
  auto* const group = make_request<Group, SeveralReply>(scope, scope.state, members);
  if (group == nullptr || members.empty()) {
    return nullptr;
  }
  size_t number = 0;
  for (auto rest = keys; !rest.empty(); rest = rest.subspan(run_length(rest))) {
    members[number] = find_keys(scope, get, rest.first(run_length(rest)), false);
    if (members[number++] == nullptr) {
      return nullptr;
    }
  }
  group->members = members;
  return group;
}

/// `get @@name`: an open, so that a container that does not fit its table says so, and so that what was asked
/// before still means what it did.
Request* choose_container(const Scope& scope, std::string_view word) {
  Key key;
  Request* refusal = nullptr;
  if (!take_container(scope, word, false, key, refusal)) {
    return refusal;
  }
  auto* const open = make_request<Open, ChosenReply>(scope, *key.container, scope.state);
  if (open != nullptr) {
    open->names = key.container->row;
  }
  return open;
}

Request* parse_keys(const Scope& scope, const Get& get, Words words) {
  const size_t key_count = words.count_left();
  if (key_count == 0) {
    return refuse(scope, "ERROR");
  }
  if (key_count > scope.parsing.settings.in_values_max) {
    return refuse(scope, too_many_keys);
  }
  if (Words first = words; key_count == 1) {
    const std::string_view word = first.next();
    if (word.starts_with("@@") && word.find('.') == std::string_view::npos &&
        word.size() <= limits::memcached_key_bytes_max) {
      return choose_container(scope, word);
    }
  }
  const auto keys = scope.arena().array<Key>(key_count);
  if (keys.empty()) {
    return nullptr;
  }
  Request* refusal = nullptr;
  if (!take_keys(scope, words, keys, refusal)) {
    return refusal;
  }
  return run_length(keys) == keys.size() ? find_keys(scope, get, keys, true)
                                         : find_in_several(scope, get, keys);
}

}  // namespace

Request* parse_get(const Scope& scope, Words words, bool tells_cas) {
  return parse_keys(scope, {.tells_cas = tells_cas}, words);
}

Request* parse_get_and_touch(const Scope& scope, Words words, bool tells_cas) {
  if (words.at_end()) {
    return refuse(scope, "ERROR");
  }
  Get get{.tells_cas = tells_cas, .touches = true};
  if (!parse_number(words.next(), get.exptime)) {
    return refuse(scope, "CLIENT_ERROR invalid exptime argument");
  }
  if (words.at_end()) {
    return for_readers(answer(scope, "END"));
  }
  return parse_keys(scope, get, words);
}

}  // namespace rowsocket::wire::memcached
