// SPDX-License-Identifier: GPL-2.0-only
#include "wire/memcached/parse_parts.h"

#include <algorithm>
#include <initializer_list>

#include "base/limits.h"

namespace rowsocket::wire::memcached {

// ---- requests and replies

Request* answer(const Scope& scope, std::string_view line, bool is_silent) {
  auto* const request = make_request<Request, FixedReply>(scope, line, is_silent, scope.state);
  if (request != nullptr) {
    request->kind = RequestKind::nothing;
  }
  return request;
}

Request* refuse(const Scope& scope, std::string_view line, bool is_silent) {
  auto* const request = make_request<Request, FixedReply>(scope, line, is_silent, scope.state);
  if (request != nullptr) {
    request->mistake = line == "ERROR" ? ErrorCode::unknown_command : ErrorCode::syntax;
    request->for_readers = line != "ERROR";
  }
  return request;
}

Request* refuse_value(const Scope& scope, std::string_view line, bool is_silent, uint64_t skip_bytes) {
  auto* const request = make_request<Request, SkippingReply>(scope, line, is_silent, scope.state, skip_bytes);
  if (request != nullptr) {
    request->mistake = ErrorCode::syntax;
    request->changes_state = true;
    request->for_readers = true;
  }
  return request;
}

namespace {

Request* refuse_problem(const Scope& scope, bool is_silent, std::string_view name, std::string_view problem) {
  auto* const request = make_request<Request, ProblemReply>(scope, is_silent, scope.state, name, problem);
  if (request != nullptr) {
    request->for_readers = true;
    request->mistake = ErrorCode::cannot_open_table;
  }
  return request;
}

}  // namespace

// ---- keys

bool take_container(const Scope& scope, std::string_view wire, bool is_silent, Key& key, Request*& refusal) {
  key = {.wire = wire, .container = nullptr, .rest = wire};
  const ContainerKey found =
      rowsocket::find_container(scope.parsing.settings.containers.get(), wire, scope.state.container);
  key.container = found.container;
  key.rest = found.rest;
  if (!found.problem.empty()) {
    refusal = refuse_problem(scope, is_silent, found.name, found.problem);
    return false;
  }
  return true;
}

bool find_container(const Scope& scope, std::string_view wire, bool is_silent, Key& key, Request*& refusal) {
  if (!take_container(scope, wire, is_silent, key, refusal)) {
    return false;
  }
  if (!has_all_parts({.container = key.container, .rest = key.rest})) {
    refusal =
        refuse(scope, "CLIENT_ERROR the key has fewer parts than its container has key columns", is_silent);
    return false;
  }
  return true;
}

// ---- values

Value number_value(const Scope& scope, uint64_t number) {
  return rowsocket::number_value(scope.arena(), number);
}

uint64_t expiry_of(const Scope& scope, int64_t exptime) {
  if (exptime < 0) {
    return 1;  // long ago
  }
  const auto seconds = static_cast<uint64_t>(exptime);
  return seconds == 0 || exptime > limits::memcached_relative_expiry_s_max ? seconds
                                                                           : scope.now_s() + seconds;
}

// ---- finds

bool set_conditions(const Scope& scope, const Container& container, const Conditions& conditions,
                    Find& find) {
  const bool filters_expiry = conditions.unexpired && container.has_expiry;
  const bool filters_cas = conditions.has_cas && container.has_cas;
  const size_t count = (filters_expiry ? 1U : 0U) + (filters_cas ? 1U : 0U);
  if (count == 0) {
    return true;
  }
  const auto filters = scope.arena().array<Filter>(count);
  if (filters.empty()) {
    return false;
  }
  size_t at = 0;
  if (filters_expiry) {
    filters[at++] = unexpired(container, number_value(scope, scope.now_s()));
  }
  if (filters_cas) {
    filters[at++] = {.mismatch = Mismatch::refuse,
                     .comparison = Comparison::equal,
                     .filter_column = container.cas_filter,
                     .value = number_value(scope, conditions.cas)};
  }
  find.filters = filters;
  return std::none_of(filters.begin(), filters.end(),
                      [](const Filter& filter) { return filter.value.is_null(); });
}

Find* find_row(const Scope& scope, const Key& key, const SelectionNames& names,
               const Conditions& conditions) {
  auto* const find = scope.arena().make<Find>();
  const auto parts = scope.arena().array<Value>(key.container->key_part_count);
  if (find == nullptr || parts.empty() || !set_conditions(scope, *key.container, conditions, *find)) {
    return nullptr;
  }
  split_key(key.rest, parts);
  find->selection.names = &names;
  find->range.key = parts;
  find->range.exact_values = true;
  return find;
}

RowPlaces places_in_values(const Container& container) {
  return {.names = container.values,
          .values_at = 0,
          .flags_at = container.flags_at,
          .cas_at = Container::none,
          .expiry_at = Container::none};
}

RowPlaces places_in_row(const Container& container) {
  return {.names = container.row,
          .values_at = 0,
          .flags_at = container.flags_at,
          .cas_at = container.cas_at,
          .expiry_at = container.expiry_at};
}

RowPlaces places_in_whole(const Container& container) {
  return {
      .names = container.whole,
      .values_at = container.key_part_count,
      .flags_at = container.has_flags ? container.key_part_count + container.value_count : Container::none,
      .cas_at = container.cas_in_whole,
      .expiry_at = container.expiry_in_whole};
}

bool make_layout(const Scope& scope, const Container& container, const RowPlaces& places, RowLayout& layout,
                 PerColumn& per_column) {
  size_t column_count = size_t{places.values_at} + container.value_count;
  for (const uint32_t place : {places.flags_at, places.cas_at, places.expiry_at}) {
    column_count += place == Container::none ? 0 : 1;
  }
  layout = {.ends = scope.arena().array<ColumnEnd>(column_count),
            .values_at = places.values_at,
            .flags_at = places.flags_at,
            .cas_at = places.cas_at,
            .expiry_at = places.expiry_at};
  if (layout.ends.empty()) {
    return false;
  }
  per_column = {.prefixes = nullptr, .ends = layout.ends.data()};
  return put_separators(scope.arena(), container, places.values_at, column_count, per_column);
}

}  // namespace rowsocket::wire::memcached
