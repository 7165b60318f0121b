// SPDX-License-Identifier: GPL-2.0-only
//
// Keys as clients write them: which row, of which table or container.
#include <algorithm>

#include "base/limits.h"
#include "wire/resp/parts.h"

namespace rowsocket::wire::resp {

bool names_row(const State& state, std::string_view text, size_t& names_end) {
  names_end = text.find(part_separator);
  if (names_end == std::string_view::npos || text.starts_with("@@")) {
    return false;
  }
  return !state.database.empty() || text.substr(0, names_end).find('.') != std::string_view::npos;
}

bool take_container_of_key(const Scope& scope, std::string_view text, Key& key, Plan& plan) {
  key.in_container = find_container(scope.parsing.settings.containers.get(), text, std::string_view());
  if (!key.in_container.problem.empty()) {
    Request* const request =
        make_request<Request, ProblemReply>(scope, key.in_container.name, key.in_container.problem);
    if (request != nullptr) {
      request->mistake = ErrorCode::cannot_open_table;
    }
    plan.refuse_with(request);
    return false;
  }
  return true;
}

namespace {

/// One part, whose backslashes are taken away.
Value unescaped(const Scope& scope, std::string_view part) {
  if (part.find(part_escape) == std::string_view::npos) [[likely]] {
    return Value(part);
  }
  char* const text = scope.arena().allocate(part.size());
  if (text == nullptr) {
    return {};
  }
  char* to = text;
  for (size_t at = 0; at < part.size(); ++at) {
    const bool escapes = part[at] == part_escape && at + 1 < part.size() &&
                         (part[at + 1] == part_escape || part[at + 1] == part_separator);
    *to++ = part[escapes ? ++at : at];
  }
  return {text, static_cast<size_t>(to - text)};
}

/// The end of the part at the front.
size_t part_end(std::string_view rest) {
  for (size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == part_separator) {
      return at;
    }
    at += rest[at] == part_escape ? 1 : 0;
  }
  return rest.size();
}

/// Of one part that has nothing to be taken away, as most keys are.
bool take_plain_key(const Scope& scope, std::string_view part, Key& key, Plan& plan) {
  const auto parts = scope.arena().array<Value>(1);
  if (parts.empty()) {
    plan.add(nullptr);
    return false;
  }
  parts[0] = Value(part);
  key.parts = parts;
  return true;
}

bool split_row_key(const Scope& scope, std::string_view rest, Key& key, Plan& plan) {
  const auto is_special = [](char byte) { return byte == part_separator || byte == part_escape; };
  if (std::none_of(rest.begin(), rest.end(), is_special)) [[likely]] {
    return take_plain_key(scope, rest, key, plan);
  }
  const size_t count_max = 1 + static_cast<size_t>(std::count(rest.begin(), rest.end(), part_separator));
  const auto parts = scope.arena().array<Value>(std::min(count_max, limits::resp_key_parts_max + 1));
  if (parts.empty()) {
    plan.add(nullptr);
    return false;
  }
  size_t count = 0;
  bool is_over = false;
  for (; !is_over && count < parts.size(); ++count) {
    const size_t end = part_end(rest);
    parts[count] = unescaped(scope, rest.substr(0, end));
    if (parts[count].is_null()) {
      plan.add(nullptr);
      return false;
    }
    is_over = end == rest.size();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!is_over || count > limits::resp_key_parts_max) {
    plan.refuse("-ERR the key has more parts than any index has columns");
    return false;
  }
  key.parts = parts.first(count);
  return true;
}

bool split_container_key(const Scope& scope, std::string_view text, Key& key, Plan& plan) {
  if (!take_container_of_key(scope, text, key, plan)) {
    return false;
  }
  if (!has_all_parts(key.in_container)) {
    plan.refuse("-ERR the key has fewer parts than its container has key columns");
    return false;
  }
  const auto parts = scope.arena().array<Value>(key.container()->key_part_count);
  if (parts.empty()) {
    plan.add(nullptr);
    return false;
  }
  split_key(key.in_container.rest, parts);
  key.parts = parts;
  return true;
}

}  // namespace

bool take_table(const Scope& scope, std::string_view text, SelectionNames& names, Plan& plan) {
  const size_t index = text.find('@');
  if (index != std::string_view::npos) {
    names.index = text.substr(index + 1);
    text = text.substr(0, index);
  }
  const size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    names.database = text.substr(0, dot);
    names.table = text.substr(dot + 1);
  } else if (!scope.state.database.empty()) {
    // The state may change while the request is under way.
    names.database = scope.arena().copy_of_text(scope.state.database);
    names.table = text;
    if (names.database.data() == nullptr) {
      plan.add(nullptr);
      return false;
    }
  }
  if (names.database.empty() || names.table.empty()) {
    plan.refuse("-ERR a table is named as database.table, or as table behind SELECT database");
    return false;
  }
  return true;
}

bool take_key(const Scope& scope, std::string_view text, Wanted wanted, Key& key, Plan& plan) {
  size_t names_end = 0;
  const bool is_row = names_row(scope.state, text, names_end);
  if (is_row ? wanted == Wanted::container : wanted == Wanted::row) {
    plan.refuse(is_row ? "-WRONGTYPE Operation against a key holding the wrong kind of value:"
                         " the key names a row, which is a hash"
                       : "-WRONGTYPE Operation against a key holding the wrong kind of value:"
                         " a hash is a row, and its key is database.table:key");
    return false;
  }
  if (!is_row) {
    return split_container_key(scope, text, key, plan);
  }
  auto* const names = scope.arena().make<SelectionNames>();
  if (names == nullptr) {
    plan.add(nullptr);
    return false;
  }
  if (!take_table(scope, text.substr(0, names_end), *names, plan) ||
      !split_row_key(scope, text.substr(names_end + 1), key, plan)) {
    return false;
  }
  names->unique_key_parts = static_cast<uint32_t>(key.parts.size());
  key.names = names;
  return true;
}

}  // namespace rowsocket::wire::resp
